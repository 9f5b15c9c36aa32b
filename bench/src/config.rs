//! What to compare, and how.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One of the two configurations that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Name in the report.
    pub name: String,
    /// RocksDB option string, applied over the options that both sides share. Empty for stock RocksDB.
    pub options: String,
}

impl Side {
    /// A side from its name and option string.
    pub fn new(name: impl Into<String>, options: impl Into<String>) -> Self {
        Side {
            name: name.into(),
            options: options.into(),
        }
    }

    /// Adds settings to the option string.
    pub fn append(&mut self, options: &str) {
        let more = options.trim_matches(';');
        if !more.is_empty() {
            if !self.options.is_empty() {
                self.options.push(';');
            }
            self.options.push_str(more);
        }
    }
}

/// Whether writes go through the write-ahead log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalMode {
    /// Without it in `fillrandom`, with it in `balanced`.
    #[default]
    PerWorkload,
    /// In every workload.
    Always,
    /// In none.
    Never,
}

/// Size in bytes of the index of one SST file, where the crate's own reading of the file does not tell it (see
/// [`crate::read_sst_indexes`]). `None` falls back on that reading.
pub type IndexBytes = fn(sst: &Path) -> Option<u64>;

/// Settings of a run. The default is the one of `mountdb ab`.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// Entries that a fill writes and a database for reads holds.
    pub num: usize,
    /// Bytes of a value, at least 16.
    pub value_size: usize,
    /// Threads that work on a database at once.
    pub threads: usize,
    /// Pairs of slices of the workloads that read.
    pub pairs: usize,
    /// Pairs of whole fills.
    pub fill_pairs: usize,
    /// Length of a slice in seconds; a fill takes as long as it takes.
    pub seconds: f64,
    /// Entries read after each seek of `seekrandom`.
    pub seek_nexts: usize,
    /// Size of a data block in bytes.
    pub block_size: usize,
    /// Block cache of each side in bytes.
    pub cache_size: usize,
    /// Size of a memtable in bytes.
    pub write_buffer_size: usize,
    /// Bits per key of the Bloom filter in SST files; 0 for none.
    pub bloom_bits: f64,
    /// Background threads for flush and compaction, per database.
    pub background_jobs: i32,
    /// Whether reads go past the page cache.
    pub direct_reads: bool,
    /// Which workloads log their writes.
    pub wal: WalMode,
    /// Whether databases for reads are fully compacted after they are loaded.
    pub compact: bool,
    /// Seed of keys and operations.
    pub seed: u64,
    /// Folder for the databases; the system's folder for temporary files if none is given.
    #[serde(skip)]
    pub dir: Option<PathBuf>,
    /// Replaces the crate's own reading of index sizes.
    #[serde(skip)]
    pub index_bytes: Option<IndexBytes>,
    /// Parts that are learned on side b, for the report.
    #[serde(skip)]
    pub learned: Vec<String>,
    /// Whether to show progress on standard error.
    #[serde(skip)]
    pub progress: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            num: 1_000_000,
            value_size: 100,
            threads: 1,
            pairs: 60,
            fill_pairs: 10,
            seconds: 0.25,
            seek_nexts: 3,
            block_size: 4096,
            cache_size: 1 << 30,
            write_buffer_size: 64 << 20,
            bloom_bits: 10.0,
            background_jobs: 2,
            direct_reads: false,
            wal: WalMode::PerWorkload,
            compact: true,
            seed: 1,
            dir: None,
            index_bytes: None,
            learned: Vec::new(),
            progress: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_options_are_separated_once() {
        let mut side = Side::new("stock", "");
        side.append("a=1;");
        side.append(";b=2");
        side.append("");
        assert_eq!(side.options, "a=1;b=2");
    }
}
