// Both Rust libraries at work in one program, whose memtables write through one and compute with the other.

#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "mountdb/mountdb.h"
#include "rocksdb/db.h"

extern "C" unsigned other_rust(unsigned count);

int main(int, char** argv) {
  mountdb::Register();
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::Status status =
      mountdb::Apply(&options, "alex", "pgm", mountdb::IndexMode::kPrimary);
  std::unique_ptr<rocksdb::DB> db;
  if (status.ok()) {
    status = rocksdb::DB::Open(options, argv[1], &db);
  }
  unsigned wrong = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      wrong += other_rust(1000) != 499501;
    }
  });
  for (int i = 0; status.ok() && i < 20000; ++i) {
    status = db->Put(rocksdb::WriteOptions(), std::to_string(i), std::to_string(i));
  }
  other.join();
  if (status.ok()) {
    status = db->Flush(rocksdb::FlushOptions());
  }
  for (int i = 0; status.ok() && i < 20000; ++i) {
    std::string value;
    status = db->Get(rocksdb::ReadOptions(), std::to_string(i), &value);
    wrong += value != std::to_string(i);
  }
  std::printf("%s, %u wrong\n", status.ToString().c_str(), wrong);
  return status.ok() && wrong == 0 ? 0 : 1;
}
