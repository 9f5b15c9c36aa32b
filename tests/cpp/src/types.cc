// Every type of entry through flush, compaction and reopening, next to a stock database.

#include <ctime>

#include "db.h"
#include "rocksdb/wide_columns.h"
#include "utilities/merge_operators.h"

namespace mountdb::test {

using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::WriteBatch;

namespace {

// The two databases get the same batches and the same calls.
class Pair {
 public:
  using Change = std::function<void(Options*)>;

  Pair(Index index, Change change) {
    for (const Index side : {Index::kStock, index}) {
      Options options = DbOptions(side);
      options.disable_auto_compactions = true;
      options.merge_operator = rocksdb::MergeOperators::CreateStringAppendOperator();
      change(&options);
      options_.push_back(options);
    }
    dbs_.resize(2);
    Reopen();
  }
  ~Pair() { Release(); }

  void Reopen() {
    Release();
    for (size_t side = 0; side < 2; ++side) {
      dbs_[side].reset();
      dbs_[side] = Open(options_[side], dir_ / (side == 0 ? "stock" : "learned"));
    }
  }

  // The default family has the same number in both.
  rocksdb::ColumnFamilyHandle* Family() { return dbs_[0]->DefaultColumnFamily(); }

  void Write(WriteBatch* batch) {
    for (auto& db : dbs_) {
      CHECK_OK(db->Write({}, batch));
    }
  }

  void TakeSnapshots() {
    Release();
    for (auto& db : dbs_) {
      snapshots_.push_back(db->GetSnapshot());
    }
  }

  void Release() {
    for (size_t side = 0; side < snapshots_.size(); ++side) {
      dbs_[side]->ReleaseSnapshot(snapshots_[side]);
    }
    snapshots_.clear();
  }

  void Flush() {
    for (auto& db : dbs_) {
      CHECK_OK(db->Flush({}));
    }
  }

  void CompactAll() {
    for (auto& db : dbs_) {
      Compact(*db);
    }
  }

  void Compare(const std::string& when) {
    for (const bool snapshot : {false, true}) {
      if (snapshot && snapshots_.empty()) {
        continue;
      }
      std::vector<Entries> forward;
      std::vector<Entries> backward;
      std::vector<Entries> gets;
      for (size_t side = 0; side < 2; ++side) {
        rocksdb::ReadOptions read;
        read.snapshot = snapshot ? snapshots_[side] : nullptr;
        forward.push_back(Columns(*dbs_[side], read, true));
        backward.push_back(Columns(*dbs_[side], read, false));
        gets.push_back(Gets(*dbs_[side], read));
      }
      CHECK_MSG(forward[0] == forward[1], when);
      CHECK_MSG(backward[0] == backward[1], when);
      CHECK_MSG(gets[0] == gets[1], when);
      CHECK_MSG(!forward[0].empty(), when);
    }
    uint64_t errors = 0;
    CHECK(dbs_[1]->GetIntProperty("rocksdb.background-errors", &errors));
    CHECK_EQ(errors, uint64_t{0});
  }

  static std::string Key(char type, uint64_t number) {
    return std::string(1, type) + std::to_string(1000 + number);
  }

  static constexpr char kTypes[] = "abdegmstw";
  static constexpr uint64_t kKeys = 200;

 private:
  static std::string Text(const rocksdb::WideColumns& columns) {
    std::string text;
    for (const auto& column : columns) {
      text += column.name().ToString() + "=" + column.value().ToString() + ";";
    }
    return text;
  }

  static Entries Columns(DB& db, const rocksdb::ReadOptions& read, bool forward) {
    Entries entries;
    std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(read));
    for (forward ? iterator->SeekToFirst() : iterator->SeekToLast(); iterator->Valid();
         forward ? iterator->Next() : iterator->Prev()) {
      entries.emplace_back(iterator->key().ToString(), Text(iterator->columns()));
    }
    CHECK_OK(iterator->status());
    return entries;
  }

  static Entries Gets(DB& db, const rocksdb::ReadOptions& read) {
    Entries entries;
    for (const char* type = kTypes; *type != '\0'; ++type) {
      for (uint64_t number = 0; number < kKeys + 2; ++number) {
        const std::string key = Key(*type, number);
        rocksdb::PinnableWideColumns columns;
        const auto status = db.GetEntity(read, db.DefaultColumnFamily(), key, &columns);
        CHECK_MSG(status.ok() || status.IsNotFound(), status.ToString());
        entries.emplace_back(key, status.ok() ? Text(columns.columns()) + Get(db, key, read)
                                              : "(none)");
      }
    }
    return entries;
  }

  TempDir dir_;
  std::vector<Options> options_;
  std::vector<std::unique_ptr<DB>> dbs_;
  std::vector<const rocksdb::Snapshot*> snapshots_;
};

// Each type of operation has its own keys, so that no two meet whose mix RocksDB leaves undefined.
class Operations {
 public:
  explicit Operations(Rng* rng) : rng_(*rng), single_(Pair::kKeys) {}

  void Add(WriteBatch* batch, rocksdb::ColumnFamilyHandle* family) {
    const uint64_t number = rng_() % Pair::kKeys;
    const std::string value = "value" + std::to_string(rng_() % 1000);
    const auto key = [&](char type) { return Pair::Key(type, number); };
    switch (rng_() % 9) {
      case 0:
        CHECK_OK(batch->Put(key('a'), value));
        break;
      case 1:  // large enough for a blob file
        CHECK_OK(batch->Put(key('b'), value + std::string(300 + rng_() % 300, 'b')));
        break;
      case 2:
        CHECK_OK(rng_() % 3 == 0 ? batch->Delete(key('d')) : batch->Put(key('d'), value));
        break;
      case 3:
        CHECK_OK(batch->Put(key('e'), ""));
        break;
      case 4:
        CHECK_OK(rng_() % 20 == 0
                     ? batch->DeleteRange(key('g'), Pair::Key('g', number + rng_() % 30))
                     : batch->Put(key('g'), value));
        break;
      case 5:
        CHECK_OK(rng_() % 10 == 0  ? batch->Delete(key('m'))
                 : rng_() % 5 == 0 ? batch->Put(key('m'), value)
                                   : batch->Merge(key('m'), value));
        break;
      case 6:  // a SingleDelete wants exactly one Put before it
        CHECK_OK(single_[number] ? batch->SingleDelete(key('s')) : batch->Put(key('s'), value));
        single_[number] = !single_[number];
        break;
      case 7:
        CHECK_OK(batch->TimedPut(family, key('t'), value,
                                 static_cast<uint64_t>(std::time(nullptr)) - 100000));
        break;
      default: {
        const rocksdb::WideColumns columns = {
            {rocksdb::kDefaultWideColumnName, value}, {"one", value}, {"two", "2"}};
        CHECK_OK(rng_() % 5 == 0 ? batch->Put(key('w'), value)
                                 : batch->PutEntity(family, key('w'), columns));
      }
    }
  }

 private:
  Rng& rng_;
  std::vector<bool> single_;
};

void CheckTypes(const Pair::Change& change) {
  for (const Index index : {Index::kAlongside, Index::kPrimary, Index::kReplace, Index::kVerified}) {
    Rng rng(Seed());
    Pair pair(index, change);
    Operations operations(&rng);
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 100; ++i) {
        WriteBatch batch;
        for (int j = 0; j < 30; ++j) {
          operations.Add(&batch, pair.Family());
        }
        pair.Write(&batch);
        if (i == 50 && round % 2 == 1) {
          pair.TakeSnapshots();
        }
      }
      const std::string where = "round " + std::to_string(round);
      pair.Compare(where + " before the flush");
      if (round != 4) {
        pair.Flush();
        pair.Compare(where + " after the flush");
      }
      if (round == 2 || round == 3) {
        pair.CompactAll();
        pair.Compare(where + " after the compaction");
      }
      if (round >= 3) {
        pair.Reopen();
        pair.Compare(where + " reopened");
      }
    }
    pair.CompactAll();
    pair.Compare("compacted");
    pair.Reopen();
    pair.Compare("compacted and reopened");
  }
  CheckNoDifferences();
}

void UseDictionary(Options* options) {
  options->compression = rocksdb::kZSTD;
  options->bottommost_compression = rocksdb::kZSTD;
  for (auto* compression : {&options->compression_opts, &options->bottommost_compression_opts}) {
    compression->enabled = true;
    compression->max_dict_bytes = 4096;
    compression->zstd_max_train_bytes = 65536;
  }
}

void UseBlobFiles(Options* options) {
  options->enable_blob_files = true;
  options->min_blob_size = 200;
  options->enable_blob_garbage_collection = true;
  options->blob_garbage_collection_age_cutoff = 0.5;
}

}  // namespace

CASE(si_07_every_type) {
  CheckTypes([](Options*) {});
}

CASE(si_07_blob_files) { CheckTypes(UseBlobFiles); }

CASE(si_07_compression_dictionary) { CheckTypes(UseDictionary); }

CASE(si_07_all_together) {
  CheckTypes([](Options* options) {
    UseDictionary(options);
    UseBlobFiles(options);
    options->preserve_internal_time_seconds = 3600;
    options->compaction_pri = rocksdb::kMinOverlappingRatio;
    options->target_file_size_base = 8 << 10;
  });
}

// Nothing but range tombstones, and then not even those.
CASE(si_07_range_tombstones_alone) {
  Pair pair(Index::kPrimary, [](Options*) {});
  WriteBatch keep;
  CHECK_OK(keep.Put("z", "kept"));
  pair.Write(&keep);
  pair.Flush();
  WriteBatch batch;
  CHECK_OK(batch.DeleteRange("a", "y"));
  pair.Write(&batch);
  pair.Flush();
  pair.Compare("tombstone alone");
  pair.Reopen();
  pair.Compare("reopened");
  pair.CompactAll();
  pair.Compare("compacted");
}

CASE(si_07_on_key_added_changes_nothing) {
  const auto factory = NewPgmIndexFactory();
  std::string contents[2];
  for (const bool call : {false, true}) {
    std::unique_ptr<UserDefinedIndexBuilder> builder;
    CHECK_OK(factory->NewBuilder({}, builder));
    uint64_t offset = 0;
    for (int i = 0; i < 500; ++i) {
      const std::string last = "key" + std::to_string(10000 + 2 * i);
      const std::string next = "key" + std::to_string(10000 + 2 * i + 1);
      if (call) {
        for (const int type : {0, 1, 2, 3, 4, 77, 255}) {
          builder->OnKeyAdded(last, static_cast<UserDefinedIndexBuilder::ValueType>(type), Slice());
        }
        builder->OnKeyAdded(Slice(), UserDefinedIndexBuilder::kTypeMax, Slice());
      }
      std::string scratch;
      const Slice next_slice(next);
      builder->AddIndexEntry(last, i < 499 ? &next_slice : nullptr, {offset, 4000}, &scratch, {});
      offset += 4005;
    }
    Slice finished;
    CHECK_OK(builder->Finish(&finished));
    contents[call ? 1 : 0] = finished.ToString();
  }
  CHECK(!contents[0].empty());
  CHECK(contents[0] == contents[1]);
}

}  // namespace mountdb::test
