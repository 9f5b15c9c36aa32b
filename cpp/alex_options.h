// The options of the memtable, as RocksDB reads and writes them.
#pragma once

#include <string>
#include <unordered_map>

#include "cpp/registry.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/options_type.h"

namespace mountdb {

// By name; the offsets are those of AlexMemTableOptions.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& AlexOptionTypes();

// Names the first option that is out of range: options that were set in code
// have met no parser.
rocksdb::Status CheckAlexOptions(const AlexMemTableOptions& options);

}  // namespace mountdb
