// Inserts: duplicates, hints, sequence numbers in any order.

#include <algorithm>
#include <atomic>
#include <numeric>

#include "rep.h"

namespace mountdb::test {

namespace {

constexpr InsertCall kCalls[] = {InsertCall::kPlain, InsertCall::kHint, InsertCall::kConcurrent,
                                 InsertCall::kHintConcurrent};

// What RocksDB does with a hint at the end of a batch.
void FreeHint(void* hint) { delete[] static_cast<char*>(hint); }

}  // namespace

CASE(mc_01_duplicates_are_refused) {
  for (const InsertCall call : kCalls) {
    for (const size_t neighbours : {0, 1, 5000}) {
      Rep rep;
      void* hint = nullptr;
      for (size_t i = 0; i < neighbours; ++i) {
        CHECK(rep.Insert({Number(i * 1000), 1}, "n", call, &hint));
      }
      const std::string key = Number(neighbours / 2 * 1000 + 1);
      CHECK(rep.Insert({key, 7}, "put", call, &hint, rocksdb::kTypeValue));
      CHECK(!rep.Insert({key, 7}, "", call, &hint, rocksdb::kTypeDeletion));
      CHECK(!rep.Insert({key, 7}, "again", call, &hint, rocksdb::kTypeValue));
      CHECK(rep.Insert({key, 6}, "older", call, &hint));
      CHECK(rep.Insert({key, 8}, "newer", call, &hint));
      CHECK(!rep.Insert({key, 6}, "", call, &hint, rocksdb::kTypeMerge));
      CHECK(!rep.Insert({key, 7}, "", call, &hint, rocksdb::kTypeDeletion));
      CHECK(!rep.Insert({key, 8}, "", call, &hint, rocksdb::kTypeSingleDeletion));
      FreeHint(hint);
      CHECK_EQ(rep.Scan().size(), neighbours + 3);
      CHECK_EQ(rep.Get(key, 7), std::string("put"));
      CHECK_EQ(rep.Get(key, 6), std::string("older"));
      CHECK_EQ(rep.Get(key), std::string("newer"));
    }
  }
}

CASE(mc_01_one_of_many_writers_wins) {
  constexpr size_t kThreads = 8;
  constexpr uint64_t kKeys = 2000;
  constexpr uint64_t kVersions = 4;
  Rep rep;
  std::atomic<uint64_t> accepted{0};
  InThreads(kThreads, [&](size_t thread) {
    Rng rng(Seed() + thread);
    std::vector<Version> versions;
    for (uint64_t key = 0; key < kKeys; ++key) {
      for (uint64_t seq = 1; seq <= kVersions; ++seq) {
        versions.push_back({Number(key * key), seq});
      }
    }
    std::shuffle(versions.begin(), versions.end(), rng);
    for (const Version& version : versions) {
      if (rep.Insert(version, std::to_string(thread), InsertCall::kConcurrent)) {
        accepted.fetch_add(1);
      }
    }
  });
  CHECK_EQ(accepted.load(), kKeys * kVersions);
  const auto entries = rep.Scan();
  CHECK_EQ(entries.size(), kKeys * kVersions);
  for (size_t i = 1; i < entries.size(); ++i) {
    CHECK(entries[i - 1].first < entries[i].first);
  }
}

CASE(mc_03_hints_of_one_writer) {
  for (const bool sorted : {true, false}) {
    Rng rng(Seed());
    Rep rep;
    Rep skip_list(std::make_shared<rocksdb::SkipListFactory>());
    std::map<std::string, std::pair<void*, void*>> hints;
    for (uint64_t i = 0; i < 50000; ++i) {
      const uint64_t number = sorted ? i : rng();
      const std::string key = "prefix" + std::to_string(number % 7) + Number(number);
      auto& hint = hints[key.substr(0, 7)];
      CHECK(rep.Insert({key, i + 1}, "v", InsertCall::kHint, &hint.first));
      CHECK(skip_list.Insert({key, i + 1}, "v", InsertCall::kHint, &hint.second));
    }
    CHECK(rep.Scan() == skip_list.Scan());
    for (const auto& [prefix, hint] : hints) {
      FreeHint(hint.first);  // The skip list's own lie in its arena.
    }
  }
}

CASE(mc_03_hints_of_eight_writers) {
  constexpr uint64_t kBatch = 100;
  constexpr uint64_t kBatches = 100;
  Rep rep;
  Rep skip_list(std::make_shared<rocksdb::SkipListFactory>());
  InThreads(8, [&](size_t thread) {
    Rng rng(Seed() + thread);
    for (uint64_t batch = 0; batch < kBatches; ++batch) {
      void* hint = nullptr;
      void* skip_list_hint = nullptr;
      const bool sorted = batch % 2 == 0;
      const uint64_t start = rng();
      for (uint64_t i = 0; i < kBatch; ++i) {
        // The sequence number makes the entry unique whatever the key.
        const Version version{Number((sorted ? start + i : rng()) >> 8),
                              1 + i + kBatch * (batch + kBatches * thread)};
        CHECK(rep.Insert(version, "v", InsertCall::kHintConcurrent, &hint));
        CHECK(skip_list.Insert(version, "v", InsertCall::kHintConcurrent, &skip_list_hint));
      }
      FreeHint(hint);
      FreeHint(skip_list_hint);
    }
  });
  const auto entries = rep.Scan();
  CHECK_EQ(entries.size(), size_t{8} * kBatch * kBatches);
  CHECK(entries == skip_list.Scan());
}

namespace {

// Iterator and lookups of one key that has the versions 1 to count.
void CheckVersions(const Rep& rep, const std::string& key, uint64_t count) {
  auto iterator = rep.NewIterator();
  iterator->Seek(InternalKey({key, rocksdb::kMaxSequenceNumber}), nullptr);
  for (uint64_t seq = count; seq >= 1; --seq, iterator->Next()) {
    CHECK(iterator->Valid());
    CHECK_EQ(VersionOf(iterator->key()), (Version{key, seq}));
  }
  CHECK(!iterator->Valid() || VersionOf(iterator->key()).key != key);
  CHECK_EQ(rep.Get(key, 0), std::string());
  for (uint64_t seq = 1; seq <= count; ++seq) {
    CHECK_EQ(rep.Get(key, seq), std::to_string(seq));
  }
  CHECK_EQ(rep.Get(key), std::to_string(count));
}

}  // namespace

CASE(mt_06_every_permutation_of_six) {
  std::vector<uint64_t> order(6);
  std::iota(order.begin(), order.end(), 1);
  do {
    Rep rep;
    CHECK(rep.Insert({"a", 3}, "before"));
    CHECK(rep.Insert({"c", 3}, "after"));
    for (const uint64_t seq : order) {
      CHECK(rep.Insert({"b", seq}, std::to_string(seq)));
    }
    CheckVersions(rep, "b", order.size());
    CHECK_EQ(rep.Scan().size(), order.size() + 2);
  } while (std::next_permutation(order.begin(), order.end()));
}

CASE(mt_06_random_order_from_eight_threads) {
  constexpr uint64_t kThreads = 8;
  for (const uint64_t keys : {1, 10}) {
    const uint64_t versions = 16000 / keys;
    Rep rep;
    InThreads(kThreads, [&](size_t thread) {
      Rng rng(Seed() + thread);
      std::vector<Version> mine;
      for (uint64_t key = 0; key < keys; ++key) {
        for (uint64_t seq = thread + 1; seq <= versions; seq += kThreads) {
          mine.push_back({Number(key), seq});
        }
      }
      std::shuffle(mine.begin(), mine.end(), rng);
      for (const Version& version : mine) {
        CHECK(rep.Insert(version, std::to_string(version.seq), InsertCall::kConcurrent));
        CHECK_EQ(rep.Get(version.key, version.seq), std::to_string(version.seq));
      }
    });
    for (uint64_t key = 0; key < keys; ++key) {
      CheckVersions(rep, Number(key), versions);
    }
  }
}

}  // namespace mountdb::test
