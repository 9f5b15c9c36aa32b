// Where look-ups through windowed indexes ended, in this process.
#pragma once

#include <atomic>
#include <cstdint>

namespace mountdb {

class WindowStats {
 public:
  enum Counter { kPredicted, kLeft, kRight, kBeyond, kReads, kCounters };

  // Relaxed: counters are summed up when nobody counts, or are off by what runs.
  static void Add(Counter counter);
  static uint64_t Get(Counter counter);
};

}  // namespace mountdb
