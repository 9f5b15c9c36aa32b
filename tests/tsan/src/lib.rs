//! The sources of the memtable tree without the border to C++, so that all of the program can be compiled for a sanitizer
//! (`tests/tsan/run`).

#![allow(missing_docs, dead_code, reason = "the items are documented and used in the library")]

#[path = "../../../src/key.rs"]
pub mod key;
#[path = "../../../src/prefetch.rs"]
mod prefetch;

/// `src/memtable/mod.rs` but for `rep`, which talks to RocksDB.
#[path = "../../../src/memtable"]
pub mod memtable {
    pub mod check;
    pub mod cursor;
    pub mod data_node;
    pub mod entry;
    pub mod model;
    pub mod model_node;
    pub mod skeleton;
    pub mod stats;
    pub mod sync;
    pub mod testing;
    pub mod tree;
    pub mod version;
    pub mod worker;
}
