// Checkpoints, backups and exports, restored with the learned indexes and without.

#include "db.h"
#include "rocksdb/convenience.h"
#include "rocksdb/metadata.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"

namespace mountdb::test {

namespace {

// Files on two levels and a memtable.
Entries Fill(rocksdb::DB& db) {
  Rng rng(Seed());
  for (int part = 0; part < 3; ++part) {
    for (int i = 0; i < 3000; ++i) {
      CHECK_OK(db.Put({}, "key" + std::to_string(rng() % 5000), std::to_string(rng())));
    }
    if (part == 0) {
      Compact(db);
    } else if (part == 1) {
      CHECK_OK(db.Flush({}));
    }
  }
  return ScanAll(db);
}

// Opened with the indexes, then without, then with them again where every file has one.
void CheckCopy(const std::string& path, const Entries& wanted) {
  for (const Index index :
       {Index::kPrimary, Index::kStock, Index::kAlongside, Index::kReplace}) {
    rocksdb::Options options = DbOptions(index);
    options.create_if_missing = false;
    // The write-ahead log stays, so that no file is written without the index.
    options.avoid_flush_during_recovery = true;
    auto db = Open(options, path);
    CHECK(ScanAll(*db) == wanted);
    CHECK(ScanAll(*db, false) == Entries(wanted.rbegin(), wanted.rend()));
    for (size_t i = 0; i < wanted.size(); i += 17) {
      CHECK_EQ(Get(*db, wanted[i].first), wanted[i].second);
    }
  }
  rocksdb::Options options = DbOptions(Index::kPrimary);
  options.create_if_missing = false;
  auto db = Open(options, path);
  CHECK(ScanAll(*db) == wanted);
  CHECK_OK(db->VerifyChecksum());
}

}  // namespace

CASE(od_02_checkpoint) {
  for (const Index index : {Index::kPrimary, Index::kReplace}) {
    TempDir dir;
    auto db = Open(DbOptions(index), dir / "db");
    const Entries wanted = Fill(*db);
    rocksdb::Checkpoint* made = nullptr;
    CHECK_OK(rocksdb::Checkpoint::Create(db.get(), &made));
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    CHECK_OK(checkpoint->CreateCheckpoint(dir / "flushed"));
    CHECK_OK(db->Put({}, "key1", "newest"));
    CHECK_OK(checkpoint->CreateCheckpoint(dir / "with_log", 1 << 30));
    const Entries newest = ScanAll(*db);
    CHECK_OK(db->Put({}, "key2", "not in the copies"));
    CheckCopy(dir / "flushed", wanted);
    CheckCopy(dir / "with_log", newest);
  }
}

CASE(od_02_backup) {
  for (const Index index : {Index::kPrimary, Index::kReplace}) {
    TempDir dir;
    auto db = Open(DbOptions(index), dir / "db");
    const Entries wanted = Fill(*db);
    rocksdb::BackupEngine* opened = nullptr;
    CHECK_OK(rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(dir / "backup"),
                                         rocksdb::Env::Default(), &opened));
    const std::unique_ptr<rocksdb::BackupEngine> backup(opened);
    CHECK_OK(backup->CreateNewBackup(db.get()));
    CHECK_OK(backup->RestoreDBFromLatestBackup(dir / "restored", dir / "restored"));
    CheckCopy(dir / "restored", wanted);
  }
}

CASE(od_02_export_and_import) {
  TempDir dir;
  auto db = Open(DbOptions(Index::kPrimary), dir / "db");
  const Entries wanted = Fill(*db);
  rocksdb::Checkpoint* made = nullptr;
  CHECK_OK(rocksdb::Checkpoint::Create(db.get(), &made));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  CHECK_OK(checkpoint->ExportColumnFamily(db->DefaultColumnFamily(), dir / "export", &exported));
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(exported);
  for (const Index index : {Index::kPrimary, Index::kStock, Index::kAlongside}) {
    auto target = Open(DbOptions(index), dir / ("target" + std::to_string(static_cast<int>(index))));
    rocksdb::ColumnFamilyHandle* family = nullptr;
    rocksdb::ImportColumnFamilyOptions copying;
    copying.move_files = false;
    CHECK_OK(target->CreateColumnFamilyWithImport(DbOptions(index), "imported", copying, *metadata, &family));
    CHECK(ScanAll(*target, family) == wanted);
    CHECK_OK(target->DestroyColumnFamilyHandle(family));
  }
}

// A copy whose OPTIONS are read by a process without the plugin: the factory is lost, the switch is not. The
// message names the option to turn off.
CASE(od_02_options_without_the_plugin) {
  TempDir dir;
  Entries wanted;
  {
    auto db = Open(DbOptions(Index::kPrimary), dir / "db");
    wanted = Fill(*db);
  }
  const std::string with = "use_udi_as_primary_index=true;user_defined_index_factory=NobodysIndexFactory";
  rocksdb::Options options = DbOptions(Index::kStock);
  rocksdb::Options lost;
  CHECK_OK(rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), options,
                                         "block_based_table_factory={" + with + "}", &lost));
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = rocksdb::DB::Open(lost, dir / "db", &db);
  CHECK_MSG(status.IsInvalidArgument(), status.ToString());
  CHECK_MSG(status.ToString().find("use_udi_as_primary_index") != std::string::npos, status.ToString());
  CHECK_OK(rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), lost,
                                         "block_based_table_factory={use_udi_as_primary_index=false}", &options));
  CHECK(ScanAll(*Open(options, dir / "db")) == wanted);
}

}  // namespace mountdb::test
