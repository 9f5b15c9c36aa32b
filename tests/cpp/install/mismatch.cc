// A RocksDB of another version, as far as mountdb can see: linked with --wrap of the function that tells the version. Prints why
// each entry point refuses, and fails if one does not.

#include <cstdio>
#include <exception>
#include <string>

#include "mountdb/c.h"
#include "mountdb/mountdb.h"
#include "rocksdb/version.h"

extern "C" std::string __wrap__ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb(bool) { return "11.9"; }

namespace {

template <typename Call>
int Refused(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}

}  // namespace

int main() {
  int failed = Refused([] { mountdb::Register(); });
  failed += Refused([] { mountdb::NewAlexMemTableFactory(); });
  failed += Refused([] { mountdb::NewPgmIndexFactory(); });
  char* error = nullptr;
  mountdb_register(&error);
  failed += error == nullptr;
  std::printf("%s\n", error == nullptr ? "" : error);
  return failed;
}
