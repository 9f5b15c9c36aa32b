// Slices and errors from one language to the other.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/convenience.h"
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

// Refuses options of a factory that it does not have. RocksDB would name the
// factory's option, but not the unknown one.
inline rocksdb::Status CheckOptionNames(
    const std::string& factory, const std::vector<std::string>& known,
    const rocksdb::ConfigOptions& config,
    const std::unordered_map<std::string, std::string>& options) {
  for (const auto& [name, value] : options) {
    if (config.ignore_unknown_options || name == "id" ||
        std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    std::string has = known.empty() ? "has no parameters" : "has";
    for (const std::string& one : known) {
      has += " " + one;
    }
    return rocksdb::Status::InvalidArgument(name, "unknown parameter: " + factory + " " + has);
  }
  return rocksdb::Status::OK();
}

}  // namespace mountdb
