#if __has_include("table/block_based/user_defined_index_wrapper.h")
#include "table/block_based/user_defined_index_wrapper.h"
#endif

#ifdef ROCKSDB_USER_DEFINED_INDEX_EXTENSION

#include <atomic>

#include "cpp/pgm_index.h"
#include "cpp/verifying_reader.h"

namespace mountdb {

using rocksdb::BlockBasedTable;
using rocksdb::BlockCacheLookupContext;
using rocksdb::BlockHandle;
using rocksdb::DataBlockIter;
using rocksdb::FilePrefetchBuffer;
using rocksdb::GetContext;
using rocksdb::IndexBlockIter;
using rocksdb::IndexValue;
using rocksdb::InternalIteratorBase;
using rocksdb::PinnedIteratorsManager;
using rocksdb::ReadaheadFileInfo;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

using IndexIterator = InternalIteratorBase<IndexValue>;

// "none" for the end of the index.
std::string Place(const IndexIterator& iterator) {
  return iterator.Valid() ? iterator.value().handle.ToString(/*hex=*/false) : "none";
}

class VerifyingReader final : public BlockBasedTable::IndexReader {
 public:
  VerifyingReader(std::unique_ptr<IndexReader> standard, std::unique_ptr<IndexReader> learned,
                  bool primary, const BlockBasedTable* table, uint32_t one_in,
                  const std::shared_ptr<DistrustedFiles>& distrusted_files)
      : standard_(std::move(standard)),
        learned_(std::move(learned)),
        table_(table),
        primary_(primary),
        one_in_(one_in),
        distrusted_files_(distrusted_files),
        distrusted_(distrusted_files->Contains(FileName())) {}

  IndexIterator* NewIterator(const ReadOptions& options, bool disable_prefix_seek,
                             IndexBlockIter* iter, GetContext* get_context,
                             BlockCacheLookupContext* context) override;

  size_t ApproximateMemoryUsage() const override {
    return learned_->ApproximateMemoryUsage() + standard_->ApproximateMemoryUsage();
  }
  Status CacheDependencies(const ReadOptions& options, bool pin,
                           FilePrefetchBuffer* tail) override {
    return standard_->CacheDependencies(options, pin, tail);
  }
  void EraseFromCacheBeforeDestruction(uint32_t aggressiveness) override {
    standard_->EraseFromCacheBeforeDestruction(aggressiveness);
  }

  bool distrusted() const { return distrusted_.load(std::memory_order_relaxed); }
  uint32_t one_in() const { return one_in_; }
  IndexReader& standard() const { return *standard_; }
  IndexReader& learned() const { return *learned_; }

  // Seeks both indexes. A difference is counted, logged, and the file's last use of
  // the learned one.
  void Verify(const Slice& target, const ReadOptions& options, BlockCacheLookupContext* context);

 private:
  enum class Verdict { kSame, kDifferent, kUnknown };

  const std::string& FileName() const { return table_->get_rep()->file->file_name(); }
  Verdict Compare(const IndexIterator& learned, IndexIterator* standard, const Slice& target,
                  const ReadOptions& options, BlockCacheLookupContext* context) const;

  const std::unique_ptr<IndexReader> standard_;
  const std::unique_ptr<IndexReader> learned_;
  const BlockBasedTable* const table_;
  const bool primary_;
  const uint32_t one_in_;
  const std::shared_ptr<DistrustedFiles> distrusted_files_;
  std::atomic<bool> distrusted_;
};

// Passes on one index's iterator; a seek of the learned one that turns out wrong
// is made again with the standard one.
class VerifyingIterator final : public IndexIterator {
 public:
  // With `always`, every seek is verified: the iterator was drawn already.
  VerifyingIterator(VerifyingReader* reader, bool learned, bool always, const ReadOptions& options,
                    bool disable_prefix_seek, GetContext* get_context,
                    const BlockCacheLookupContext* context)
      : reader_(reader),
        learned_(learned),
        always_(always),
        options_(options),
        disable_prefix_seek_(disable_prefix_seek),
        get_context_(get_context),
        context_(context != nullptr ? context->caller
                                    : rocksdb::TableReaderCaller::kUncategorized) {
    Serve(learned ? reader->learned() : reader->standard());
  }

  void Seek(const Slice& target) override {
    if (!reader_->distrusted() && (always_ || VerifyNow(reader_->one_in()))) {
      reader_->Verify(target, options_, &context_);
    }
    if (learned_ && reader_->distrusted()) {
      learned_ = false;
      Serve(reader_->standard());
    }
    served_->Seek(target);
  }

  bool Valid() const override { return served_->Valid(); }
  void SeekToFirst() override { served_->SeekToFirst(); }
  void SeekToLast() override { served_->SeekToLast(); }
  void SeekForPrev(const Slice& target) override { served_->SeekForPrev(target); }
  void Next() override { served_->Next(); }
  bool NextAndGetResult(rocksdb::IterateResult* result) override {
    return served_->NextAndGetResult(result);
  }
  void Prev() override { served_->Prev(); }
  Slice key() const override { return served_->key(); }
  Slice user_key() const override { return served_->user_key(); }
  IndexValue value() const override { return served_->value(); }
  Status status() const override { return served_->status(); }
  bool PrepareValue() override { return served_->PrepareValue(); }
  bool MayBeOutOfLowerBound() override { return served_->MayBeOutOfLowerBound(); }
  rocksdb::IterBoundCheck UpperBoundCheckResult() override {
    return served_->UpperBoundCheckResult();
  }
  void SetPinnedItersMgr(PinnedIteratorsManager* manager) override {
    pinned_ = manager;
    served_->SetPinnedItersMgr(manager);
  }
  bool IsKeyPinned() const override { return served_->IsKeyPinned(); }
  bool IsValuePinned() const override { return served_->IsValuePinned(); }
  Status GetProperty(std::string name, std::string* value) override {
    return served_->GetProperty(std::move(name), value);
  }
  void GetReadaheadState(ReadaheadFileInfo* info) override { served_->GetReadaheadState(info); }
  void SetReadaheadState(ReadaheadFileInfo* info) override { served_->SetReadaheadState(info); }

 private:
  void Serve(BlockBasedTable::IndexReader& reader) {
    served_.reset(
        reader.NewIterator(options_, disable_prefix_seek_, nullptr, get_context_, &context_));
    served_->SetPinnedItersMgr(pinned_);
  }

  VerifyingReader* const reader_;
  bool learned_;
  const bool always_;
  // Copies: the iterator of a table outlives those that it is made with.
  const ReadOptions options_;
  const bool disable_prefix_seek_;
  GetContext* const get_context_;
  BlockCacheLookupContext context_;
  PinnedIteratorsManager* pinned_ = nullptr;
  std::unique_ptr<IndexIterator> served_;
};

IndexIterator* VerifyingReader::NewIterator(const ReadOptions& options, bool disable_prefix_seek,
                                            IndexBlockIter* iter, GetContext* get_context,
                                            BlockCacheLookupContext* context) {
  const auto* asked = options.table_index_factory;
  const bool named =
      asked != nullptr && asked->Name() == std::string(PgmIndexFactory::kClassName());
  if (distrusted() && (asked == nullptr || named)) {
    return standard_->NewIterator(options, disable_prefix_seek, iter, get_context, context);
  }
  if (asked != nullptr && !named && !primary_) {
    return rocksdb::NewErrorInternalIterator<IndexValue>(Status::InvalidArgument(
        "ReadOptions::table_index_factory",
        std::string("the file has the index PgmIndexFactory, not ") + asked->Name()));
  }
  const bool learned = primary_ || named;
  // One without a place on the stack lives for many seeks, which are drawn one by
  // one; one for a point look-up is drawn itself, and costs nothing if it is not.
  const bool drawn = iter != nullptr && VerifyNow(one_in_);
  if (iter == nullptr || drawn) {
    return new VerifyingIterator(this, learned, drawn, options, disable_prefix_seek, get_context,
                                 context);
  }
  return (learned ? learned_ : standard_)
      ->NewIterator(options, disable_prefix_seek, iter, get_context, context);
}

void VerifyingReader::Verify(const Slice& target, const ReadOptions& options,
                             BlockCacheLookupContext* context) {
  ReadOptions total = options;
  total.total_order_seek = true;
  total.table_index_factory = nullptr;
  const auto seek = [&](IndexReader& reader) {
    std::unique_ptr<IndexIterator> iterator(
        reader.NewIterator(total, /*disable_prefix_seek=*/true, nullptr, nullptr, context));
    iterator->Seek(target);
    return iterator;
  };
  const auto standard = seek(*standard_);
  const auto learned = seek(*learned_);
  if (!standard->status().ok() || !learned->status().ok()) {
    return;  // not read; the seek that serves the caller tells why
  }
  const std::string standard_place = Place(*standard);
  const Verdict verdict = Compare(*learned, standard.get(), target, total, context);
  if (verdict == Verdict::kUnknown) {
    return;
  }
  VerifyStats::Add(VerifyStats::kSeeks);
  if (verdict == Verdict::kSame) {
    return;
  }
  VerifyStats::Add(VerifyStats::kWrongSeeks);
  rocksdb::Error(table_->get_rep()->ioptions.logger,
                 "pgm index of %s is wrong: for key %s block %s, in RocksDB's index block %s (offset "
                 "and size); RocksDB's index serves this file from now on",
                 FileName().c_str(), target.ToString(/*hex=*/true).c_str(), Place(*learned).c_str(),
                 standard_place.c_str());
  distrusted_.store(true, std::memory_order_relaxed);
  distrusted_files_->Add(FileName());
}

// Where a target lies between two blocks, either may be named: reading goes on
// from the earlier one, which then has nothing at or above the target.
VerifyingReader::Verdict VerifyingReader::Compare(const IndexIterator& learned,
                                                  IndexIterator* standard, const Slice& target,
                                                  const ReadOptions& options,
                                                  BlockCacheLookupContext* context) const {
  const std::string answer = Place(learned);
  if (answer == Place(*standard)) {
    return Verdict::kSame;
  }
  const bool standard_first =
      standard->Valid() && (!learned.Valid() || standard->value().handle.offset() <
                                                    learned.value().handle.offset());
  const BlockHandle earlier = (standard_first ? standard->value() : learned.value()).handle;
  if (standard_first) {
    standard->Next();
  } else if (standard->Valid()) {
    standard->Prev();
  } else {
    standard->SeekToLast();
  }
  if (!standard->status().ok()) {
    return Verdict::kUnknown;
  }
  if (Place(*standard) != answer) {
    return Verdict::kDifferent;
  }
  DataBlockIter block;
  Status status;
  table_->NewDataBlockIterator<DataBlockIter>(
      options, earlier, &block, rocksdb::BlockType::kData, nullptr, context, nullptr,
      /*for_compaction=*/false, /*async_read=*/false, status, /*use_block_cache_for_lookup=*/true);
  block.Seek(target);
  if (!block.status().ok()) {
    return Verdict::kUnknown;
  }
  return block.Valid() ? Verdict::kDifferent : Verdict::kSame;
}

}  // namespace

std::unique_ptr<BlockBasedTable::IndexReader> NewVerifyingReader(
    std::unique_ptr<BlockBasedTable::IndexReader> standard,
    std::unique_ptr<BlockBasedTable::IndexReader> learned, bool primary,
    const BlockBasedTable* table, uint32_t one_in,
    const std::shared_ptr<DistrustedFiles>& distrusted) {
  return std::make_unique<VerifyingReader>(std::move(standard), std::move(learned), primary, table,
                                           one_in, distrusted);
}

}  // namespace mountdb

#endif
