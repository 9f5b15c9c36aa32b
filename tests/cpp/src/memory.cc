// Sizes that the index reports.

#include <algorithm>
#include <cstdio>

#include "db.h"
#include "rep.h"
#include "rocksdb/user_defined_index.h"

namespace mountdb::test {

using rocksdb::Slice;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexOption;
using rocksdb::UserDefinedIndexReader;

namespace {

// Sorted versions whose neighbours may share the user key.
std::vector<Version> RandomVersions(Rng& rng, size_t count, int kind) {
  std::vector<Version> versions;
  for (size_t i = 0; i < count; ++i) {
    std::string key;
    switch (kind) {
      case 0:
        key = Number(rng());
        break;
      case 1:
        key = Number(rng() % (1 + count / 4));
        break;
      case 2:
        key = std::string(rng() % 300, static_cast<char>(rng()));
        break;
      case 3:
        key = "user" + std::to_string(rng() % 1000000) + std::string(rng() % 40, 'x');
        break;
      default:
        key = Number(i * 1000);
    }
    versions.push_back({key, 1 + rng() % (1ull << (rng() % 56))});
  }
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

uint64_t Tag(const Version& version) { return version.seq << 8 | rocksdb::kTypeValue; }

}  // namespace

CASE(sf_05_estimate_is_an_upper_bound) {
  Rng rng(Seed());
  const auto factory = NewPgmIndexFactory();
  for (const auto* comparator :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    for (int round = 0; round < 500; ++round) {
      UserDefinedIndexOption option;
      option.comparator = comparator;
      std::unique_ptr<UserDefinedIndexBuilder> builder;
      CHECK_OK(factory->NewBuilder(option, builder));
      std::vector<Version> versions = RandomVersions(rng, rng() % 500, round % 5);
      if (comparator != rocksdb::BytewiseComparator()) {
        std::stable_sort(versions.begin(), versions.end(),
                         [](const Version& a, const Version& b) { return a.key > b.key; });
      }
      uint64_t offset = rng() % 2 == 0 ? 0 : rng() >> (20 + rng() % 40);
      for (size_t i = 0; i < versions.size(); ++i) {
        const bool last = i + 1 == versions.size();
        const Slice next = last ? Slice() : Slice(versions[i + 1].key);
        const uint64_t size = round % 2 == 0 ? 4000 + rng() % 100 : rng() >> (34 + rng() % 30);
        std::string scratch;
        builder->AddIndexEntry(versions[i].key, last ? nullptr : &next, {offset, size}, &scratch,
                               {Tag(versions[i]), last ? 0 : Tag(versions[i + 1])});
        offset += size + 5;
      }
      const uint64_t estimate = builder->EstimatedSize();
      Slice contents;
      CHECK_OK(builder->Finish(&contents));
      CHECK_MSG(estimate >= contents.size(),
                "round " + std::to_string(round) + ", " + std::to_string(versions.size()) +
                    " blocks: " + std::to_string(estimate) + " < " +
                    std::to_string(contents.size()));

      const std::string block = contents.ToString();
      Slice slice(block);
      std::unique_ptr<UserDefinedIndexReader> reader;
      CHECK_OK(factory->NewReader(option, slice, reader));
      CHECK_MSG(reader->ApproximateMemoryUsage() >= block.size(),
                std::to_string(reader->ApproximateMemoryUsage()) + " < " +
                    std::to_string(block.size()));
      CHECK(reader->ApproximateMemoryUsage() <= 4096 + 4 * block.size());
    }
  }
}

CASE(sf_05_memory_of_table_readers) {
  constexpr int kFiles = 100;
  for (const bool cached : {false, true}) {
    for (const bool pinned : {false, true}) {
      uint64_t reported[4] = {};
      for (const Index index :
           {Index::kStock, Index::kAlongside, Index::kPrimary, Index::kReplace}) {
        TempDir dir;
        rocksdb::Options options = DbOptions(index);
        options.disable_auto_compactions = true;
        options.level0_slowdown_writes_trigger = 10 * kFiles;
        options.level0_stop_writes_trigger = 10 * kFiles;
        rocksdb::BlockBasedTableOptions table = TableOptions(index);
        table.cache_index_and_filter_blocks = cached;
        table.metadata_cache_options.unpartitioned_pinning =
            pinned ? rocksdb::PinningTier::kAll : rocksdb::PinningTier::kNone;
        SetTable(&options, table);
        auto db = Open(options, dir / "db");
        for (int file = 0; file < kFiles; ++file) {
          for (int i = 0; i < 1000; ++i) {
            CHECK_OK(db->Put({}, Number(i * kFiles + file), "0123456789"));
          }
          CHECK_OK(db->Flush({}));
        }
        CHECK_EQ(Get(*db, Number(kFiles * 500)), std::string("0123456789"));
        CHECK(db->GetIntProperty("rocksdb.estimate-table-readers-mem",
                                 &reported[static_cast<int>(index)]));
      }
      std::printf("sf_05: cache_index_and_filter_blocks=%d pinning=%d: table readers of %d files "
                  "hold stock %llu, alongside %llu, primary %llu, replace %llu bytes\n",
                  cached, pinned, kFiles, static_cast<unsigned long long>(reported[0]),
                  static_cast<unsigned long long>(reported[1]),
                  static_cast<unsigned long long>(reported[2]),
                  static_cast<unsigned long long>(reported[3]));
      CHECK(reported[1] > reported[0]);
      // The standard index is not loaded where it is not read.
      CHECK(cached || reported[2] < reported[0]);
      CHECK_EQ(reported[3], reported[2]);
    }
  }
}

}  // namespace mountdb::test
