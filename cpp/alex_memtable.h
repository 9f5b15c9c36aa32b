// Skeletonized ALEX+ as a MemTableRepFactory.
#pragma once

#include <string>

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

  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions&) override;

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
};

}  // namespace mountdb
