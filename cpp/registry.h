// The C++ interface of mountdb.
//
//   mountdb::Register();
//   options.memtable_factory = mountdb::NewAlexMemTableFactory();
//   table_options.user_defined_index_factory = mountdb::NewPgmIndexFactory();
//   table_options.use_udi_as_primary_index = true;
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/user_defined_index.h"
#include "rocksdb/utilities/object_registry.h"

namespace mountdb {

// When a new memtable starts from the shape of an old one (its skeleton).
enum class AlexSkeleton { kOff, kSingle, kPeriodic };

// What a skeleton keeps of each data node: a model with a few knots, or the key
// of every slot (the paper).
enum class AlexSkeletonContent { kModels, kKeys };

// Who rebuilds a full data node: the thread whose insert found it full, or a
// thread in the background.
enum class AlexRebuild { kInline, kBackground };

// In option strings: {id=alex;skeleton=periodic;skeleton_period=10;
// skeleton_content=models;rebuild=inline;data_node_slots=256;verify_one_in=0}. The
// defaults are the fastest (docs/decisions.md); the others are there to be compared.
struct AlexMemTableOptions {
  // "off", "single": from the first memtable of a column family, "periodic".
  AlexSkeleton skeleton = AlexSkeleton::kPeriodic;
  // A skeleton is built from every so-manieth memtable of a column family;
  // 0 to 1,000,000, 0 = never.
  uint32_t skeleton_period = 10;
  // "models" or "keys".
  AlexSkeletonContent skeleton_content = AlexSkeletonContent::kModels;
  // "inline" or "background".
  AlexRebuild rebuild = AlexRebuild::kInline;
  // Slots (of 16 bytes) of a full-grown data node; 16 to 32,768.
  uint32_t data_node_slots = 256;
  // For debugging: once in so many look-ups, at random, all entries are walked from
  // the first one on, and if the look-up was wrong, it is counted
  // (mountdb_verify_stats) and logged, and the walk's answer is taken. A walk takes
  // milliseconds; 0 to 1,000,000, 0 = never.
  uint32_t verify_one_in = 0;
};

// Which indexes new files get.
enum class PgmMode { kAlongside, kReplace };

// How a look-up finds the data block.
enum class PgmLookup { kExact, kWindow };

// In option strings: {id=pgm;mode=alongside;lookup=exact;verify_one_in=0}. Files are
// read whatever the options were that they were written with.
struct PgmIndexOptions {
  // "alongside": RocksDB's own index too. "replace": the learned index only, in
  // a RocksDB that is patched for it; no other RocksDB opens such files. Needs
  // use_udi_as_primary_index.
  PgmMode mode = PgmMode::kAlongside;
  // "exact": the index knows the block. "window": the paper's form, smaller, which
  // names three and reads them at once; for bytewise order, with a block cache, in
  // a RocksDB that is patched for it.
  PgmLookup lookup = PgmLookup::kExact;
  // Once in so many seeks, at random, in files that have both indexes, the other
  // index is asked too; 0 to 1,000,000, 0 = never. At the first difference it is
  // counted (mountdb_verify_stats) and logged, and RocksDB's index serves the file
  // from that seek on. Not with mode=replace; in a RocksDB that is patched for it.
  uint32_t verify_one_in = 0;
};

// Makes AlexMemTableFactory ("alex") and PgmIndexFactory ("pgm") known to
// ObjectLibrary::Default(), and thereby to option strings and OPTIONS files.
// May be called any number of times and from any thread. Throws
// std::runtime_error with one line if mountdb was compiled for another RocksDB
// (major.minor, debug or release, ROCKSDB_ASSERT_STATUS_CHECKED); so does
// everything below.
void Register();

// Adds both to a library; what RocksDB's plugin mechanism calls (mountdb.mk).
extern "C" int mountdb_register_plugin(rocksdb::ObjectLibrary& library,
                                       const std::string& argument);

std::shared_ptr<rocksdb::MemTableRepFactory> NewAlexMemTableFactory(
    const AlexMemTableOptions& options = {});

std::shared_ptr<rocksdb::UserDefinedIndexFactory> NewPgmIndexFactory(
    const PgmIndexOptions& options = {});

// How SST files use the learned index: written beside RocksDB's own, which
// serves the reads, or serving them itself; then every file has to have it.
enum class IndexMode { kAlongside, kPrimary };

// Sets the factories by option strings, such as "alex" or
// "{id=alex;skeleton=off}" and "pgm"; an empty one leaves what is there. With an
// index the table format has to be the block-based one, whose other options
// stay as they are. *options is unchanged if this fails.
rocksdb::Status Apply(rocksdb::Options* options, const std::string& memtable,
                      const std::string& index, IndexMode mode);

}  // namespace mountdb
