// Whether the RocksDB of this process is the one that mountdb was compiled for.
#pragma once

#include <string>

namespace mountdb {

// What decides on the layout of the classes that both sides share.
struct Build {
  int major = 0;
  int minor = 0;
  bool debug = false;           // compiled without NDEBUG
  bool status_checked = false;  // compiled with ROCKSDB_ASSERT_STATUS_CHECKED

  static Build Ours();
  static Build Theirs();
};

// Empty if they go together, else one line that says what differs.
std::string Refusal(const Build& ours, const Build& theirs);

// The same for this process.
const std::string& Refusal();

}  // namespace mountdb
