// Option strings and OPTIONS files.

#include <fstream>
#include <sstream>

#include "db.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"

namespace mountdb::test {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyOptions;
using rocksdb::ConfigOptions;
using rocksdb::DBOptions;
using rocksdb::Options;
using rocksdb::Status;

namespace {

ConfigOptions Strict() {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

std::string Parameter(const rocksdb::MemTableRepFactory& factory, const std::string& name) {
  std::string value;
  CHECK_OK(factory.GetOption(Strict(), name, &value));
  return value;
}

const BlockBasedTableOptions& Table(const ColumnFamilyOptions& options) {
  CHECK(options.table_factory != nullptr);
  const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  CHECK(table != nullptr);
  return *table;
}

void CheckLearned(const ColumnFamilyOptions& options, const std::string& period) {
  CHECK(options.memtable_factory != nullptr);
  CHECK_EQ(std::string(options.memtable_factory->Name()), std::string("AlexMemTableFactory"));
  CHECK_EQ(Parameter(*options.memtable_factory, "skeleton_period"), period);
  const BlockBasedTableOptions& table = Table(options);
  CHECK(table.user_defined_index_factory != nullptr);
  CHECK_EQ(std::string(table.user_defined_index_factory->Name()), std::string("PgmIndexFactory"));
  CHECK(table.use_udi_as_primary_index);
}

Options Period3() {
  Options options = DbOptions(Index::kPrimary);
  options.memtable_factory = NewAlexMemTableFactory({.skeleton_period = 3});
  return options;
}

constexpr char kDocumented[] =
    "memtable_factory={id=alex;skeleton_period=10};"
    "block_based_table_factory={user_defined_index_factory={id=pgm};"
    "use_udi_as_primary_index=true}";

Status Parse(const std::string& text, ColumnFamilyOptions* options,
             const ConfigOptions& config = ConfigOptions()) {
  return rocksdb::GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), text, options);
}

void CheckEqual(const ColumnFamilyOptions& a, const ColumnFamilyOptions& b) {
  std::string mismatch;
  CHECK_MSG(a.memtable_factory->AreEquivalent(Strict(), b.memtable_factory.get(), &mismatch),
            mismatch);
  CHECK_MSG(a.table_factory->AreEquivalent(Strict(), b.table_factory.get(), &mismatch), mismatch);
}

bool Contains(const Status& status, const std::string& text) {
  return status.ToString().find(text) != std::string::npos;
}

}  // namespace

CASE(od_01_options_file_brings_the_factories_back) {
  TempDir dir;
  {
    auto db = Open(Period3(), dir / "db");
    CHECK_OK(db->Put({}, "k", "v"));
  }
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  CHECK_OK(rocksdb::LoadLatestOptions(Strict(), dir / "db", &db_options, &families));
  CHECK_EQ(families.size(), size_t{1});
  CheckLearned(families[0].options, "3");
  CHECK_OK(rocksdb::CheckOptionsCompatibility(Strict(), dir / "db", db_options, families));
  CheckEqual(families[0].options, Period3());
  auto db = Open(Options(db_options, families[0].options), dir / "db");
  CHECK_EQ(Get(*db, "k"), std::string("v"));
}

namespace {

// The factories are there, or opening says which one is missing.
void CheckNeverNull(const std::string& path, const DBOptions& db_options,
                    const std::vector<ColumnFamilyDescriptor>& families) {
  const ColumnFamilyOptions& options = families.at(0).options;
  CHECK(options.memtable_factory != nullptr);
  const BlockBasedTableOptions& table = Table(options);
  std::unique_ptr<rocksdb::DB> db;
  const Status opened = rocksdb::DB::Open(Options(db_options, options), path, &db);
  if (table.use_udi_as_primary_index && table.user_defined_index_factory == nullptr) {
    CHECK_MSG(opened.IsInvalidArgument() && Contains(opened, "user_defined_index_factory"),
              opened.ToString());
  } else {
    CHECK_OK(opened);
    CHECK_EQ(Get(*db, "k"), std::string("v"));
  }
}

}  // namespace

CASE(od_01_unregistered_names) {
  TempDir dir;
  {
    auto db = Open(Period3(), dir / "db");
    CHECK_OK(db->Put({}, "k", "v"));
    CHECK_OK(db->Flush({}));
  }
  std::string name;
  CHECK_OK(rocksdb::GetLatestOptionsFileName(dir / "db", rocksdb::Env::Default(), &name));
  std::stringstream original;
  original << std::ifstream(dir / ("db/" + name)).rdbuf();
  for (const std::string id : {"AlexMemTableFactory", "PgmIndexFactory"}) {
    std::string text = original.str();
    CHECK(text.find(id) != std::string::npos);
    for (size_t at; (at = text.find(id)) != std::string::npos;) {
      text.replace(at, id.size(), "NoSuchThing");
    }
    const std::string path = dir / ("OPTIONS-" + id);
    std::ofstream(path) << text;

    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    const Status strict = rocksdb::LoadOptionsFromFile(Strict(), path, &db_options, &families);
    if (id == "PgmIndexFactory" && strict.ok()) {
      CheckNeverNull(dir / "db", db_options, families);  // RocksDB does not report what a table lacks.
    } else {
      CHECK_MSG(!strict.ok() && Contains(strict, "NoSuchThing"), id + ": " + strict.ToString());
    }

    ConfigOptions lenient;
    lenient.ignore_unsupported_options = true;
    CHECK_OK(rocksdb::LoadOptionsFromFile(lenient, path, &db_options, &families));
    CheckNeverNull(dir / "db", db_options, families);
  }
  ColumnFamilyOptions options;
  for (const char* text : {"memtable_factory={id=NoSuchThing}", "memtable_factory=NoSuchThing"}) {
    const Status status = Parse(text, &options, Strict());
    CHECK_MSG(!status.ok() && Contains(status, "NoSuchThing"), status.ToString());
  }
}

CASE(od_01_documented_strings) {
  ColumnFamilyOptions options;
  CHECK_OK(Parse(kDocumented, &options, Strict()));
  CheckLearned(options, "10");
  const std::pair<const char*, const char*> strings[] = {
      {"memtable_factory=alex", "10"},
      {"memtable_factory=AlexMemTableFactory", "10"},
      {"memtable_factory={id=alex}", "10"},
      {"memtable_factory={id=AlexMemTableFactory;skeleton_period=0}", "0"},
      {"memtable_factory={id=alex;skeleton_period=1}", "1"},
      {"memtable_factory={ id = alex ; skeleton_period = 7 }", "7"},
      {"memtable_factory={id=alex;skeleton_period=1000000}", "1000000"},
  };
  for (const auto& [text, period] : strings) {
    CHECK_OK(Parse(text, &options, Strict()));
    CHECK_EQ(std::string(options.memtable_factory->Name()), std::string("AlexMemTableFactory"));
    CHECK_EQ(Parameter(*options.memtable_factory, "skeleton_period"), std::string(period));
    CHECK(options.memtable_factory->ToString(Strict()).find(
              "skeleton_period=" + std::string(period)) != std::string::npos);
  }
  for (const char* text : {"pgm", "PgmIndexFactory", "{id=pgm}", "{id=PgmIndexFactory}"}) {
    CHECK_OK(Parse("block_based_table_factory={user_defined_index_factory=" + std::string(text) +
                       ";}",
                   &options, Strict()));
    CHECK(Table(options).user_defined_index_factory->IsInstanceOf("pgm"));
  }
}

CASE(od_01_invalid_parameters) {
  for (const ConfigOptions& config : {Strict(), ConfigOptions()}) {
    for (const std::string bad :
         {"-1", "1000001", "4294967296", "99999999999999999999", "ten", "1.5", "0x10", "1e3", "+1",
          "1 0", "10k"}) {
      ColumnFamilyOptions options;
      const Status status =
          Parse("memtable_factory={id=alex;skeleton_period=" + bad + "}", &options, config);
      CHECK_MSG(status.IsInvalidArgument(), bad + ": " + status.ToString());
      CHECK_MSG(Contains(status, "skeleton_period") && Contains(status, "1000000") &&
                    Contains(status, bad),
                bad + ": " + status.ToString());
    }
  }
}

CASE(od_01_unknown_parameters) {
  for (const ConfigOptions& config : {Strict(), ConfigOptions()}) {
    for (const std::string text :
         {"memtable_factory={id=alex;no_such_parameter=1}",
          "block_based_table_factory={user_defined_index_factory={id=pgm;no_such_parameter=1}}"}) {
      ColumnFamilyOptions options;
      Status status = Parse(text, &options, config);
      if (status.ok()) {
        // RocksDB drops errors of factories inside the table options: then
        // DB::Open tells.
        TempDir dir;
        Options open(rocksdb::DBOptions(), options);
        open.create_if_missing = true;
        std::unique_ptr<rocksdb::DB> db;
        status = rocksdb::DB::Open(open, dir / "db", &db);
      }
      CHECK_MSG(status.IsInvalidArgument() && Contains(status, "no_such_parameter"),
                text + ": " + status.ToString());
    }
  }
}

// A value that did not come through a string.
CASE(od_01_invalid_parameter_of_the_constructor) {
  TempDir dir;
  Options options = DbOptions(Index::kPrimary);
  options.memtable_factory = NewAlexMemTableFactory({.skeleton_period = 1000001});
  std::unique_ptr<rocksdb::DB> db;
  const Status status = rocksdb::DB::Open(options, dir / "db", &db);
  CHECK_MSG(status.IsInvalidArgument() && Contains(status, "skeleton_period") &&
                Contains(status, "1000000"),
            status.ToString());
}

CASE(od_01_strings_round_trip) {
  for (const Index index :
       {Index::kStock, Index::kAlongside, Index::kPrimary, Index::kReplace}) {
    for (const uint32_t period : {0u, 3u, 10u, 1000000u}) {
      Options options = DbOptions(index);
      if (index != Index::kStock) {
        options.memtable_factory = NewAlexMemTableFactory({.skeleton_period = period});
      }
      ConfigOptions config = Strict();
      config.depth = ConfigOptions::kDepthDetailed;  // Otherwise a table factory is its name.
      std::string text;
      CHECK_OK(rocksdb::GetStringFromColumnFamilyOptions(config, options, &text));
      ColumnFamilyOptions parsed;
      CHECK_OK(Parse(text, &parsed, Strict()));
      CheckEqual(options, parsed);
      std::string again;
      CHECK_OK(rocksdb::GetStringFromColumnFamilyOptions(config, parsed, &again));
      CHECK_EQ(again, text);
    }
  }
  // Different parameters are not the same options.
  std::string mismatch;
  CHECK(!NewAlexMemTableFactory({.skeleton_period = 1})
             ->AreEquivalent(Strict(), NewAlexMemTableFactory({.skeleton_period = 2}).get(),
                             &mismatch));
  CHECK(mismatch.find("skeleton_period") != std::string::npos);
}

}  // namespace mountdb::test
