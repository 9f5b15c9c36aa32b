#include "cpp/verify.h"

#include <atomic>

#include "cpp/c.h"
#include "util/random.h"

namespace mountdb {

namespace {

std::atomic<uint64_t> counts[VerifyStats::kCounters];

}  // namespace

void VerifyStats::Add(Counter counter) {
  counts[counter].fetch_add(1, std::memory_order_relaxed);
}

uint64_t VerifyStats::Get(Counter counter) {
  return counts[counter].load(std::memory_order_relaxed);
}

bool VerifyNow(uint32_t one_in) {
  return one_in != 0 && rocksdb::Random::GetTLSInstance()->Next() % one_in == 0;
}

void DistrustedFiles::Add(const std::string& file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.insert(file);
}

bool DistrustedFiles::Contains(const std::string& file) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return files_.count(file) > 0;
}

}  // namespace mountdb

extern "C" void mountdb_verify_stats(mountdb_verify_stats_t* stats) {
  using mountdb::VerifyStats;
  *stats = {VerifyStats::Get(VerifyStats::kSeeks), VerifyStats::Get(VerifyStats::kWrongSeeks),
            VerifyStats::Get(VerifyStats::kLookups), VerifyStats::Get(VerifyStats::kWrongLookups)};
}
