//! For crates with C++ of their own: compiles it with the flags of RocksDB's own objects.

#[path = "rocksdb.rs"]
#[allow(dead_code, reason = "the list of RocksDB's sources is for mountdb's build.rs")]
mod rocksdb;

use std::{fs, process};

/// The main function of a build script: compiles every `.cc` file of `src/` to `lib{name}.a`. `headers` are files outside of the
/// crate that they include.
pub fn main(name: &str, headers: &[&str]) {
    if let Err(message) = run(name, headers) {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn run(name: &str, headers: &[&str]) -> Result<(), String> {
    let own = ["build.rs", "src", "../../build/harness.rs", "../../build/rocksdb.rs"];
    for input in own.iter().chain(headers) {
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
    cc.try_compile(name)
        .map_err(|error| format!("compiling {name}: {error}"))
}
