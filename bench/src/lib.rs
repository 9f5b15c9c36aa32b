//! Key sets, workloads and the paired runner behind `mountdb ab`.
//!
//! The runner compares two configurations of RocksDB (two [`Side`]s) in one process: same keys, same values, same
//! operations in the same order, in short slices that alternate between the sides. Timings on a shared machine drift by a
//! factor of two within seconds, so only the ratio of two neighbouring slices means anything; the result is the median of
//! those ratios with a bootstrap interval.
//!
//! A side is a name and a RocksDB option string, applied over options that are common to both. This crate knows no index of
//! its own: an option string may name any factory that the process registered with RocksDB before.
//!
//! ```no_run
//! use mountdb_bench::{Config, KeySource, Side, Workload, compare};
//!
//! let a = Side::new("stock", "");
//! let b = Side::new("trie", "block_based_table_factory={user_defined_index_factory={id=trie_index}}");
//! let config = Config { num: 100_000, ..Config::default() };
//! let keys = KeySource::Uniform.load(config.num, config.seed)?;
//! let results = compare(&config, &keys, &[Workload::ReadRandom], |_| (a.clone(), b.clone()))?;
//! println!("{:.2}", results[0].ratio.median);
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod ab;
mod capi;
pub mod claims;
mod config;
mod database;
pub mod eval;
mod keys;
mod machine;
pub mod report;
mod runner;
mod sides;
mod sst;
mod stats;
mod values;
mod verify;
mod workload;

pub use config::{Config, IndexBytes, Side, WalMode};
pub use keys::{KeySet, KeySource, Published, published, strings};
pub use machine::Machine;
pub use runner::{compare, compare_phases};
pub use sides::{Against, Learned, learned_side};
pub use sst::{SstIndexes, read_sst_indexes, read_user_defined_index};
pub use stats::{Interval, bootstrap_median, median};
pub use values::ValueSize;
pub use workload::Workload;
