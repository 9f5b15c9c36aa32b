// Memtable options of a whole database.

#include <algorithm>

#include "db.h"
#include "rocksdb/slice_transform.h"
#include "variants.h"

namespace mountdb::test {

namespace {

std::string Key(uint64_t number) {
  const std::string digits = std::to_string(number);
  return "key" + std::string(8 - digits.size(), '0') + digits;
}

}  // namespace

CASE(mc_02_paranoid_options_of_a_db) {
  constexpr uint64_t kKeys = 10000;
  for (const bool per_seek : {false, true}) {
    TempDir dir;
    rocksdb::Options options = DbOptions(Index::kPrimary);
    options.write_buffer_size = 64 << 20;
    if (per_seek) {
      options.memtable_protection_bytes_per_key = 8;
      options.memtable_verify_per_key_checksum_on_seek = true;
    } else {
      options.paranoid_memory_checks = true;
    }
    auto db = Open(options, dir / "db");
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; ++i) {
      keys.push_back(Key(i * 7919 % kKeys));
      CHECK_OK(db->Put({}, keys.back(), "v" + keys.back()));
    }
    std::sort(keys.begin(), keys.end());
    for (size_t at = 0; at < keys.size(); at += 100) {
      const std::vector<rocksdb::Slice> batch(keys.begin() + at, keys.begin() + at + 100);
      std::vector<std::string> values(batch.size());
      for (const auto& status : db->MultiGet({}, batch, &values)) {
        CHECK_OK(status);
      }
      for (size_t i = 0; i < batch.size(); ++i) {
        CHECK_EQ(values[i], "v" + keys[at + i]);
      }
    }
    std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator({}));
    for (const std::string& key : keys) {
      CHECK_EQ(Get(*db, key), "v" + key);
      iterator->Seek(key);
      CHECK(iterator->Valid());
      CHECK_EQ(iterator->key().ToString(), key);
    }
    iterator.reset();
    CHECK_EQ(ScanAll(*db).size(), keys.size());
    CHECK_EQ(ScanAll(*db, false).size(), keys.size());
  }
}

CASE(mc_03_hints_of_a_db) {
  for (const bool per_batch : {false, true}) {
    TempDir dir;
    rocksdb::Options options = DbOptions(Index::kPrimary);
    if (!per_batch) {
      options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(6));
    }
    auto db = Open(options, dir / "db");
    InThreads(8, [&](size_t thread) {
      Rng rng(Seed() + thread);
      rocksdb::WriteOptions write;
      write.memtable_insert_hint_per_batch = per_batch;
      for (uint64_t at = 0; at < 4000; at += 100) {
        rocksdb::WriteBatch batch;
        const bool sorted = rng() % 2 == 0;
        for (uint64_t i = 0; i < 100; ++i) {
          const uint64_t number = sorted ? at + i : at + 99 - (i * 37) % 100;
          CHECK_OK(batch.Put(Key(number * 8 + thread), std::to_string(number)));
        }
        CHECK_OK(db->Write(write, &batch));
      }
    });
    for (const bool flushed : {false, true}) {
      if (flushed) {
        CHECK_OK(db->Flush({}));
      }
      const Entries entries = ScanAll(*db);
      CHECK_EQ(entries.size(), size_t{32000});
      for (uint64_t i = 0; i < entries.size(); ++i) {
        CHECK_EQ(entries[i].first, Key(i));
        CHECK_EQ(entries[i].second, std::to_string(i / 8));
      }
    }
  }
}

CASE(mc_09_mempurge) {
  for (const double threshold : {0.5, 1.0, 5.0}) {
    TempDir dir;
    std::unique_ptr<rocksdb::DB> dbs[2];
    for (const Index index : {Index::kStock, Index::kPrimary}) {
      rocksdb::Options options = DbOptions(index);
      options.experimental_mempurge_threshold = threshold;
      options.write_buffer_size = 128 << 10;
      options.max_write_buffer_number = 8;
      const bool stock = index == Index::kStock;
      auto& db = dbs[stock ? 0 : 1];
      db = Open(options, dir / (stock ? "stock" : "learned"));
      Rng rng(Seed());
      for (uint64_t i = 0; i < 40000; ++i) {
        const std::string key = Key(rng() % 300);
        CHECK_OK(rng() % 8 == 0 ? db->Delete({}, key)
                                : db->Put({}, key, std::string(100, 'a' + i % 26)));
        if (i % 5000 == 0) {
          const rocksdb::Range all(Key(0), Key(300));
          uint64_t count = 0;
          uint64_t bytes = 0;
          db->GetApproximateMemTableStats(all, &count, &bytes);
          CHECK(i == 0 || count > 0);
          rocksdb::SizeApproximationOptions sizes;
          sizes.include_memtables = true;
          CHECK_OK(db->GetApproximateSizes(sizes, db->DefaultColumnFamily(), &all, 1, &bytes));
        }
      }
    }
    CHECK(ScanAll(*dbs[0]) == ScanAll(*dbs[1]));
    // What was purged in memory waits for no flush, so a flush that waits for room may wait for ever.
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    for (auto& db : dbs) {
      CHECK_OK(db->Flush(flush));
    }
    CHECK(ScanAll(*dbs[0], false) == ScanAll(*dbs[1], false));
    uint64_t errors = 0;
    CHECK(dbs[1]->GetIntProperty("rocksdb.background-errors", &errors));
    CHECK_EQ(errors, uint64_t{0});
  }
}

CASE(mt_06_write_modes_of_a_db) {
  enum Mode { kUnordered, kPipelined, kTwoQueues };
  for (const std::string& memtable : kMemtables) {
    for (const Mode mode : {kUnordered, kPipelined, kTwoQueues}) {
      TempDir dir;
      rocksdb::Options options = DbOptions(Index::kPrimary);
      options.memtable_factory = Memtable(memtable);
      options.unordered_write = mode == kUnordered;
      options.enable_pipelined_write = mode == kPipelined;
      options.two_write_queues = mode == kTwoQueues;
      auto db = Open(options, dir / "db");
      constexpr uint64_t kWrites = 4000;
      InThreads(8, [&](size_t thread) {
        const std::string own = "own" + std::to_string(thread);
        for (uint64_t i = 0; i < kWrites; ++i) {
          rocksdb::WriteBatch batch;
          CHECK_OK(batch.Put("shared", std::to_string(thread)));
          CHECK_OK(batch.Put(own, std::to_string(i)));
          CHECK_OK(db->Write({}, &batch));
          CHECK_EQ(Get(*db, own), std::to_string(i));
        }
      });
      const Entries before = ScanAll(*db);
      CHECK_EQ(before.size(), size_t{9});
      CHECK_EQ(before[0].second, std::to_string(kWrites - 1));
      CHECK_OK(db->Flush({}));
      CHECK(ScanAll(*db) == before);
    }
  }
}

}  // namespace mountdb::test
