#include "cpp/build_check.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "rocksdb/status.h"
#include "rocksdb/version.h"

#if ROCKSDB_MAJOR != 11 || ROCKSDB_MINOR != 8
#error "mountdb is for RocksDB 11.8: the interfaces it implements change from one minor version to the next"
#endif

#ifdef __ELF__
// Only debug builds of RocksDB have sync points, and all of them refer to this
// function, so that it is there when linked statically, too.
extern "C" void mountdb_sync_point() __asm__("_ZN7rocksdb9SyncPoint11GetInstanceEv")
    __attribute__((weak));
#endif

namespace mountdb {

namespace {

using rocksdb::Status;

#ifdef NDEBUG
constexpr bool kDebug = false;
#else
constexpr bool kDebug = true;
#endif

#ifdef ROCKSDB_ASSERT_STATUS_CHECKED
constexpr bool kStatusChecked = true;
#else
constexpr bool kStatusChecked = false;
#endif

bool TheyAreDebug() {
#ifdef __ELF__
  return &mountdb_sync_point != nullptr;
#else
  return kDebug;
#endif
}

// A checked Status has one field more, behind the pointer to its message. Theirs
// is constructed, out of line, in a place that has room for either.
bool TheyCheckStatus() {
  constexpr size_t kUnchecked = 2 * sizeof(void*);
  static_assert(sizeof(Status) == kUnchecked + (kStatusChecked ? sizeof(void*) : 0));
  constexpr unsigned char kUntouched = 0xa5;
  alignas(Status) unsigned char place[kUnchecked + 2 * sizeof(void*)];
  std::memset(place, kUntouched, sizeof(place));
  auto* status = new (place) Status(Status::InvalidArgument("mountdb", "probe"));
  // Through memory: the compiler may know that its own Status ends before.
  unsigned char behind;
  const volatile unsigned char* byte = place + kUnchecked;
  behind = *byte;
  const bool checked = behind != kUntouched;
  // The message of a foreign Status is lost, once.
  if (checked == kStatusChecked) {
    status->PermitUncheckedError();
    status->~Status();
  }
  return checked;
}

std::string Describe(const Build& build) {
  return std::to_string(build.major) + "." + std::to_string(build.minor) +
         (build.debug ? " (debug" : " (release") +
         (build.status_checked ? ", ROCKSDB_ASSERT_STATUS_CHECKED)" : ")");
}

}  // namespace

Build Build::Ours() {
  return {ROCKSDB_MAJOR, ROCKSDB_MINOR, kDebug, kStatusChecked};
}

Build Build::Theirs() {
  Build build;
  const std::string version = rocksdb::GetRocksVersionAsString(false);
  if (std::sscanf(version.c_str(), "%d.%d", &build.major, &build.minor) != 2) {
    build.major = build.minor = 0;
  }
  // Another version's Status may have any layout: it is not touched.
  if (build.major == ROCKSDB_MAJOR && build.minor == ROCKSDB_MINOR) {
    build.debug = TheyAreDebug();
    build.status_checked = TheyCheckStatus();
  }
  return build;
}

std::string Refusal(const Build& ours, const Build& theirs) {
  if (ours.major == theirs.major && ours.minor == theirs.minor && ours.debug == theirs.debug &&
      ours.status_checked == theirs.status_checked) {
    return "";
  }
  // Nothing is known about the flavour of another version.
  const std::string there = ours.major == theirs.major && ours.minor == theirs.minor
                                ? Describe(theirs)
                                : std::to_string(theirs.major) + "." + std::to_string(theirs.minor);
  return "mountdb was compiled for RocksDB " + Describe(ours) + " and does not work with RocksDB " +
         there + ": compile it with the sources and flags of this RocksDB";
}

const std::string& Refusal() {
  static const auto* refusal = new std::string(Refusal(Build::Ours(), Build::Theirs()));
  return *refusal;
}

}  // namespace mountdb
