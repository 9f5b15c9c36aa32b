//! Compiles the C++ cases.

#[path = "../../build/harness.rs"]
mod harness;

fn main() {
    harness::main("mountdb_cpp_tests", &["../../cpp/registry.h"]);
}
