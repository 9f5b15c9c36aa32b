// Slices and errors from one language to the other.
#pragma once

#include <functional>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rust/cxx.h"

namespace mountdb {

inline rust::Slice<const uint8_t> ToRust(const rocksdb::Slice& slice) {
  return {reinterpret_cast<const uint8_t*>(slice.data()), slice.size()};
}

inline rocksdb::Slice ToRocksDb(rust::Slice<const uint8_t> slice) {
  return {reinterpret_cast<const char*>(slice.data()), slice.size()};
}

// Runs a call that may report an error: in an index that is Corruption.
inline rocksdb::Status ToStatus(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return rocksdb::Status::Corruption(error.what());
  }
  return rocksdb::Status::OK();
}

}  // namespace mountdb
