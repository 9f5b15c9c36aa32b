//! The sources of the memtable tree, compiled with loom's atomics. Apart from the library, because a feature there would
//! reach every user of the workspace build.

#![allow(missing_docs, dead_code, reason = "the items are documented and used in the library")]

#[path = "../../../src/key.rs"]
pub mod key;
#[path = "../../../src/memtable/mod.rs"]
pub mod memtable;
#[path = "../../../src/prefetch.rs"]
mod prefetch;
