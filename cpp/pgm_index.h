// PGM (Fence) as a UserDefinedIndexFactory.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "cpp/learned_reader.h"
#include "cpp/registry.h"
#include "mountdb/src/ffi.rs.h"

namespace rocksdb {
class UserDefinedIndexExtension;
}

namespace mountdb {

// The index of one file, while it is written.
class PgmBuilder final : public rocksdb::UserDefinedIndexBuilder {
 public:
  // `comparator` is null for the order that models can learn.
  explicit PgmBuilder(const rocksdb::Comparator* comparator);

  rocksdb::Slice AddIndexEntry(const rocksdb::Slice& last, const rocksdb::Slice* next,
                               const BlockHandle& handle, std::string* scratch,
                               const IndexEntryContext& context) override;
  rocksdb::Status Finish(rocksdb::Slice* contents) override;
  uint64_t EstimatedSize() const override { return builder_->estimated_size(); }

 private:
  const rocksdb::Comparator* const comparator_;
  rust::Box<ffi::PgmBuilder> builder_;
};

// The index of one open file. The table keeps its bytes in memory.
class PgmReader final : public LearnedReader {
 public:
  PgmReader(rust::Box<ffi::PgmReader> reader, const rocksdb::Slice& block);

  std::unique_ptr<rocksdb::UserDefinedIndexIterator> NewIterator(
      const rocksdb::ReadOptions& options) override;
  size_t ApproximateMemoryUsage() const override;
  bool IsWindow() const override { return false; }

  const ffi::PgmReader& index() const { return *reader_; }
  rust::Slice<const uint8_t> bytes() const { return block_; }

 private:
  const rust::Box<ffi::PgmReader> reader_;
  const rust::Slice<const uint8_t> block_;
};

class PgmIndexFactory final : public rocksdb::UserDefinedIndexFactory {
 public:
  explicit PgmIndexFactory(const PgmIndexOptions& options = {});

  // Part of the file format: the index block is found by this name.
  static const char* kClassName() { return "PgmIndexFactory"; }
  static const char* kNickName() { return "pgm"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }

  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db_options,
                                  const rocksdb::ColumnFamilyOptions& cf_options) const override;

  rocksdb::Status ConfigureOptions(
      const rocksdb::ConfigOptions& config,
      const std::unordered_map<std::string, std::string>& options,
      std::unordered_map<std::string, std::string>* unused) override;

  const void* GetOptionsPtr(const std::string& name) const override;

  rocksdb::UserDefinedIndexBuilder* NewBuilder() const override;
  std::unique_ptr<rocksdb::UserDefinedIndexReader> NewReader(rocksdb::Slice& block) const override;
  rocksdb::Status NewBuilder(
      const rocksdb::UserDefinedIndexOption& option,
      std::unique_ptr<rocksdb::UserDefinedIndexBuilder>& builder) const override;
  rocksdb::Status NewReader(
      const rocksdb::UserDefinedIndexOption& option, rocksdb::Slice& block,
      std::unique_ptr<rocksdb::UserDefinedIndexReader>& reader) const override;

 private:
  PgmIndexOptions options_;
  // Null where RocksDB is not patched.
  const std::shared_ptr<rocksdb::UserDefinedIndexExtension> extension_;
  // BlockBasedTableFactory::ParseOption drops the errors of the factories that
  // it holds; this one is told again at DB::Open.
  rocksdb::Status option_error_;
};

}  // namespace mountdb
