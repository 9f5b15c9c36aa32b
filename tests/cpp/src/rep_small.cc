// A rep that grows from nothing, checked after every insert.

#include <algorithm>
#include <set>

#include "rep.h"

namespace mountdb::test {

namespace {

using rocksdb::Slice;

constexpr uint64_t kInserts = 2000;

class Growth {
 public:
  Growth() : watchdog_("mc_04"), rng_(Seed()) {}

  void Insert(const Version& version) {
    CHECK_EQ(rep_.Insert(version, std::to_string(version.seq)), model_.insert(version).second);
    CheckPoint(version);
    CheckPoint(*std::next(model_.begin(), static_cast<long>(rng_() % std::min<size_t>(model_.size(), 50))));
    CheckPoint({version.key + std::string(1, '\0'), version.seq});
    CheckPoint({Number(rng_()), 1 + rng_() % kInserts});
    auto iterator = rep_.NewIterator();
    iterator->SeekToFirst();
    CHECK(iterator->Valid());
    CHECK_EQ(VersionOf(iterator->key()), *model_.begin());
    iterator->Prev();
    CHECK(!iterator->Valid());
    iterator->SeekToLast();
    CHECK(iterator->Valid());
    CHECK_EQ(VersionOf(iterator->key()), *model_.rbegin());
    iterator->Next();
    CHECK(!iterator->Valid());
    if (model_.size() <= 66 || model_.size() % 97 == 0) {
      CheckAll();
    }
    watchdog_.Progress();
  }

  void CheckAll() {
    auto iterator = rep_.NewIterator();
    iterator->SeekToFirst();
    for (const Version& version : model_) {
      CHECK(iterator->Valid());
      CHECK_EQ(VersionOf(iterator->key()), version);
      iterator->Next();
    }
    CHECK(!iterator->Valid());
    iterator->SeekToLast();
    for (auto version = model_.rbegin(); version != model_.rend(); ++version) {
      CHECK(iterator->Valid());
      CHECK_EQ(VersionOf(iterator->key()), *version);
      iterator->Prev();
    }
    CHECK(!iterator->Valid());
  }

  void CheckPoint(const Version& target) {
    // The first entry at or after the target, and the last at or before it.
    const auto after = model_.lower_bound(target);
    const bool present = after != model_.end() && *after == target;
    const std::string internal = InternalKey(target);
    auto iterator = rep_.NewIterator();
    iterator->Seek(internal, nullptr);
    CHECK_EQ(iterator->Valid(), after != model_.end());
    if (iterator->Valid()) {
      CHECK_EQ(VersionOf(iterator->key()), *after);
    }
    iterator->SeekForPrev(internal, nullptr);
    const auto beyond = present ? std::next(after) : after;
    CHECK_EQ(iterator->Valid(), beyond != model_.begin());
    if (iterator->Valid()) {
      CHECK_EQ(VersionOf(iterator->key()), *std::prev(beyond));
    }
    const bool visible = after != model_.end() && after->key == target.key;
    CHECK_EQ(rep_.Get(target.key, target.seq),
             visible ? std::to_string(after->seq) : std::string());
    const rocksdb::LookupKey lookup(target.key, target.seq);
    CHECK_EQ(rep_->Contains(lookup.memtable_key().data()), present);
  }

 private:
  Watchdog watchdog_;
  Rng rng_;
  Rep rep_;
  std::set<Version> model_;
};

void Grow(const std::vector<Version>& versions) {
  Growth growth;
  for (const Version& version : versions) {
    growth.Insert(version);
  }
  growth.CheckAll();
}

// The same keys upwards, downwards and in random order.
void GrowInAllOrders(const std::function<std::string(uint64_t)>& key) {
  std::vector<Version> versions;
  for (uint64_t i = 0; i < kInserts; ++i) {
    versions.push_back({key(i), i + 1});
  }
  Grow(versions);
  std::reverse(versions.begin(), versions.end());
  Grow(versions);
  std::shuffle(versions.begin(), versions.end(), Rng(Seed()));
  Grow(versions);
}

}  // namespace

CASE(mc_04_empty) {
  Rep rep;
  auto iterator = rep.NewIterator();
  CHECK(!iterator->Valid());
  iterator->SeekToFirst();
  CHECK(!iterator->Valid());
  iterator->SeekToLast();
  CHECK(!iterator->Valid());
  iterator->Seek(InternalKey({"", 1}), nullptr);
  CHECK(!iterator->Valid());
  iterator->SeekForPrev(InternalKey({"x", 1}), nullptr);
  CHECK(!iterator->Valid());
  CHECK_EQ(rep.Get("x"), std::string());
  const rocksdb::LookupKey lookup("x", 1);
  CHECK(!rep->Contains(lookup.memtable_key().data()));
  CHECK_EQ(rep->ApproximateNumEntries(InternalKey({"a", 1}), InternalKey({"z", 1})), uint64_t{0});
}

CASE(mc_04_dense_numbers) {
  GrowInAllOrders([](uint64_t i) { return Number(i); });
}

CASE(mc_04_sparse_numbers) {
  Rng rng(Seed() + 1);
  std::set<uint64_t> numbers;
  while (numbers.size() < kInserts) {
    numbers.insert(rng());
  }
  const std::vector<uint64_t> sorted(numbers.begin(), numbers.end());
  GrowInAllOrders([&](uint64_t i) { return Number(sorted[i]); });
}

CASE(mc_04_strings) {
  GrowInAllOrders([](uint64_t i) {
    return "https://example.org/a/rather/long/prefix/" + std::to_string(10000 + i) + "/page";
  });
  // From the empty key on, each one a prefix of the next.
  GrowInAllOrders([](uint64_t i) { return std::string(i % 500, '\0') + std::string(i / 500, '\xff'); });
}

CASE(mc_04_equal_keys) {
  GrowInAllOrders([](uint64_t) { return std::string("same"); });
}

CASE(mc_04_key_written_twice) {
  Rng rng(Seed());
  std::vector<Version> versions;
  for (uint64_t i = 0; i < kInserts; ++i) {
    versions.push_back({Number(rng() % 300), 1 + rng() % 5});  // Many are duplicates.
  }
  Grow(versions);
}

}  // namespace mountdb::test
