//! The estimate of `mountdb inspect`: what the learned index would take on the keys of a database. A sample of them is written,
//! with the family's own options and both indexes, to a file in a temporary folder, and that file is measured: no formula that
//! could differ from what RocksDB and the index builder do.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use mountdb::index::Reader;
use mountdb_bench::{read_sst_indexes, read_user_defined_index};
use rocksdb::{DB, LiveFile, Options, ReadOptions, SstFileWriter};

use crate::inspect::LEARNED;

/// Places in a family that are sampled, each with its share of the bytes.
const RUNS: usize = 4;

/// The table options that decide where data blocks end and what RocksDB's own index stores.
const TABLE_OPTIONS: [&str; 10] = [
    "block_size",
    "block_size_deviation",
    "block_restart_interval",
    "index_block_restart_interval",
    "index_shortening",
    "format_version",
    "use_delta_encoding",
    "block_align",
    "data_block_index_type",
    "data_block_hash_table_util_ratio",
];

/// Both indexes, as they are in memory: uncompressed, and in one piece.
const BOTH: &str = "user_defined_index_factory={id=pgm;mode=alongside};use_udi_as_primary_index=false;index_type=kBinarySearch;\
                    partition_filters=false;enable_index_compression=false;filter_policy=nullptr";

/// What the sample's indexes take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub keys: u64,
    /// Keys and values.
    pub bytes: u64,
    /// Data blocks of the sample.
    pub blocks: u64,
    /// Bytes of RocksDB's own index, and of the learned one.
    pub standard: u64,
    pub learned: u64,
    /// Data blocks whose separator no line predicts, so that it is stored.
    pub exceptions: u64,
}

/// Samples about `budget` bytes of keys and values of a family.
///
/// # Errors
/// When the family cannot be read without its program (merge operator, timestamps), has another comparator, or the temporary
/// file cannot be written.
pub fn estimate(db: &DB, folder: &Path, family: &str, files: &[LiveFile], budget: u64) -> Result<Estimate> {
    let options = writer_options(&newest_options(folder)?, family)?;
    let mut starts: Vec<&[u8]> = files.iter().filter_map(|file| file.start_key.as_deref()).collect();
    starts.sort_unstable();
    starts.dedup();
    let runs = RUNS.min(starts.len());
    let mut all = Estimate::default();
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    for run in 0..runs {
        let start = starts[run * starts.len() / runs];
        let end = (run + 1 < runs).then(|| starts[(run + 1) * starts.len() / runs]);
        let path = temporary.path().join("sample.sst");
        let (keys, bytes) = write_run(db, family, &options, (start, end), budget / runs as u64, &path)?;
        if keys == 0 {
            continue;
        }
        let indexes = read_sst_indexes(&path)?;
        let learned = read_user_defined_index(&path, LEARNED)?.context("the sample has no learned index")?;
        let reader = Reader::open(&learned).context("the sample's learned index")?;
        all.keys += keys;
        all.bytes += bytes;
        all.blocks += indexes.data_blocks;
        all.standard += indexes.standard.context("the sample has no standard index")?;
        all.learned += learned.len() as u64;
        all.exceptions += reader.exceptions(&learned) as u64;
        fs::remove_file(&path)?;
    }
    ensure!(all.keys > 0, "no keys in its files");
    Ok(all)
}

/// Writes the keys from `start` on, below `end`, as one file; how many, and their bytes. Without a key it writes nothing.
fn write_run(
    db: &DB,
    family: &str,
    options: &Options,
    (start, end): (&[u8], Option<&[u8]>),
    budget: u64,
    path: &Path,
) -> Result<(u64, u64)> {
    let handle = db.cf_handle(family).context("a column family without handle")?;
    let mut read = ReadOptions::default();
    read.fill_cache(false);
    if let Some(end) = end {
        read.set_iterate_upper_bound(end);
    }
    let mut iterator = db.raw_iterator_cf_opt(handle, read);
    let mut writer = SstFileWriter::create(options);
    let (mut keys, mut bytes) = (0, 0);
    iterator.seek(start);
    while let Some((key, value)) = iterator.item()
        && bytes < budget
    {
        if keys == 0 {
            writer.open(path)?;
        }
        writer.put(key, value)?;
        keys += 1;
        bytes += (key.len() + value.len()) as u64;
        iterator.next();
    }
    iterator.status()?;
    if keys > 0 {
        writer.finish()?;
    }
    Ok((keys, bytes))
}

/// Options that cut the family's data blocks where the database cuts them.
fn writer_options(stored: &str, family: &str) -> Result<Options> {
    let families = section(stored, &format!("[CFOptions \"{family}\"]"))?;
    let comparator = value(&families, "comparator").unwrap_or_default();
    ensure!(
        comparator == "leveldb.BytewiseComparator",
        "its comparator is {comparator}: the learned indexes win nothing there"
    );
    let tables = section(stored, &format!("[TableOptions/BlockBasedTable \"{family}\"]"))?;
    let mut text: String = (TABLE_OPTIONS.iter())
        .filter_map(|name| Some(format!("{name}={};", value(&tables, name)?)))
        .collect();
    text = format!("block_based_table_factory={{{text}{BOTH}}};");
    // What the last level gets.
    let compression = value(&families, "bottommost_compression")
        .filter(|&name| name != "kDisableCompressionOption")
        .or(value(&families, "compression"));
    if let Some(compression) = compression {
        text += &format!("compression={compression}");
    }
    let mut options = Options::default();
    mountdb::apply_option_string(&mut options, &text)?;
    Ok(options)
}

/// Content of the newest OPTIONS file.
fn newest_options(folder: &Path) -> Result<String> {
    let mut newest = None;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix("OPTIONS-")?.parse::<u64>().ok());
        newest = newest.max(number);
    }
    let number = newest.context("no OPTIONS file")?;
    Ok(fs::read_to_string(folder.join(format!("OPTIONS-{number:06}")))?)
}

/// The lines below a heading.
fn section<'a>(text: &'a str, heading: &str) -> Result<Vec<&'a str>> {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| *line == heading)
        .with_context(|| format!("the OPTIONS file has no {heading}"))?;
    Ok(lines.take_while(|line| !line.starts_with('[')).collect())
}

fn value<'a>(lines: &[&'a str], name: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_family() {
        let text = "[CFOptions \"default\"]\n  compression=kNoCompression\n  comparator=x\n[TableOptions/BlockBasedTable \"default\"]\n  block_size=1\n\
                    [CFOptions \"b\"]\n  compression=kZSTD\n";
        let lines = section(text, "[CFOptions \"b\"]").unwrap();
        assert_eq!(value(&lines, "compression"), Some("kZSTD"));
        assert_eq!(value(&lines, "block_size"), None);
        let lines = section(text, "[TableOptions/BlockBasedTable \"default\"]").unwrap();
        assert_eq!(value(&lines, "block_size"), Some("1"));
        assert!(section(text, "[CFOptions \"c\"]").is_err());
        let refused = writer_options(text, "default").err().expect("another comparator");
        assert!(refused.to_string().contains("its comparator is x"), "{refused}");
    }
}
