// What stands between RocksDB's table code and the learned index where RocksDB is
// patched (patches/11.8.1/0002): the learned index alone, or beside the standard one.
#pragma once

#include <memory>

#include "cpp/registry.h"

namespace rocksdb {
class UserDefinedIndexExtension;
}

namespace mountdb {

// Null where RocksDB is not patched. `options` has to outlive the result.
std::shared_ptr<rocksdb::UserDefinedIndexExtension> NewIndexExtension(
    const PgmIndexOptions& options);

}  // namespace mountdb
