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

/// Lists the C++ side of the bridge, for this build and for RocksDB's own.
const PLUGIN: &str = "mountdb.mk";

fn main() {
    if let Err(message) = run() {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    for input in [BRIDGE, PLUGIN, "build.rs", "build", "cpp", "patches"] {
        println!("cargo:rerun-if-changed={input}");
    }
    if env::var_os("CARGO_FEATURE_BUNDLED").is_none() {
        // RocksDB's own build compiles the C++ side; only the bridge is written, to cxxbridge/ in the target folder.
        let _ = cxx_build::bridge(BRIDGE);
        return Ok(());
    }
    let rocksdb = rocksdb::Source::locate()?;
    let patched = overlay::Patched::write(&rocksdb, &out_dir().join("rocksdb"))?;

    println!("cargo:patched={}", patched.root().display());

    // The bridge is printed first: rustc keeps the order, and the shim's references have to be open when the overlay is
    // linked.
    build_shim(&rocksdb, &patched)?;
    if env::var_os("CARGO_FEATURE_TOOLS").is_some() {
        tools::build(&rocksdb, &patched)?;
    }
    overlay::build(&rocksdb, &patched)
}

fn build_shim(rocksdb: &rocksdb::Source, patched: &overlay::Patched) -> Result<(), String> {
    let shim = shim_sources()?;
    require_files(shim.iter().map(Path::new).chain([Path::new(BRIDGE)]))?;
    let mut cc = cxx_build::bridge(BRIDGE);
    cc.files(shim).include(".").include(patched.root());
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

/// The sources that `mountdb.mk` lists, but for the generated one.
fn shim_sources() -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(PLUGIN).map_err(|error| format!("{PLUGIN}: {error}"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("mountdb_SOURCES ="))
        .ok_or_else(|| format!("{PLUGIN}: no line mountdb_SOURCES = ..."))?;
    Ok(line
        .split_whitespace()
        .filter(|source| source.starts_with("cpp/"))
        .map(str::to_owned)
        .collect())
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
