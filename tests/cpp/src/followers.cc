// Instances that fill their memtables from the log of another one.

#include "voices.h"

namespace mountdb::test {

namespace {

std::unique_ptr<rocksdb::DB> Follow(rocksdb::Options options, const std::string& primary,
                                    const std::string& folder) {
  options.max_open_files = -1;
  std::unique_ptr<rocksdb::DB> db;
  CHECK_OK(rocksdb::DB::OpenAsSecondary(options, primary, folder, &db));
  return db;
}

uint64_t Unflushed(rocksdb::DB& db) {
  uint64_t active = 0;
  uint64_t sealed = 0;
  CHECK(db.GetIntProperty("rocksdb.num-entries-active-mem-table", &active));
  CHECK(db.GetIntProperty("rocksdb.num-entries-imm-mem-tables", &sealed));
  return active + sealed;
}

}  // namespace

CASE(secondary_instances_replay_the_log) {
  Rng rng(Seed());
  Voices voices([](rocksdb::Options* options) { options->max_open_files = -1; });
  const std::vector<std::string> keys = PrefixedKeys(40);
  for (int i = 0; i < 300; ++i) {
    voices.Random(rng, keys, true, false);
  }
  // Each memtable follows a primary of its own kind, and one of the other.
  std::vector<std::unique_ptr<rocksdb::DB>> followers;
  for (size_t i = 0; i < voices.size(); ++i) {
    for (const size_t primary : {i, i == 0 ? size_t{1} : size_t{0}}) {
      followers.push_back(Follow(voices.options(i), voices.Path(primary),
                                 voices.Folder("follower" + std::to_string(followers.size()))));
    }
  }
  bool replayed = false;
  for (int round = 0; round < 20; ++round) {
    // Not before the end of a round: right after a flush a secondary instance of stock RocksDB does
    // not see the last entries before a further one is in the log.
    for (int i = 0; i < 200; ++i) {
      if (i == 100 && round % 5 == 3) {
        voices.Flush();
      }
      if (i == 150 && round % 10 == 8) {
        voices.All([](rocksdb::DB& db) { Compact(db); });
      }
      voices.Random(rng, keys, true, false);
    }
    for (size_t i = 0; i < followers.size(); ++i) {
      CHECK_OK(followers[i]->TryCatchUpWithPrimary());
      voices.CheckAgainstModel(*followers[i], "follower " + std::to_string(i) + " with " +
                                                  kMemtables[i / 2] + ", round " +
                                                  std::to_string(round));
      replayed |= Unflushed(*followers[i]) > 0;
    }
  }
  CHECK_MSG(replayed, "no follower ever had an entry in a memtable");
}

CASE(read_only_instances_replay_the_log) {
  Rng rng(Seed());
  Voices voices;
  const std::vector<std::string> keys = PrefixedKeys(40);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 800; ++i) {
      voices.Random(rng, keys);
    }
    voices.All([](rocksdb::DB& db) { CHECK_OK(db.FlushWAL(true)); });
    for (size_t reader = 0; reader < voices.size(); ++reader) {
      for (size_t writer = 0; writer < voices.size(); ++writer) {
        std::unique_ptr<rocksdb::DB> db;
        CHECK_OK(rocksdb::DB::OpenForReadOnly(voices.options(reader), voices.Path(writer), &db));
        CHECK(Unflushed(*db) > 0);
        voices.CheckAgainstModel(*db, kMemtables[reader] + " reads " + kMemtables[writer]);
        CHECK(!db->Put({}, "key", "value").ok());
      }
    }
    if (round % 2 == 0) {
      voices.Flush();
    }
  }
}

}  // namespace mountdb::test
