// Prints why the RocksDB that is linked does not fit cpp/build_check.cc as it was compiled: nothing, if it does.

#include <cstdio>

#include "cpp/build_check.h"

#ifdef WITH_SYNC_POINT
// What a debug build of RocksDB has.
extern "C" void sync_point() __asm__("_ZN7rocksdb9SyncPoint11GetInstanceEv");
extern "C" void sync_point() {}
#endif

#ifdef WITH_CHECKED_STATUS
// The constructor of a RocksDB compiled with ROCKSDB_ASSERT_STATUS_CHECKED, linked with --wrap: one field more.
extern "C" void __real_STATUS(void*, int, int, const void*, const void*, int)
    __asm__("__real__ZN7rocksdb6StatusC1ENS0_4CodeENS0_7SubCodeERKNS_5SliceES5_NS0_8SeverityE");
extern "C" void __wrap_STATUS(void*, int, int, const void*, const void*, int)
    __asm__("__wrap__ZN7rocksdb6StatusC1ENS0_4CodeENS0_7SubCodeERKNS_5SliceES5_NS0_8SeverityE");
extern "C" void __wrap_STATUS(void* status, int code, int subcode, const void* first, const void* second,
                              int severity) {
  __real_STATUS(status, code, subcode, first, second, severity);
  static_cast<char*>(status)[2 * sizeof(void*)] = 0;
}
#endif

int main() {
  std::printf("%s\n", mountdb::Refusal().c_str());
  return 0;
}
