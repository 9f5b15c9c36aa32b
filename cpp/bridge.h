// What the Rust side sees of C++: src/ffi.rs includes this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/allocator.h"
#include "rocksdb/comparator.h"
#include "rocksdb/options.h"
#include "rust/cxx.h"

namespace mountdb::ffi {

using rocksdb::Allocator;
using rocksdb::Comparator;
using rocksdb::Options;

// Memory that lives as long as the memtable, aligned for any type.
inline uint8_t* allocate_node(Allocator* allocator, size_t bytes) noexcept {
  return reinterpret_cast<uint8_t*>(allocator->AllocateAligned(bytes));
}

// Order of user keys, timestamps aside. An index that ignores them leads to the
// first block that may hold any version of the key, which is never too late.
inline int32_t compare_user_keys(const Comparator* comparator,
                                 rust::Slice<const uint8_t> a,
                                 rust::Slice<const uint8_t> b) noexcept {
  return comparator->CompareWithoutTimestamp(
      {reinterpret_cast<const char*>(a.data()), a.size()}, true,
      {reinterpret_cast<const char*>(b.data()), b.size()}, true);
}

void register_factories() noexcept;

// Both throw std::runtime_error with RocksDB's message.
void apply_learned(Options* options, rust::Str memtable, rust::Str index,
                   bool primary);
void apply_string(Options* options, rust::Str text);

}  // namespace mountdb::ffi
