//! `mountdb convert`: rewrites the files of a database that carry another index than wanted, a file's range of keys at a
//! time. Every step is one compaction of RocksDB, so an interruption at any time loses nothing but that step.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use mountdb_bench::read_sst_indexes;
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, LiveFile};

use crate::inspect::{Carries, stored_options};

#[derive(clap::Args)]
pub struct Args {
    /// Folder of the database; no other process may have it open
    db: PathBuf,
    /// The index that files shall carry, and that new files get from now on
    #[arg(long)]
    to: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// RocksDB's own: any RocksDB opens the database
    Standard,
    /// Both: any RocksDB opens the database
    Alongside,
    /// The learned index only, also called replace
    #[value(alias = "replace")]
    Pgm,
}

impl Target {
    fn carries(self) -> Carries {
        match self {
            Target::Standard => Carries::Standard,
            Target::Alongside => Carries::Both,
            Target::Pgm => Carries::Learned,
        }
    }

    /// The change of table options, which RocksDB also writes into the OPTIONS file.
    fn table_options(self) -> &'static str {
        match self {
            Target::Standard => "{use_udi_as_primary_index=false;user_defined_index_factory=nullptr}",
            Target::Alongside => "{user_defined_index_factory={id=pgm;mode=alongside};use_udi_as_primary_index=false}",
            Target::Pgm => "{user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
        }
    }
}

pub fn run(args: &Args) -> Result<()> {
    let (mut options, families) = stored_options(&args.db)?;
    options.create_if_missing(false);
    let names: Vec<String> = families.iter().map(|family| family.name().to_owned()).collect();
    let db = DB::open_cf_descriptors(&options, &args.db, families)
        .with_context(|| format!("cannot open {}", args.db.display()))?;
    for name in &names {
        let family = db.cf_handle(name).context("a column family without handle")?;
        db.set_options_cf(family, &[("block_based_table_factory", args.to.table_options())])
            .with_context(|| format!("column family {name}: another table format, or not a block-based one"))?;
        db.flush_cf(family)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let on_signal = stop.clone();
    ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed)).context("cannot watch for interruptions")?;
    convert(&db, args, &stop)
}

fn convert(db: &DB, args: &Args, stop: &AtomicBool) -> Result<()> {
    let size = |files: &[LiveFile]| files.iter().map(|file| file.size as u64).sum::<u64>();
    let mut done = HashSet::new();
    let mut todo = others(db, args, &mut done)?;
    let total = size(&todo);
    let bar = ProgressBar::new(total).with_style(
        ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {eta} left, {msg}").expect("a valid template"),
    );
    let mut compact = CompactOptions::default();
    compact.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    let mut tried = HashSet::new();
    loop {
        bar.set_position(total.saturating_sub(size(&todo)));
        let Some(file) = todo.first() else {
            bar.finish_and_clear();
            println!("every file of {} carries what was asked for", args.db.display());
            return Ok(());
        };
        if stop.load(Ordering::Relaxed) {
            bail!("interrupted with {} files left; run it again to go on", todo.len());
        }
        if !tried.insert(file.name.clone()) {
            bail!(
                "{} does not change by compaction (compaction style FIFO, or a compaction filter that stops it?)",
                file.name
            );
        }
        bar.set_message(format!("{} files left", todo.len()));
        let family = db
            .cf_handle(&file.column_family_name)
            .context("a column family without handle")?;
        db.compact_range_cf_opt(family, file.start_key.as_deref(), file.end_key.as_deref(), &compact);
        todo = others(db, args, &mut done)?;
    }
}

/// The live files that do not carry the wanted index, lowest level last: what is above is compacted into it and need not be
/// converted twice. `done` holds the names of those that do: files never change and numbers are not used again, so that each is
/// read once.
fn others(db: &DB, args: &Args, done: &mut HashSet<String>) -> Result<Vec<LiveFile>> {
    let mut files = Vec::new();
    for file in db.live_files()? {
        if done.contains(&file.name) {
            continue;
        }
        let indexes = read_sst_indexes(&args.db.join(file.name.trim_start_matches('/')))?;
        if Carries::of(&indexes) == args.to.carries() {
            done.insert(file.name);
        } else {
            files.push(file);
        }
    }
    files.sort_by(|a, b| (a.level, &a.start_key).cmp(&(b.level, &b.start_key)));
    Ok(files)
}
