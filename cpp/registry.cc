#include "cpp/registry.h"

#include <mutex>
#include <stdexcept>

#include "cpp/alex_memtable.h"
#include "cpp/bridge.h"
#include "cpp/build_check.h"
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

void CheckBuild() {
  if (!Refusal().empty()) {
    throw std::runtime_error(Refusal());
  }
}

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

}  // namespace

void Register() {
  CheckBuild();
  static std::once_flag once;
  std::call_once(once, [] {
    mountdb_register_plugin(*rocksdb::ObjectLibrary::Default(), "");
  });
}

extern "C" int mountdb_register_plugin(rocksdb::ObjectLibrary& library, const std::string&) {
  Add<rocksdb::MemTableRepFactory, AlexMemTableFactory>(library);
  Add<rocksdb::UserDefinedIndexFactory, PgmIndexFactory>(library);
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

std::shared_ptr<rocksdb::MemTableRepFactory> NewAlexMemTableFactory(
    const AlexMemTableOptions& options) {
  CheckBuild();
  return std::make_shared<AlexMemTableFactory>(options);
}

std::shared_ptr<rocksdb::UserDefinedIndexFactory> NewPgmIndexFactory(
    const PgmIndexOptions& options) {
  CheckBuild();
  return std::make_shared<PgmIndexFactory>(options);
}

rocksdb::Status Apply(rocksdb::Options* options, const std::string& memtable,
                      const std::string& index, IndexMode mode) {
  Register();
  const rocksdb::ConfigOptions config = Strict();
  auto memtable_factory = options->memtable_factory;
  if (!memtable.empty()) {
    rocksdb::Status status =
        rocksdb::MemTableRepFactory::CreateFromString(config, memtable, &memtable_factory);
    if (!status.ok()) {
      return status;
    }
  }
  if (!index.empty()) {
    const auto* table =
        options->table_factory == nullptr
            ? nullptr
            : options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) {
      return rocksdb::Status::InvalidArgument("a learned index needs the block-based table format");
    }
    // A copy: other options may share the factory.
    rocksdb::BlockBasedTableOptions copy = *table;
    rocksdb::Status status = rocksdb::UserDefinedIndexFactory::CreateFromString(
        config, index, &copy.user_defined_index_factory);
    if (!status.ok()) {
      return status;
    }
    copy.use_udi_as_primary_index = mode == IndexMode::kPrimary;
    options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(copy));
  }
  options->memtable_factory = std::move(memtable_factory);
  return rocksdb::Status::OK();
}

namespace ffi {

void register_factories() noexcept { Register(); }

void apply_learned(Options* options, rust::Str memtable, rust::Str index, bool primary) {
  Check(Apply(options, std::string(memtable), std::string(index),
              primary ? IndexMode::kPrimary : IndexMode::kAlongside));
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
