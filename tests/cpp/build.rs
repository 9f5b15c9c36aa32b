//! Compiles the C++ cases with the flags of RocksDB's own objects.

#[path = "../../build/rocksdb.rs"]
#[allow(dead_code, reason = "the list of RocksDB's sources is for mountdb's build.rs")]
mod rocksdb;

use std::{fs, process};

fn main() {
    if let Err(message) = run() {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    for input in ["build.rs", "src", "../../build/rocksdb.rs", "../../cpp/registry.h"] {
        println!("cargo:rerun-if-changed={input}");
    }
    let rocksdb = rocksdb::Source::locate()?;
    let mut cc = cc::Build::new();
    cc.include("../..").include("src");
    rocksdb.flags(&mut cc);
    cc.flag_if_supported("-fno-rtti")
        .flag_if_supported("-Wno-unused-parameter");

    let entries = fs::read_dir("src").map_err(|error| format!("src: {error}"))?;
    let mut sources = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("src: {error}"))?.path();
        if path.extension().is_some_and(|ext| ext == "cc") {
            sources.push(path);
        }
    }
    sources.sort();
    cc.files(sources);
    cc.try_compile("mountdb_cpp_tests")
        .map_err(|error| format!("compiling the cases: {error}"))
}
