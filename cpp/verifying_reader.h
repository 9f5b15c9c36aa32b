// Verify mode of the table index. Included only where RocksDB is patched.
#pragma once

#include <memory>

#include "cpp/verify.h"
#include "table/block_based/block_based_table_reader.h"

namespace mountdb {

// Reads through the learned index if `primary` or asked for, else through the
// standard one, and compares both once in `one_in` seeks. At the first difference
// the standard index serves the file, from that seek on.
std::unique_ptr<rocksdb::BlockBasedTable::IndexReader> NewVerifyingReader(
    std::unique_ptr<rocksdb::BlockBasedTable::IndexReader> standard,
    std::unique_ptr<rocksdb::BlockBasedTable::IndexReader> learned, bool primary,
    const rocksdb::BlockBasedTable* table, uint32_t one_in,
    const std::shared_ptr<DistrustedFiles>& distrusted);

}  // namespace mountdb
