//! Exact sizes of the indexes in real SST files.

use std::path::Path;

use anyhow::{Context, Result};
use mountdb_bench::{KeySource, read_sst_indexes, strings};
use rocksdb::{BlockBasedOptions, DBCompressionType, Options, SstFileWriter};

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
    mountdb::register();
    let mut table = BlockBasedOptions::default();
    table.set_block_size(block_size);
    let mut options = Options::default();
    options.set_compression_type(DBCompressionType::None);
    options.set_block_based_table_factory(&table);
    mountdb::apply_option_string(&mut options, form.options)?;
    let path = folder.join("file.sst");
    let mut writer = SstFileWriter::create(&options);
    writer.open(&path)?;
    let mut value = [0x5a; 100];
    for (number, key) in (0u64..).zip(keys) {
        value[..8].copy_from_slice(&number.to_le_bytes());
        writer.put(key, value)?;
    }
    writer.finish()?;
    let indexes = read_sst_indexes(&path)?;
    let bytes = indexes.primary().context("a file without index")?;
    std::fs::remove_file(&path)?;
    Ok(Size {
        bytes,
        blocks: indexes.data_blocks,
    })
}
