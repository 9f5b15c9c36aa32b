// Orders other than bytewise.

#include <atomic>
#include <mutex>

#include "db.h"
#include "rep.h"
#include "rocksdb/comparator.h"
#include "rocksdb/env.h"

namespace mountdb::test {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::Comparator;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// The order of bytes under another name.
class Renamed : public Comparator {
 public:
  const char* Name() const override { return "mountdb.test.Renamed"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Short keys first: unlike any order of bytes.
class ShortFirst : public Comparator {
 public:
  const char* Name() const override { return "mountdb.test.ShortFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) {
      return a.size() < b.size() ? -1 : 1;
    }
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

const Comparator* Custom(size_t which) {
  static const Renamed renamed;
  static const ShortFirst short_first;
  const Comparator* const all[] = {rocksdb::ReverseBytewiseComparator(), &renamed, &short_first};
  return all[which];
}

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

using Model = std::map<std::string, std::string, Less>;

class Logger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1000];
    std::vsnprintf(line, sizeof(line), format, arguments);
    std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }

  size_t Count(const std::string& text) {
    std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const std::string& line : lines_) {
      count += line.find(text) != std::string::npos ? 1 : 0;
    }
    return count;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::string RandomKey(Rng& rng) {
  switch (rng() % 3) {
    case 0:
      return std::to_string(rng() % 3000);
    case 1:
      return Number(rng() % 2 == 0 ? rng() % 1000 : rng());
    default:
      return std::string(rng() % 12, static_cast<char>(rng() % 4 * 85));
  }
}

void Compare(DB& db, ColumnFamilyHandle* family, const Model& model, Rng& rng) {
  const Entries wanted(model.begin(), model.end());
  CHECK(ScanAll(db, family, true) == wanted);
  CHECK(ScanAll(db, family, false) == Entries(model.rbegin(), model.rend()));
  std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator({}, family));
  for (int i = 0; i < 1000; ++i) {
    const std::string key = i % 2 == 0 ? RandomKey(rng) : wanted[rng() % wanted.size()].first;
    std::string value;
    const Status status = db.Get({}, family, key, &value);
    const auto found = model.find(key);
    CHECK_EQ(status.ok(), found != model.end());
    CHECK(found == model.end() || found->second == value);
    iterator->Seek(key);
    const auto after = model.lower_bound(key);
    CHECK_EQ(iterator->Valid(), after != model.end());
    if (iterator->Valid()) {
      CHECK_EQ(iterator->key(), Slice(after->first));
      iterator->Next();
      CHECK_EQ(iterator->Valid(), std::next(after) != model.end());
    }
    iterator->SeekForPrev(key);
    const auto beyond = model.upper_bound(key);
    CHECK_EQ(iterator->Valid(), beyond != model.begin());
    if (iterator->Valid()) {
      CHECK_EQ(iterator->key(), Slice(std::prev(beyond)->first));
    }
    CHECK_OK(iterator->status());
  }
}

void CheckOrder(const Comparator* comparator, Index index) {
  TempDir dir;
  Options options = DbOptions(index);
  options.create_missing_column_families = true;
  Options family_options = options;
  family_options.comparator = comparator;
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  const auto open = [&] {
    for (auto* handle : handles) {
      CHECK_OK(db->DestroyColumnFamilyHandle(handle));
    }
    db.reset();
    CHECK_OK(DB::Open(options, dir / "db",
                      {ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, options),
                       ColumnFamilyDescriptor("ordered", family_options)},
                      &handles, &db));
  };
  open();
  Rng rng(Seed());
  Model model(Less{comparator});
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 4000; ++i) {
      const std::string key = RandomKey(rng);
      if (rng() % 5 == 0) {
        CHECK_OK(db->Delete({}, handles[1], key));
        model.erase(key);
      } else {
        const std::string value = std::to_string(rng());
        CHECK_OK(db->Put({}, handles[1], key, value));
        model[key] = value;
      }
    }
    Compare(*db, handles[1], model, rng);
    if (round < 3) {
      CHECK_OK(db->Flush({}, handles[1]));
      Compare(*db, handles[1], model, rng);
    }
    if (round == 1) {
      rocksdb::CompactRangeOptions compact;
      CHECK_OK(db->CompactRange(compact, handles[1], nullptr, nullptr));
      Compare(*db, handles[1], model, rng);
    }
    open();
    Compare(*db, handles[1], model, rng);
  }
  for (auto* handle : handles) {
    CHECK_OK(db->DestroyColumnFamilyHandle(handle));
  }
}

void CheckOrder(const Comparator* comparator) {
  CheckOrder(comparator, Index::kPrimary);
  CheckOrder(comparator, Index::kVerified);
  CheckNoDifferences();
}

}  // namespace

CASE(si_08_reverse_bytewise) { CheckOrder(Custom(0)); }
CASE(si_08_bytewise_under_another_name) { CheckOrder(Custom(1)); }
CASE(si_08_short_keys_first) { CheckOrder(Custom(2)); }

// One user key over many blocks, where only sequence numbers tell the blocks apart.
CASE(si_08_versions_over_many_blocks) {
  for (size_t which = 0; which < 6; ++which) {
    TempDir dir;
    Options options = DbOptions(which < 3 ? Index::kPrimary : Index::kVerified);
    options.comparator = Custom(which % 3);
    options.disable_auto_compactions = true;
    auto db = Open(options, dir / "db");
    constexpr uint64_t kVersions = 300;
    std::vector<const rocksdb::Snapshot*> snapshots;
    CHECK_OK(db->Put({}, "a", "first"));
    CHECK_OK(db->Put({}, "c", "last"));
    for (uint64_t i = 0; i < kVersions; ++i) {
      CHECK_OK(db->Put({}, "b", std::to_string(i) + std::string(50, '.')));
      snapshots.push_back(db->GetSnapshot());
    }
    CHECK_OK(db->Flush({}));
    for (const bool compacted : {false, true}) {
      if (compacted) {
        Compact(*db);
      }
      for (uint64_t i = 0; i < kVersions; ++i) {
        rocksdb::ReadOptions read;
        read.snapshot = snapshots[i];
        const std::string wanted = std::to_string(i) + std::string(50, '.');
        CHECK_EQ(Get(*db, "b", read), wanted);
        CHECK_EQ(Get(*db, "a", read), std::string("first"));
        CHECK_EQ(Get(*db, "c", read), std::string("last"));
        CHECK_EQ(ScanAll(*db, db->DefaultColumnFamily(), true, read).size(), size_t{3});
        const Entries backward = ScanAll(*db, db->DefaultColumnFamily(), false, read);
        CHECK_EQ(backward.size(), size_t{3});
        CHECK_EQ(backward[1].second, wanted);
      }
    }
    for (const auto* snapshot : snapshots) {
      db->ReleaseSnapshot(snapshot);
    }
  }
}

// Refused when the database is opened, never at a flush.
CASE(si_08_timestamps_are_refused) {
  for (const Index index : {Index::kAlongside, Index::kPrimary, Index::kReplace}) {
    TempDir dir;
    Options options = DbOptions(index);
    options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(options, dir / "db", &db);
    CHECK_MSG(opened.IsInvalidArgument(), opened.ToString());
    CHECK_MSG(opened.ToString().find("user_defined_index_factory") != std::string::npos,
              opened.ToString());
    CHECK(db == nullptr);

    // The memtable alone is fine: it falls back.
    Options memtable = DbOptions(Index::kStock);
    memtable.memtable_factory = NewAlexMemTableFactory();
    memtable.comparator = rocksdb::BytewiseComparatorWithU64Ts();
    auto with_timestamps = Open(memtable, dir / "memtable");
    CHECK_OK(with_timestamps->Put({}, "k", Number(1), "v"));
    const std::string timestamp = Number(~0ull);
    const Slice slice(timestamp);
    rocksdb::ReadOptions read;
    read.timestamp = &slice;
    CHECK_EQ(Get(*with_timestamps, "k", read), std::string("v"));
    CHECK_OK(with_timestamps->Flush({}));
    CHECK_EQ(Get(*with_timestamps, "k", read), std::string("v"));
  }
}

// RocksDB does not ask the table factory when a family is created in an open
// database. If that is not refused, the family has to work.
CASE(si_08_timestamps_in_a_created_family) {
  for (const Index index :
       {Index::kAlongside, Index::kPrimary, Index::kReplace, Index::kVerified}) {
    TempDir dir;
    Options options = DbOptions(index);
    auto db = Open(options, dir / "db");
    options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
    ColumnFamilyHandle* handle = nullptr;
    const Status created = db->CreateColumnFamily(options, "timestamps", &handle);
    if (!created.ok()) {
      CHECK_MSG(created.IsInvalidArgument(), created.ToString());
      CHECK_MSG(created.ToString().find("user_defined_index_factory") != std::string::npos,
                created.ToString());
      continue;
    }
    constexpr uint64_t kKeys = 1000;
    for (uint64_t i = 0; i < kKeys; ++i) {
      CHECK_OK(db->Put({}, handle, Number(i), Number(i), std::to_string(i)));
    }
    const Status flushed = db->Flush({}, handle);
    const std::string timestamp = Number(~0ull);
    const Slice slice(timestamp);
    rocksdb::ReadOptions read;
    read.timestamp = &slice;
    if (flushed.ok()) {
      for (uint64_t i = 0; i < kKeys; ++i) {
        std::string value;
        CHECK_OK(db->Get(read, handle, Number(i), &value));
        CHECK_EQ(value, std::to_string(i));
      }
    }
    CHECK_OK(db->DestroyColumnFamilyHandle(handle));
    CHECK_OK(flushed);
  }
}

CASE(fallback_of_a_rep_logs_one_line) {
  for (size_t which = 0; which < 3; ++which) {
    Logger logger;
    Rep rep(NewAlexMemTableFactory(), Custom(which), &logger);
    CHECK_EQ(logger.Count("skip list"), size_t{1});
    CHECK_EQ(logger.Count(Custom(which)->Name()), size_t{1});
    Rep skip_list(std::make_shared<rocksdb::SkipListFactory>(), Custom(which));
    Rng rng(Seed());
    for (uint64_t i = 1; i <= 5000; ++i) {
      const Version version{RandomKey(rng), 1 + rng() % 50};
      CHECK_EQ(rep.Insert(version), skip_list.Insert(version));
    }
    CHECK(rep.Scan() == skip_list.Scan());
  }
  Logger logger;
  Rep rep(NewAlexMemTableFactory(), rocksdb::BytewiseComparator(), &logger);
  CHECK_EQ(logger.Count("skip list"), size_t{0});
}

// However many memtables the column family goes through.
CASE(fallback_of_a_family_logs_one_line) {
  TempDir dir;
  auto logger = std::make_shared<Logger>();
  Options options = DbOptions(Index::kPrimary);
  options.comparator = rocksdb::ReverseBytewiseComparator();
  options.info_log = logger;
  auto db = Open(options, dir / "db");
  for (int i = 0; i < 5; ++i) {
    CHECK_OK(db->Put({}, "k", std::to_string(i)));
    CHECK_OK(db->Flush({}));
  }
  CHECK_EQ(Get(*db, "k"), std::string("4"));
  CHECK_EQ(logger->Count("uses a skip list"), size_t{1});
}

}  // namespace mountdb::test
