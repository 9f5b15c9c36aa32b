// The windowed index of the paper: which three data blocks may hold a key. Needs a
// RocksDB that is patched, since only the blocks tell which of the three it is.
#pragma once

#include <memory>
#include <string>

#include "cpp/learned_reader.h"
#include "mountdb/src/ffi.rs.h"
#include "rocksdb/user_defined_index.h"

namespace mountdb {

class WindowIndexBuilder final : public rocksdb::UserDefinedIndexBuilder {
 public:
  WindowIndexBuilder();

  // Keeps the first key of the file; the first keys of other blocks come with
  // the entries before.
  void OnKeyAdded(const rocksdb::Slice& key, ValueType type, const rocksdb::Slice& value) override;
  rocksdb::Slice AddIndexEntry(const rocksdb::Slice& last, const rocksdb::Slice* next,
                               const BlockHandle& handle, std::string* scratch,
                               const IndexEntryContext& context) override;
  rocksdb::Status Finish(rocksdb::Slice* contents) override;
  uint64_t EstimatedSize() const override { return builder_->estimated_size(); }

 private:
  // Set by the thread that adds keys, before the first entry.
  bool has_first_ = false;
  std::string first_;
  rust::Box<ffi::WindowBuilder> builder_;
};

// The table keeps the bytes in memory.
class WindowIndexReader final : public LearnedReader {
 public:
  WindowIndexReader(rust::Box<ffi::WindowReader> reader, const rocksdb::Slice& block);

  // None: without looking into blocks there is no position to give.
  std::unique_ptr<rocksdb::UserDefinedIndexIterator> NewIterator(
      const rocksdb::ReadOptions&) override {
    return nullptr;
  }
  size_t ApproximateMemoryUsage() const override;
  bool IsWindow() const override { return true; }

  const ffi::WindowReader& index() const { return *reader_; }
  rust::Slice<const uint8_t> bytes() const { return block_; }

 private:
  const rust::Box<ffi::WindowReader> reader_;
  const rust::Slice<const uint8_t> block_;
};

// Whether an index block is a windowed one.
bool IsWindowIndex(const rocksdb::Slice& block);

}  // namespace mountdb
