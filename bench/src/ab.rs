//! The command `mountdb ab`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::config::{Config, IndexBytes, Side, WalMode};
use crate::keys::KeySource;
use crate::machine::Machine;
use crate::report::{Report, VERSION, html, text};
use crate::runner::{compare, compare_phases};
use crate::sides::{Against, Learned, learned_side};
use crate::workload::Workload;

/// Compares RocksDB with learned indexes (side b) with RocksDB without them (side a).
///
/// Both sides run in one process, on the same keys and operations, in short slices that alternate; reported is the median of
/// the ratios b/a of neighbouring slices with a 95% bootstrap interval. Both sides must first give the right answers on a
/// sample of present and absent keys. Let nothing else run on the machine meanwhile.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Workloads, separated by commas [default: all that the opponent takes part in]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub workload: Vec<Workload>,

    /// Key sets, separated by commas: cities, uniform, sequential, or the path of a file in the SOSD binary format (64-bit
    /// count, then sorted 64-bit keys, little-endian) [default: uniform]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub keys: Vec<KeySource>,

    /// Entries per database. With more entries than keys, the keys are written again with fresh values; with fewer, every
    /// n-th key is used [default: 1000000]
    #[arg(long, value_name = "N")]
    pub num: Option<usize>,

    /// Size of a value in bytes, at least 16
    #[arg(long, default_value_t = 100, value_name = "BYTES")]
    pub value_size: usize,

    /// Threads that work on a database at once
    #[arg(long, default_value_t = 1, value_name = "T")]
    pub threads: usize,

    /// Pairs of slices per workload [default: 60, fillrandom: 10]
    #[arg(long, value_name = "P")]
    pub pairs: Option<usize>,

    /// Length of a slice in seconds; fillrandom takes as long as its entries take
    #[arg(long, default_value_t = 0.25, value_name = "S")]
    pub seconds: f64,

    /// Parts that are learned on side b
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "memtable,index",
        value_name = "LIST"
    )]
    pub learned: Vec<Learned>,

    /// Write the key sets one after the other into one database, --num entries of each (paper figure 9)
    #[arg(long, conflicts_with = "workload")]
    pub phases: bool,

    /// Opponent, side a
    #[arg(long, value_enum, default_value = "stock")]
    pub against: Against,

    /// Defaults for a purpose: quick takes cities and uniform keys, all workloads, 16 pairs of slices and 6 of fills, and is
    /// done within four minutes on two cores; full is the settings shown here. Other flags override it
    #[arg(long, value_enum, default_value = "full")]
    pub preset: Preset,

    /// Folder for the databases, which are deleted at the end [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,

    /// Write the results as JSON to this file; "-" for standard output (the table then goes to standard error)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the report as one self-contained HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write without the write-ahead log in every workload [default: so in fillrandom, with the log in balanced]
    #[arg(long, conflicts_with = "wal")]
    pub disable_wal: bool,

    /// Write with the write-ahead log in every workload
    #[arg(long)]
    pub wal: bool,

    /// Leave the databases for reads as flushes made them; by default they are fully compacted
    #[arg(long)]
    pub no_compact: bool,

    /// Entries that seekrandom reads after each seek
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub seek_nexts: usize,

    /// Size of a data block in bytes
    #[arg(long, default_value_t = 4096, value_name = "BYTES")]
    pub block_size: usize,

    /// Block cache of each side in MiB
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    pub cache_size: usize,

    /// Size of a memtable in MiB
    #[arg(long, default_value_t = 64, value_name = "MIB")]
    pub write_buffer_size: usize,

    /// Bits per key of the Bloom filter in SST files, on both sides; 0 for none
    #[arg(long, default_value_t = 10.0, value_name = "BITS")]
    pub bloom_bits: f64,

    /// Seed of keys and operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// RocksDB option string that is added to side a
    #[arg(long, default_value = "", value_name = "OPTIONS", hide_default_value = true)]
    pub a_options: String,

    /// RocksDB option string that is added to side b
    #[arg(long, default_value = "", value_name = "OPTIONS", hide_default_value = true)]
    pub b_options: String,
}

/// Defaults for a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "lowercase")]
pub enum Preset {
    /// A first look within four minutes.
    Quick,
    /// Settings for a result to keep.
    Full,
}

impl Args {
    /// The workloads to run; an opponent that takes no part in one that was asked for is an error.
    fn workloads(&self) -> Result<Vec<Workload>> {
        let asked = if self.workload.is_empty() {
            Workload::ALL
                .into_iter()
                .filter(|&workload| self.against.side(workload).is_some())
                .collect()
        } else {
            self.workload.clone()
        };
        for &workload in &asked {
            if self.against.side(workload).is_none() {
                bail!(
                    "--against {} has no {workload}: it takes part in fillrandom only",
                    self.against.name()
                );
            }
        }
        Ok(asked)
    }

    fn key_sources(&self) -> Vec<KeySource> {
        match (self.keys.is_empty(), self.preset) {
            (false, _) => self.keys.clone(),
            (true, Preset::Quick) => vec![KeySource::Cities, KeySource::Uniform],
            (true, Preset::Full) => vec![KeySource::Uniform],
        }
    }

    fn config(&self, index_bytes: Option<IndexBytes>) -> Result<Config> {
        const MIB: usize = 1 << 20;
        let mib = |flag: &str, size: usize| {
            size.checked_mul(MIB)
                .filter(|&bytes| bytes > 0)
                .with_context(|| format!("{flag} {size}: out of range"))
        };
        let (pairs, fill_pairs) = match self.preset {
            Preset::Quick => (16, 6),
            Preset::Full => (60, 10),
        };
        let defaults = Config::default();
        Ok(Config {
            num: self.num.unwrap_or(defaults.num),
            value_size: self.value_size,
            threads: self.threads,
            pairs: self.pairs.unwrap_or(pairs),
            fill_pairs: self.pairs.unwrap_or(fill_pairs),
            seconds: self.seconds,
            seek_nexts: self.seek_nexts,
            block_size: self.block_size,
            cache_size: mib("--cache-size", self.cache_size)?,
            write_buffer_size: mib("--write-buffer-size", self.write_buffer_size)?,
            bloom_bits: self.bloom_bits,
            wal: match (self.wal, self.disable_wal) {
                (true, _) => WalMode::Always,
                (_, true) => WalMode::Never,
                _ => WalMode::PerWorkload,
            },
            compact: !self.no_compact,
            seed: self.seed,
            dir: self.db.clone(),
            index_bytes,
            learned: self.learned.iter().map(|part| part.name().to_owned()).collect(),
            progress: true,
            ..defaults
        })
    }

    fn sides(&self, workload: Workload) -> (Side, Side) {
        let mut a = self
            .against
            .side(workload)
            .unwrap_or_else(|| Side::new(self.against.name(), ""));
        a.append(&self.a_options);
        let mut b = learned_side(&self.learned);
        b.append(&self.b_options);
        (a, b)
    }
}

/// Runs the comparison and writes the reports. The factories that the option strings name must be registered before.
///
/// `index_bytes` replaces the crate's own reading of index sizes, for files whose index it cannot see.
///
/// # Errors
/// Unusable flags, errors of RocksDB and of the file system, and wrong answers of a side.
pub fn run(args: &Args, index_bytes: Option<IndexBytes>) -> Result<ExitCode> {
    let config = args.config(index_bytes)?;
    let workloads = args.workloads()?;
    ensure!(!args.learned.is_empty(), "--learned names no part");
    if let Some(dir) = &args.db {
        fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }

    let mut results = Vec::new();
    if args.phases {
        let load = |source: KeySource| source.load(config.num, config.seed);
        let sets = args.key_sources().into_iter().map(load).collect::<Result<Vec<_>>>()?;
        results = compare_phases(&config, &sets, args.sides(Workload::FillRandom))?;
    }
    for source in args.key_sources().into_iter().filter(|_| !args.phases) {
        let keys = source.load(config.num, config.seed)?;
        results.extend(compare(&config, &keys, &workloads, |workload| args.sides(workload))?);
    }
    let report = Report {
        version: VERSION,
        machine: Machine::detect(),
        command: command(),
        settings: &config,
        results,
    };

    let json_to_stdout = args.json.as_deref() == Some(Path::new("-"));
    if json_to_stdout {
        eprint!("{}", text(&report));
        print!("{}", report.to_json()?);
    } else {
        print!("{}", text(&report));
    }
    if let Some(path) = args.json.as_deref().filter(|_| !json_to_stdout) {
        write(path, &report.to_json()?)?;
    }
    if let Some(path) = &args.html {
        write(path, &html(&report))?;
        eprintln!("Report: {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, content: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// The command as it was typed, the program by its name alone.
fn command() -> String {
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program)
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    std::iter::once(name)
        .chain(words)
        .map(|word| quoted(&word))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn parse(line: &str) -> Args {
        Command::try_parse_from(std::iter::once("ab").chain(line.split_whitespace()))
            .unwrap()
            .args
    }

    fn refused(line: &str) -> bool {
        Command::try_parse_from(std::iter::once("ab").chain(line.split_whitespace())).is_err()
    }

    #[test]
    fn defaults() {
        let args = parse("");
        let config = args.config(None).unwrap();
        assert_eq!((config.pairs, config.fill_pairs, config.seconds), (60, 10, 0.25));
        assert_eq!(config.wal, WalMode::PerWorkload);
        assert_eq!(config.learned, ["memtable", "index"]);
        assert_eq!(args.workloads().unwrap(), Workload::ALL);
        assert_eq!(args.key_sources(), [KeySource::Uniform]);
    }

    #[test]
    fn lists_and_overrides() {
        let args = parse(
            "--preset quick --workload multiget,fillrandom --keys sequential,x/y.sosd --pairs 3 --learned index --wal",
        );
        let config = args.config(None).unwrap();
        assert_eq!((config.pairs, config.fill_pairs), (3, 3));
        assert_eq!(config.wal, WalMode::Always);
        assert_eq!(args.workloads().unwrap(), [Workload::MultiGet, Workload::FillRandom]);
        assert_eq!(
            args.key_sources(),
            [KeySource::Sequential, KeySource::Sosd("x/y.sosd".into())]
        );
        assert_eq!(
            parse("--preset quick").key_sources(),
            [KeySource::Cities, KeySource::Uniform]
        );
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(refused("--wal --disable-wal"));
        assert!(refused("--keys towns"));
        assert!(refused("--workload readall"));
        assert!(parse("--against vector --workload readrandom").workloads().is_err());
        assert_eq!(parse("--against vector").workloads().unwrap(), [Workload::FillRandom]);
        assert!(parse("--cache-size 0").config(None).is_err());
    }

    #[test]
    fn added_options_reach_their_side() {
        let (a, b) = parse("--a-options max_open_files=10 --b-options max_open_files=20").sides(Workload::ReadRandom);
        assert_eq!(a.options, "max_open_files=10");
        assert!(b.options.ends_with("=true};max_open_files=20"), "{}", b.options);
    }

    #[test]
    fn run_refuses_factories_that_nobody_registered() {
        for part in ["memtable", "index"] {
            let args = parse(&format!("--num 100 --workload readrandom --learned {part}"));
            let error = format!("{:#}", run(&args, None).unwrap_err());
            assert!(error.contains("side learned"), "{error}");
        }
    }

    /// The learned memtable is not part of this crate: the added option puts RocksDB's own in its place.
    #[test]
    fn run_writes_both_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut args = parse("--num 5000 --pairs 2 --seconds 0.01 --keys cities,sequential --learned memtable");
        args.b_options = "memtable_factory=skip_list".to_owned();
        args.db = Some(dir.path().join("databases"));
        args.json = Some(dir.path().join("new/folder/result.json"));
        args.html = Some(dir.path().join("report.html"));
        run(&args, None).unwrap();

        let json: serde_json::Value = serde_json::from_slice(&fs::read(args.json.unwrap()).unwrap()).unwrap();
        let results = json["results"].as_array().unwrap();
        assert_eq!(results.len(), 2 * Workload::ALL.len());
        assert_eq!(results[0]["learned"], serde_json::json!(["memtable"]));
        assert!(fs::read_to_string(args.html.unwrap()).unwrap().contains("sequential"));
        assert_eq!(
            fs::read_dir(dir.path().join("databases")).unwrap().count(),
            0,
            "databases are deleted"
        );
    }

    #[test]
    fn words_of_the_command_are_quoted_where_needed() {
        assert_eq!(quoted("--keys=cities,uniform"), "--keys=cities,uniform");
        assert_eq!(quoted("a={b;c}"), "'a={b;c}'");
        assert_eq!(quoted(""), "''");
    }
}
