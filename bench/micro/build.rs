//! Compiles the harness with the flags of RocksDB's own objects.

#[path = "../../build/rocksdb.rs"]
#[allow(dead_code, reason = "the list of RocksDB's sources is for mountdb's build.rs")]
mod rocksdb;

use std::process;

fn main() {
    if let Err(message) = run() {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    for input in ["build.rs", "src/rep.cc", "../../build/rocksdb.rs"] {
        println!("cargo:rerun-if-changed={input}");
    }
    let rocksdb = rocksdb::Source::locate()?;
    let mut cc = cc::Build::new();
    rocksdb.flags(&mut cc);
    cc.flag_if_supported("-fno-rtti")
        .flag_if_supported("-Wno-unused-parameter");
    cc.file("src/rep.cc");
    cc.try_compile("mountdb_micro")
        .map_err(|error| format!("compiling the harness: {error}"))
}
