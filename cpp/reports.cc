#include "cpp/reports.h"

#include <algorithm>
#include <cinttypes>

#include "cpp/alex_memtable.h"
#include "cpp/c.h"
#include "rocksdb/db.h"

namespace mountdb {

namespace {

// 100 when there is nothing to divide: no insert went wrong.
double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void Reports::Add(uint32_t column_family_id, const ffi::MemStats& stats,
                  rocksdb::Logger* logger) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Family& family = families_[column_family_id];
    ++family.memtables;
    family.longest_pause_nanos = std::max(family.longest_pause_nanos, stats.longest_pause_nanos);
    family.last = stats;
  }
  const double per_entry = stats.entries == 0 ? 0.0
                                              : static_cast<double>(stats.index_bytes) /
                                                    static_cast<double>(stats.entries);
  rocksdb::Info(logger,
                "alex memtable of column family %" PRIu32 ": %" PRIu64 " entries, %" PRIu64
                " data nodes, depth %" PRIu64 ", %" PRIu64 " index bytes (%.1f per entry), %" PRIu64
                " splits, %" PRIu64 " expansions, %" PRIu64
                " background rebuilds, longest pause %.1f us; skeleton: %" PRIu64
                " nodes, built in %.1f ms, %" PRIu64 " memtables old; %.1f%% of inserts found a free slot",
                column_family_id, stats.entries, stats.data_nodes, stats.depth, stats.index_bytes,
                per_entry, stats.splits, stats.expansions, stats.rebuilds,
                static_cast<double>(stats.longest_pause_nanos) / 1000.0, stats.planned_nodes,
                static_cast<double>(stats.skeleton_build_nanos) / 1e6, stats.skeleton_age,
                Percent(stats.entries - std::min(stats.entries, stats.moved_inserts),
                        stats.entries));
}

void Reports::AddFallback(uint32_t column_family_id, const char* comparator,
                          rocksdb::Logger* logger) {
  bool first;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++families_[column_family_id].fallbacks;
    first = told_.emplace(logger, column_family_id).second;
  }
  if (first) {
    rocksdb::Info(logger,
                  "alex memtable: comparator %s is not bytewise, column family %" PRIu32
                  " uses a skip list",
                  comparator, column_family_id);
  }
}

Reports::Family Reports::Get(uint32_t column_family_id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = families_.find(column_family_id);
  return found == families_.end() ? Family() : found->second;
}

}  // namespace mountdb

extern "C" unsigned char mountdb_memtable_stats(rocksdb_t* db,
                                                rocksdb_column_family_handle_t* family,
                                                mountdb_memtable_stats_t* stats) {
  // Both structs begin with the pointer to the C++ object (db/c.cc).
  auto* const database = *reinterpret_cast<rocksdb::DB**>(db);
  auto* const handle = family == nullptr
                           ? database->DefaultColumnFamily()
                           : *reinterpret_cast<rocksdb::ColumnFamilyHandle**>(family);
  const rocksdb::Options options = database->GetOptions(handle);
  const auto* factory = options.memtable_factory->CheckedCast<mountdb::AlexMemTableFactory>();
  if (factory == nullptr) {
    return 0;
  }
  const auto report = factory->reports().Get(handle->GetID());
  const auto& last = report.last;
  *stats = {report.memtables,     report.fallbacks,     report.longest_pause_nanos,
            last.entries,         last.data_nodes,      last.depth,
            last.index_bytes,     last.splits,          last.expansions,
            last.rebuilds,        last.moved_inserts,   last.longest_pause_nanos,
            last.planned_nodes,   last.skeleton_age,    last.skeleton_bytes,
            last.skeleton_build_nanos};
  return 1;
}
