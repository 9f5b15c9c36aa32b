// The C++ interface of mountdb.
//
//   mountdb::Register();
//   options.memtable_factory = mountdb::NewAlexMemTableFactory();
//   table_options.user_defined_index_factory = mountdb::NewPgmIndexFactory();
//   table_options.use_udi_as_primary_index = true;
#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/memtablerep.h"
#include "rocksdb/user_defined_index.h"

namespace mountdb {

struct AlexMemTableOptions {
  // A skeleton is built from every so-manieth memtable of a column family;
  // 0 to 1,000,000, 0 = never.
  uint32_t skeleton_period = 10;
};

// Makes AlexMemTableFactory ("alex") and PgmIndexFactory ("pgm") known to
// ObjectLibrary::Default(), and thereby to option strings and OPTIONS files.
// May be called any number of times and from any thread.
void Register();

std::shared_ptr<rocksdb::MemTableRepFactory> NewAlexMemTableFactory(
    const AlexMemTableOptions& options = {});

std::shared_ptr<rocksdb::UserDefinedIndexFactory> NewPgmIndexFactory();

}  // namespace mountdb
