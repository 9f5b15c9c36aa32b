//! Switching the learned indexes on, for users of the `rocksdb` crate.

use rocksdb::AsRawPtr;

use crate::error::{Error, Result};
use crate::ffi::bridge;

/// Makes the names `alex` and `pgm` known to RocksDB in this process: option strings, OPTIONS files, `LoadLatestOptions`.
/// Idempotent, from any thread.
pub fn register() {
    bridge::register_factories();
}

/// How SST files use the learned index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// Not written, not read.
    Off,
    /// Written beside RocksDB's own index; reads use RocksDB's. The way in for a database that has files already.
    Alongside,
    /// Written beside RocksDB's own index; reads use the learned one in every file that has it.
    #[default]
    Primary,
    /// Written instead of RocksDB's own index in new files; reads use the learned one in every file that has it. Only this
    /// library's RocksDB opens such files: go back to [`IndexMode::Alongside`] and compact before leaving it.
    Replace,
}

/// How a look-up in an SST file finds the data block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexLookup {
    /// The index knows the block.
    #[default]
    Exact,
    /// The index knows three blocks, which are read at once, and the blocks tell which it is (the paper, section 4.4). Needs a
    /// block cache.
    Window,
}

/// What to learn. The default is everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnedIndex {
    /// Whether memtables are indexed by ALEX+ (bytewise order only; other comparators keep the skip list).
    pub memtable: bool,
    /// A skeleton is built from every so-manieth memtable: 0 (never) to 1,000,000. The paper uses 10.
    pub skeleton_period: u32,
    /// Index of SST files.
    pub index: IndexMode,
    /// Its form in new files.
    pub lookup: IndexLookup,
    /// Once in so many seeks, at random, in files that have both indexes, the other one is asked too: 0 (never) to 1,000,000.
    /// What that found is in [`verify_stats`](crate::verify_stats) and in RocksDB's log. Not with [`IndexMode::Replace`].
    pub verify_one_in: u32,
}

impl Default for LearnedIndex {
    fn default() -> Self {
        LearnedIndex {
            memtable: true,
            skeleton_period: 10,
            index: IndexMode::default(),
            lookup: IndexLookup::default(),
            verify_one_in: 0,
        }
    }
}

impl LearnedIndex {
    /// Applies the description to `options`; everything that it does not name stays as it was. With an index, call it after
    /// `set_block_based_table_factory`, which would replace what it sets.
    ///
    /// # Errors
    /// `InvalidArgument` if a value is out of range, or if `options` uses a table format other than block-based.
    pub fn apply(&self, options: &mut rocksdb::Options) -> Result<()> {
        let memtable = match self.memtable {
            true => format!("{{id=alex;skeleton_period={}}}", self.skeleton_period),
            false => String::new(),
        };
        let (mode, primary) = match self.index {
            IndexMode::Off => ("", false),
            IndexMode::Alongside => ("alongside", false),
            IndexMode::Primary => ("alongside", true),
            IndexMode::Replace => ("replace", true),
        };
        let lookup = match self.lookup {
            IndexLookup::Exact => "exact",
            IndexLookup::Window => "window",
        };
        let index = match self.index {
            IndexMode::Off => String::new(),
            _ => format!(
                "{{id=pgm;mode={mode};lookup={lookup};verify_one_in={}}}",
                self.verify_one_in
            ),
        };
        // SAFETY: the pointer is that of `options`, which is alive and not shared (`&mut`). `rocksdb_options_t` holds a
        // `rocksdb::Options` and nothing else (db/c.cc).
        let applied = unsafe {
            let options = options.as_raw_ptr().cast();
            bridge::apply_learned(options, &memtable, &index, primary)
        };
        applied.map_err(|e| Error::InvalidArgument(e.what().to_owned()))
    }
}

/// Applies a RocksDB option string, such as `memtable_factory={id=alex};write_buffer_size=33554432`.
///
/// # Errors
/// `InvalidArgument` with RocksDB's message.
pub fn apply_option_string(options: &mut rocksdb::Options, text: &str) -> Result<()> {
    // SAFETY: as in `LearnedIndex::apply`.
    let applied = unsafe { bridge::apply_string(options.as_raw_ptr().cast(), text) };
    applied.map_err(|e| Error::InvalidArgument(e.what().to_owned()))
}
