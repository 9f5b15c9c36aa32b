//! Learned indexes for RocksDB: a skeletonized ALEX+ memtable and a PGM index for SST files, after MountDB
//! (arXiv 2605.23815). RocksDB's write path, data blocks, filters, caches and compaction stay as they are.
//!
//! ```no_run
//! let mut options = rocksdb::Options::default();
//! options.create_if_missing(true);
//! mountdb::LearnedIndex::default().apply(&mut options)?;
//! let db = rocksdb::DB::open(&options, "data")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Direction of use, one way: `cpp -> ffi -> {memtable, index, window} -> {format, model, key}`,
//! everybody `-> error`.

pub mod error;
mod ffi;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod index;
#[doc(hidden)]
pub mod key;
#[doc(hidden)]
pub mod memtable;
#[doc(hidden)]
pub mod model;
#[cfg(feature = "bundled")]
mod options;
mod prefetch;
#[cfg(feature = "bundled")]
mod stats;
#[doc(hidden)]
pub mod testing;
#[doc(hidden)]
pub mod window;

pub use error::{Error, Result};
#[cfg(feature = "bundled")]
pub use options::{IndexLookup, IndexMode, LearnedIndex, apply_option_string, register};
#[cfg(feature = "bundled")]
pub use stats::{
    MemtableStats, VerifyStats, WindowStats, memtable_stats, memtable_stats_cf, verify_stats, window_stats,
};
