// Skeletonized ALEX+ as a MemTableRepFactory.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "cpp/registry.h"
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

  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  AlexMemTableOptions options_;
  rust::Box<ffi::AlexFactory> factory_;
  rocksdb::SkipListFactory skip_list_;
  std::mutex told_mutex_;
  // Column families of which the log says already that they use a skip list.
  std::set<std::pair<rocksdb::Logger*, uint32_t>> told_;
};

}  // namespace mountdb
