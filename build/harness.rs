//! For crates with C++ of their own: compiles it with the flags of RocksDB's own objects.

#[path = "rocksdb.rs"]
#[allow(dead_code, reason = "the list of RocksDB's sources is for mountdb's build.rs")]
mod rocksdb;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// The main function of a build script: compiles every `.cc` file of `src/` to `lib{name}.a`. `headers` are files outside of the
/// crate that they include.
pub fn main(name: &str, headers: &[&str]) {
    exit_on_error(cases(name, headers));
}

/// Compiles the source of one program, C or C++ by its name, to `lib{name}.a`. Its `main` becomes the function `name` (C++: mangled),
/// so that a test can call it. `headers` are public headers by their installed names, with the files of the source tree.
#[allow(dead_code, reason = "not every crate has programs")]
pub fn program(name: &str, source: &Path, headers: &[(&str, &str)]) {
    exit_on_error(try_program(name, source, headers));
}

fn exit_on_error(result: Result<(), String>) {
    if let Err(message) = result {
        eprintln!("error: {message}");
        process::exit(1);
    }
}

fn cases(name: &str, headers: &[&str]) -> Result<(), String> {
    let own = ["build.rs", "src", "../../build/harness.rs", "../../build/rocksdb.rs"];
    for input in own.iter().chain(headers) {
        println!("cargo:rerun-if-changed={input}");
    }
    let rocksdb = rocksdb::Source::locate()?;
    let mut cc = cc::Build::new();
    println!("cargo:rerun-if-env-changed=DEP_MOUNTDB_PATCHED");
    // Patched headers go before RocksDB's own.
    if let Some(patched) = env::var_os("DEP_MOUNTDB_PATCHED") {
        cc.include(patched);
    }
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

fn try_program(name: &str, source: &Path, headers: &[(&str, &str)]) -> Result<(), String> {
    println!("cargo:rerun-if-changed={}", source.display());
    let include = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("include");
    for (installed, file) in headers {
        println!("cargo:rerun-if-changed={file}");
        let to = include.join(installed);
        fs::create_dir_all(to.parent().expect("a file has a folder"))
            .and_then(|()| fs::copy(file, &to))
            .map_err(|error| format!("{file}: {error}"))?;
    }
    let rocksdb = rocksdb::Source::locate()?;
    let mut cc = cc::Build::new();
    if source.extension().is_some_and(|ext| ext == "c") {
        // As strict as a caller's compiler may be.
        cc.std("c99").include(rocksdb.root().join("include"));
        cc.flag("-pedantic").warnings_into_errors(true);
    } else {
        rocksdb.flags(&mut cc);
    }
    cc.include(include).include("../..").define("main", name).file(source);
    cc.try_compile(name)
        .map_err(|error| format!("compiling {name}: {error}"))
}
