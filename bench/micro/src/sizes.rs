//! Exact sizes of the indexes in real SST files, and where look-ups through the windowed one end.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use mountdb::WindowStats;
use mountdb_bench::{KeySource, read_sst_indexes, strings};
use rocksdb::statistics::Histogram;
use rocksdb::{BlockBasedOptions, DB, DBCompressionType, Options, SstFileWriter};

/// The key sets of numbers.
pub const NUMBERS: [&str; 7] = ["uniform", "sequential", "cities", "covid", "facebook", "genome", "osm"];

/// The key sets of text.
pub const TEXTS: [&str; 4] = ["decimal", "uuid", "url", "words"];

/// An index, and how it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Name in reports.
    pub name: &'static str,
    /// Option string over the shared options.
    pub options: &'static str,
}

/// RocksDB's own first.
pub const FORMS: [Form; 4] = [
    Form {
        name: "standard",
        options: "",
    },
    Form {
        name: "trie",
        options: "block_based_table_factory={user_defined_index_factory={id=trie_index};use_udi_as_primary_index=true}",
    },
    Form {
        name: "exact",
        options: "block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
    },
    Form {
        name: "window",
        options: "block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace;lookup=window};\
                  use_udi_as_primary_index=true}",
    },
];

/// The index of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes, block trailer included.
    pub bytes: u64,
    /// Data blocks.
    pub blocks: u64,
}

impl Size {
    /// Bits of index for each data block.
    pub fn bits_per_block(self) -> f64 {
        self.bytes as f64 * 8.0 / self.blocks as f64
    }
}

/// Ascending keys of a set by name.
///
/// # Errors
/// If there is no such set.
pub fn keys(name: &str, count: usize) -> Result<Vec<Vec<u8>>> {
    if let Some(keys) = strings::keys(name, count, 1) {
        return Ok(keys);
    }
    let source: KeySource = name.parse().map_err(anyhow::Error::msg)?;
    let set = source.load(count, 1)?;
    Ok(set.keys().iter().map(|key| key.to_be_bytes().to_vec()).collect())
}

/// Writes one file of these keys with values of 100 bytes and no compression into `folder`, and reads how large its index is.
///
/// # Errors
/// When the file cannot be written or read.
pub fn measure(folder: &Path, keys: &[Vec<u8>], block_size: usize, form: Form) -> Result<Size> {
    let path = folder.join("file.sst");
    write(&path, keys, &options(block_size, form)?)?;
    let size = size(&path)?;
    std::fs::remove_file(&path)?;
    Ok(size)
}

/// Where look-ups of stored keys end through the windowed index of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Of the index.
    pub size: Size,
    /// One look-up of each key.
    pub all: WindowStats,
    /// Look-ups of keys so far apart that no block near them is cached.
    pub cold: u64,
    /// Reads of the file which those took.
    pub cold_reads: u64,
}

/// Writes a file as [`measure`] does, takes it into a database, and looks every key up.
///
/// # Errors
/// When RocksDB fails or a key is not found. The counters are the process's: no other look-up may go through a windowed index
/// meanwhile.
pub fn shares(folder: &Path, keys: &[Vec<u8>], block_size: usize) -> Result<Shares> {
    let path = folder.join("file.sst");
    let mut options = options(block_size, FORMS[3])?;
    write(&path, keys, &options)?;
    let size = size(&path)?;
    options.create_if_missing(true);
    options.enable_statistics();
    let database = folder.join("database");
    let db = DB::open(&options, &database)?;
    db.ingest_external_file(vec![&path])?;
    // Three blocks a read, and room for the neighbours of the next. Taking the file in has read its ends.
    let apart = keys.len().div_ceil(usize::try_from(size.blocks)?) * 8;
    let inner = keys
        .get(apart..keys.len().saturating_sub(apart))
        .context("too few keys")?;
    let reads = || options.get_histogram_data(Histogram::SstReadMicros).count();
    let before = reads();
    let cold = count(&db, inner.iter().step_by(apart))?;
    let cold_reads = reads() - before;
    let all = count(&db, keys.iter())?;
    drop(db);
    std::fs::remove_dir_all(&database)?;
    std::fs::remove_file(&path)?;
    Ok(Shares {
        size,
        all,
        cold: lookups(cold),
        cold_reads,
    })
}

/// However they ended.
pub fn lookups(stats: WindowStats) -> u64 {
    stats.predicted + stats.left + stats.right + stats.beyond
}

/// What looking these keys up adds to the process's counters.
fn count<'a>(db: &DB, keys: impl Iterator<Item = &'a Vec<u8>>) -> Result<WindowStats> {
    let before = mountdb::window_stats();
    for key in keys {
        ensure!(db.get_pinned(key)?.is_some(), "key {key:02x?} is not found");
    }
    let after = mountdb::window_stats();
    Ok(WindowStats {
        predicted: after.predicted - before.predicted,
        left: after.left - before.left,
        right: after.right - before.right,
        beyond: after.beyond - before.beyond,
        reads: after.reads - before.reads,
    })
}

fn options(block_size: usize, form: Form) -> Result<Options> {
    mountdb::register();
    let mut table = BlockBasedOptions::default();
    table.set_block_size(block_size);
    let mut options = Options::default();
    options.set_compression_type(DBCompressionType::None);
    options.set_block_based_table_factory(&table);
    mountdb::apply_option_string(&mut options, form.options)?;
    Ok(options)
}

fn write(path: &Path, keys: &[Vec<u8>], options: &Options) -> Result<()> {
    let mut writer = SstFileWriter::create(options);
    writer.open(path)?;
    let mut value = [0x5a; 100];
    for (number, key) in (0u64..).zip(keys) {
        value[..8].copy_from_slice(&number.to_le_bytes());
        writer.put(key, value)?;
    }
    writer.finish()?;
    Ok(())
}

fn size(path: &Path) -> Result<Size> {
    let indexes = read_sst_indexes(path)?;
    Ok(Size {
        bytes: indexes.primary().context("a file without index")?,
        blocks: indexes.data_blocks,
    })
}
