#include "cpp/c.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "cpp/registry.h"

namespace mountdb {

namespace {

// Nothing that is thrown may reach a caller in C; its message becomes *errptr.
template <typename Call>
void Guard(char** errptr, const Call& call) noexcept {
  std::string message;
  try {
    const rocksdb::Status status = call();
    if (status.ok()) {
      return;
    }
    message = status.ToString();
  } catch (const std::exception& error) {
    message = error.what();
  }
  std::free(*errptr);
  // rocksdb_free() is free().
  *errptr = strdup(message.c_str());
}

const char* OrEmpty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

}  // namespace mountdb

extern "C" void mountdb_register(char** errptr) {
  mountdb::Guard(errptr, [] {
    mountdb::Register();
    return rocksdb::Status::OK();
  });
}

extern "C" void mountdb_options_apply(rocksdb_options_t* options, const char* memtable,
                                      const char* index, int index_mode, char** errptr) {
  mountdb::Guard(errptr, [&] {
    if (index_mode != mountdb_index_alongside && index_mode != mountdb_index_primary) {
      return rocksdb::Status::InvalidArgument(
          "index_mode", "must be mountdb_index_alongside or mountdb_index_primary, is " +
                            std::to_string(index_mode));
    }
    // rocksdb_options_t holds an Options and nothing else (db/c.cc).
    return mountdb::Apply(reinterpret_cast<rocksdb::Options*>(options), mountdb::OrEmpty(memtable),
                          mountdb::OrEmpty(index),
                          index_mode == mountdb_index_primary ? mountdb::IndexMode::kPrimary
                                                              : mountdb::IndexMode::kAlongside);
  });
}
