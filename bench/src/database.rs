//! One database of one side: opening with the common options, waiting for quiet, sizes of its indexes.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, CompactOptions, DB, DBCompressionType,
    DEFAULT_COLUMN_FAMILY_NAME, LogLevel, Options, ReadOptions, WaitForCompactOptions, WriteOptions, properties,
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::capi::{FlushCounter, options_from_string};
use crate::config::{Config, Side};
use crate::sst::read_sst_indexes;

/// An open database in a folder of its own, which is deleted with it.
pub(crate) struct Database {
    // Fields drop in this order: the database must be closed before its folder goes.
    db: DB,
    flushes: FlushCounter,
    _dir: TempDir,
}

/// Bytes of the index that serves reads, and the data blocks that it leads to, over all live files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSize {
    /// Bytes of the index blocks, their trailers included.
    pub bytes: u64,
    /// Number of data blocks.
    pub blocks: u64,
}

impl IndexSize {
    /// Index bytes per data block.
    pub fn per_block(self) -> f64 {
        self.bytes as f64 / self.blocks as f64
    }
}

impl Database {
    /// Creates an empty database with the options of `side`.
    ///
    /// # Errors
    /// When RocksDB refuses the options, or the folder cannot be made.
    pub(crate) fn create(config: &Config, side: &Side) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("mountdb-ab-");
        let dir = match &config.dir {
            Some(parent) => builder
                .tempdir_in(parent)
                .with_context(|| format!("cannot write to {}", parent.display()))?,
            None => builder
                .tempdir()
                .context("cannot make a folder for temporary databases")?,
        };
        Self::open(config, side, dir)
    }

    /// Closes the database and opens it with other options.
    pub(crate) fn reopen(self, config: &Config, side: &Side) -> Result<Self> {
        let Database { db, _dir: dir, .. } = self;
        drop(db);
        Self::open(config, side, dir)
    }

    fn open(config: &Config, side: &Side, dir: TempDir) -> Result<Self> {
        let mut options = options_from_string(&common_options(config), &side.options)
            .with_context(|| format!("options of side {}", side.name))?;
        let flushes = FlushCounter::attach(&mut options);
        let families = [ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, options.clone())];
        let db = DB::open_cf_descriptors(&options, dir.path(), families)
            .with_context(|| format!("cannot open a database with the options of side {}", side.name))?;
        ensure_factories(&side.options, &effective_options(dir.path())?)
            .with_context(|| format!("options of side {}", side.name))?;
        Ok(Database { db, flushes, _dir: dir })
    }

    pub(crate) fn db(&self) -> &DB {
        &self.db
    }

    /// The only column family, for the calls that ask for one.
    pub(crate) fn family(&self) -> Result<&ColumnFamily> {
        self.db
            .cf_handle(DEFAULT_COLUMN_FAMILY_NAME)
            .context("database without its default column family")
    }

    /// Bytes of the memtable in use.
    pub(crate) fn memtable_size(&self) -> Result<u64> {
        let size = self.db.property_int_value(properties::CUR_SIZE_ACTIVE_MEM_TABLE)?;
        size.context("RocksDB does not tell the size of the memtable")
    }

    /// Flushes completed since the database was created.
    pub(crate) fn flushes(&self) -> u64 {
        self.flushes.get()
    }

    /// Returns when neither flush nor compaction runs or waits.
    pub(crate) fn wait_until_idle(&self) -> Result<()> {
        self.db
            .wait_for_compact(&WaitForCompactOptions::default())
            .context("background work of RocksDB failed")
    }

    /// Writes the memtable out.
    pub(crate) fn flush(&self) -> Result<()> {
        self.db.flush()?;
        self.wait_until_idle()
    }

    /// Merges all files into the bottom level.
    pub(crate) fn compact(&self) -> Result<()> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(rocksdb::BottommostLevelCompaction::ForceOptimized);
        self.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
        self.wait_until_idle()
    }

    /// Bytes of all live files.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        Ok(self.db.live_files()?.iter().map(|file| file.size as u64).sum())
    }

    /// Index size over all live files; `None` for a database without data blocks or with an index of unknown size.
    pub(crate) fn index_size(&self, config: &Config) -> Result<Option<IndexSize>> {
        let aggregated = self
            .db
            .property_value(properties::AGGREGATED_TABLE_PROPERTIES)?
            .unwrap_or_default();
        let blocks = number_after(&aggregated, "# data blocks=").unwrap_or(0);
        let mut bytes = 0;
        for file in self.db.live_files()? {
            let path = self.db.path().join(file.name.trim_start_matches('/'));
            match index_bytes(config, &path)? {
                Some(size) => bytes += size,
                None => return Ok(None),
            }
        }
        Ok((blocks > 0).then_some(IndexSize { bytes, blocks }))
    }
}

/// The OPTIONS file that RocksDB wrote when it last opened the database.
fn effective_options(dir: &Path) -> Result<String> {
    let mut newest = None;
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with("OPTIONS-") {
            // RocksDB numbers them, with leading zeros.
            newest = newest.max(Some(name));
        }
    }
    match newest {
        Some(name) => Ok(fs::read_to_string(dir.join(name))?),
        None => bail!("RocksDB left no OPTIONS file in {}", dir.display()),
    }
}

/// Refuses a side whose factories RocksDB does not know.
///
/// RocksDB drops an unknown factory from an option string without an error (`ConfigOptions::ignore_unsupported_options`, on
/// by default) and goes on with its own: the run would compare RocksDB with itself.
fn ensure_factories(asked: &str, effective: &str) -> Result<()> {
    for (setting, fallback) in [
        ("memtable_factory", "SkipListFactory"),
        ("user_defined_index_factory", "nullptr"),
    ] {
        let falls_back = effective.lines().any(|line| {
            line.trim()
                .strip_prefix(setting)
                .is_some_and(|value| value.starts_with('=') && value.contains(fallback))
        });
        let asks_for_fallback = asked.contains("skip_list") || asked.contains(fallback);
        ensure!(
            !asked.contains(setting) || asks_for_fallback || !falls_back,
            "the {setting} of {asked:?} is not registered with RocksDB in this process"
        );
    }
    Ok(())
}

fn index_bytes(config: &Config, sst: &Path) -> Result<Option<u64>> {
    match config.index_bytes.and_then(|ask| ask(sst)) {
        Some(size) => Ok(Some(size)),
        None => Ok(read_sst_indexes(sst)?.primary()),
    }
}

/// The number behind `label` in RocksDB's `aggregated-table-properties` text.
fn number_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    rest.split(';').next()?.trim().parse().ok()
}

/// The options that both sides start from. The block cache is made here, so that each database has its own.
fn common_options(config: &Config) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(config.block_size);
    table.set_block_cache(&Cache::new_lru_cache(config.cache_size));
    if config.bloom_bits > 0.0 {
        table.set_bloom_filter(config.bloom_bits, false);
    }
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::None);
    options.set_write_buffer_size(config.write_buffer_size);
    options.set_max_background_jobs(config.background_jobs);
    options.set_use_direct_reads(config.direct_reads);
    // Statistics and verbose logs are work of RocksDB's own that would run in either side's slices.
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    options.set_log_level(LogLevel::Warn);
    options
}

/// Write options with or without the log.
pub(crate) fn write_options(log: bool) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.disable_wal(!log);
    options
}

/// Read options, the same for every read of every workload.
pub(crate) fn read_options() -> ReadOptions {
    ReadOptions::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(options: &str) -> (Config, Database) {
        let config = Config {
            cache_size: 8 << 20,
            ..Config::default()
        };
        let database = Database::create(&config, &Side::new("test", options)).unwrap();
        for key in 0..20_000u64 {
            database.db().put(key.to_be_bytes(), [7; 100]).unwrap();
        }
        database.flush().unwrap();
        (config, database)
    }

    #[test]
    fn size_read_from_the_files_is_rocksdbs_own_for_the_standard_index() {
        let (config, database) = filled("");
        let text = database
            .db()
            .property_value(properties::AGGREGATED_TABLE_PROPERTIES)
            .unwrap()
            .unwrap();
        let (_, rest) = text.split_once("index block size (").unwrap();
        let expected: u64 = number_after(rest, ")=").unwrap();
        let size = database.index_size(&config).unwrap().unwrap();
        assert_eq!(size.bytes, expected);
        assert!(size.blocks > 400, "{size:?}");
    }

    #[test]
    fn user_defined_index_counts_in_place_of_the_standard_one() {
        let (config, standard) = filled("");
        let (_, trie) = filled(
            "block_based_table_factory={user_defined_index_factory={id=trie_index};use_udi_as_primary_index=true}",
        );
        let standard = standard.index_size(&config).unwrap().unwrap();
        let trie = trie.index_size(&config).unwrap().unwrap();
        assert_eq!(standard.blocks, trie.blocks);
        assert_ne!(standard.bytes, trie.bytes);
    }

    #[test]
    fn a_supplied_function_replaces_the_reading_of_files() {
        let (mut config, database) = filled("");
        config.index_bytes = Some(|_| Some(1));
        let files = database.db().live_files().unwrap().len() as u64;
        assert_eq!(database.index_size(&config).unwrap().unwrap().bytes, files);
    }

    #[test]
    fn empty_databases_have_no_index_size() {
        let config = Config::default();
        let database = Database::create(&config, &Side::new("test", "")).unwrap();
        assert_eq!(database.index_size(&config).unwrap(), None);
    }

    #[test]
    fn unregistered_factories_are_refused() {
        let config = Config {
            cache_size: 8 << 20,
            ..Config::default()
        };
        for options in [
            "memtable_factory={id=no_such}",
            "memtable_factory=no_such",
            "block_based_table_factory={user_defined_index_factory={id=no_such}}",
            "block_based_table_factory={user_defined_index_factory={id=no_such};use_udi_as_primary_index=true}",
        ] {
            let error = format!(
                "{:#}",
                Database::create(&config, &Side::new("test", options))
                    .err()
                    .expect(options)
            );
            assert!(error.contains("side test"), "{error}");
        }
        Database::create(&config, &Side::new("test", "memtable_factory=skip_list:4")).unwrap();
        Database::create(&config, &Side::new("test", "memtable_factory=vector")).unwrap();
    }

    #[test]
    fn side_options_keep_the_common_ones() {
        let config = Config::default();
        let side = Side::new(
            "test",
            "block_based_table_factory={index_block_search_type=kInterpolation}",
        );
        let database = Database::create(&config, &side).unwrap();
        let capacity = database
            .db()
            .property_int_value(properties::BLOCK_CACHE_CAPACITY)
            .unwrap();
        assert_eq!(capacity, Some(config.cache_size as u64));
        let side = Side::new("wrong", "block_based_table_factory={index_block_search_type=kMagic}");
        let error = format!("{:#}", Database::create(&config, &side).err().unwrap());
        assert!(error.contains("side wrong"), "{error}");
    }
}
