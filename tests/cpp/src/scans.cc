// Limits of scans, in every place relative to the blocks.

#include <algorithm>

#include "db.h"
#include "rocksdb/multi_scan.h"

namespace mountdb::test {

using rocksdb::DB;
using rocksdb::Slice;

namespace {

constexpr uint64_t kKeys = 300;

// Even numbers are keys, odd ones lie between two keys.
std::string Key(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(5 - digits.size(), '0') + digits;
}

// About three entries a block, one file or several; two versions of each third key.
std::unique_ptr<DB> Fill(Index index, const std::string& path, uint64_t files,
                         std::vector<const rocksdb::Snapshot*>* snapshots) {
  rocksdb::Options options = DbOptions(index);
  options.disable_auto_compactions = true;
  rocksdb::BlockBasedTableOptions table = TableOptions(index);
  table.block_size = 64;
  SetTable(&options, table);
  auto db = Open(options, path);
  for (uint64_t file = 0; file < files; ++file) {
    const uint64_t from = kKeys * file / files;
    const uint64_t to = kKeys * (file + 1) / files;
    for (uint64_t i = from; i < to; ++i) {
      CHECK_OK(db->Put({}, Key(2 * i), "old" + Key(i)));
    }
    snapshots->push_back(db->GetSnapshot());
    for (uint64_t i = from; i < to; ++i) {
      if (i % 3 == 0) {
        CHECK_OK(db->Put({}, Key(2 * i), "new" + Key(i)));
      }
    }
    CHECK_OK(db->Flush({}));
  }
  return db;
}

Entries Expected(const std::string& start, const std::string& limit) {
  Entries entries;
  for (uint64_t i = 0; i < kKeys; ++i) {
    const std::string key = Key(2 * i);
    if (start <= key && key < limit) {
      entries.emplace_back(key, (i % 3 == 0 ? "new" : "old") + Key(i));
    }
  }
  return entries;
}

Entries Scan(DB& db, const std::string& start, const std::string& limit, bool forward,
             bool lower_bound) {
  const Slice from(start);
  const Slice to(limit);
  rocksdb::ReadOptions read;
  read.iterate_upper_bound = &to;
  if (lower_bound) {
    read.iterate_lower_bound = &from;
  }
  std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(read));
  Entries entries;
  if (forward) {
    for (iterator->Seek(from); iterator->Valid(); iterator->Next()) {
      entries.emplace_back(iterator->key().ToString(), iterator->value().ToString());
    }
  } else {
    for (iterator->SeekToLast(); iterator->Valid() && iterator->key().compare(from) >= 0;
         iterator->Prev()) {
      entries.emplace_back(iterator->key().ToString(), iterator->value().ToString());
    }
    std::reverse(entries.begin(), entries.end());
  }
  CHECK_OK(iterator->status());
  return entries;
}

std::vector<Entries> MultiScan(DB& db, const std::vector<std::string>& bounds, bool fill_cache) {
  rocksdb::MultiScanArgs args(rocksdb::BytewiseComparator());
  for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
    args.insert(bounds[i], bounds[i + 1]);
  }
  rocksdb::ReadOptions read;
  read.fill_cache = fill_cache;
  auto scans = db.NewMultiScan(read, db.DefaultColumnFamily(), args);
  std::vector<Entries> all;
  for (auto range : *scans) {
    Entries& entries = all.emplace_back();
    for (auto entry : range) {
      entries.emplace_back(entry.first.ToString(), entry.second.ToString());
    }
  }
  return all;
}

void ReleaseAll(DB& db, const std::vector<const rocksdb::Snapshot*>& snapshots) {
  for (const auto* snapshot : snapshots) {
    db.ReleaseSnapshot(snapshot);
  }
  CheckNoDifferences();
}

constexpr Index kIndexes[] = {Index::kStock, Index::kAlongside, Index::kPrimary, Index::kReplace,
                             Index::kVerified};

}  // namespace

CASE(si_05_upper_bound) {
  for (const Index index : kIndexes) {
    for (const uint64_t files : {1, 7}) {
      TempDir dir;
      std::vector<const rocksdb::Snapshot*> snapshots;
      auto db = Fill(index, dir / "db", files, &snapshots);
      Rng rng(Seed());
      // Every key and every gap is a limit once: before, inside and after each block.
      for (uint64_t number = 0; number <= 2 * kKeys; ++number) {
        const std::string limit = Key(number);
        const std::string start = Key(rng() % (number + 1));
        const Entries wanted = Expected(start, limit);
        for (const bool forward : {true, false}) {
          for (const bool lower_bound : {true, false}) {
            CHECK_MSG(Scan(*db, start, limit, forward, lower_bound) == wanted,
                      start + " to " + limit);
          }
        }
        CHECK_MSG(Scan(*db, "", limit, true, false) == Expected("", limit), "to " + limit);
      }
      ReleaseAll(*db, snapshots);
    }
  }
}

CASE(si_05_multi_scan) {
  for (const Index index : kIndexes) {
    for (const uint64_t files : {1, 7}) {
      TempDir dir;
      std::vector<const rocksdb::Snapshot*> snapshots;
      auto db = Fill(index, dir / "db", files, &snapshots);
      Rng rng(Seed());
      for (uint64_t round = 0; round < 600; ++round) {
        // The first rounds put a limit into every place, the others are random.
        std::vector<uint64_t> numbers = {round};
        while (numbers.size() < 2 * (1 + round % 4)) {
          numbers.push_back(rng() % (2 * kKeys + 20));
        }
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        if (numbers.size() % 2 == 1) {
          numbers.push_back(numbers.back() + 1);
        }
        std::vector<std::string> bounds;
        std::vector<Entries> wanted;
        std::string text;
        for (const uint64_t number : numbers) {
          bounds.push_back(Key(number));
          text += bounds.back() + " ";
        }
        for (size_t i = 0; i < bounds.size(); i += 2) {
          wanted.push_back(Expected(bounds[i], bounds[i + 1]));
        }
        CHECK_MSG(MultiScan(*db, bounds, round % 2 == 0) == wanted,
                  std::to_string(static_cast<int>(index)) + ": " + text);
      }
      ReleaseAll(*db, snapshots);
    }
  }
}

// A range whose limit is the start of the next.
CASE(si_05_adjoining_ranges) {
  for (const Index index : kIndexes) {
    TempDir dir;
    std::vector<const rocksdb::Snapshot*> snapshots;
    auto db = Fill(index, dir / "db", 3, &snapshots);
    for (uint64_t number = 1; number < 2 * kKeys - 1; ++number) {
      const std::string at = Key(number);
      const std::vector<std::string> bounds = {Key(0), at, at, Key(2 * kKeys)};
      const std::vector<Entries> wanted = {Expected(Key(0), at), Expected(at, Key(2 * kKeys))};
      CHECK_MSG(MultiScan(*db, bounds, true) == wanted, at);
    }
    ReleaseAll(*db, snapshots);
  }
}

}  // namespace mountdb::test
