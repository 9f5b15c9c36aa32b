// Where the windowed index and the data blocks meet (the paper, section 4.4).
// Included only where RocksDB is patched.
#pragma once

#include "cpp/c.h"
#include "cpp/window_index.h"
#include "table/block_based/block_based_table_reader.h"

namespace mountdb {

// Answers as an exact index: the first block whose last key is at or above the
// target. To tell, it reads the predicted block, and its neighbours if need be;
// all three come with one read if the predicted one is not cached.
class WindowIterator final : public rocksdb::InternalIteratorBase<rocksdb::IndexValue> {
 public:
  WindowIterator(const WindowIndexReader& reader, const rocksdb::BlockBasedTable* table,
                 const rocksdb::ReadOptions& options, rocksdb::GetContext* get_context,
                 const rocksdb::BlockCacheLookupContext* context);

  bool Valid() const override { return valid_; }
  void Seek(const rocksdb::Slice& target) override;
  void SeekToFirst() override { GoTo(0); }
  void SeekToLast() override { GoTo(index_.len() - 1); }
  void Next() override { Step(position_ + 1); }
  void Prev() override { Step(position_ - 1); }
  void SeekForPrev(const rocksdb::Slice& target) override;

  // The last key of the block, which has to be read for it. If that fails, the
  // iterator ends here with the error, and a key above all that may be asked
  // for keeps the table's iterator from taking a bound for reached in silence.
  rocksdb::Slice key() const override;
  rocksdb::IndexValue value() const override;
  rocksdb::Status status() const override { return status_; }

 private:
  enum class Side { kBelow, kInside, kAbove, kError };

  // Where the target lies: not above the first key of the block, between its
  // first and last, or above.
  Side Compare(uint64_t position, const rocksdb::Slice& target);
  bool Load(uint64_t position) const;
  rocksdb::BlockHandle Handle(uint64_t position) const;
  void ReadWindow(uint64_t position) const;
  void GoTo(uint64_t position);
  void Step(uint64_t position);
  void Fail(const rocksdb::Status& status) const;

  static constexpr uint64_t kNone = UINT64_MAX;

  const ffi::WindowReader& index_;
  const rust::Slice<const uint8_t> bytes_;
  const rocksdb::BlockBasedTable* const table_;
  // Copies: the iterator of a table outlives those that it is made with.
  const rocksdb::ReadOptions options_;
  mutable rocksdb::BlockCacheLookupContext context_;
  rocksdb::GetContext* const get_context_;
  uint64_t position_ = kNone;
  mutable bool valid_ = false;
  mutable rocksdb::Status status_;
  // The block that was looked into last.
  mutable uint64_t loaded_ = kNone;
  mutable rocksdb::DataBlockIter block_;
  mutable std::unique_ptr<rocksdb::FilePrefetchBuffer> window_;
  mutable uint64_t key_of_ = kNone;
  mutable std::string key_;
};

}  // namespace mountdb
