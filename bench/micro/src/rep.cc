// A MemTableRep outside of a memtable. All loops run here: both sides pay the
// same for the harness, and neither crosses a language border per operation.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "db/dbformat.h"
#include "db/lookup_key.h"
#include "db/memtable.h"
#include "memory/concurrent_arena.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/memtablerep.h"
#include "util/coding.h"

namespace {

using rocksdb::MemTableRep;
using rocksdb::MemTableRepFactory;
using rocksdb::Slice;

struct Memtable {
  explicit Memtable(MemTableRepFactory* factory)
      : comparator(rocksdb::InternalKeyComparator(rocksdb::BytewiseComparator())),
        rep(factory->CreateMemTableRep(comparator, &arena, nullptr, nullptr, 0)) {}

  // The block size that RocksDB chooses for memtables of 64 MiB.
  rocksdb::ConcurrentArena arena{1 << 20};
  const rocksdb::MemTable::KeyComparator comparator;
  const std::unique_ptr<MemTableRep> rep;
};

// Keys back to back; key i ends at ends[i].
struct Keys {
  const char* bytes;
  const uint64_t* ends;
  uint64_t count;

  Slice operator[](uint64_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends[i - 1];
    return {bytes + begin, static_cast<size_t>(ends[i] - begin)};
  }
};

constexpr size_t kValueSize = 100;

// As MemTable::Add lays an entry out.
void* Entry(MemTableRep& rep, const Slice& key, uint64_t seq) {
  const auto internal_size = static_cast<uint32_t>(key.size() + 8);
  const size_t size = rocksdb::VarintLength(internal_size) + internal_size +
                      rocksdb::VarintLength(kValueSize) + kValueSize;
  char* buffer;
  void* handle = rep.Allocate(size, &buffer);
  char* at = rocksdb::EncodeVarint32(buffer, internal_size);
  memcpy(at, key.data(), key.size());
  at += key.size();
  rocksdb::EncodeFixed64(at, rocksdb::PackSequenceAndType(seq, rocksdb::kTypeValue));
  at = rocksdb::EncodeVarint32(at + 8, kValueSize);
  memset(at, 'v', kValueSize);
  return handle;
}

bool TakeFirst(void* found, const char* entry) {
  *static_cast<const char**>(found) = entry;
  return false;
}

}  // namespace

extern "C" {

// Null if the option string names no factory.
void* micro_factory(const char* options, size_t length) {
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<MemTableRepFactory> factory;
  const auto status =
      MemTableRepFactory::CreateFromString(config, std::string(options, length), &factory);
  return status.ok() && factory != nullptr ? new std::shared_ptr<MemTableRepFactory>(factory)
                                           : nullptr;
}

void micro_factory_free(void* factory) {
  delete static_cast<std::shared_ptr<MemTableRepFactory>*>(factory);
}

void* micro_open(void* factory) {
  return new Memtable(static_cast<std::shared_ptr<MemTableRepFactory>*>(factory)->get());
}

void micro_close(void* memtable) { delete static_cast<Memtable*>(memtable); }

void micro_seal(void* memtable) { static_cast<Memtable*>(memtable)->rep->MarkReadOnly(); }

// Bytes handed out by the arena, entries included.
size_t micro_bytes(void* memtable) {
  auto& arena = static_cast<Memtable*>(memtable)->arena;
  return arena.ApproximateMemoryUsage() + static_cast<Memtable*>(memtable)->rep->ApproximateMemoryUsage();
}

// Inserts all keys with rising sequence numbers, returns how many went in. With
// slow_nanos > 0, counts in *slow the inserts that took longer.
uint64_t micro_insert(void* memtable, const char* bytes, const uint64_t* ends, uint64_t count,
                      uint64_t first_seq, bool concurrently, uint64_t slow_nanos, uint64_t* slow) {
  MemTableRep& rep = *static_cast<Memtable*>(memtable)->rep;
  const Keys keys{bytes, ends, count};
  uint64_t inserted = 0;
  for (uint64_t i = 0; i < count; ++i) {
    void* entry = Entry(rep, keys[i], first_seq + i);
    if (slow_nanos == 0) {
      inserted += concurrently ? rep.InsertKeyConcurrently(entry) : rep.InsertKey(entry);
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    inserted += concurrently ? rep.InsertKeyConcurrently(entry) : rep.InsertKey(entry);
    const auto took = std::chrono::steady_clock::now() - begin;
    *slow += static_cast<uint64_t>(std::chrono::nanoseconds(took).count()) > slow_nanos;
  }
  return inserted;
}

// Looks all keys up at a sequence number, returns how many are there.
uint64_t micro_get(void* memtable, const char* bytes, const uint64_t* ends, uint64_t count,
                   uint64_t seq) {
  MemTableRep& rep = *static_cast<Memtable*>(memtable)->rep;
  const Keys keys{bytes, ends, count};
  uint64_t hits = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const rocksdb::LookupKey key(keys[i], seq);
    const char* entry = nullptr;
    rep.Get(key, &entry, TakeFirst);
    hits += entry != nullptr &&
            rocksdb::ExtractUserKey(rocksdb::GetLengthPrefixedSlice(entry)) == keys[i];
  }
  return hits;
}

// Walks over all entries and reads their values, as a flush does; returns their
// number, and in *sum a checksum that depends on their order.
uint64_t micro_scan(void* memtable, bool forward, uint64_t* sum) {
  MemTableRep& rep = *static_cast<Memtable*>(memtable)->rep;
  const std::unique_ptr<MemTableRep::Iterator> iterator(rep.GetIterator(nullptr));
  uint64_t count = 0;
  *sum = 0;
  for (forward ? iterator->SeekToFirst() : iterator->SeekToLast(); iterator->Valid();
       forward ? iterator->Next() : iterator->Prev()) {
    const Slice key = rocksdb::GetLengthPrefixedSlice(iterator->key());
    uint64_t word = rocksdb::DecodeFixed64(key.data() + key.size() - 8);
    word += static_cast<unsigned char>(key[0]) +
            static_cast<unsigned char>(key.data()[key.size() + 2 + kValueSize / 2]);
    *sum = *sum * 31 + word;
    ++count;
  }
  return count;
}

}  // extern "C"
