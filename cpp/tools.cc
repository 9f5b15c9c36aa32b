// Entry points of RocksDB's tools for src/bin/mountdb.rs, in place of the main functions in tools/{db_bench,ldb,sst_dump}.cc.

#include "rocksdb/db_bench_tool.h"
#include "rocksdb/ldb_tool.h"
#include "rocksdb/sst_dump_tool.h"

// noexcept: an exception must not reach Rust; it terminates, as it would in RocksDB's own programs.
extern "C" {

int mountdb_tools_db_bench(int argc, char** argv) noexcept { return rocksdb::db_bench_tool(argc, argv); }

int mountdb_tools_ldb(int argc, char** argv) noexcept { return rocksdb::LDBTool().RunAndReturn(argc, argv); }

int mountdb_tools_sst_dump(int argc, char** argv) noexcept { return rocksdb::SSTDumpTool().Run(argc, argv); }

}  // extern "C"
