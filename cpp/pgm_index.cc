#include "cpp/pgm_index.h"

#include <cstddef>

#include "cpp/convert.h"
#include "cpp/index_wrappers.h"
#include "cpp/option_types.h"
#include "cpp/window_index.h"
#include "rocksdb/comparator.h"
#include "rocksdb/table.h"

namespace mountdb {

using rocksdb::Comparator;
using rocksdb::IterateResult;
using rocksdb::IterBoundCheck;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexIterator;
using rocksdb::UserDefinedIndexOption;
using rocksdb::UserDefinedIndexReader;

namespace {

// Null for the order that models can learn.
const Comparator* OtherThanBytewise(const Comparator* comparator) {
  return comparator == rocksdb::BytewiseComparator() ? nullptr : comparator;
}

class PgmIterator final : public UserDefinedIndexIterator {
 public:
  PgmIterator(const ffi::PgmReader& reader, rust::Slice<const uint8_t> block)
      : reader_(reader), block_(block), cursor_(ffi::pgm_cursor()) {}

  // Bounds are left to the table iterator, which knows the keys: an index entry
  // is reported as in bounds, the end of the index as the end of the file.
  void Prepare(const rocksdb::ScanOptions[], size_t) override {}

  Status SeekAndGetResult(const Slice& target, IterateResult* result,
                          const SeekContext& context) override {
    return Report(cursor_->seek(reader_, block_, ToRust(target), context.target_tag), result);
  }
  Status SeekToFirstAndGetResult(IterateResult* result) override {
    return Report(cursor_->seek_to_first(reader_, block_), result);
  }
  Status SeekToLastAndGetResult(IterateResult* result) override {
    return Report(cursor_->seek_to_last(reader_, block_), result);
  }
  Status NextAndGetResult(IterateResult* result) override {
    return Report(cursor_->next(reader_, block_), result);
  }
  Status PrevAndGetResult(IterateResult* result) override {
    return Report(cursor_->prev(reader_, block_), result);
  }

  UserDefinedIndexBuilder::BlockHandle value() override { return handle_; }

 private:
  Status Report(const ffi::IndexPlace& place, IterateResult* result) {
    result->value_prepared = true;
    if (place.valid) {
      handle_ = {place.offset, place.size};
      result->key = ToRocksDb(place.separator);
      result->bound_check_result = IterBoundCheck::kInbound;
    } else {
      result->key = Slice();
      result->bound_check_result = IterBoundCheck::kUnknown;
    }
    return Status::OK();
  }

  const ffi::PgmReader& reader_;
  const rust::Slice<const uint8_t> block_;
  rust::Box<ffi::PgmCursor> cursor_;
  UserDefinedIndexBuilder::BlockHandle handle_{};
};

const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& OptionTypes() {
  static const auto* types = new std::unordered_map<std::string, rocksdb::OptionTypeInfo>{
      {"mode",
       Choice<PgmMode>("mode", offsetof(PgmIndexOptions, mode), {"alongside", "replace"})},
      {"lookup",
       Choice<PgmLookup>("lookup", offsetof(PgmIndexOptions, lookup), {"exact", "window"})},
      {"verify_one_in", Number("verify_one_in", offsetof(PgmIndexOptions, verify_one_in), 0,
                               kMaxVerifyOneIn)}};
  return *types;
}

}  // namespace

PgmBuilder::PgmBuilder(const Comparator* comparator)
    : comparator_(comparator), builder_(ffi::pgm_builder(comparator != nullptr)) {}

Slice PgmBuilder::AddIndexEntry(const Slice& last, const Slice* next, const BlockHandle& handle,
                                std::string*, const IndexEntryContext& context) {
  if (comparator_ != nullptr && comparator_->timestamp_size() > 0) {
    // Versions of one key are ordered by timestamp first, which tags do not
    // know: without one, a seek starts at the first block of the key.
    builder_->add(ToRust(last), {}, false, handle.offset, handle.size, {0, 0});
  } else if (comparator_ != nullptr && next != nullptr && comparator_->Compare(last, *next) == 0) {
    builder_->add_straddling(ToRust(last), handle.offset, handle.size, context.last_key_tag);
  } else {
    builder_->add(ToRust(last), ToRust(next != nullptr ? *next : Slice()), next != nullptr,
                  handle.offset, handle.size, {context.last_key_tag, context.first_key_tag});
  }
  // The separator is chosen later, for a whole group; RocksDB's wrapper
  // returns its own index's.
  return last;
}

Status PgmBuilder::Finish(Slice* contents) {
  return ToStatus([&] { *contents = ToRocksDb(builder_->finish()); });
}

PgmReader::PgmReader(rust::Box<ffi::PgmReader> reader, const Slice& block)
    : reader_(std::move(reader)), block_(ToRust(block)) {}

std::unique_ptr<UserDefinedIndexIterator> PgmReader::NewIterator(const rocksdb::ReadOptions&) {
  return std::make_unique<PgmIterator>(*reader_, block_);
}

size_t PgmReader::ApproximateMemoryUsage() const {
  return sizeof(*this) + block_.size() + reader_->memory_usage();
}

PgmIndexFactory::PgmIndexFactory(const PgmIndexOptions& options)
    : options_(options), extension_(NewIndexExtension(options_)) {
  RegisterOptions("PgmIndexOptions", &options_, &OptionTypes());
}

const void* PgmIndexFactory::GetOptionsPtr(const std::string& name) const {
  // UserDefinedIndexExtension::kName(), which only a patched RocksDB declares.
  return name == "UserDefinedIndexExtension" ? extension_.get()
                                             : UserDefinedIndexFactory::GetOptionsPtr(name);
}

Status PgmIndexFactory::ValidateOptions(const rocksdb::DBOptions& db_options,
                                        const rocksdb::ColumnFamilyOptions& cf_options) const {
  if (!option_error_.ok()) {
    return option_error_;
  }
  // DB::Open asks, DB::CreateColumnFamily does not: a family made there is
  // served in the plain form.
  if (cf_options.comparator->timestamp_size() > 0) {
    return Status::InvalidArgument(
        "user_defined_index_factory=pgm",
        std::string("comparator ") + cf_options.comparator->Name() +
            " has user-defined timestamps, for which the learned index brings nothing; unset "
            "user_defined_index_factory for this column family");
  }
  const bool replace = options_.mode == PgmMode::kReplace;
  const bool window = options_.lookup == PgmLookup::kWindow;
  const bool verify = options_.verify_one_in > 0;
  const std::string given =
      std::string("user_defined_index_factory={id=pgm;") +
      (replace  ? "mode=replace}"
       : window ? "lookup=window}"
                : "verify_one_in=" + std::to_string(options_.verify_one_in) + "}");
  if ((replace || window || verify) && extension_ == nullptr) {
    return Status::InvalidArgument(given,
                                   "this RocksDB was built without mountdb's patches; set "
                                   "mode=alongside;lookup=exact;verify_one_in=0");
  }
  if (replace && verify) {
    return Status::InvalidArgument(
        given, "files without RocksDB's own index have nothing to verify against; set "
               "mode=alongside or verify_one_in=0");
  }
  const auto* table = cf_options.table_factory == nullptr
                          ? nullptr
                          : cf_options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (replace && table != nullptr && !table->use_udi_as_primary_index) {
    return Status::InvalidArgument(
        given, "files without RocksDB's own index need use_udi_as_primary_index=true");
  }
  if (window && table != nullptr && table->no_block_cache) {
    return Status::InvalidArgument(
        given, "a block is looked into twice, so that lookup=window needs a block cache; unset "
               "no_block_cache or set lookup=exact");
  }
  return UserDefinedIndexFactory::ValidateOptions(db_options, cf_options);
}

Status PgmIndexFactory::ConfigureOptions(
    const rocksdb::ConfigOptions& config,
    const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  Status status = CheckOptionNames(kNickName(), {"lookup", "mode", "verify_one_in"}, config, options);
  if (status.ok()) {
    status = UserDefinedIndexFactory::ConfigureOptions(config, options, unused);
  }
  option_error_ = status;
  return status;
}

UserDefinedIndexBuilder* PgmIndexFactory::NewBuilder() const { return new PgmBuilder(nullptr); }

std::unique_ptr<UserDefinedIndexReader> PgmIndexFactory::NewReader(Slice& block) const {
  std::unique_ptr<UserDefinedIndexReader> reader;
  Status status = NewReader(UserDefinedIndexOption(), block, reader);
  status.PermitUncheckedError();
  return reader;
}

Status PgmIndexFactory::NewBuilder(const UserDefinedIndexOption& option,
                                   std::unique_ptr<UserDefinedIndexBuilder>& builder) const {
  const Comparator* const comparator = OtherThanBytewise(option.comparator);
  if (options_.lookup == PgmLookup::kWindow && comparator == nullptr && extension_ != nullptr) {
    builder = std::make_unique<WindowIndexBuilder>();
  } else {
    builder = std::make_unique<PgmBuilder>(comparator);
  }
  return Status::OK();
}

Status PgmIndexFactory::NewReader(const UserDefinedIndexOption& option, Slice& block,
                                  std::unique_ptr<UserDefinedIndexReader>& reader) const {
  return ToStatus([&] {
    if (IsWindowIndex(block)) {
      reader = std::make_unique<WindowIndexReader>(ffi::window_open(ToRust(block)), block);
      return;
    }
    auto opened = ffi::pgm_open(ToRust(block), OtherThanBytewise(option.comparator));
    reader = std::make_unique<PgmReader>(std::move(opened), block);
  });
}

}  // namespace mountdb
