//! RocksDB's db_bench, ldb and sst_dump as functions of a static library (feature `tools`).

use std::fs;
use std::path::Path;

use crate::overlay::Patched;
use crate::rocksdb::Source;
use crate::{compile, out_dir, require_files};

/// RocksDB's sources of the tools that are not in `librocksdb.a` (BENCH_LIB_SOURCES and TOOL_LIB_SOURCES of its src.mk,
/// less what our three entry points do not reach).
const SOURCES: [&str; 9] = [
    "db_stress_tool/db_stress_compression_manager.cc",
    "test_util/testutil.cc",
    "tools/db_bench_tool.cc",
    "tools/ldb_cmd.cc",
    "tools/ldb_tool.cc",
    "tools/simulated_hybrid_file_system.cc",
    "tools/sst_dump_tool.cc",
    "tools/tool_hooks.cc",
    "utilities/blob_db/blob_dump_tool.cc",
];

/// Our entry points.
const ENTRY: &str = "cpp/tools.cc";

/// Whether the tools are built from this RocksDB source file.
pub fn is_source(path: &Path) -> bool {
    SOURCES.iter().any(|source| Path::new(source) == path)
}

/// Compiles the tools. They go into the rlib, from which a program that does not call them takes nothing.
pub fn build(rocksdb: &Source, patched: &Patched) -> Result<(), String> {
    require_files([Path::new(ENTRY)].into_iter())?;
    require_gflags(rocksdb)?;
    let mut cc = cc::Build::new();
    cc.include(patched.root());
    rocksdb.flags(&mut cc);
    // librocksdb-sys defines this function too (it is built without io_uring, so the flag behind db_bench's has no effect).
    cc.define("RocksDbIOUringEnable", "DbBenchIOUringEnable");
    cc.define("GFLAGS", "gflags")
        .warnings(false)
        .flag_if_supported("-w")
        .file(ENTRY);
    for source in SOURCES {
        patched.add(&mut cc, rocksdb, Path::new(source));
    }
    compile(&cc, "mountdb_tools")?;
    println!("cargo:rustc-link-lib=dylib=gflags");
    Ok(())
}

/// A link error thousands of lines long is what a missing gflags would end in.
fn require_gflags(rocksdb: &Source) -> Result<(), String> {
    let probe = out_dir().join("gflags_probe.cc");
    fs::write(&probe, "#include <gflags/gflags.h>\n").map_err(|error| format!("{}: {error}", probe.display()))?;
    let mut cc = cc::Build::new();
    rocksdb.flags(&mut cc);
    cc.file(&probe).cargo_metadata(false).cargo_warnings(false);
    cc.try_expand().map(drop).map_err(|_| {
        "the feature `tools` needs gflags (gflags/gflags.h): run `make setup`, or install libgflags-dev (Debian, Ubuntu), \
         gflags-devel (Fedora) or gflags (Arch, Homebrew)"
            .to_owned()
    })
}
