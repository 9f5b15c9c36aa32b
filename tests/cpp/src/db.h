// Databases with the learned indexes and without.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "cpp/c.h"
#include "cpp/registry.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace mountdb::test {

using Entries = std::vector<std::pair<std::string, std::string>>;

// kVerified: primary, with every seek answered by both indexes.
enum class Index { kStock, kAlongside, kPrimary, kReplace, kVerified };

inline rocksdb::BlockBasedTableOptions TableOptions(Index index) {
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 256;
  if (index != Index::kStock) {
    table.user_defined_index_factory = NewPgmIndexFactory(
        {.mode = index == Index::kReplace ? PgmMode::kReplace : PgmMode::kAlongside,
         .verify_one_in = index == Index::kVerified ? 1u : 0u});
    table.use_udi_as_primary_index = index != Index::kAlongside;
  }
  return table;
}

inline void SetTable(rocksdb::Options* options, const rocksdb::BlockBasedTableOptions& table) {
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
}

// Small blocks and, except for kStock, both learned indexes.
inline rocksdb::Options DbOptions(Index index) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.flush_verify_memtable_count = true;
  options.write_buffer_size = 4 << 20;
  if (index != Index::kStock) {
    options.memtable_factory = NewAlexMemTableFactory();
  }
  SetTable(&options, TableOptions(index));
  return options;
}

inline std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options,
                                         const std::string& path) {
  std::unique_ptr<rocksdb::DB> db;
  CHECK_OK(rocksdb::DB::Open(options, path, &db));
  return db;
}

inline std::string Get(rocksdb::DB& db, const std::string& key,
                       const rocksdb::ReadOptions& read = {}) {
  std::string value;
  const rocksdb::Status status = db.Get(read, key, &value);
  if (status.IsNotFound()) {
    return "(none)";
  }
  CHECK_OK(status);
  return value;
}

inline Entries ScanAll(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, bool forward = true,
                       const rocksdb::ReadOptions& read = {}) {
  Entries entries;
  std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(read, family));
  for (forward ? iterator->SeekToFirst() : iterator->SeekToLast(); iterator->Valid();
       forward ? iterator->Next() : iterator->Prev()) {
    entries.emplace_back(iterator->key().ToString(), iterator->value().ToString());
  }
  CHECK_OK(iterator->status());
  return entries;
}

inline Entries ScanAll(rocksdb::DB& db, bool forward = true) {
  return ScanAll(db, db.DefaultColumnFamily(), forward);
}

// Under kVerified; there are none in this process but planted ones.
inline void CheckNoDifferences() {
  mountdb_verify_stats_t stats;
  mountdb_verify_stats(&stats);
  CHECK_EQ(stats.wrong_seeks, uint64_t{0});
}

inline void Compact(rocksdb::DB& db) {
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  CHECK_OK(db.CompactRange(compact, nullptr, nullptr));
}

}  // namespace mountdb::test
