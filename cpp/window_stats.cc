#include "cpp/window_stats.h"

#include "cpp/c.h"

namespace mountdb {

namespace {

// One line of counters for every so-manieth thread, so that threads seldom wait
// for each other's.
constexpr unsigned kShards = 16;
struct alignas(64) Shard {
  std::atomic<uint64_t> counts[WindowStats::kCounters];
};
Shard shards[kShards];
std::atomic<unsigned> threads{0};

}  // namespace

void WindowStats::Add(Counter counter) {
  thread_local Shard& own = shards[threads.fetch_add(1, std::memory_order_relaxed) % kShards];
  own.counts[counter].fetch_add(1, std::memory_order_relaxed);
}

uint64_t WindowStats::Get(Counter counter) {
  uint64_t sum = 0;
  for (const Shard& shard : shards) {
    sum += shard.counts[counter].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace mountdb

extern "C" void mountdb_window_stats(mountdb_window_stats_t* stats) {
  using mountdb::WindowStats;
  *stats = {WindowStats::Get(WindowStats::kPredicted), WindowStats::Get(WindowStats::kLeft),
            WindowStats::Get(WindowStats::kRight), WindowStats::Get(WindowStats::kBeyond),
            WindowStats::Get(WindowStats::kReads)};
}
