// Registration, and creating the factories by name.

#include <cstring>

#include "db.h"
#include "rocksdb/c.h"
#include "rocksdb/convenience.h"
#include "rocksdb/user_defined_index.h"

namespace mountdb::test {

using rocksdb::ConfigOptions;
using rocksdb::MemTableRepFactory;
using rocksdb::UserDefinedIndexFactory;

namespace {

void CheckNames() {
  for (const std::string name : {"alex", "AlexMemTableFactory"}) {
    std::shared_ptr<MemTableRepFactory> shared;
    CHECK_OK(MemTableRepFactory::CreateFromString(ConfigOptions(), name, &shared));
    CHECK(shared != nullptr);
    CHECK_EQ(std::string(shared->Name()), std::string("AlexMemTableFactory"));
    CHECK(shared->IsInstanceOf("alex"));
    CHECK(shared->IsInsertConcurrentlySupported());
    CHECK(shared->CanHandleDuplicatedKey());
    std::unique_ptr<MemTableRepFactory> owned;
    CHECK_OK(MemTableRepFactory::CreateFromString(ConfigOptions(), name, &owned));
    CHECK(owned != nullptr);
  }
  for (const std::string name : {"pgm", "PgmIndexFactory"}) {
    std::shared_ptr<UserDefinedIndexFactory> shared;
    CHECK_OK(UserDefinedIndexFactory::CreateFromString(ConfigOptions(), name, &shared));
    CHECK(shared != nullptr);
    CHECK_EQ(std::string(shared->Name()), std::string("PgmIndexFactory"));
    CHECK(shared->IsInstanceOf("pgm"));
  }
}

}  // namespace

CASE(fb_04_register_any_number_of_times) {
  Register();
  Register();
  CheckNames();
  InThreads(8, [](size_t) {
    for (int i = 0; i < 100; ++i) {
      Register();
      CheckNames();
    }
  });
}

CASE(fb_04_c_interface) {
  auto* table = rocksdb_block_based_options_create();
  size_t length = 1;
  CHECK(rocksdb_block_based_options_get_user_defined_index_factory_name(table, &length) == nullptr);
  for (const char* name : {"pgm", "PgmIndexFactory", "{id=pgm}"}) {
    char* error = nullptr;
    rocksdb_block_based_options_set_user_defined_index_factory_from_string(
        table, name, std::strlen(name), &error);
    CHECK_MSG(error == nullptr, error);
    const char* got =
        rocksdb_block_based_options_get_user_defined_index_factory_name(table, &length);
    CHECK_EQ(std::string(got, length), std::string("PgmIndexFactory"));
  }
  char* error = nullptr;
  rocksdb_block_based_options_set_user_defined_index_factory_from_string(table, "pgn", 3, &error);
  CHECK(error != nullptr);
  rocksdb_free(error);
  error = nullptr;
  rocksdb_block_based_options_set_user_defined_index_factory_from_string(table, "pgm", 3, &error);
  CHECK(error == nullptr);

  auto* base = rocksdb_options_create();
  auto* options = rocksdb_options_create();
  rocksdb_get_options_from_string(base, "create_if_missing=true;memtable_factory=alex", options,
                                  &error);
  CHECK_MSG(error == nullptr, error);
  rocksdb_options_set_block_based_table_factory(options, table);
  TempDir dir;
  auto* db = rocksdb_open(options, (dir / "db").c_str(), &error);
  CHECK_MSG(error == nullptr, error);
  auto* write = rocksdb_writeoptions_create();
  auto* read = rocksdb_readoptions_create();
  auto* flush = rocksdb_flushoptions_create();
  rocksdb_put(db, write, "key", 3, "value", 5, &error);
  CHECK_MSG(error == nullptr, error);
  rocksdb_flush(db, flush, &error);
  CHECK_MSG(error == nullptr, error);
  char* value = rocksdb_get(db, read, "key", 3, &length, &error);
  CHECK_MSG(error == nullptr, error);
  CHECK_EQ(std::string(value, length), std::string("value"));
  rocksdb_free(value);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_options_destroy(base);
  rocksdb_block_based_options_destroy(table);
}

}  // namespace mountdb::test
