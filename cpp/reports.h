// What became of the memtables of one factory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "mountdb/src/ffi.rs.h"
#include "rocksdb/env.h"

namespace mountdb {

class Reports {
 public:
  struct Family {
    uint64_t memtables = 0;            // sealed and read since
    uint64_t fallbacks = 0;            // memtables that are skip lists
    uint64_t longest_pause_nanos = 0;  // of all memtables
    ffi::MemStats last{};              // of the last one
  };

  // Remembers the memtable and writes a line into the log.
  void Add(uint32_t column_family_id, const ffi::MemStats& stats, rocksdb::Logger* logger);

  // Writes a line into each log, once for each column family.
  void AddFallback(uint32_t column_family_id, const char* comparator, rocksdb::Logger* logger);

  Family Get(uint32_t column_family_id) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, Family> families_;
  std::set<std::pair<rocksdb::Logger*, uint32_t>> told_;
};

}  // namespace mountdb
