//! The pure part of the table indexes, compiled without RocksDB: a fuzzer builds in seconds and instruments only what it tests.

#![allow(dead_code, reason = "what the targets do not reach is used in the library")]

#[path = "../../src/error.rs"]
pub mod error;
#[path = "../../src/format/mod.rs"]
pub mod format;
#[path = "../../src/index/mod.rs"]
pub mod index;
#[path = "../../src/key.rs"]
pub mod key;
#[path = "../../src/model/mod.rs"]
pub mod model;
#[path = "../../src/prefetch.rs"]
mod prefetch;
#[path = "../../src/window/mod.rs"]
pub mod window;
