#include "cpp/index_wrappers.h"

#if __has_include("table/block_based/user_defined_index_wrapper.h")
#include "table/block_based/user_defined_index_wrapper.h"
#endif

#ifdef ROCKSDB_USER_DEFINED_INDEX_EXTENSION

#include "cpp/convert.h"
#include "cpp/pgm_index.h"
#include "cpp/verifying_reader.h"
#include "cpp/window_index.h"
#include "cpp/window_iterator.h"

namespace mountdb {

using rocksdb::BlockBasedTable;
using rocksdb::BlockCacheLookupContext;
using rocksdb::BlockHandle;
using rocksdb::FilePrefetchBuffer;
using rocksdb::GetContext;
using rocksdb::IndexBlockIter;
using rocksdb::IndexBuilder;
using rocksdb::IndexValue;
using rocksdb::InternalIteratorBase;
using rocksdb::InternalKeyComparator;
using rocksdb::ReadOptions;
using rocksdb::RelaxedAtomic;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexReader;

namespace {

constexpr size_t kTagLen = rocksdb::kNumInternalBytes;

// Feeds both builders, or only the learned one.
class WrappedBuilder final : public IndexBuilder {
 public:
  WrappedBuilder(std::unique_ptr<IndexBuilder> standard,
                 std::unique_ptr<UserDefinedIndexBuilder> learned,
                 const InternalKeyComparator* comparator, size_t ts_sz, bool persist_timestamps,
                 bool omit, bool partitioned)
      : IndexBuilder(comparator, ts_sz, persist_timestamps),
        standard_(std::move(standard)),
        learned_(std::move(learned)),
        omit_(omit),
        // Partitioned filters are cut where the standard index would be.
        feed_standard_(!omit || partitioned) {}

  Slice AddIndexEntry(const Slice& last, const Slice* next, const BlockHandle& handle,
                      std::string* scratch, bool skip_delta_encoding) override {
    AddLearned(last, next, handle);
    return feed_standard_
               ? standard_->AddIndexEntry(last, next, handle, scratch, skip_delta_encoding)
               : last;
  }

  // Parallel compression: Prepare on the thread that adds keys, Finish on
  // another, in the same order. The learned index learns of an entry only then.
  struct Prepared final : PreparedIndexEntry {
    std::string last, next;
    bool has_next = false;
    std::unique_ptr<PreparedIndexEntry> standard;
  };

  std::unique_ptr<PreparedIndexEntry> CreatePreparedIndexEntry() override {
    auto prepared = std::make_unique<Prepared>();
    if (feed_standard_) {
      prepared->standard = standard_->CreatePreparedIndexEntry();
    }
    return prepared;
  }

  void PrepareIndexEntry(const Slice& last, const Slice* next, PreparedIndexEntry* out) override {
    auto* prepared = static_cast<Prepared*>(out);
    prepared->last.assign(last.data(), last.size());
    prepared->has_next = next != nullptr;
    if (next != nullptr) {
      prepared->next.assign(next->data(), next->size());
    }
    if (feed_standard_) {
      standard_->PrepareIndexEntry(last, next, prepared->standard.get());
    }
  }

  void FinishIndexEntry(const BlockHandle& handle, PreparedIndexEntry* entry,
                        bool skip_delta_encoding) override {
    auto* prepared = static_cast<Prepared*>(entry);
    const Slice next = prepared->next;
    AddLearned(prepared->last, prepared->has_next ? &next : nullptr, handle);
    if (feed_standard_) {
      standard_->FinishIndexEntry(handle, prepared->standard.get(), skip_delta_encoding);
    }
  }

  void OnKeyAdded(const Slice& key, const std::optional<Slice>& value) override {
    if (feed_standard_) {
      standard_->OnKeyAdded(key, value);
    }
    // The first key is all that a learned index wants to know, and a windowed one
    // at that.
    if (first_) {
      first_ = false;
      learned_->OnKeyAdded(rocksdb::ExtractUserKey(key), UserDefinedIndexBuilder::kOther, Slice());
    }
  }

  Status Finish(IndexBlocks* blocks, const BlockHandle& last_partition) override {
    if (!learned_finished_) {
      Slice contents;
      Status status = status_.ok() ? learned_->Finish(&contents) : status_;
      if (!status.ok()) {
        return status;
      }
      learned_finished_ = true;
      learned_size_.StoreRelaxed(contents.size());
      blocks->meta_blocks.insert(
          {std::string(rocksdb::kUserDefinedIndexPrefix) + PgmIndexFactory::kClassName(),
           {rocksdb::BlockType::kUserDefinedIndex, contents}});
    }
    return omit_ ? Status::OK() : standard_->Finish(blocks, last_partition);
  }

  size_t IndexSize() const override {
    return learned_size_.LoadRelaxed() + (omit_ ? 0 : standard_->IndexSize());
  }

  uint64_t NumUniformIndexBlocks() const override {
    return omit_ ? 0 : standard_->NumUniformIndexBlocks();
  }

  uint64_t CurrentIndexSizeEstimate() const override {
    return learned_size_.LoadRelaxed() + (omit_ ? 0 : standard_->CurrentIndexSizeEstimate());
  }

  // A property of the file: how partitioned filters store their keys, too.
  bool separator_is_key_plus_seq() override {
    return !feed_standard_ || standard_->separator_is_key_plus_seq();
  }

 private:
  void AddLearned(const Slice& last, const Slice* next, const BlockHandle& handle) {
    if (last.size() < kTagLen || (next != nullptr && next->size() < kTagLen)) {
      status_ = Status::Corruption("a key at the end of a block is shorter than its tag");
      return;
    }
    UserDefinedIndexBuilder::IndexEntryContext context;
    context.last_key_tag = rocksdb::ExtractInternalKeyFooter(last);
    Slice next_user_key;
    if (next != nullptr) {
      context.first_key_tag = rocksdb::ExtractInternalKeyFooter(*next);
      next_user_key = rocksdb::ExtractUserKey(*next);
    }
    learned_->AddIndexEntry(rocksdb::ExtractUserKey(last),
                            next != nullptr ? &next_user_key : nullptr,
                            {handle.offset(), handle.size()}, nullptr, context);
    learned_size_.StoreRelaxed(learned_->EstimatedSize());
  }

  // Owned even if unused: the table builder keeps a pointer to a partitioned one.
  const std::unique_ptr<IndexBuilder> standard_;
  const std::unique_ptr<UserDefinedIndexBuilder> learned_;
  const bool omit_;
  const bool feed_standard_;
  bool first_ = true;
  Status status_;
  bool learned_finished_ = false;
  // An estimate until Finish; read by the thread that adds keys.
  RelaxedAtomic<uint64_t> learned_size_{0};
};

// A position, and what was asked about it. One allocation, unless someone asks
// for the separator.
class LearnedIterator final : public InternalIteratorBase<IndexValue> {
 public:
  LearnedIterator(const ffi::PgmReader& index, const ffi::LookupLine& lookup, uint64_t len,
                  rust::Slice<const uint8_t> bytes)
      : index_(index), lookup_(lookup), bytes_(bytes), len_(len) {}

  bool Valid() const override { return valid_; }

  void Seek(const Slice& target) override {
    status_ = target.size() < kTagLen ? Status::Corruption("a target is shorter than its tag")
                                      : Status::OK();
    if (status_.ok()) {
      At(index_.seek(lookup_, bytes_, ToRust(rocksdb::ExtractUserKey(target)),
                     rocksdb::ExtractInternalKeyFooter(target)));
    } else {
      valid_ = false;
    }
  }
  void SeekToFirst() override { GoTo(0); }
  void SeekToLast() override { GoTo(len_ - 1); }
  void Next() override { GoTo(position_ + 1); }
  void Prev() override { GoTo(position_ - 1); }

  // As RocksDB's own: tables never ask it of an index.
  void SeekForPrev(const Slice&) override {
    valid_ = false;
    status_ = Status::NotSupported("SeekForPrev of an index");
  }

  Slice key() const override {
    if (key_of_ != position_) {
      key_of_ = position_;
      ffi::pgm_separator(lookup_, bytes_, position_, key_);
    }
    return {reinterpret_cast<const char*>(key_.data()), key_.size()};
  }

  IndexValue value() const override {
    if (!placed_) {
      placed_ = true;
      const ffi::BlockPlace place = ffi::pgm_place(lookup_, bytes_, position_);
      value_.handle = BlockHandle(place.offset, place.size);
    }
    return value_;
  }

  Status status() const override { return status_; }

 private:
  void At(const ffi::BlockPlace& place) {
    position_ = place.position;
    valid_ = position_ < len_;
    placed_ = true;
    value_.handle = BlockHandle(place.offset, place.size);
    key_of_ = kNone;
  }

  void GoTo(uint64_t position) {
    status_ = Status::OK();
    position_ = position;
    valid_ = position < len_;
    placed_ = false;
    key_of_ = kNone;
  }

  static constexpr uint64_t kNone = UINT64_MAX;

  const ffi::PgmReader& index_;
  const ffi::LookupLine& lookup_;
  const rust::Slice<const uint8_t> bytes_;
  const uint64_t len_;
  uint64_t position_ = kNone;
  bool valid_ = false;
  mutable bool placed_ = false;
  mutable uint64_t key_of_ = kNone;
  mutable IndexValue value_;
  mutable rust::Vec<uint8_t> key_;
  Status status_;
};

// Reads through the learned index, the standard one, or whichever is asked for.
class alignas(64) WrappedReader final : public BlockBasedTable::IndexReader {
 public:
  WrappedReader(std::unique_ptr<IndexReader> standard,
                std::unique_ptr<UserDefinedIndexReader> learned, bool primary,
                const BlockBasedTable* table)
      : standard_(std::move(standard)),
        learned_(std::move(learned)),
        table_(table),
        primary_(primary || standard_ == nullptr) {
    if (!static_cast<const LearnedReader&>(*learned_).IsWindow()) {
      const auto& reader = static_cast<const PgmReader&>(*learned_);
      exact_ = &reader.index();
      lookup_ = exact_->lookup();
      len_ = exact_->len();
      bytes_ = reader.bytes();
    }
  }

  InternalIteratorBase<IndexValue>* NewIterator(const ReadOptions& options,
                                                bool disable_prefix_seek, IndexBlockIter* iter,
                                                GetContext* get_context,
                                                BlockCacheLookupContext* context) override {
    const auto* asked = options.table_index_factory;
    if (primary_ || (asked != nullptr && asked->Name() == std::string(PgmIndexFactory::kClassName()))) {
      if (exact_ != nullptr) {
        return new LearnedIterator(*exact_, lookup_, len_, bytes_);
      }
      return new WindowIterator(static_cast<const WindowIndexReader&>(*learned_), table_, options,
                                get_context, context);
    }
    if (asked != nullptr) {
      return rocksdb::NewErrorInternalIterator<IndexValue>(Status::InvalidArgument(
          "ReadOptions::table_index_factory",
          std::string("the file has the index PgmIndexFactory, not ") + asked->Name()));
    }
    return standard_->NewIterator(options, disable_prefix_seek, iter, get_context, context);
  }

  size_t ApproximateMemoryUsage() const override {
    return learned_->ApproximateMemoryUsage() +
           (standard_ == nullptr ? 0 : standard_->ApproximateMemoryUsage());
  }

  Status CacheDependencies(const ReadOptions& options, bool pin,
                           FilePrefetchBuffer* tail) override {
    return standard_ == nullptr ? Status::OK() : standard_->CacheDependencies(options, pin, tail);
  }

  void EraseFromCacheBeforeDestruction(uint32_t aggressiveness) override {
    if (standard_ != nullptr) {
      standard_->EraseFromCacheBeforeDestruction(aggressiveness);
    }
  }

 private:
  const std::unique_ptr<IndexReader> standard_;
  const std::unique_ptr<UserDefinedIndexReader> learned_;
  const BlockBasedTable* const table_;
  const bool primary_;
  // What a look-up needs of a PgmReader, beside it: two cache lines whose places
  // are known at once, instead of one after the other. Null for a windowed index.
  const ffi::PgmReader* exact_ = nullptr;
  uint64_t len_ = 0;
  rust::Slice<const uint8_t> bytes_;
  ffi::LookupLine lookup_{};
};

class Extension final : public rocksdb::UserDefinedIndexExtension {
 public:
  explicit Extension(const PgmIndexOptions& options) : options_(options) {}

  bool OmitsStandardIndex() const override { return options_.mode == PgmMode::kReplace; }
  bool ReadsStandardIndex() const override { return options_.verify_one_in > 0; }

  std::unique_ptr<IndexBuilder> WrapBuilder(std::unique_ptr<IndexBuilder> standard,
                                            std::unique_ptr<UserDefinedIndexBuilder> learned,
                                            const InternalKeyComparator* comparator, size_t ts_sz,
                                            bool persist_timestamps, bool partitioned) override {
    return std::make_unique<WrappedBuilder>(std::move(standard), std::move(learned), comparator,
                                            ts_sz, persist_timestamps, OmitsStandardIndex(),
                                            partitioned);
  }

  std::unique_ptr<BlockBasedTable::IndexReader> WrapReader(
      std::unique_ptr<BlockBasedTable::IndexReader> standard,
      std::unique_ptr<UserDefinedIndexReader> learned, bool primary,
      const BlockBasedTable* table) override {
    // Versions of one key are ordered by timestamp first, which the learned index
    // does not know: it may name an earlier block.
    if (options_.verify_one_in > 0 && standard != nullptr &&
        table->get_rep()->internal_comparator.user_comparator()->timestamp_size() == 0) {
      return NewVerifyingReader(
          std::move(standard),
          std::make_unique<WrappedReader>(nullptr, std::move(learned), true, table), primary, table,
          options_.verify_one_in, distrusted_);
    }
    return std::make_unique<WrappedReader>(std::move(standard), std::move(learned), primary, table);
  }

 private:
  const PgmIndexOptions& options_;
  const std::shared_ptr<DistrustedFiles> distrusted_ = std::make_shared<DistrustedFiles>();
};

}  // namespace

std::shared_ptr<rocksdb::UserDefinedIndexExtension> NewIndexExtension(
    const PgmIndexOptions& options) {
  return std::make_shared<Extension>(options);
}

}  // namespace mountdb

#else  // RocksDB as published: its own wrappers, both indexes in every file

namespace mountdb {

std::shared_ptr<rocksdb::UserDefinedIndexExtension> NewIndexExtension(const PgmIndexOptions&) {
  return nullptr;
}

}  // namespace mountdb

#endif
