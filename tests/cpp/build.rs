//! Compiles the C++ cases, the case in C, and the examples as functions.

#[path = "../../build/harness.rs"]
mod harness;

use std::path::Path;

fn main() {
    // Programs go before the cases: all of them refer to mountdb, which is linked last.
    harness::program(
        "mountdb_example_cpp",
        Path::new("../../examples/cpp/enable.cc"),
        &PUBLIC_HEADERS,
    );
    harness::program(
        "mountdb_example_c",
        Path::new("../../examples/c/enable.c"),
        &PUBLIC_HEADERS,
    );
    harness::program("mountdb_test_c", Path::new("src/c_interface.c"), &PUBLIC_HEADERS);
    harness::main(
        "mountdb_cpp_tests",
        &["../../cpp/build_check.h", "../../cpp/registry.h"],
    );
    // Programs of `tests/install.rs` are linked with this build of RocksDB.
    let rocksdb = |variable| std::env::var(variable).expect("librocksdb-sys says where it is");
    println!("cargo:rustc-env=ROCKSDB_OUT_DIR={}", rocksdb("DEP_ROCKSDB_OUT_DIR"));
    println!(
        "cargo:rustc-env=ROCKSDB_INCLUDE={}/rocksdb/include",
        rocksdb("DEP_ROCKSDB_CARGO_MANIFEST_DIR")
    );
}

/// Where an installed mountdb has what in the source tree.
const PUBLIC_HEADERS: [(&str, &str); 2] = [
    ("mountdb/mountdb.h", "../../cpp/registry.h"),
    ("mountdb/c.h", "../../cpp/c.h"),
];
