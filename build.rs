//! Compiles the cxx bridge with the C++ shim, the patched RocksDB files and, with the feature `tools`, RocksDB's tools.

#[path = "build/overlay.rs"]
mod overlay;
#[path = "build/patch.rs"]
mod patch;
#[path = "build/rocksdb.rs"]
mod rocksdb;
#[path = "build/tools.rs"]
mod tools;

use std::path::{Path, PathBuf};
use std::{env, process};

/// The module with `#[cxx::bridge]`.
const BRIDGE: &str = "src/ffi.rs";

/// The C++ side of the bridge.
const SHIM: [&str; 3] = ["cpp/alex_memtable.cc", "cpp/pgm_index.cc", "cpp/registry.cc"];

fn main() {
    if let Err(message) = run() {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    for input in [BRIDGE, "build.rs", "build", "cpp", "patches"] {
        println!("cargo:rerun-if-changed={input}");
    }
    let rocksdb = rocksdb::Source::locate()?;
    let patched = overlay::Patched::write(&rocksdb, &out_dir().join("rocksdb"))?;

    // The bridge is printed first: rustc keeps the order, and the shim's references have to be open when the overlay is
    // linked.
    build_shim(&rocksdb, &patched)?;
    if env::var_os("CARGO_FEATURE_TOOLS").is_some() {
        tools::build(&rocksdb, &patched)?;
    }
    overlay::build(&rocksdb, &patched)
}

fn build_shim(rocksdb: &rocksdb::Source, patched: &overlay::Patched) -> Result<(), String> {
    require_files(SHIM.iter().chain([&BRIDGE]).map(Path::new))?;
    let mut cc = cxx_build::bridge(BRIDGE);
    cc.files(SHIM).include(".").include(patched.root());
    rocksdb.flags(&mut cc);
    // Our classes carry no type information, so that the shim also links with a RocksDB built without it.
    cc.flag_if_supported("-fno-rtti");
    for flag in [
        "-Wsign-compare",
        "-Woverloaded-virtual",
        "-Wnon-virtual-dtor",
        "-Wno-unused-parameter",
    ] {
        cc.flag_if_supported(flag);
    }
    compile(&cc, "mountdb_shim")
}

/// Compiles to `lib{name}.a` and prints the link line, with a compile error reported as ours.
fn compile(cc: &cc::Build, name: &str) -> Result<(), String> {
    cc.try_compile(name)
        .map_err(|error| format!("compiling {name}: {error}"))
}

fn require_files<'a>(mut paths: impl Iterator<Item = &'a Path>) -> Result<(), String> {
    match paths.find(|path| !path.is_file()) {
        Some(missing) => Err(format!("{} is missing", missing.display())),
        None => Ok(()),
    }
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}
