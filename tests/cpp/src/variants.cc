#include "variants.h"

#include "check.h"
#include "rocksdb/convenience.h"

namespace mountdb::test {

const std::vector<std::string> kMemtables = {
    "skip_list",
    "{id=alex;skeleton_period=0}",
    "{id=alex;skeleton_period=1}",
    "{id=alex;skeleton_period=10}",
    "{id=alex;skeleton=single;skeleton_content=keys}",
};

std::shared_ptr<rocksdb::MemTableRepFactory> Memtable(const std::string& options) {
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.ignore_unknown_options = false;
  std::shared_ptr<rocksdb::MemTableRepFactory> factory;
  CHECK_OK(rocksdb::MemTableRepFactory::CreateFromString(config, options, &factory));
  CHECK(factory != nullptr);
  const bool stock = options == kMemtables.front();
  CHECK(factory->IsInstanceOf(stock ? "skip_list" : "alex"));
  return factory;
}

}  // namespace mountdb::test

// For tests/memory.rs; null behind the last.
extern "C" const char* mountdb_test_memtable(size_t number) {
  const auto& all = mountdb::test::kMemtables;
  return number < all.size() ? all[number].c_str() : nullptr;
}
