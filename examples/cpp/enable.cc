// A database of stock RocksDB gets learned indexes, is used with them, and goes back to stock.
//
//   enable FOLDER
//
// Build it against an installed mountdb (README, "Beside your RocksDB"): CMakeLists.txt beside this file, or
//   c++ -std=c++20 enable.cc $(pkg-config --cflags --libs mountdb) -o enable

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "mountdb/mountdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace {

constexpr int kKeys = 100000;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
}

std::string Key(int number) {
  char key[16];
  std::snprintf(key, sizeof(key), "key %08d", number);
  return key;
}

rocksdb::Options Stock() {
  rocksdb::Options options;
  options.create_if_missing = true;
  return options;
}

// Both indexes. The options of the application stay as they are otherwise.
rocksdb::Options Learned(bool primary) {
  rocksdb::Options options = Stock();
  options.memtable_factory = mountdb::NewAlexMemTableFactory();
  rocksdb::BlockBasedTableOptions table;
  table.user_defined_index_factory = mountdb::NewPgmIndexFactory();
  table.use_udi_as_primary_index = primary;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const std::string& folder) {
  std::unique_ptr<rocksdb::DB> db;
  Check(rocksdb::DB::Open(options, folder, &db));
  return db;
}

void Write(rocksdb::DB& db, int from, int to) {
  for (int number = from; number < to; ++number) {
    Check(db.Put(rocksdb::WriteOptions(), Key(number), "value " + std::to_string(number)));
  }
}

// Every key of ours, one by one and in a scan.
void Read(rocksdb::DB& db, int count, const char* when) {
  for (int number = 0; number < count; ++number) {
    std::string value;
    Check(db.Get(rocksdb::ReadOptions(), Key(number), &value));
    if (value != "value " + std::to_string(number)) {
      Check(rocksdb::Status::Corruption(Key(number), value));
    }
  }
  int found = 0;
  std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(rocksdb::ReadOptions()));
  for (iterator->Seek("key "); iterator->Valid() && iterator->key().starts_with("key ");
       iterator->Next()) {
    ++found;
  }
  Check(iterator->status());
  if (found != count) {
    Check(rocksdb::Status::Corruption("scan", std::to_string(found) + " keys"));
  }
  std::printf("%s: %d keys\n", when, found);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];

  // What the application does today.
  {
    auto db = Open(Stock(), folder);
    Write(*db, 0, kKeys);
    Read(*db, kKeys, "stock");
  }

  // Makes the names known to option strings and OPTIONS files, and refuses a RocksDB that mountdb was not compiled for.
  mountdb::Register();

  // Alongside: new files carry both indexes, RocksDB's own serves the reads. The compaction writes the old files anew.
  {
    auto db = Open(Learned(false), folder);
    Write(*db, kKeys, 2 * kKeys);
    Check(db->Flush(rocksdb::FlushOptions()));
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    Check(db->CompactRange(compact, nullptr, nullptr));
    Read(*db, 2 * kKeys, "alongside");
  }

  // Primary: the learned index serves the reads.
  {
    auto db = Open(Learned(true), folder);
    Write(*db, 2 * kKeys, 3 * kKeys);
    Read(*db, 3 * kKeys, "primary");
  }

  // Rollback: leave the options away.
  auto db = Open(Stock(), folder);
  Read(*db, 3 * kKeys, "rolled back");
  return 0;
}
