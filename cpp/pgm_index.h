// PGM (Fence) as a UserDefinedIndexFactory.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "cpp/registry.h"

namespace mountdb {

class PgmIndexFactory final : public rocksdb::UserDefinedIndexFactory {
 public:
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

  rocksdb::UserDefinedIndexBuilder* NewBuilder() const override;
  std::unique_ptr<rocksdb::UserDefinedIndexReader> NewReader(rocksdb::Slice& block) const override;
  rocksdb::Status NewBuilder(
      const rocksdb::UserDefinedIndexOption& option,
      std::unique_ptr<rocksdb::UserDefinedIndexBuilder>& builder) const override;
  rocksdb::Status NewReader(
      const rocksdb::UserDefinedIndexOption& option, rocksdb::Slice& block,
      std::unique_ptr<rocksdb::UserDefinedIndexReader>& reader) const override;

 private:
  // BlockBasedTableFactory::ParseOption drops the errors of the factories that
  // it holds; this one is told again at DB::Open.
  rocksdb::Status option_error_;
};

}  // namespace mountdb
