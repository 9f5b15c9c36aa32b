//! `mountdb inspect`: which index the files of a database carry, how large it is, and what the learned one would be. Opens
//! read-only: the database may be in use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use comfy_table::{Cell, CellAlignment, Table, presets};
use mountdb_bench::{SstIndexes, read_sst_indexes};
use rocksdb::{Cache, ColumnFamilyDescriptor, DB, Env, LiveFile, Options};

use crate::estimate::{Estimate, estimate};
use crate::statistics;

/// The name of the learned index in a file.
pub const LEARNED: &str = "PgmIndexFactory";

#[derive(clap::Args)]
pub struct Args {
    /// Folder of the database
    db: PathBuf,
    /// Keys and values of each column family to estimate the learned index from, read and written to a temporary file; 0: no
    /// estimate
    #[arg(long, default_value_t = 64, value_name = "MIB")]
    sample: u64,
}

/// Which indexes a file carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    Standard,
    Both,
    Learned,
}

impl Carries {
    pub fn of(indexes: &SstIndexes) -> Self {
        let learned = indexes.user_defined.iter().any(|(name, _)| name == LEARNED);
        match (learned, indexes.standard.is_some()) {
            (true, true) => Carries::Both,
            (true, false) => Carries::Learned,
            (false, _) => Carries::Standard,
        }
    }
}

/// The files of one level, or of several.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// By [`Carries`].
    files: [u64; 3],
    bytes: u64,
    /// Bytes of the standard index, and the data blocks that it serves.
    standard: (u64, u64),
    learned: (u64, u64),
}

impl Sum {
    fn add(&mut self, size: u64, indexes: &SstIndexes) {
        self.files[Carries::of(indexes) as usize] += 1;
        self.bytes += size;
        if let Some(bytes) = indexes.standard {
            self.standard.0 += bytes;
            self.standard.1 += indexes.data_blocks;
        }
        if let Some((_, bytes)) = indexes.user_defined.iter().find(|(name, _)| name == LEARNED) {
            self.learned.0 += bytes;
            self.learned.1 += indexes.data_blocks;
        }
    }

    fn merge(&mut self, other: &Sum) {
        for (total, files) in self.files.iter_mut().zip(other.files) {
            *total += files;
        }
        self.bytes += other.bytes;
        for (total, part) in [(&mut self.standard, other.standard), (&mut self.learned, other.learned)] {
            total.0 += part.0;
            total.1 += part.1;
        }
    }

    fn row(&self, family: &str, level: &str) -> Vec<Cell> {
        let numbers = [
            self.files.iter().sum::<u64>().to_string(),
            mebibytes(self.bytes),
            self.files[Carries::Standard as usize].to_string(),
            self.files[Carries::Both as usize].to_string(),
            self.files[Carries::Learned as usize].to_string(),
            self.standard.0.to_string(),
            bits_per_block(self.standard),
            self.learned.0.to_string(),
            bits_per_block(self.learned),
        ];
        cells(&[family, level], numbers)
    }
}

/// A row of a table: names, then numbers, which go to the right.
fn cells(names: &[&str], numbers: impl IntoIterator<Item = String>) -> Vec<Cell> {
    let numbers = numbers
        .into_iter()
        .map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
    names.iter().map(Cell::new).chain(numbers).collect()
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / (1 << 20) as f64)
}

fn bits_per_block((bytes, blocks): (u64, u64)) -> String {
    match blocks {
        0 => "-".to_owned(),
        _ => format!("{:.1}", bytes as f64 * 8.0 / blocks as f64),
    }
}

pub fn run(args: &Args) -> Result<()> {
    let (options, families) = stored_options(&args.db)?;
    let db = DB::open_cf_descriptors_read_only(&options, &args.db, families, false)
        .with_context(|| format!("cannot open {} read-only", args.db.display()))?;
    let mut levels = BTreeMap::<(String, i32), Sum>::new();
    let mut families = BTreeMap::<String, Family>::new();
    let mut gone = 0;
    for file in db.live_files()? {
        let path = args.db.join(file.name.trim_start_matches('/'));
        // A database in use may have compacted the file away.
        if !path.exists() {
            gone += 1;
            continue;
        }
        let indexes = read_sst_indexes(&path)?;
        let sum = levels.entry((file.column_family_name.clone(), file.level)).or_default();
        sum.add(file.size as u64, &indexes);
        let family = families.entry(file.column_family_name.clone()).or_default();
        family.blocks += indexes.data_blocks;
        family.files.push(file);
    }
    print!("{}", render(&levels, gone));
    if args.sample > 0 {
        let estimates: Vec<_> = (families.iter())
            .map(|(name, family)| {
                let estimate = estimate(&db, &args.db, name, &family.files, args.sample << 20);
                (name.as_str(), family.blocks, estimate)
            })
            .collect();
        if !estimates.is_empty() {
            print!("{}", render_estimates(&estimates));
        }
        for sentence in statistics::shares(&args.db)? {
            println!("{sentence}");
        }
    }
    Ok(())
}

/// The files of a column family, and their data blocks.
#[derive(Default)]
struct Family {
    blocks: u64,
    files: Vec<LiveFile>,
}

/// By column family: its name, all its data blocks, and what a sample says.
fn render_estimates(estimates: &[(&str, u64, Result<Estimate>)]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "column family",
        "sampled MiB",
        "keys",
        "standard bits/block",
        "learned bits/block",
        "blocks off the line",
        "standard KiB in all",
        "learned KiB in all",
    ]);
    let mut text = String::new();
    for (family, blocks, estimate) in estimates {
        let estimate = match estimate {
            Ok(estimate) => estimate,
            Err(error) => {
                text += &format!("no estimate for column family {family}: {error:#}\n");
                continue;
            }
        };
        let sampled = estimate.blocks.max(1) as f64;
        let all = |bytes: u64| format!("{:.1}", bytes as f64 / sampled * *blocks as f64 / 1024.0);
        let numbers = [
            mebibytes(estimate.bytes),
            estimate.keys.to_string(),
            bits_per_block((estimate.standard, estimate.blocks)),
            bits_per_block((estimate.learned, estimate.blocks)),
            format!("{:.1}%", estimate.exceptions as f64 * 100.0 / sampled),
            all(estimate.standard),
            all(estimate.learned),
        ];
        table.add_row(cells(&[family], numbers));
    }
    format!("\nIndexes in memory, estimated from a sample that was written anew with both:\n{table}\n{text}")
}

fn render(levels: &BTreeMap<(String, i32), Sum>, gone: u64) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "column family",
        "level",
        "files",
        "MiB",
        "standard index",
        "both",
        "learned only",
        "standard bytes",
        "bits/block",
        "learned bytes",
        "bits/block",
    ]);
    let mut total = Sum::default();
    for ((family, level), sum) in levels {
        table.add_row(sum.row(family, &level.to_string()));
        total.merge(sum);
    }
    table.add_row(total.row("all", ""));
    let mut text = format!("{table}\n\n");
    let [standard, both, learned] = total.files;
    let left = |mode: &str, files: u64| match files {
        0 => format!("every file is as {mode} writes it\n"),
        _ => format!("{files} files left to convert to {mode}\n"),
    };
    text += &left("standard", both + learned);
    text += &left("alongside", standard + learned);
    text += &left("replace", standard + both);
    if gone > 0 {
        text += &format!("{gone} files were compacted away meanwhile and are not counted\n");
    }
    text
}

/// What the database was last opened with, from its OPTIONS file.
pub fn stored_options(path: &Path) -> Result<(Options, Vec<ColumnFamilyDescriptor>)> {
    let cache = Cache::new_lru_cache(8 << 20);
    Options::load_latest(path, Env::new()?, true, cache).with_context(|| {
        format!(
            "cannot read the options of {}; a database with its own comparator can only be opened by its own program",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_scaled_to_all_blocks() {
        let estimate = Estimate {
            keys: 1000,
            bytes: 3 << 20,
            blocks: 50,
            standard: 1000,
            learned: 100,
            exceptions: 5,
        };
        let none = Err(anyhow::anyhow!("no keys in its files"));
        let text = render_estimates(&[("a", 51_200, Ok(estimate)), ("b", 0, none)]);
        for part in ["3.0", "1000", "160.0", "16.0", "10.0%", "1000.0", "100.0"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            text.contains("no estimate for column family b: no keys in its files"),
            "{text}"
        );
    }

    #[test]
    fn every_file_is_counted_once_and_no_index_twice() {
        let file = |standard, learned: Option<u64>| SstIndexes {
            standard,
            user_defined: learned.map(|bytes| (LEARNED.to_owned(), bytes)).into_iter().collect(),
            data_blocks: 10,
        };
        let mut sum = Sum::default();
        sum.add(1 << 20, &file(Some(200), None));
        sum.add(1 << 20, &file(Some(200), Some(30)));
        sum.add(2 << 20, &file(None, Some(50)));
        assert_eq!(sum.files, [1, 1, 1]);
        assert_eq!((sum.standard, sum.learned), ((400, 20), (80, 20)));
        let levels = BTreeMap::from([(("default".to_owned(), 3), sum)]);
        let text = render(&levels, 0);
        assert!(
            text.contains("160.0") && text.contains("32.0") && text.contains("4.0"),
            "{text}"
        );
        assert!(text.contains("2 files left to convert to replace"), "{text}");
        assert!(text.contains("2 files left to convert to alongside"), "{text}");
        assert!(text.contains("2 files left to convert to standard"), "{text}");
    }
}
