// What is refused at registration.

#include "cpp/build_check.h"

#include "check.h"

namespace mountdb::test {

CASE(fb_02_this_build_is_accepted) {
  const Build theirs = Build::Theirs();
  CHECK_EQ(theirs.major, 11);
  CHECK_EQ(theirs.minor, 8);
  CHECK_EQ(theirs.debug, false);
  CHECK_EQ(theirs.status_checked, false);
  CHECK_EQ(Refusal(), std::string());
}

CASE(fb_02_another_build_is_refused_in_one_line) {
  const Build ours = Build::Ours();
  Build newer = ours, major = ours, debug = ours, checked = ours;
  newer.minor += 1;
  major.major += 1;
  debug.debug = !debug.debug;
  checked.status_checked = !checked.status_checked;
  CHECK_EQ(Refusal(ours, ours), std::string());
  for (const auto& [theirs, words] :
       {std::pair(newer, "RocksDB 11.9"), std::pair(major, "RocksDB 12.8"),
        std::pair(debug, "RocksDB 11.8 (debug)"),
        std::pair(checked, "RocksDB 11.8 (release, ROCKSDB_ASSERT_STATUS_CHECKED)")}) {
    const std::string line = Refusal(ours, theirs);
    CHECK_MSG(line.find(std::string("does not work with ") + words + ":") != std::string::npos, line);
    CHECK_MSG(line.find("was compiled for RocksDB 11.8 (release)") != std::string::npos, line);
    CHECK_EQ(line.find('\n'), std::string::npos);
  }
}

}  // namespace mountdb::test
