//! Memtable indexes against RocksDB's skip list, in turns on the same keys: `cargo run --release -p mountdb-micro`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use comfy_table::Table;
use mountdb_bench::{Machine, bootstrap_median, median};
use mountdb_micro::keys::{Keys, Workload};
use mountdb_micro::memtable::{Factory, NEWEST, Writers};
use mountdb_micro::sides::{KEY_SETS, SIDES, capacity, warm_up};
use serde::Serialize;

/// Inserts that take longer count as slow.
const SLOW: Duration = Duration::from_micros(100);

#[derive(Parser)]
#[command(about = "Memtable indexes alone, through RocksDB's C++ interface, against its skip list")]
struct Arguments {
    /// Key sets.
    #[arg(long, value_delimiter = ',', default_values_t = KEY_SETS.map(str::to_owned))]
    keys: Vec<String>,
    /// Rounds; each measures every side once.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// More memtables to compare: option strings of their factories. All start with a skeleton, if they have them.
    #[arg(long)]
    also: Vec<String>,
    /// Count inserts slower than 100 us, with so many threads, instead of measuring speed.
    #[arg(long)]
    slow: Option<usize>,
    /// Seed of keys and orders.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// File for the numbers.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Operations per second of each round, by operation.
type Rates = BTreeMap<&'static str, Vec<f64>>;

#[derive(Serialize)]
struct Outcome {
    keys: String,
    entries: usize,
    side: String,
    rates: Rates,
    /// Median of the rounds' ratios to the skip list, and its 95% interval.
    ratios: BTreeMap<&'static str, [f64; 3]>,
    index_bytes_per_entry: f64,
    slow_inserts: Vec<u64>,
}

struct Contender {
    name: String,
    factory: Factory,
}

fn contenders(also: &[String], workload: &Workload) -> Result<Vec<Contender>> {
    let fixed = SIDES
        .iter()
        .map(|side| (side.name.to_owned(), side.options.to_owned(), side.warm));
    let more = also.iter().map(|options| (options.clone(), options.clone(), true));
    fixed
        .chain(more)
        .map(|(name, options, warm)| {
            let factory = Factory::new(&options)?;
            if warm {
                warm_up(&factory, workload)?;
            }
            Ok(Contender { name, factory })
        })
        .collect()
}

/// The result of `work`, and operations per second.
fn timed<T>(count: usize, work: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = work();
    (result, count as f64 / begin.elapsed().as_secs_f64())
}

/// What a memtable must answer: entries and their checksums forwards and backwards.
type Answers = ((u64, u64), (u64, u64));

fn speed(contender: &Contender, workload: &Workload, rates: &mut Rates) -> Result<(Answers, f64)> {
    let Workload {
        inserts, hits, misses, ..
    } = workload;
    let memtable = contender.factory.open();
    let mut note = |what, rate| rates.entry(what).or_default().push(rate);
    let empty = memtable.bytes();
    let (inserted, rate) = timed(inserts.len(), || memtable.insert(inserts, 1, Writers::One));
    inserted?;
    note("insert", rate);
    let bytes = memtable.bytes() - empty;
    for (what, keys, expected) in [("hit", hits, hits.len() as u64), ("miss", misses, 0)] {
        let (found, rate) = timed(keys.len(), || memtable.get(keys, NEWEST));
        ensure!(
            found == expected,
            "{}: {found} keys found instead of {expected}",
            contender.name
        );
        note(what, rate);
    }
    let (forward, rate) = timed(inserts.len(), || memtable.scan(true));
    note("forward", rate);
    let (reverse, rate) = timed(inserts.len(), || memtable.scan(false));
    note("reverse", rate);
    let entries = inserts.len() * (1 + 8 + 1 + 100) + inserts.bytes().len();
    Ok((
        (forward, reverse),
        (bytes as f64 - entries as f64) / inserts.len() as f64,
    ))
}

fn slow_inserts(contender: &Contender, workload: &Workload, threads: usize) -> Result<u64> {
    let memtable = contender.factory.open();
    let mut shares: Vec<Keys> = vec![Keys::default(); threads];
    let (bytes, mut begin) = (workload.inserts.bytes(), 0);
    for (i, &end) in workload.inserts.ends().iter().enumerate() {
        shares[i % threads].push(&bytes[begin..end as usize]);
        begin = end as usize;
    }
    let writers = if threads == 1 { Writers::One } else { Writers::Many };
    std::thread::scope(|scope| {
        let running: Vec<_> = (shares.iter().enumerate())
            .map(|(thread, keys)| {
                let memtable = &memtable;
                // Sequence numbers of different threads must not meet: one key may be in several shares.
                scope.spawn(move || memtable.insert_timed(keys, 1 + ((thread as u64) << 32), writers, SLOW))
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .sum::<Result<u64>>()
    })
}

fn compare(arguments: &Arguments, name: &str) -> Result<Vec<Outcome>> {
    let workload = Workload::load(name, capacity(name), arguments.seed)?;
    let contenders = contenders(&arguments.also, &workload)?;
    let mut outcomes: Vec<_> = contenders
        .iter()
        .map(|contender| Outcome {
            keys: name.to_owned(),
            entries: workload.inserts.len(),
            side: contender.name.clone(),
            rates: Rates::new(),
            ratios: BTreeMap::new(),
            index_bytes_per_entry: 0.0,
            slow_inserts: Vec::new(),
        })
        .collect();
    let mut expected = None;
    for round in 0..arguments.rounds {
        // The order turns, so that nobody always comes after the same other.
        for i in 0..contenders.len() {
            let at = (i + round) % contenders.len();
            let (contender, outcome) = (&contenders[at], &mut outcomes[at]);
            if let Some(threads) = arguments.slow {
                outcome.slow_inserts.push(slow_inserts(contender, &workload, threads)?);
                continue;
            }
            let (answers, bytes) = speed(contender, &workload, &mut outcome.rates)?;
            outcome.index_bytes_per_entry = bytes;
            let expected = *expected.get_or_insert(answers);
            ensure!(
                answers == expected,
                "{}: another order of entries than before",
                contender.name
            );
        }
    }
    let skip_list = outcomes[0].rates.clone();
    for outcome in &mut outcomes {
        for (what, rates) in &outcome.rates {
            let ratios: Vec<f64> = rates
                .iter()
                .zip(&skip_list[what])
                .map(|(own, other)| own / other)
                .collect();
            let interval = bootstrap_median(&ratios);
            outcome
                .ratios
                .insert(what, [interval.median, interval.low, interval.high]);
        }
    }
    Ok(outcomes)
}

/// The command as it was typed, the program by its name alone.
fn command() -> String {
    let arguments = std::env::args().skip(1);
    std::iter::once("mountdb-micro".to_owned())
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut all = Vec::new();
    let mut table = Table::new();
    let operations = ["insert", "hit", "miss", "forward", "reverse"];
    match arguments.slow {
        Some(threads) => table.set_header([
            "keys".to_owned(),
            "side".to_owned(),
            format!("inserts slower than 100 us, {threads} threads, a round"),
        ]),
        None => table.set_header([
            "keys",
            "side",
            "insert",
            "hit",
            "miss",
            "forward",
            "reverse",
            "index B/entry",
        ]),
    };
    for name in &arguments.keys {
        eprintln!("{name}");
        for outcome in compare(&arguments, name)? {
            let mut row = vec![outcome.keys.clone(), outcome.side.clone()];
            if arguments.slow.is_some() {
                let slow: Vec<f64> = outcome.slow_inserts.iter().map(|count| *count as f64).collect();
                row.push(format!("{:.0}", median(&slow)));
            } else {
                row.extend(operations.map(|what| {
                    let [ratio, low, high] = outcome.ratios[what];
                    let nanos = 1e9 / median(&outcome.rates[what]);
                    format!("{ratio:.2} ({low:.2}-{high:.2}) {nanos:.0} ns")
                }));
                row.push(format!("{:.1}", outcome.index_bytes_per_entry));
            }
            table.add_row(row);
            all.push(outcome);
        }
    }
    println!("{table}");
    if let Some(path) = &arguments.json {
        let record = serde_json::json!({
            "command": command(),
            "machine": Machine::detect(),
            "slow_nanos": SLOW.as_nanos() as u64,
            "outcomes": all,
        });
        fs::write(path, serde_json::to_string_pretty(&record)?)?;
    }
    Ok(())
}
