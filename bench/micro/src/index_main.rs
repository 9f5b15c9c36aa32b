//! Table indexes against RocksDB's binary search, in turns on the same files: `cargo run --release -p mountdb-micro --bin
//! mountdb-micro-index`.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use comfy_table::Table;
use mountdb_bench::{Machine, bootstrap_median, median};
use mountdb_micro::index::{BlockEnd, Indexes, Kind};
use mountdb_micro::sizes::{FORMS, NUMBERS, Size, TEXTS, keys, lookups, measure, shares};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

#[derive(Parser)]
#[command(
    about = "Indexes of SST files alone, from user key to block handle, against RocksDB's binary search; and their sizes"
)]
struct Arguments {
    /// Key sets.
    #[arg(long, value_delimiter = ',', default_values_t = NUMBERS.iter().chain(&TEXTS).map(|name| (*name).to_owned()))]
    keys: Vec<String>,
    /// Files, all with the same index, each at its own place in memory: with many, caches are cold.
    #[arg(long, default_value_t = 1000)]
    files: u32,
    /// Entries of a file; as many of 8 + 100 bytes fill 64 MB.
    #[arg(long, default_value_t = 590_000)]
    entries: usize,
    /// Seeks in a slice, which measures one index.
    #[arg(long, default_value_t = 200_000)]
    seeks: usize,
    /// Rounds; each measures every index once.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Sizes only: real files with blocks of 4 KiB and 1 KiB.
    #[arg(long, conflicts_with = "shares")]
    sizes: bool,
    /// Only where look-ups of stored keys end through the windowed index of real files with blocks of 1,365 bytes.
    #[arg(long)]
    shares: bool,
    /// File for the numbers.
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Seeks {
    keys: String,
    index: &'static str,
    bytes: u64,
    nanos: Vec<f64>,
    /// Median of the rounds' ratios to binary search, and its 95% interval.
    ratio: [f64; 3],
}

#[derive(Serialize)]
struct Sizes {
    keys: String,
    index: &'static str,
    block_size: usize,
    bytes: u64,
    blocks: u64,
    bits_per_block: f64,
}

#[derive(Serialize)]
struct Shares {
    keys: String,
    block_size: usize,
    bits_per_block: f64,
    /// Percent of the look-ups, one of each key.
    predicted: f64,
    left: f64,
    right: f64,
    beyond: f64,
    /// Reads of the file, for each look-up that finds nothing cached.
    reads_per_cold_lookup: f64,
}

/// The paper's: a third of RocksDB's default.
const THIRD: usize = 1365;

/// Records of 8 + 100 bytes that a block of 4 KiB takes.
const RECORDS: usize = 37;

/// Bytes of such a block, and of what is between two.
const BLOCK: u64 = 4080;
const TRAILER: u64 = 5;

/// Tag of a value with the highest sequence number.
const NEWEST: u64 = ((1 << 56) - 1) << 8 | 1;

fn blocks(keys: &[Vec<u8>]) -> impl Iterator<Item = BlockEnd<'_>> {
    let count = keys.len().div_ceil(RECORDS);
    (0..count).map(move |block| {
        let end = ((block + 1) * RECORDS).min(keys.len());
        // Sizes differ by a few bytes, as shared prefixes do.
        let jitter = (block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
        BlockEnd {
            last: &keys[end - 1],
            next: keys.get(end).map(Vec::as_slice),
            offset: block as u64 * (BLOCK + TRAILER),
            size: BLOCK - jitter,
        }
    })
}

fn seeks(arguments: &Arguments, name: &str) -> Result<Vec<Seeks>> {
    let keys = keys(name, arguments.entries)?;
    let indexes = Kind::ALL
        .iter()
        .map(|&kind| Indexes::build(kind, blocks(&keys), arguments.files))
        .collect::<Result<Vec<_>>>()?;
    let length = keys.iter().map(Vec::len).max().unwrap_or(0) + 8;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut nanos = vec![Vec::new(); indexes.len()];
    for round in 0..arguments.rounds {
        // Targets of one length: shorter keys get zero bytes, which are other, absent keys.
        let mut targets = Vec::with_capacity(arguments.seeks * length);
        let mut files = Vec::with_capacity(arguments.seeks);
        for _ in 0..arguments.seeks {
            files.push(rng.random_range(0..arguments.files));
            let key = &keys[rng.random_range(0..keys.len())];
            targets.extend_from_slice(key);
            targets.resize(files.len() * length - 8, 0);
            targets.extend(NEWEST.to_le_bytes());
        }
        let mut expected = None;
        for turn in 0..indexes.len() {
            let at = (turn + round) % indexes.len();
            let begin = Instant::now();
            let sum = indexes[at].seek(&files, &targets, length);
            nanos[at].push(begin.elapsed().as_nanos() as f64 / arguments.seeks as f64);
            ensure!(
                *expected.get_or_insert(sum) == sum,
                "{name}: {} finds other blocks",
                Kind::ALL[at].name()
            );
        }
    }
    let binary = nanos[0].clone();
    Ok(Kind::ALL
        .iter()
        .zip(&indexes)
        .zip(nanos)
        .map(|((kind, index), nanos)| {
            let ratios: Vec<f64> = binary.iter().zip(&nanos).map(|(other, own)| other / own).collect();
            let interval = bootstrap_median(&ratios);
            Seeks {
                keys: name.to_owned(),
                index: kind.name(),
                bytes: index.bytes(),
                nanos,
                ratio: [interval.median, interval.low, interval.high],
            }
        })
        .collect())
}

fn sizes(arguments: &Arguments, name: &str) -> Result<Vec<Sizes>> {
    let folder = tempfile::tempdir()?;
    let keys = keys(name, arguments.entries)?;
    let mut all = Vec::new();
    for block_size in [4096, 1024] {
        for form in FORMS {
            let size: Size = measure(folder.path(), &keys, block_size, form)?;
            all.push(Sizes {
                keys: name.to_owned(),
                index: form.name,
                block_size,
                bytes: size.bytes,
                blocks: size.blocks,
                bits_per_block: size.bits_per_block(),
            });
        }
    }
    Ok(all)
}

fn window(arguments: &Arguments, name: &str) -> Result<Shares> {
    let folder = tempfile::tempdir()?;
    let keys = keys(name, arguments.entries)?;
    let shares = shares(folder.path(), &keys, THIRD)?;
    let percent = |count: u64| count as f64 * 100.0 / lookups(shares.all) as f64;
    Ok(Shares {
        keys: name.to_owned(),
        block_size: THIRD,
        bits_per_block: shares.size.bits_per_block(),
        predicted: percent(shares.all.predicted),
        left: percent(shares.all.left),
        right: percent(shares.all.right),
        beyond: percent(shares.all.beyond),
        reads_per_cold_lookup: shares.cold_reads as f64 / shares.cold as f64,
    })
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut table = Table::new();
    let (mut all_seeks, mut all_sizes, mut all_shares) = (Vec::new(), Vec::new(), Vec::new());
    if arguments.shares {
        let columns = [
            "keys",
            "predicted %",
            "left %",
            "right %",
            "farther %",
            "reads per cold look-up",
            "bits/block",
        ];
        table.set_header(columns);
    } else if arguments.sizes {
        table.set_header(["keys", "block size", "index", "bytes", "bits/block"]);
    } else {
        table.set_header(["keys", "index", "times binary search", "ns", "bytes"]);
    }
    for name in &arguments.keys {
        eprintln!("{name}");
        if arguments.shares {
            let shares = window(&arguments, name)?;
            let percents =
                [shares.predicted, shares.left, shares.right, shares.beyond].map(|percent| format!("{percent:.1}"));
            let rest = [
                format!("{:.3}", shares.reads_per_cold_lookup),
                format!("{:.1}", shares.bits_per_block),
            ];
            table.add_row([name.clone()].into_iter().chain(percents).chain(rest));
            all_shares.push(shares);
        } else if arguments.sizes {
            for size in sizes(&arguments, name)? {
                table.add_row([
                    size.keys.clone(),
                    size.block_size.to_string(),
                    size.index.to_owned(),
                    size.bytes.to_string(),
                    format!("{:.1}", size.bits_per_block),
                ]);
                all_sizes.push(size);
            }
        } else {
            for seek in seeks(&arguments, name)? {
                let [ratio, low, high] = seek.ratio;
                table.add_row([
                    seek.keys.clone(),
                    seek.index.to_owned(),
                    format!("{ratio:.2} ({low:.2}-{high:.2})"),
                    format!("{:.0}", median(&seek.nanos)),
                    seek.bytes.to_string(),
                ]);
                all_seeks.push(seek);
            }
        }
    }
    println!("{table}");
    if let Some(path) = &arguments.json {
        let command: Vec<String> = std::env::args().skip(1).collect();
        let record = serde_json::json!({
            "command": format!("mountdb-micro-index {}", command.join(" ")),
            "machine": Machine::detect(),
            "seeks": all_seeks,
            "sizes": all_sizes,
            "shares": all_shares,
        });
        fs::write(path, serde_json::to_string_pretty(&record)?)?;
    }
    Ok(())
}
