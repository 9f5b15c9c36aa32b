// Skeletonized ALEX+ as a MemTableRepFactory.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "cpp/registry.h"
#include "cpp/reports.h"
#include "mountdb/src/ffi.rs.h"

namespace mountdb {

class AlexMemTableFactory final : public rocksdb::MemTableRepFactory {
 public:
  explicit AlexMemTableFactory(const AlexMemTableOptions& options = {});

  static const char* kClassName() { return "AlexMemTableFactory"; }
  static const char* kNickName() { return "alex"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }

  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& config) override;
  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db_options,
                                  const rocksdb::ColumnFamilyOptions& cf_options) const override;
  rocksdb::Status ConfigureOptions(
      const rocksdb::ConfigOptions& config,
      const std::unordered_map<std::string, std::string>& options,
      std::unordered_map<std::string, std::string>* unused) override;

  using rocksdb::MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(
      const rocksdb::MemTableRep::KeyComparator& comparator,
      rocksdb::Allocator* allocator, const rocksdb::SliceTransform* transform,
      rocksdb::Logger* logger) override;
  rocksdb::MemTableRep* CreateMemTableRep(
      const rocksdb::MemTableRep::KeyComparator& comparator,
      rocksdb::Allocator* allocator, const rocksdb::SliceTransform* transform,
      rocksdb::Logger* logger, uint32_t column_family_id) override;

  const Reports& reports() const { return *reports_; }

  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  AlexMemTableOptions options_;
  rust::Box<ffi::AlexFactory> factory_;
  rocksdb::SkipListFactory skip_list_;
  // Shared with the memtables, which may outlive the factory.
  const std::shared_ptr<Reports> reports_ = std::make_shared<Reports>();
};

}  // namespace mountdb
