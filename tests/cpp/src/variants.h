// The memtables that every comparison goes through. A new option of the factory is one more line in variants.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/memtablerep.h"

namespace mountdb::test {

// Option strings; the first is RocksDB's own, which the others are compared with.
extern const std::vector<std::string> kMemtables;

std::shared_ptr<rocksdb::MemTableRepFactory> Memtable(const std::string& options);

}  // namespace mountdb::test
