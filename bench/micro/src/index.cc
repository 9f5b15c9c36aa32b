// Indexes of SST files outside of a table, from internal key to block handle, as
// a table's reads go through them.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "rocksdb/user_defined_index.h"
#include "table/block_based/block.h"
#include "table/block_based/index_builder.h"
#include "table/block_based/user_defined_index_wrapper.h"

namespace {

using rocksdb::Block;
using rocksdb::BlockBasedTableOptions;
using rocksdb::BlockContents;
using rocksdb::BlockHandle;
using rocksdb::IndexBlockIter;
using rocksdb::IndexBuilder;
using rocksdb::IndexValue;
using rocksdb::InternalIteratorBase;
using rocksdb::Slice;
using rocksdb::UserDefinedIndexFactory;

enum Kind : int { kBinary, kInterpolation, kTrie, kLearned };

const rocksdb::InternalKeyComparator& Order() {
  static const rocksdb::InternalKeyComparator order(rocksdb::BytewiseComparator());
  return order;
}

// An open index; seeks construct and destroy an iterator, as a Get does.
class Index {
 public:
  virtual ~Index() = default;
  virtual uint64_t Seek(const Slice& internal_key) = 0;
};

class Standard final : public Index {
 public:
  Standard(const std::string& bytes, bool interpolation)
      : search_(interpolation ? BlockBasedTableOptions::kInterpolation
                              : BlockBasedTableOptions::kBinary) {
    auto copy = rocksdb::AllocateBlock(bytes.size(), nullptr);
    memcpy(copy.get(), bytes.data(), bytes.size());
    block_ = std::make_unique<Block>(BlockContents(std::move(copy), bytes.size()));
  }

  uint64_t Seek(const Slice& internal_key) override {
    IndexBlockIter iterator;
    block_->NewIndexIterator(Order().user_comparator(), rocksdb::kDisableGlobalSequenceNumber,
                             &iterator, nullptr, true, false, /*key_includes_seq=*/false,
                             /*value_is_full=*/false, false, true, nullptr, search_);
    iterator.Seek(internal_key);
    return iterator.Valid() ? iterator.value().handle.offset() : UINT64_MAX;
  }

 private:
  const BlockBasedTableOptions::BlockSearchType search_;
  std::unique_ptr<Block> block_;
};

class UserDefined final : public Index {
 public:
  UserDefined(UserDefinedIndexFactory* factory, const std::string& bytes) : bytes_(bytes) {
    Slice block(bytes_);
    std::unique_ptr<rocksdb::UserDefinedIndexReader> reader;
    if (!factory->NewReader({}, block, reader).ok()) {
      return;
    }
    auto* extension = rocksdb::UserDefinedIndexExtension::Of(factory);
    reader_ = extension != nullptr
                  ? extension->WrapReader(nullptr, std::move(reader), true, nullptr)
                  : std::make_unique<rocksdb::UserDefinedIndexReaderWrapper>(
                        factory->Name(), nullptr, std::move(reader), true);
  }
  bool ok() const { return reader_ != nullptr; }

  uint64_t Seek(const Slice& internal_key) override {
    const std::unique_ptr<InternalIteratorBase<IndexValue>> iterator(
        reader_->NewIterator(options_, false, nullptr, nullptr, nullptr));
    iterator->Seek(internal_key);
    return iterator->Valid() ? iterator->value().handle.offset() : UINT64_MAX;
  }

 private:
  const std::string bytes_;
  const rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::BlockBasedTable::IndexReader> reader_;
};

// Copies of one file's index, each at its own place in memory.
struct Indexes {
  explicit Indexes(int of) : kind(of) {
    const char* name = kind == kTrie ? "trie_index" : kind == kLearned ? "pgm" : nullptr;
    if (name != nullptr) {
      UserDefinedIndexFactory::CreateFromString(rocksdb::ConfigOptions(), name, &factory)
          .PermitUncheckedError();
      if (factory != nullptr) {
        factory->NewBuilder({}, learned).PermitUncheckedError();
      }
    } else {
      BlockBasedTableOptions table;
      standard.reset(IndexBuilder::CreateIndexBuilder(BlockBasedTableOptions::kBinarySearch,
                                                      &Order(), nullptr, true, table, 0, true));
    }
  }

  const int kind;
  std::shared_ptr<UserDefinedIndexFactory> factory;
  std::unique_ptr<rocksdb::UserDefinedIndexBuilder> learned;
  std::unique_ptr<IndexBuilder> standard;
  std::string scratch;
  std::vector<std::unique_ptr<Index>> copies;
};

std::string Internal(const Slice& user_key, uint64_t seq) {
  std::string key(user_key.data(), user_key.size());
  rocksdb::PutFixed64(&key, rocksdb::PackSequenceAndType(seq, rocksdb::kTypeValue));
  return key;
}

}  // namespace

extern "C" {

void* micro_index_new(int kind) {
  auto indexes = std::make_unique<Indexes>(kind);
  return indexes->learned != nullptr || indexes->standard != nullptr ? indexes.release() : nullptr;
}

void micro_index_free(void* indexes) { delete static_cast<Indexes*>(indexes); }

void micro_index_add(void* handle, const char* last, size_t last_len, const char* next,
                     size_t next_len, uint64_t offset, uint64_t size) {
  auto* indexes = static_cast<Indexes*>(handle);
  const Slice last_key(last, last_len);
  const Slice next_key(next, next_len);
  if (indexes->learned != nullptr) {
    indexes->learned->AddIndexEntry(last_key, next == nullptr ? nullptr : &next_key,
                                    {offset, size}, &indexes->scratch, {});
    return;
  }
  const std::string last_internal = Internal(last_key, 0);
  const std::string next_internal = Internal(next_key, 0);
  const Slice next_slice(next_internal);
  indexes->standard->AddIndexEntry(last_internal, next == nullptr ? nullptr : &next_slice,
                                   BlockHandle(offset, size), &indexes->scratch, false);
}

// Bytes of the index; 0 if it cannot be built or opened.
uint64_t micro_index_open(void* handle, uint64_t copies) {
  auto* indexes = static_cast<Indexes*>(handle);
  Slice contents;
  IndexBuilder::IndexBlocks blocks;
  if (indexes->learned != nullptr) {
    if (!indexes->learned->Finish(&contents).ok()) {
      return 0;
    }
  } else {
    if (!indexes->standard->Finish(&blocks).ok()) {
      return 0;
    }
    contents = blocks.index_block_contents;
  }
  const std::string bytes = contents.ToString();
  for (uint64_t copy = 0; copy < copies; ++copy) {
    if (indexes->factory != nullptr) {
      auto index = std::make_unique<UserDefined>(indexes->factory.get(), bytes);
      if (!index->ok()) {
        return 0;
      }
      indexes->copies.push_back(std::move(index));
    } else {
      indexes->copies.push_back(
          std::make_unique<Standard>(bytes, indexes->kind == kInterpolation));
    }
  }
  return bytes.size();
}

// Seeks target i, an internal key of `length` bytes, in copy files[i]. The sum of
// what was found, which has to be the same for all kinds.
uint64_t micro_index_seek(void* handle, const uint32_t* files, const char* targets, uint64_t length,
                          uint64_t count) {
  const auto& copies = static_cast<Indexes*>(handle)->copies;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    sum += copies[files[i]]->Seek(Slice(targets + i * length, length));
  }
  return sum;
}

}  // extern "C"
