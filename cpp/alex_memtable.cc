#include "cpp/alex_memtable.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <unordered_map>

#include "cpp/convert.h"
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
    if (!Valid()) {
      return Status::OK();
    }
    const char* entry = key();
    Status status;
    if (validate != nullptr) {
      status = validate(entry, allow_data);
    }
    if (status.ok() && detect_key_out_of_order) {
      const Slice target =
          memtable_key != nullptr ? GetLengthPrefixedSlice(memtable_key) : internal_key;
      if (comparator_(entry, target) < 0) {
        status = OutOfOrder(entry, entry, allow_data);
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

  Status Step(bool forward, bool allow_data) {
    assert(Valid());
    const char* from = key();
    forward ? Next() : Prev();
    if (Valid() && (comparator_(from, key()) < 0) != forward) {
      const char* to = key();
      cursor_ = {};
      return OutOfOrder(from, to, allow_data);
    }
    return Status::OK();
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
                  rust::Box<ffi::AlexRep> rep)
      : MemTableRep(allocator), comparator_(comparator), rep_(std::move(rep)) {}

  void Insert(KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(KeyHandle handle) override {
    return rep_->insert(static_cast<const uint8_t*>(handle));
  }
  bool InsertKeyWithHint(KeyHandle handle, void**) override { return InsertKey(handle); }
  bool InsertKeyWithHintConcurrently(KeyHandle handle, void**) override {
    return InsertKey(handle);
  }
  void InsertConcurrently(KeyHandle handle) override { InsertKey(handle); }
  bool InsertKeyConcurrently(KeyHandle handle) override { return InsertKey(handle); }

  bool Contains(const char* key) const override {
    return rep_->contains(ToRust(GetLengthPrefixedSlice(key)));
  }

  void MarkReadOnly() override { rep_->mark_read_only(); }

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
    void* memory = arena != nullptr ? arena->AllocateAligned(sizeof(AlexIterator))
                                    : operator new(sizeof(AlexIterator));
    return new (memory) AlexIterator(*rep_, comparator_);
  }

 private:
  void Walk(const Slice& internal_key, void* arg, bool (*callback)(void*, const char*)) const {
    auto cursor = rep_->lookup(ToRust(internal_key));
    while (cursor.entry != nullptr &&
           callback(arg, reinterpret_cast<const char*>(cursor.entry))) {
      rep_->next(cursor);
    }
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
};

// A number between two limits, or one of a few words: RocksDB's own parsers name
// neither what they got nor what they take.
Status CheckNumber(const char* option, uint64_t value, uint64_t low, uint64_t high,
                   const std::string& given) {
  if (value < low || value > high) {
    return Status::InvalidArgument(
        option, "must be " + std::to_string(low) + " to " + std::to_string(high) + ", is " + given);
  }
  return Status::OK();
}

rocksdb::OptionTypeInfo Number(const char* option, int offset, uint32_t low, uint32_t high) {
  return rocksdb::OptionTypeInfo(offset, rocksdb::OptionType::kUInt32T)
      .SetParseFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const bool number = !text.empty() && text.size() <= 9 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        const uint64_t value = number ? std::stoull(text) : UINT64_MAX;
        Status status = CheckNumber(option, value, low, high, text);
        if (status.ok()) {
          *static_cast<uint32_t*>(address) = static_cast<uint32_t>(value);
        }
        return status;
      });
}

template <typename Enum>
rocksdb::OptionTypeInfo Choice(const char* option, int offset,
                               const std::vector<std::string>& words) {
  return rocksdb::OptionTypeInfo(offset, rocksdb::OptionType::kUnknown)
      .SetParseFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) {
          std::string known;
          for (const std::string& word : words) {
            known += (known.empty() ? "" : ", ") + word;
          }
          return Status::InvalidArgument(option, "must be one of " + known + ", is " + text);
        }
        *static_cast<Enum*>(address) = static_cast<Enum>(found - words.begin());
        return Status::OK();
      })
      .SetSerializeFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                            const void* address, std::string* text) {
        *text = words[static_cast<size_t>(*static_cast<const Enum*>(address))];
        return Status::OK();
      })
      .SetEqualsFunc([](const rocksdb::ConfigOptions&, const std::string&, const void* a,
                        const void* b, std::string*) {
        return *static_cast<const Enum*>(a) == *static_cast<const Enum*>(b);
      });
}

constexpr uint32_t kMaxSkeletonPeriod = 1000000;
constexpr uint32_t kMinSlots = 16;
constexpr uint32_t kMaxSlots = 32768;

const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& OptionTypes() {
  using Options = AlexMemTableOptions;
  static const auto* types = new std::unordered_map<std::string, rocksdb::OptionTypeInfo>{
      {"skeleton", Choice<AlexSkeleton>("skeleton", offsetof(Options, skeleton),
                                        {"off", "single", "periodic"})},
      {"skeleton_period", Number("skeleton_period", offsetof(Options, skeleton_period), 0,
                                 kMaxSkeletonPeriod)},
      {"skeleton_content",
       Choice<AlexSkeletonContent>("skeleton_content", offsetof(Options, skeleton_content),
                                   {"models", "keys"})},
      {"rebuild",
       Choice<AlexRebuild>("rebuild", offsetof(Options, rebuild), {"inline", "background"})},
      {"data_node_slots",
       Number("data_node_slots", offsetof(Options, data_node_slots), kMinSlots, kMaxSlots)}};
  return *types;
}

std::vector<std::string> OptionNames() {
  std::vector<std::string> names;
  for (const auto& [name, type] : OptionTypes()) {
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Options that were set in code have met no parser.
Status Check(const AlexMemTableOptions& options) {
  Status status = CheckNumber("skeleton_period", options.skeleton_period, 0, kMaxSkeletonPeriod,
                              std::to_string(options.skeleton_period));
  if (status.ok()) {
    status = CheckNumber("data_node_slots", options.data_node_slots, kMinSlots, kMaxSlots,
                         std::to_string(options.data_node_slots));
  }
  return status;
}

rust::Box<ffi::AlexFactory> MakeFactory(const AlexMemTableOptions& options) {
  return ffi::alex_factory({options.skeleton != AlexSkeleton::kOff,
                            options.skeleton == AlexSkeleton::kSingle, options.skeleton_period,
                            options.skeleton_content == AlexSkeletonContent::kKeys,
                            options.rebuild == AlexRebuild::kBackground,
                            std::clamp(options.data_node_slots, kMinSlots, kMaxSlots)});
}

}  // namespace

AlexMemTableFactory::AlexMemTableFactory(const AlexMemTableOptions& options)
    : options_(options), factory_(MakeFactory(options)) {
  RegisterOptions("AlexMemTableOptions", &options_, &OptionTypes());
}

Status AlexMemTableFactory::PrepareOptions(const rocksdb::ConfigOptions& config) {
  Status status = Check(options_);
  if (status.ok()) {
    // Options are complete only now; skeletons of before are of no use.
    factory_ = MakeFactory(options_);
    status = MemTableRepFactory::PrepareOptions(config);
  }
  return status;
}

Status AlexMemTableFactory::ValidateOptions(const rocksdb::DBOptions& db_options,
                                            const rocksdb::ColumnFamilyOptions& cf_options) const {
  Status status = Check(options_);
  return status.ok() ? MemTableRepFactory::ValidateOptions(db_options, cf_options) : status;
}

Status AlexMemTableFactory::ConfigureOptions(
    const rocksdb::ConfigOptions& config,
    const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  Status status = CheckOptionNames(kNickName(), OptionNames(), config, options);
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
    bool first;
    {
      const std::lock_guard<std::mutex> lock(told_mutex_);
      first = told_.emplace(logger, column_family_id).second;
    }
    if (first) {
      rocksdb::Info(logger,
                    "alex memtable: comparator %s is not bytewise, column family %u uses a skip list",
                    user->Name(), column_family_id);
    }
    return skip_list_.CreateMemTableRep(comparator, allocator, transform, logger);
  }
  return new AlexMemTableRep(comparator, allocator,
                             ffi::alex_rep(*factory_, allocator, column_family_id));
}

}  // namespace mountdb
