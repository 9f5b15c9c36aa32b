#if __has_include("table/block_based/user_defined_index_wrapper.h")
#include "table/block_based/user_defined_index_wrapper.h"
#endif

#include "cpp/window_stats.h"

#ifdef ROCKSDB_USER_DEFINED_INDEX_EXTENSION

#include "cpp/convert.h"
#include "cpp/window_iterator.h"
#include "file/file_prefetch_buffer.h"
#include "table/get_context.h"

namespace mountdb {

using rocksdb::BlockHandle;
using rocksdb::DataBlockIter;
using rocksdb::FilePrefetchBuffer;
using rocksdb::IndexValue;
using rocksdb::Slice;
using rocksdb::Status;

WindowIterator::WindowIterator(const WindowIndexReader& reader,
                               const rocksdb::BlockBasedTable* table,
                               const rocksdb::ReadOptions& options,
                               rocksdb::GetContext* get_context,
                               const rocksdb::BlockCacheLookupContext* context)
    : index_(reader.index()),
      bytes_(reader.bytes()),
      table_(table),
      options_(options),
      context_(context != nullptr ? context->caller : rocksdb::TableReaderCaller::kUncategorized),
      get_context_(get_context) {}

void WindowIterator::Seek(const Slice& target) {
  status_ = Status::OK();
  valid_ = false;
  if (target.size() < rocksdb::kNumInternalBytes) {
    status_ = Status::Corruption("a target is shorter than its tag");
    return;
  }
  const uint64_t count = index_.len();
  if (count == 0) {
    return;
  }
  const uint64_t predicted = index_.predict(bytes_, ToRust(rocksdb::ExtractUserKey(target)));
  uint64_t at = predicted;
  Side side = Compare(at, target);
  if (side == Side::kAbove) {
    // Mostly the next block. Where many start with equal eight bytes, the way may
    // be long: strides that double, then bisection.
    uint64_t above = at;
    for (uint64_t stride = 1; (at = std::min(above + stride, count)) < count; stride *= 2) {
      side = Compare(at, target);
      if (side != Side::kAbove) {
        break;
      }
      above = at;
    }
    while (side != Side::kError && at - above > 1) {
      const uint64_t middle = above + (at - above) / 2;
      side = Compare(middle, target);
      (side == Side::kAbove ? above : at) = middle;
    }
  } else {
    while (side == Side::kBelow && at > 0) {
      side = Compare(at - 1, target);
      if (side == Side::kAbove) {
        break;
      }
      --at;
    }
  }
  if (side != Side::kError) {
    WindowStats::Add(at < predicted   ? (predicted - at == 1 ? WindowStats::kLeft : WindowStats::kBeyond)
                     : at > predicted ? (at - predicted == 1 ? WindowStats::kRight : WindowStats::kBeyond)
                                      : WindowStats::kPredicted);
    position_ = at;
    valid_ = at < count;
    window_.reset();
  }
}

// As RocksDB's own: tables never ask it of an index.
void WindowIterator::SeekForPrev(const Slice&) {
  valid_ = false;
  status_ = Status::NotSupported("SeekForPrev of an index");
}

void WindowIterator::GoTo(uint64_t position) {
  status_ = Status::OK();
  position_ = position;
  valid_ = position < index_.len();
}

void WindowIterator::Step(uint64_t position) {
  // An error of key() stays.
  if (status_.ok()) {
    GoTo(position);
  }
}

void WindowIterator::Fail(const Status& status) const {
  status_ = status;
  valid_ = false;
}

BlockHandle WindowIterator::Handle(uint64_t position) const {
  const ffi::BlockPlace place = index_.place(bytes_, position);
  return {place.offset, place.size};
}

IndexValue WindowIterator::value() const { return {Handle(position_), Slice()}; }

Slice WindowIterator::key() const {
  if (key_of_ != position_) {
    key_of_ = position_;
    if (Load(position_)) {
      block_.SeekToLast();
      if (block_.Valid()) {
        key_.assign(block_.key().data(), block_.key().size());
        return key_;
      }
      Fail(block_.status().ok() ? Status::Corruption("an empty data block") : block_.status());
    }
    key_.assign(256 + rocksdb::kNumInternalBytes, '\xff');
  }
  return key_;
}

bool WindowIterator::Load(uint64_t position) const {
  if (loaded_ == position) {
    return true;
  }
  loaded_ = kNone;
  const auto read = [&](const rocksdb::ReadOptions& options, FilePrefetchBuffer* buffer) {
    Status status;
    block_.Invalidate(Status::OK());
    table_->NewDataBlockIterator<DataBlockIter>(
        options, Handle(position), &block_, rocksdb::BlockType::kData, get_context_, &context_,
        buffer, /*for_compaction=*/false, /*async_read=*/false, status,
        /*use_block_cache_for_lookup=*/true);
  };
  if (window_ == nullptr && options_.read_tier != rocksdb::kBlockCacheTier) {
    rocksdb::ReadOptions cached = options_;
    cached.read_tier = rocksdb::kBlockCacheTier;
    read(cached, nullptr);
    if (block_.status().IsIncomplete()) {
      ReadWindow(position);
      read(options_, window_.get());
    }
  } else {
    read(options_, window_.get());
  }
  if (!block_.status().ok()) {
    // As a table's Get for a block that it may not read: without, KeyMayExist
    // gives out a value that nobody has read. Not for MultiGet, whose context
    // here is the first key's, whichever key is sought.
    if (block_.status().IsIncomplete() && get_context_ != nullptr &&
        context_.caller == rocksdb::TableReaderCaller::kUserGet) {
      get_context_->MarkKeyMayExist();
    }
    Fail(block_.status());
    return false;
  }
  loaded_ = position;
  return true;
}

// One read for the block and its neighbours.
void WindowIterator::ReadWindow(uint64_t position) const {
  const auto* rep = table_->get_rep();
  const uint64_t begin = Handle(position == 0 ? 0 : position - 1).offset();
  const BlockHandle last = Handle(std::min(position + 1, index_.len() - 1));
  const uint64_t end = last.offset() + last.size() + rep->footer.GetBlockTrailerSize();
  window_ = std::make_unique<FilePrefetchBuffer>(rocksdb::ReadaheadParams(), /*enable=*/true,
                                                 /*track_min_offset=*/false,
                                                 rep->ioptions.fs.get(), rep->ioptions.clock,
                                                 rep->ioptions.stats);
  rocksdb::IOOptions io;
  rocksdb::IODebugContext debug;
  Status status = rep->file->PrepareIOOptions(options_, io, &debug);
  if (status.ok()) {
    status = window_->Prefetch(io, rep->file.get(), begin, end - begin);
    WindowStats::Add(WindowStats::kReads);
  }
  if (!status.ok()) {
    // The read of the block alone will tell, or succeed.
    window_.reset();
  }
}

WindowIterator::Side WindowIterator::Compare(uint64_t position, const Slice& target) {
  if (!Load(position)) {
    return Side::kError;
  }
  block_.Seek(target);
  if (!block_.Valid()) {
    if (!block_.status().ok()) {
      loaded_ = kNone;
      Fail(block_.status());
      return Side::kError;
    }
    return Side::kAbove;
  }
  block_.SeekToFirst();
  return table_->get_rep()->internal_comparator.Compare(target, block_.key()) <= 0
             ? Side::kBelow
             : Side::kInside;
}

}  // namespace mountdb

#endif
