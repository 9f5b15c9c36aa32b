#include "cpp/alex_memtable.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cinttypes>
#include <new>
#include <unordered_map>

#include "cpp/alex_options.h"
#include "cpp/convert.h"
#include "cpp/verify.h"
#include "db/dbformat.h"
#include "db/lookup_key.h"
#include "db/memtable.h"
#include "memory/arena.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/options_type.h"
#include "util/random.h"
#include "util/string_util.h"

namespace mountdb {

using rocksdb::Arena;
using rocksdb::GetLengthPrefixedSlice;
using rocksdb::KeyHandle;
using rocksdb::LookupKey;
using rocksdb::MemTableRep;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

using KeyValidation = std::function<Status(const char*, bool)>;

Status OutOfOrder(const char* first, const char* second, bool allow_data) {
  std::string message = "entries of the memtable index out of order";
  if (allow_data) {
    message += ": " + GetLengthPrefixedSlice(first).ToString(true) + " before " +
               GetLengthPrefixedSlice(second).ToString(true);
  }
  return Status::Corruption("alex memtable", message);
}

class AlexIterator final : public MemTableRep::Iterator {
 public:
  AlexIterator(const ffi::AlexRep& rep, const MemTableRep::KeyComparator& comparator)
      : rep_(rep), comparator_(comparator) {}

  bool Valid() const override { return cursor_.entry != nullptr; }
  const char* key() const override {
    assert(Valid());
    return reinterpret_cast<const char*>(cursor_.entry);
  }
  void Next() override {
    assert(Valid());
    rep_.next(cursor_);
  }
  void Prev() override {
    assert(Valid());
    rep_.prev(cursor_);
  }
  void Seek(const Slice& internal_key, const char* memtable_key) override {
    cursor_ = rep_.seek(Target(internal_key, memtable_key));
  }
  void SeekForPrev(const Slice& internal_key, const char* memtable_key) override {
    cursor_ = rep_.seek_for_prev(Target(internal_key, memtable_key));
  }
  void SeekToFirst() override { cursor_ = rep_.first(); }
  void SeekToLast() override { cursor_ = rep_.last(); }

  Status NextAndValidate(bool allow_data) override { return Step(true, allow_data); }
  Status PrevAndValidate(bool allow_data) override { return Step(false, allow_data); }

  Status SeekAndValidate(const Slice& internal_key, const char* memtable_key, bool allow_data,
                         bool detect_key_out_of_order, const KeyValidation& validate) override {
    Seek(internal_key, memtable_key);
    Status status = CheckAround(allow_data, detect_key_out_of_order, validate);
    if (status.ok() && Valid() && detect_key_out_of_order) {
      const Slice target =
          memtable_key != nullptr ? GetLengthPrefixedSlice(memtable_key) : internal_key;
      if (comparator_(key(), target) < 0) {
        status = OutOfOrder(key(), key(), allow_data);
      }
    }
    if (!status.ok()) {
      cursor_ = {};
    }
    return status;
  }

 private:
  static rust::Slice<const uint8_t> Target(const Slice& internal_key, const char* memtable_key) {
    return ToRust(memtable_key != nullptr ? GetLengthPrefixedSlice(memtable_key) : internal_key);
  }

  // Checks the entry (the last one at the end) and the two before it. A key that
  // has become another one is not where a search for it ends: one that is too
  // small now lies before.
  Status CheckAround(bool allow_data, bool detect_key_out_of_order,
                     const KeyValidation& validate) const {
    ffi::MemCursor cursor = Valid() ? cursor_ : rep_.last();
    const char* after = nullptr;
    for (int i = 0; i < 3 && cursor.entry != nullptr; ++i) {
      const char* entry = reinterpret_cast<const char*>(cursor.entry);
      Status status = validate != nullptr ? validate(entry, allow_data) : Status::OK();
      if (status.ok() && after != nullptr && detect_key_out_of_order &&
          comparator_(entry, after) >= 0) {
        status = OutOfOrder(entry, after, allow_data);
      }
      if (!status.ok()) {
        return status;
      }
      rep_.prev(cursor);
      after = entry;
    }
    return Status::OK();
  }

  Status Step(bool forward, bool allow_data) {
    assert(Valid());
    const char* from = key();
    forward ? Next() : Prev();
    Status status;
    if (Valid() && (comparator_(from, key()) < 0) != forward) {
      status = OutOfOrder(from, key(), allow_data);
    } else if (!forward) {
      // A step back is a search in a skip list, which would see this one too.
      status = CheckAround(allow_data, true, nullptr);
    }
    if (!status.ok()) {
      cursor_ = {};
    }
    return status;
  }

  const ffi::AlexRep& rep_;
  const MemTableRep::KeyComparator& comparator_;
  ffi::MemCursor cursor_{};
};

// Hints are ignored: the model already knows where a key goes. A hint stays
// null, so nothing is left for RocksDB to free.
class AlexMemTableRep final : public MemTableRep {
 public:
  AlexMemTableRep(const KeyComparator& comparator, rocksdb::Allocator* allocator,
                  rust::Box<ffi::AlexRep> rep, std::shared_ptr<Reports> reports,
                  rocksdb::Logger* logger, uint32_t column_family_id, uint32_t verify_one_in)
      : MemTableRep(allocator),
        comparator_(comparator),
        rep_(std::move(rep)),
        reports_(std::move(reports)),
        logger_(logger),
        column_family_id_(column_family_id),
        verify_one_in_(verify_one_in) {}

  void Insert(KeyHandle handle) override { InsertKey(handle); }
  // The calls without "Concurrently" require that nobody else inserts meanwhile.
  bool InsertKey(KeyHandle handle) override {
    return rep_->insert_alone(static_cast<const uint8_t*>(handle));
  }
  bool InsertKeyWithHint(KeyHandle handle, void**) override { return InsertKey(handle); }
  bool InsertKeyConcurrently(KeyHandle handle) override {
    return rep_->insert(static_cast<const uint8_t*>(handle));
  }
  bool InsertKeyWithHintConcurrently(KeyHandle handle, void**) override {
    return InsertKeyConcurrently(handle);
  }
  void InsertConcurrently(KeyHandle handle) override { InsertKeyConcurrently(handle); }

  bool Contains(const char* key) const override {
    return rep_->contains(ToRust(GetLengthPrefixedSlice(key)));
  }

  void MarkReadOnly() override {
    rep_->mark_read_only();
    read_only_.store(true, std::memory_order_release);
  }

  void Get(const LookupKey& key, void* arg, bool (*callback)(void*, const char*)) override {
    Walk(key.internal_key(), arg, callback);
  }

  Status GetAndValidate(const LookupKey& key, void* arg, bool (*callback)(void*, const char*),
                        bool allow_data, bool detect_key_out_of_order,
                        const KeyValidation& validate) override {
    return WalkAndValidate(key.memtable_key().data(), arg, callback, allow_data,
                           detect_key_out_of_order, validate);
  }

  Status MultiGet(size_t n, const char* const* keys, void** args,
                  bool (*callback)(void*, const char*), bool allow_data,
                  bool detect_key_out_of_order, const KeyValidation& validate) override {
    static_assert(sizeof(const char*) == sizeof(size_t));
    constexpr size_t kGroup = 32;
    const bool validate_all = detect_key_out_of_order || validate != nullptr;
    for (size_t i = 0; i < n; ++i) {
      if (i % kGroup == 0) {
        rep_->prefetch({reinterpret_cast<const size_t*>(keys + i), std::min(kGroup, n - i)});
      }
      if (validate_all) {
        Status status = WalkAndValidate(keys[i], args[i], callback, allow_data,
                                        detect_key_out_of_order, validate);
        if (!status.ok()) {
          return status;
        }
      } else {
        Walk(GetLengthPrefixedSlice(keys[i]), args[i], callback);
      }
    }
    return Status::OK();
  }

  uint64_t ApproximateNumEntries(const Slice& start, const Slice& end) override {
    return rep_->entries_between(ToRust(start), ToRust(end));
  }

  // Selection sampling over one pass: each entry is taken with the probability
  // that keeps every subset of the wanted size equally likely.
  void UniqueRandomSample(const uint64_t num_entries, const uint64_t target,
                          std::unordered_set<const char*>* entries) override {
    entries->clear();
    rocksdb::Random* random = rocksdb::Random::GetTLSInstance();
    uint64_t left = num_entries;
    uint64_t wanted = target;
    for (auto cursor = rep_->first(); cursor.entry != nullptr && wanted > 0 && left > 0;
         rep_->next(cursor), --left) {
      if (random->Next() % left < wanted) {
        entries->insert(reinterpret_cast<const char*>(cursor.entry));
        --wanted;
      }
    }
  }

  // Nodes come from the allocator, which RocksDB counts itself.
  size_t ApproximateMemoryUsage() override { return 0; }

  MemTableRep::Iterator* GetIterator(Arena* arena) override {
    // The first one after the last insert is the flush's (or a reader's, which
    // then pays for counting, some 100 us): never a writer's.
    if (read_only_.load(std::memory_order_acquire) && !reported_.exchange(true)) {
      reports_->Add(column_family_id_, rep_->stats(), logger_);
    }
    void* memory = arena != nullptr ? arena->AllocateAligned(sizeof(AlexIterator))
                                    : operator new(sizeof(AlexIterator));
    return new (memory) AlexIterator(*rep_, comparator_);
  }

 private:
  void Walk(const Slice& internal_key, void* arg, bool (*callback)(void*, const char*)) const {
    auto cursor = rep_->lookup(ToRust(internal_key));
    if (VerifyNow(verify_one_in_)) {
      cursor = Verified(internal_key, cursor);
    }
    while (cursor.entry != nullptr &&
           callback(arg, reinterpret_cast<const char*>(cursor.entry))) {
      rep_->next(cursor);
    }
  }

  // The look-up's answer, or a walk's over all entries where the look-up missed one.
  ffi::MemCursor Verified(const Slice& internal_key, const ffi::MemCursor& before) const {
    const auto is_before = [&](const ffi::MemCursor& a, const ffi::MemCursor& b) {
      return a.entry != nullptr &&
             (b.entry == nullptr ||
              comparator_(reinterpret_cast<const char*>(a.entry),
                          GetLengthPrefixedSlice(reinterpret_cast<const char*>(b.entry))) < 0);
    };
    const auto is_small = [&](const ffi::MemCursor& cursor) {
      return cursor.entry != nullptr &&
             comparator_(reinterpret_cast<const char*>(cursor.entry), internal_key) < 0;
    };
    ffi::MemCursor walked = rep_->first();
    while (is_small(walked)) {
      rep_->next(walked);
    }
    if (walked.entry != nullptr &&
        rocksdb::ExtractUserKey(GetLengthPrefixedSlice(
            reinterpret_cast<const char*>(walked.entry))) != rocksdb::ExtractUserKey(internal_key)) {
      walked = {};
    }
    // Entries come, and none goes: what the walk met is found from now on, and what
    // was found before it was met.
    const ffi::MemCursor after = rep_->lookup(ToRust(internal_key));
    VerifyStats::Add(VerifyStats::kLookups);
    if (!is_small(after) && !is_before(walked, after) && !is_before(before, walked)) {
      return after;
    }
    VerifyStats::Add(VerifyStats::kWrongLookups);
    rocksdb::Error(logger_,
                   "alex memtable of column family %" PRIu32 ": look-up and walk differ for key %s",
                   column_family_id_, internal_key.ToString(/*hex=*/true).c_str());
    return !is_small(after) && is_before(after, walked) ? after : walked;
  }

  Status WalkAndValidate(const char* key, void* arg, bool (*callback)(void*, const char*),
                         bool allow_data, bool detect_key_out_of_order,
                         const KeyValidation& validate) const {
    AlexIterator iterator(*rep_, comparator_);
    Status status =
        iterator.SeekAndValidate(Slice(), key, allow_data, detect_key_out_of_order, validate);
    while (status.ok() && iterator.Valid() && callback(arg, iterator.key())) {
      status = iterator.NextAndValidate(allow_data);
    }
    return status;
  }

  const KeyComparator& comparator_;
  const rust::Box<ffi::AlexRep> rep_;
  const std::shared_ptr<Reports> reports_;
  rocksdb::Logger* const logger_;
  const uint32_t column_family_id_;
  const uint32_t verify_one_in_;
  std::atomic<bool> read_only_{false};
  std::atomic<bool> reported_{false};
};

rust::Box<ffi::AlexFactory> MakeFactory(const AlexMemTableOptions& options) {
  return ffi::alex_factory({options.skeleton != AlexSkeleton::kOff,
                            options.skeleton == AlexSkeleton::kSingle, options.skeleton_period,
                            options.skeleton_content == AlexSkeletonContent::kKeys,
                            options.rebuild == AlexRebuild::kBackground,
                            options.data_node_slots});
}

}  // namespace

AlexMemTableFactory::AlexMemTableFactory(const AlexMemTableOptions& options)
    : options_(options), factory_(MakeFactory(options)) {
  RegisterOptions("AlexMemTableOptions", &options_, &AlexOptionTypes());
}

Status AlexMemTableFactory::PrepareOptions(const rocksdb::ConfigOptions& config) {
  Status status = CheckAlexOptions(options_);
  if (status.ok()) {
    // Options are complete only now; skeletons of before are of no use.
    factory_ = MakeFactory(options_);
    status = MemTableRepFactory::PrepareOptions(config);
  }
  return status;
}

Status AlexMemTableFactory::ValidateOptions(const rocksdb::DBOptions& db_options,
                                            const rocksdb::ColumnFamilyOptions& cf_options) const {
  Status status = CheckAlexOptions(options_);
  return status.ok() ? MemTableRepFactory::ValidateOptions(db_options, cf_options) : status;
}

Status AlexMemTableFactory::ConfigureOptions(
    const rocksdb::ConfigOptions& config,
    const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  std::vector<std::string> names;
  for (const auto& [name, type] : AlexOptionTypes()) {
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  Status status = CheckOptionNames(kNickName(), names, config, options);
  return status.ok() ? MemTableRepFactory::ConfigureOptions(config, options, unused) : status;
}

MemTableRep* AlexMemTableFactory::CreateMemTableRep(
    const MemTableRep::KeyComparator& comparator, rocksdb::Allocator* allocator,
    const rocksdb::SliceTransform* transform, rocksdb::Logger* logger) {
  return CreateMemTableRep(comparator, allocator, transform, logger, 0);
}

MemTableRep* AlexMemTableFactory::CreateMemTableRep(
    const MemTableRep::KeyComparator& comparator, rocksdb::Allocator* allocator,
    const rocksdb::SliceTransform* transform, rocksdb::Logger* logger,
    uint32_t column_family_id) {
  // The only comparator that RocksDB passes: db/memtable.cc.
  const auto& memtable_comparator =
      static_cast<const rocksdb::MemTable::KeyComparator&>(comparator);
  const rocksdb::Comparator* user = memtable_comparator.comparator.user_comparator();
  if (user != rocksdb::BytewiseComparator()) {
    reports_->AddFallback(column_family_id, user->Name(), logger);
    return skip_list_.CreateMemTableRep(comparator, allocator, transform, logger);
  }
  return new AlexMemTableRep(comparator, allocator,
                             ffi::alex_rep(*factory_, allocator, column_family_id), reports_,
                             logger, column_family_id, options_.verify_one_in);
}

}  // namespace mountdb
