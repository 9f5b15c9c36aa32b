#include "cpp/window_index.h"

#include "cpp/convert.h"

namespace mountdb {

using rocksdb::Slice;
using rocksdb::Status;

WindowIndexBuilder::WindowIndexBuilder() : builder_(ffi::window_builder()) {}

void WindowIndexBuilder::OnKeyAdded(const Slice& key, ValueType, const Slice&) {
  if (!has_first_) {
    has_first_ = true;
    first_.assign(key.data(), key.size());
  }
}

Slice WindowIndexBuilder::AddIndexEntry(const Slice& last, const Slice* next,
                                        const BlockHandle& handle, std::string*,
                                        const IndexEntryContext&) {
  builder_->add(ToRust(first_), handle.offset, handle.size);
  if (next != nullptr) {
    first_.assign(next->data(), next->size());
  }
  return last;
}

Status WindowIndexBuilder::Finish(Slice* contents) {
  return ToStatus([&] { *contents = ToRocksDb(builder_->finish()); });
}

WindowIndexReader::WindowIndexReader(rust::Box<ffi::WindowReader> reader, const Slice& block)
    : reader_(std::move(reader)), block_(ToRust(block)) {}

size_t WindowIndexReader::ApproximateMemoryUsage() const {
  return sizeof(*this) + block_.size() + reader_->memory_usage();
}

bool IsWindowIndex(const Slice& block) { return ffi::is_window_index(ToRust(block)); }

}  // namespace mountdb
