// Reads of SST files that fail, or come back with a flipped bit, and how many there are.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "db.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace mountdb::test {

namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

enum class Fault { kNone, kError, kFlip };

// What happens to reads; shared by all files of a file system.
class Plan {
 public:
  // One in so many reads is hit, at random.
  void Set(Fault fault, uint64_t one_in) {
    one_in_ = one_in;
    fault_ = fault;
  }
  uint64_t reads() const { return reads_; }

  IOStatus Apply(const IOStatus& status, Slice* result, char* scratch) {
    ++reads_;
    const Fault fault = fault_;
    const uint64_t drawn = Draw();
    if (fault == Fault::kNone || !status.ok() || result->empty() || drawn % one_in_ != 0) {
      return status;
    }
    if (fault == Fault::kError) {
      return IOStatus::IOError("planted");
    }
    if (result->data() != scratch) {
      std::memmove(scratch, result->data(), result->size());
      *result = Slice(scratch, result->size());
    }
    const uint64_t bit = Draw() % (result->size() * 8);
    scratch[bit / 8] = static_cast<char>(scratch[bit / 8] ^ (1 << (bit % 8)));
    return status;
  }

 private:
  // Reads come from any thread.
  uint64_t Draw() {
    uint64_t mixed = state_.fetch_add(0x9e3779b97f4a7c15) + Seed();
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<uint64_t> one_in_{1};
  std::atomic<uint64_t> state_{0};
  std::atomic<uint64_t> reads_{0};
};

class FaultyFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, Plan* plan)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), plan_(plan) {}

  IOStatus Read(uint64_t offset, size_t length, const IOOptions& options, Slice* result,
                char* scratch, IODebugContext* context) const override {
    const IOStatus status = target()->Read(offset, length, options, result, scratch, context);
    return plan_->Apply(status, result, scratch);
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* context) override {
    const IOStatus status = target()->MultiRead(requests, count, options, context);
    for (size_t i = 0; i < count; ++i) {
      requests[i].status = plan_->Apply(requests[i].status, &requests[i].result, requests[i].scratch);
    }
    return status;
  }

 private:
  Plan* const plan_;
};

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* context) override {
    const IOStatus status = target()->NewRandomAccessFile(name, options, result, context);
    if (status.ok()) {
      *result = std::make_unique<FaultyFile>(std::move(*result), &plan);
    }
    return status;
  }

  Plan plan;
};

// The file system outlives the databases on it.
struct Files {
  std::shared_ptr<FaultyFiles> system = std::make_shared<FaultyFiles>();
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(system);
  Plan& plan = system->plan;
};

struct Form {
  const char* name;
  PgmIndexOptions options;
};

const Form kForms[] = {
    {"alongside, primary", {}},
    {"replace", {.mode = PgmMode::kReplace}},
    {"verified", {.verify_one_in = 1}},
    {"window", {.lookup = PgmLookup::kWindow}},
    {"window, replace", {.mode = PgmMode::kReplace, .lookup = PgmLookup::kWindow}},
};

using Model = std::map<std::string, std::string>;

rocksdb::Options FaultyOptions(const Form& form, const Files& files) {
  rocksdb::Options options = DbOptions(Index::kPrimary);
  options.env = files.env.get();
  options.write_buffer_size = 128 << 10;
  options.target_file_size_base = 64 << 10;
  rocksdb::BlockBasedTableOptions table = TableOptions(Index::kPrimary);
  table.user_defined_index_factory = NewPgmIndexFactory(form.options);
  // Index blocks are read by seeks, again and again.
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(32 << 10, 0);
  SetTable(&options, table);
  return options;
}

void Write(rocksdb::DB& db, Model* model, Rng* rng, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string key = "key" + std::to_string((*rng)() % 4000);
    const std::string value = std::to_string((*rng)()) + std::string(40, 'v');
    CHECK_OK(db.Put({}, key, value));
    (*model)[key] = value;
  }
  CHECK_OK(db.Flush({}));
}

// Whether it failed, for the planted reason.
bool Failed(const rocksdb::Status& status) {
  CHECK_MSG(status.ok() || status.IsIOError() || status.IsCorruption(), status.ToString());
  return !status.ok();
}

// Errors among gets and short scans. What is no error is right.
int Read(rocksdb::DB& db, const Model& model, Rng* rng) {
  int errors = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key" + std::to_string((*rng)() % 4000);
    const auto wanted = model.find(key);
    std::string value;
    const rocksdb::Status status = db.Get({}, key, &value);
    if (status.IsNotFound()) {
      CHECK_MSG(wanted == model.end(), key);
    } else if (Failed(status)) {
      ++errors;
    } else {
      CHECK_MSG(wanted != model.end() && wanted->second == value, key);
    }
  }
  for (int i = 0; i < 30; ++i) {
    const std::string key = "key" + std::to_string((*rng)() % 4000);
    const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator({}));
    auto wanted = model.lower_bound(key);
    iterator->Seek(key);
    for (int step = 0; step < 20 && iterator->Valid(); ++step, ++wanted) {
      CHECK_MSG(wanted != model.end() && wanted->first == iterator->key() &&
                    wanted->second == iterator->value(),
                key);
      iterator->Next();
    }
    if (Failed(iterator->status())) {
      ++errors;
    } else if (!iterator->Valid()) {
      CHECK_MSG(wanted == model.end(), key);
    }
  }
  return errors;
}

}  // namespace

// Faults in one of three phases: open, reads, compaction. Each is an error or does no harm, and without faults
// all is there.
CASE(sf_02_faulty_reads_are_errors) {
  Rng rng(Seed());
  for (const Form& form : kForms) {
    TempDir dir;
    const Files files;
    const rocksdb::Options options = FaultyOptions(form, files);
    Model model;
    int errors[3] = {0, 0, 0};
    for (int round = 0; round < 18; ++round) {
      auto db = Open(options, dir / "db");
      Write(*db, &model, &rng, round == 0 ? 8000 : 300);
      const int phase = round % 3;
      const Fault fault = round / 3 % 2 == 0 ? Fault::kError : Fault::kFlip;
      const uint64_t one_in = 2 + rng() % 10;
      if (phase == 0) {
        db.reset();
      }
      files.plan.Set(fault, one_in);
      if (phase == 0) {
        errors[phase] += Failed(rocksdb::DB::Open(options, dir / "db", &db));
      } else if (phase == 1) {
        errors[phase] += Read(*db, model, &rng);
      } else {
        rocksdb::CompactRangeOptions compact;
        compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
        errors[phase] += Failed(db->CompactRange(compact, nullptr, nullptr));
      }
      files.plan.Set(Fault::kNone, 1);
      db.reset();
      db = Open(options, dir / "db");
      const Entries wanted(model.begin(), model.end());
      CHECK_MSG(ScanAll(*db) == wanted, form.name);
      CHECK_MSG(ScanAll(*db, false) == Entries(wanted.rbegin(), wanted.rend()), form.name);
      CHECK_EQ(Read(*db, model, &rng), 0);
    }
    for (const int count : errors) {
      CHECK_MSG(count > 0, std::string(form.name) + ": no fault was met in one of the phases");
    }
  }
  CheckNoDifferences();
}

// The window's three blocks come by one read, and the exact form's block does.
CASE(a_cold_lookup_reads_once) {
  for (const Form& form : kForms) {
    TempDir dir;
    const Files files;
    rocksdb::Options options = FaultyOptions(form, files);
    options.write_buffer_size = 64 << 20;
    options.target_file_size_base = 64 << 20;
    options.disable_auto_compactions = true;
    rocksdb::BlockBasedTableOptions table = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    table.cache_index_and_filter_blocks = false;
    table.block_cache = rocksdb::NewLRUCache(64 << 20);
    SetTable(&options, table);
    const auto key = [](uint64_t number) {
      char digits[17];
      std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number * 0x1000000001));
      return std::string(digits);
    };
    constexpr int kKeys = 40000;
    {
      auto db = Open(options, dir / "db");
      for (int i = 0; i < kKeys; ++i) {
        CHECK_OK(db->Put({}, key(i), "a value of some bytes"));
      }
      CHECK_OK(db->Flush({}));
    }
    auto db = Open(options, dir / "db");
    uint64_t most = 0, all = 0;
    int lookups = 0;
    // Blocks hold about six entries: no two look-ups share one, nor a neighbour.
    for (int i = 0; i < kKeys; i += 97, ++lookups) {
      const uint64_t before = files.plan.reads();
      CHECK_EQ(Get(*db, key(i)), std::string("a value of some bytes"));
      most = std::max(most, files.plan.reads() - before);
      all += files.plan.reads() - before;
    }
    // Verified look-ups may have to look into a second block.
    const uint64_t limit = form.options.verify_one_in > 0 ? 2 : 1;
    CHECK_MSG(most <= limit, std::string(form.name) + ": " + std::to_string(most) + " reads");
    CHECK_MSG(all >= static_cast<uint64_t>(lookups), std::string(form.name) + ": the look-ups were not cold");
  }
}

}  // namespace mountdb::test
