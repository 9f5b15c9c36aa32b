#include "cpp/registry.h"

#include <mutex>
#include <stdexcept>

#include "cpp/alex_memtable.h"
#include "cpp/bridge.h"
#include "cpp/pgm_index.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"

namespace mountdb {

namespace {

template <typename Base, typename Factory>
void Add(rocksdb::ObjectLibrary& library) {
  library.AddFactory<Base>(
      rocksdb::ObjectLibrary::PatternEntry(Factory::kClassName())
          .AnotherName(Factory::kNickName()),
      [](const std::string&, std::unique_ptr<Base>* guard, std::string*) {
        guard->reset(new Factory());
        return guard->get();
      });
}

// RocksDB's default drops a factory of unknown name without a word.
rocksdb::ConfigOptions Strict() {
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

}  // namespace

void Register() {
  static std::once_flag once;
  std::call_once(once, [] {
    mountdb_register(*rocksdb::ObjectLibrary::Default(), "");
  });
}

extern "C" int mountdb_register(rocksdb::ObjectLibrary& library, const std::string&) {
  Add<rocksdb::MemTableRepFactory, AlexMemTableFactory>(library);
  Add<rocksdb::UserDefinedIndexFactory, PgmIndexFactory>(library);
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

std::shared_ptr<rocksdb::MemTableRepFactory> NewAlexMemTableFactory(
    const AlexMemTableOptions& options) {
  return std::make_shared<AlexMemTableFactory>(options);
}

std::shared_ptr<rocksdb::UserDefinedIndexFactory> NewPgmIndexFactory(
    const PgmIndexOptions& options) {
  return std::make_shared<PgmIndexFactory>(options);
}

namespace ffi {

void register_factories() noexcept { Register(); }

void apply_learned(Options* options, rust::Str memtable, rust::Str index, bool primary) {
  Register();
  const rocksdb::ConfigOptions config = Strict();
  if (!memtable.empty()) {
    Check(rocksdb::MemTableRepFactory::CreateFromString(config, std::string(memtable),
                                                        &options->memtable_factory));
  }
  if (!index.empty()) {
    const auto* table =
        options->table_factory == nullptr
            ? nullptr
            : options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) {
      Check(rocksdb::Status::InvalidArgument(
          "a learned index needs the block-based table format"));
    }
    // A copy: other options may share the factory.
    rocksdb::BlockBasedTableOptions copy = *table;
    Check(rocksdb::UserDefinedIndexFactory::CreateFromString(config, std::string(index),
                                                             &copy.user_defined_index_factory));
    copy.use_udi_as_primary_index = primary;
    options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(copy));
  }
}

void apply_string(Options* options, rust::Str text) {
  Register();
  rocksdb::Options changed;
  Check(rocksdb::GetOptionsFromString(Strict(), *options, std::string(text),
                                      &changed));
  *options = changed;
}

}  // namespace ffi
}  // namespace mountdb
