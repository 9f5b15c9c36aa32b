//! The command `mountdb eval`: the paper's evaluation against stock RocksDB.
//!
//! [`plan`] names every experiment, [`systems`] everyone who takes part. An experiment loads its databases once per key set
//! ([`stage`]), checks their answers, runs rounds of slices or fills in turns, and leaves one JSON file ([`state`]); the report
//! is made from those files alone.

mod budget;
mod check;
mod experiment;
mod figure;
mod fills;
mod keys;
mod layout;
mod mix;
mod plan;
mod record;
mod report;
mod scale;
mod slices;
mod stage;
mod state;
mod systems;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::config::IndexBytes;
use crate::keys::KeySource;
use crate::machine::Machine;

use budget::Budget;
use experiment::Context;
use figure::Choice;
use keys::Files;
use plan::{Experiment, plan};
use record::Measured;
use scale::{Scale, Sizes};
use state::State;
use systems::System;

pub use experiment::CountSegments;
pub use figure::Figure;
pub use record::Record;
pub use report::{Overview, overview};

/// Repeats the experiments of the MountDB paper on this machine, against stock RocksDB and against RocksDB tuned.
///
/// Every finished experiment is a file in the folder DIR/json: a run that was interrupted goes on where it was. The report,
/// DIR/report.html, is made from those files. Let nothing else run on the machine meanwhile.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Figure of the paper: 2, 5, 6, 7, 8, 9, 10, 11; extra for what goes beyond it; or all
    #[arg(long, default_value_t = Choice::ALL, value_name = "N")]
    pub figure: Choice,

    /// small takes half an hour on two cores, medium some hours, large is the paper's 55 GB per key set
    #[arg(long, value_enum, default_value = "small")]
    pub scale: Scale,

    /// Folder for results and report
    #[arg(long, default_value = "mountdb-eval", value_name = "DIR")]
    pub out: PathBuf,

    /// Folder for the databases, which are deleted at the end [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,

    /// Keys from a file in the SOSD binary format in place of a generated set: --sosd osm=FILE
    #[arg(long, value_parser = parse_file, value_name = "SET=FILE")]
    pub sosd: Vec<(String, KeySource)>,

    /// Entries of a loaded database, all other numbers in proportion, instead of the scale's: for a first try
    #[arg(long, value_name = "N")]
    pub num: Option<usize>,

    /// Minutes for all figures together instead of the scale's; one figure alone takes its share
    #[arg(long, value_name = "M", value_parser = parse_minutes)]
    pub minutes: Option<f64>,

    /// Seed of keys and operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn parse_file(text: &str) -> Result<(String, KeySource), String> {
    let (set, file) = text.split_once('=').ok_or("expected SET=FILE")?;
    if plan::SETS.iter().all(|(name, _)| *name != set) {
        let names = plan::SETS.map(|(name, _)| name).join(", ");
        return Err(format!("unknown key set {set:?}: expected {names}"));
    }
    Ok((set.to_owned(), KeySource::Sosd(PathBuf::from(file))))
}

fn parse_minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let fits = minutes > 0.0 && minutes < 1e6;
    fits.then_some(minutes)
        .ok_or_else(|| "expected a positive number of minutes".to_owned())
}

/// What the caller lends: this crate knows no learned index.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Counts optimal segments.
    pub segments: CountSegments,
    /// Sizes of indexes that the crate's own reading of files does not tell.
    pub index_bytes: Option<IndexBytes>,
    /// Whether to show progress on standard error.
    pub progress: bool,
}

/// Runs what is not there yet, and writes the report.
///
/// # Errors
/// Unusable flags and errors of the file system. An experiment that fails is part of the report and of the exit code; the others
/// are run all the same.
pub fn run(args: &Args, hooks: Hooks) -> Result<ExitCode> {
    if let Some(dir) = &args.db {
        fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    let run = Run::new(args, hooks)?;
    let failed = run.experiments()?;
    run.report()?;
    eprintln!("Report: {}", args.out.join(report::PAGE).display());
    for (id, error) in &failed {
        eprintln!("mountdb eval: {id}: {error}");
    }
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Run<'a> {
    args: &'a Args,
    hooks: Hooks,
    sizes: Sizes,
    files: Files,
    state: State,
    machine: Machine,
    clock_nanos: f64,
}

impl<'a> Run<'a> {
    fn new(args: &'a Args, hooks: Hooks) -> Result<Self> {
        Ok(Run {
            sizes: args.scale.sizes().shrunk(args.num, args.minutes),
            files: args.sosd.iter().cloned().collect(),
            state: State::open(&args.out)?,
            machine: Machine::detect(),
            clock_nanos: slices::clock_nanos(),
            args,
            hooks,
        })
    }

    /// Runs the experiments that are not finished, and returns those that failed.
    fn experiments(&self) -> Result<Vec<(String, String)>> {
        let threads = self.sizes.threads;
        let everything: f64 = plan(Choice::ALL, &self.files, threads)
            .iter()
            .map(|one| one.seconds)
            .sum();
        let mut open = Vec::new();
        let chosen = plan(self.args.figure, &self.files, threads);
        let count = chosen.len();
        for experiment in chosen {
            let settings = self.settings(&experiment)?;
            if self.state.finished(&experiment.id, &settings, &self.machine)?.is_none() {
                open.push((experiment, settings));
            }
        }
        let mut left: f64 = open.iter().map(|(experiment, _)| experiment.seconds).sum();
        let time = self.sizes.time().mul_f64(left / everything);
        let progress = self.progress(time, count - open.len());
        let begun = Instant::now();
        let mut context = Context {
            sizes: self.sizes.clone(),
            seed: self.args.seed,
            dir: self.args.db.clone(),
            index_bytes: self.hooks.index_bytes,
            segments: self.hooks.segments,
            stage: None,
        };
        let mut failed = Vec::new();
        for (experiment, settings) in open {
            // What earlier ones took too long is missing in the same proportion for all that are left.
            let share = experiment.seconds / left;
            let dealt = time.saturating_sub(begun.elapsed()).mul_f64(share);
            let planned = self.sizes.time().mul_f64(experiment.seconds / everything);
            let budget = Budget::new(dealt, self.sizes.rounds).pressed(dealt < planned / 2);
            left -= experiment.seconds;
            progress.set_message(format!("{}: {}", experiment.id, experiment.title));
            let record = self.one(&experiment, settings, &mut context, budget);
            if let Some(error) = &record.error {
                failed.push((record.id.clone(), error.clone()));
                context.stage = None;
            }
            self.state.store(&record)?;
            self.report()?;
            progress.set_position(begun.elapsed().as_secs());
        }
        progress.finish_and_clear();
        Ok(failed)
    }

    fn one(&self, experiment: &Experiment, settings: Value, context: &mut Context, budget: Budget) -> Record {
        let begun = Instant::now();
        let result = experiment.kind.run(context, budget);
        let (measured, error) = match result {
            Ok(measured) => (measured, None),
            Err(error) => (Measured::default(), Some(format!("{error:#}"))),
        };
        Record {
            version: record::VERSION,
            id: experiment.id.clone(),
            figure: experiment.figure,
            title: experiment.title.clone(),
            command: self.command(experiment.figure),
            settings,
            machine: self.machine.clone(),
            clock_nanos: self.clock_nanos,
            seconds: begun.elapsed().as_secs_f64(),
            measured,
            error,
        }
    }

    /// Everything that decides what is measured.
    fn settings(&self, experiment: &Experiment) -> Result<Value> {
        let mut sides = serde_json::Map::new();
        for name in experiment.kind.systems() {
            sides.insert((*name).to_owned(), System::named(name)?.side().options.into());
        }
        let settings = json!({
            "mountdb": env!("CARGO_PKG_VERSION"),
            "sizes": self.sizes,
            "seed": self.args.seed,
            "experiment": experiment,
            "sides": sides,
        });
        // As it will be when it is read back: numbers may be rounded on the way.
        Ok(serde_json::from_str(&settings.to_string())?)
    }

    /// The command that repeats a figure. Folders are left away: they change nothing.
    fn command(&self, figure: Figure) -> String {
        let scale = clap::ValueEnum::to_possible_value(&self.args.scale)
            .map_or(String::new(), |scale| scale.get_name().to_owned());
        let mut command = format!("mountdb eval --figure {figure} --scale {scale}");
        let defaults = self.args.scale.sizes();
        if self.sizes.entries != defaults.entries {
            command += &format!(" --num {}", self.sizes.entries);
        }
        if self.sizes.minutes != defaults.minutes {
            command += &format!(" --minutes {}", self.sizes.minutes);
        }
        if self.args.seed != 1 {
            command += &format!(" --seed {}", self.args.seed);
        }
        for (set, file) in &self.files {
            command += &format!(" --sosd {set}={file}");
        }
        command
    }

    fn report(&self) -> Result<()> {
        let records = self.state.all()?;
        write(&self.args.out.join(report::PAGE), &report::page(&records))?;
        let all = json!({ "version": record::VERSION, "records": records });
        write(
            &self.args.out.join("eval.json"),
            &(serde_json::to_string_pretty(&all)? + "\n"),
        )
    }

    fn progress(&self, time: Duration, finished: usize) -> ProgressBar {
        let target = if self.hooks.progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("[{bar:30}] {elapsed} gone, about {prefix} in all, {eta} left, {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar =
            ProgressBar::with_draw_target(Some(time.as_secs().max(1)), target).with_style(style.progress_chars("=> "));
        bar.set_prefix(format!("{} min", (time.as_secs_f64() / 60.0).ceil()));
        bar.enable_steady_tick(Duration::from_secs(1));
        if finished > 0 {
            bar.println(format!("{finished} experiments are there already"));
        }
        bar
    }
}

fn write(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
}
