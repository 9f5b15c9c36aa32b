// A MemTableRep outside of a memtable, and the entries that RocksDB would put into it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "cpp/registry.h"
#include "db/dbformat.h"
#include "db/lookup_key.h"
#include "db/memtable.h"
#include "memory/concurrent_arena.h"
#include "rocksdb/comparator.h"
#include "rocksdb/memtablerep.h"

namespace mountdb::test {

// User key and sequence number, in the order of a memtable.
struct Version {
  std::string key;
  uint64_t seq;

  bool operator<(const Version& other) const {
    const int order = rocksdb::Slice(key).compare(other.key);
    return order != 0 ? order < 0 : seq > other.seq;
  }
  bool operator==(const Version& other) const { return key == other.key && seq == other.seq; }
};

inline std::string Show(const Version& version) {
  return Show(rocksdb::Slice(version.key)) + "@" + std::to_string(version.seq);
}

enum class InsertCall { kPlain, kHint, kConcurrent, kHintConcurrent };

class Rep {
 public:
  explicit Rep(std::shared_ptr<rocksdb::MemTableRepFactory> factory = NewAlexMemTableFactory(),
               const rocksdb::Comparator* comparator = rocksdb::BytewiseComparator(),
               rocksdb::Logger* logger = nullptr)
      : comparator_(rocksdb::InternalKeyComparator(comparator)),
        factory_(std::move(factory)),
        rep_(factory_->CreateMemTableRep(comparator_, &arena_, nullptr, logger, 0)) {}

  rocksdb::MemTableRep* operator->() const { return rep_.get(); }

  bool Insert(const Version& version, const std::string& value = "v",
              InsertCall call = InsertCall::kPlain, void** hint = nullptr,
              rocksdb::ValueType type = rocksdb::kTypeValue);

  std::unique_ptr<rocksdb::MemTableRep::Iterator> NewIterator() const {
    return std::unique_ptr<rocksdb::MemTableRep::Iterator>(rep_->GetIterator(nullptr));
  }

  // All entries, forwards.
  std::vector<std::pair<Version, std::string>> Scan() const;

  // The newest version at or below the sequence number; empty if there is none.
  std::string Get(const std::string& key, uint64_t seq = rocksdb::kMaxSequenceNumber) const;

 private:
  rocksdb::ConcurrentArena arena_;
  const rocksdb::MemTable::KeyComparator comparator_;
  const std::shared_ptr<rocksdb::MemTableRepFactory> factory_;
  const std::unique_ptr<rocksdb::MemTableRep> rep_;
};

Version VersionOf(const char* entry);
std::string ValueOf(const char* entry);
std::string InternalKey(const Version& version);

// 8 bytes whose order is that of the numbers.
std::string Number(uint64_t value);

}  // namespace mountdb::test
