// verify_one_in: a look-up now and then is answered twice, and the answers are
// compared.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace mountdb {

// What was compared in this process. Relaxed counters.
class VerifyStats {
 public:
  enum Counter { kSeeks, kWrongSeeks, kLookups, kWrongLookups, kCounters };

  static void Add(Counter counter);
  static uint64_t Get(Counter counter);
};

// True once in `one_in` calls (never for 0), at random: a count would always meet
// the same file or level of a read that asks several.
bool VerifyNow(uint32_t one_in);

// Files whose learned index gave a wrong answer, remembered for when they are
// opened again. Names, which a database does not use twice.
class DistrustedFiles {
 public:
  void Add(const std::string& file);
  bool Contains(const std::string& file) const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> files_;
};

}  // namespace mountdb
