//! The paired runner: slices of side a and side b in turn, and the ratio of each pair.

use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::config::{Config, Side};
use crate::database::{Database, IndexSize};
use crate::keys::KeySet;
use crate::report::{Outcome, PerSide};
use crate::stats::{bootstrap_median, median};
use crate::values::Values;
use crate::verify::{Rounds, verify};
use crate::workload::{FillPlan, Scene, Workload, check_fill, fill, fill_memtable, timed_slice};

/// Compares side a with side b in each workload; `sides` names the two per workload, because the best settings of an
/// opponent depend on it.
///
/// Before a workload is timed, both sides must give the expected answers (see the error case). One slice per side is run and
/// not counted. Before each slice both databases are waited for until neither flushes nor compacts.
///
/// # Errors
/// When the settings are unusable, RocksDB fails, or a side gives a wrong answer: then the error names the side, the call and
/// the key.
pub fn compare(
    config: &Config,
    keys: &KeySet,
    workloads: &[Workload],
    sides: impl Fn(Workload) -> (Side, Side),
) -> Result<Vec<Outcome>> {
    ensure!(config.threads > 0, "at least one thread is needed");
    ensure!(
        config.pairs > 0 && config.fill_pairs > 0,
        "at least one pair of slices is needed"
    );
    ensure!(
        config.seconds > 0.0 && config.seconds.is_finite(),
        "a slice must have a length"
    );
    ensure!(
        u32::try_from(keys.keys().len()).is_ok(),
        "more than 2^32 keys are not supported"
    );
    let values = Values::new(config.value_size)?;
    let scene = Scene {
        config,
        keys,
        values: &values,
    };

    let mut loaded: Option<Loaded> = None;
    let mut outcomes = Vec::new();
    for &workload in workloads {
        let (a, b) = sides(workload);
        let runner = Runner {
            scene: &scene,
            workload,
            sides: PerSide { a, b },
        };
        let outcome = if workload == Workload::FillRandom {
            runner.fills()?
        } else {
            let databases = match loaded.take().filter(|loaded| loaded.sides == runner.sides) {
                Some(databases) => databases,
                None => runner.load()?,
            };
            let outcome = runner.slices(&databases)?;
            // A workload that writes leaves the two sides with different values: the next one starts anew.
            loaded = (!workload.writes()).then_some(databases);
            outcome
        };
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Compares the sides in writing one key set after the other into one database, as the paper's figure 9 does: how do they take a
/// change of distribution? The result has an outcome for each set.
///
/// # Errors
/// As for [`compare`].
pub fn compare_phases(config: &Config, sets: &[KeySet], (a, b): (Side, Side)) -> Result<Vec<Outcome>> {
    ensure!(
        config.threads > 0 && config.fill_pairs > 0,
        "at least one thread and one pair"
    );
    let values = Values::new(config.value_size)?;
    let scenes: Vec<Scene> = sets
        .iter()
        .map(|keys| Scene {
            config,
            keys,
            values: &values,
        })
        .collect();
    let plans = |pair| -> Vec<FillPlan> {
        let plan = |set| FillPlan::new(set, config.num, config.threads, config.seed, pair);
        sets.iter().map(plan).collect()
    };
    let sides = PerSide { a, b };
    let mut rates: Vec<Rates> = sets.iter().map(|_| Rates::default()).collect();
    let mut flushes = Rates::default();
    let runner = |scene| Runner {
        scene,
        workload: Workload::FillRandom,
        sides: sides.clone(),
    };
    let Some(first) = scenes.first() else {
        return Ok(Vec::new());
    };
    let progress = runner(first).progress(config.fill_pairs);
    for pair in 0..config.fill_pairs as u64 {
        let plans = plans(pair);
        for is_b in [pair % 2 == 1, pair % 2 == 0] {
            let database = Database::create(config, if is_b { &sides.b } else { &sides.a })?;
            for ((scene, plan), rates) in scenes.iter().zip(&plans).zip(&mut rates) {
                let rate = fill(scene, plan, &database, false)?;
                if is_b { &mut rates.b } else { &mut rates.a }.push(rate);
            }
            database.flush()?;
            let written = database.flushes() as f64;
            if is_b { &mut flushes.b } else { &mut flushes.a }.push(written);
            if pair == 0 {
                // Two sets may share a key, which then has the later one's value.
                if let (Some(scene), Some(plan)) = (scenes.last(), plans.last()) {
                    check_fill(scene, plan, &database)?;
                }
            }
        }
        progress.inc(1);
    }
    let flushes = flushes.medians();
    let (count, none) = (sets.len(), PerSide { a: None, b: None });
    Ok(scenes
        .iter()
        .zip(rates)
        .enumerate()
        .map(|(i, (scene, rates))| {
            let mut outcome = runner(scene).outcome(rates, none, flushes);
            outcome.keys = format!("{} (phase {} of {count})", scene.keys.name(), i + 1);
            outcome
        })
        .collect())
}

/// Databases with all entries, for workloads that read.
struct Loaded {
    sides: PerSide<Side>,
    databases: PerSide<Database>,
    last_round: u32,
    flushes: PerSide<u64>,
}

#[derive(Default)]
struct Rates {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Rates {
    /// Of numbers that are counts.
    fn medians(&self) -> PerSide<u64> {
        PerSide {
            a: median(&self.a) as u64,
            b: median(&self.b) as u64,
        }
    }
}

struct Runner<'a> {
    scene: &'a Scene<'a>,
    workload: Workload,
    sides: PerSide<Side>,
}

/// Pair number of the slices that are not counted.
const WARM_UP: u64 = u64::MAX;

impl Runner<'_> {
    /// `fillrandom`: every slice fills a fresh database.
    fn fills(&self) -> Result<Outcome> {
        let Scene { config, keys, .. } = *self.scene;
        let mut flushes = Rates::default();
        let mut index = PerSide { a: None, b: None };
        let log = self.workload.logs(config.wal);

        let progress = self.progress(config.fill_pairs);
        progress.set_message("checking answers");
        let plan = FillPlan::new(keys, config.num, config.threads, config.seed, WARM_UP);
        for side in [&self.sides.a, &self.sides.b] {
            let database = Database::create(config, side)?;
            fill(self.scene, &plan, &database, log)?;
            self.verify_loaded(side, &database, &plan)?;
        }

        let rates = self.pairs(
            config.fill_pairs,
            &progress,
            |pair, is_b, plan: &mut Option<FillPlan>| {
                let plan = match plan {
                    Some(plan) => plan,
                    none => none.insert(FillPlan::new(keys, config.num, config.threads, config.seed, pair)),
                };
                let side = if is_b { &self.sides.b } else { &self.sides.a };
                let database = Database::create(config, side)?;
                let rate = fill(self.scene, plan, &database, log)?;
                database.flush()?;
                let (flushes, index) = if is_b {
                    (&mut flushes.b, &mut index.b)
                } else {
                    (&mut flushes.a, &mut index.a)
                };
                flushes.push(database.flushes() as f64);
                *index = database.index_size(config)?;
                Ok(rate)
            },
        )?;
        Ok(self.outcome(rates, index, flushes.medians()))
    }

    /// Loads both sides at once, each on one thread, and checks what they answer.
    fn load(&self) -> Result<Loaded> {
        let Scene { config, keys, .. } = *self.scene;
        let spinner = self.progress(0);
        spinner.set_message("loading both sides and checking answers");
        let plan = FillPlan::new(keys, config.num, 1, config.seed, WARM_UP);
        let load = |side: &Side| -> Result<(Database, u64)> {
            let database = Database::create(config, side)?;
            fill(self.scene, &plan, &database, false)?;
            self.verify_loaded(side, &database, &plan)?;
            database.flush()?;
            let flushes = database.flushes();
            if config.compact {
                database.compact()?;
                verify(
                    self.scene,
                    &side.name,
                    &database,
                    Rounds::Exact(plan.last_rounds()),
                    config.seed + 1,
                )?;
            }
            Ok((database, flushes))
        };
        let (a, b) = thread::scope(|scope| {
            let a = scope.spawn(|| load(&self.sides.a));
            let b = load(&self.sides.b);
            (a.join().map_err(|_| anyhow!("loading side a panicked")), b)
        });
        let ((a, flushes_a), (b, flushes_b)) = (a??, b?);
        Ok(Loaded {
            sides: self.sides.clone(),
            databases: PerSide { a, b },
            last_round: plan.last_rounds().iter().copied().max().unwrap_or(0),
            flushes: PerSide {
                a: flushes_a,
                b: flushes_b,
            },
        })
    }

    /// Checks a filled database with its last memtable still in memory. A vector memtable sorts a copy of itself for every
    /// read and is written out first.
    fn verify_loaded(&self, side: &Side, database: &Database, plan: &FillPlan) -> Result<()> {
        if side.options.contains("memtable_factory=vector") || side.options.contains("id=vector") {
            database.flush()?;
        }
        database.wait_until_idle()?;
        verify(
            self.scene,
            &side.name,
            database,
            Rounds::Exact(plan.last_rounds()),
            self.scene.config.seed,
        )
    }

    /// The workloads with slices of fixed length.
    fn slices(&self, loaded: &Loaded) -> Result<Outcome> {
        let config = self.scene.config;
        let PerSide { a, b } = &loaded.databases;
        let before = PerSide {
            a: a.flushes(),
            b: b.flushes(),
        };
        let first_round = loaded.last_round + 1;
        let slice = |database: &Database, pair: u64, round: u32| {
            a.wait_until_idle()?;
            b.wait_until_idle()?;
            timed_slice(self.scene, self.workload, database, pair, round)
        };
        let progress = self.progress(config.pairs);
        progress.set_message("warming up");
        if self.workload == Workload::ReadMem {
            fill_memtable(self.scene, a, first_round)?;
            fill_memtable(self.scene, b, first_round)?;
        }
        for database in [a, b] {
            slice(database, WARM_UP, first_round)?;
        }
        let rates = self.pairs(config.pairs, &progress, |pair, is_b, _: &mut Option<()>| {
            slice(if is_b { b } else { a }, pair, first_round + 1 + pair as u32)
        })?;

        if self.workload.writes() {
            let last_round = first_round + config.pairs as u32;
            for (side, database) in [(&self.sides.a, a), (&self.sides.b, b)] {
                database.wait_until_idle()?;
                verify(
                    self.scene,
                    &side.name,
                    database,
                    Rounds::UpTo(last_round),
                    config.seed + 2,
                )
                .context("after the timed slices")?;
            }
        }
        let during = PerSide {
            a: a.flushes() - before.a,
            b: b.flushes() - before.b,
        };
        ensure!(
            self.workload != Workload::ReadMem || during == PerSide::default(),
            "the memtable was flushed before the reads were over"
        );
        let flushes = match self.workload {
            Workload::Balanced => during,
            _ => loaded.flushes,
        };
        Ok(self.outcome(
            rates,
            PerSide {
                a: a.index_size(config)?,
                b: b.index_size(config)?,
            },
            flushes,
        ))
    }

    /// Runs the pairs. The side that goes first alternates, so that a drift of the machine favours neither. What `slice`
    /// leaves in its last argument is kept for the other slice of the pair.
    fn pairs<T>(
        &self,
        pairs: usize,
        progress: &ProgressBar,
        mut slice: impl FnMut(u64, bool, &mut Option<T>) -> Result<f64>,
    ) -> Result<Rates> {
        let mut rates = Rates::default();
        for pair in 0..pairs as u64 {
            let mut shared = None;
            let b_first = pair % 2 == 1;
            for is_b in [b_first, !b_first] {
                let rate = slice(pair, is_b, &mut shared)?;
                if is_b { &mut rates.b } else { &mut rates.a }.push(rate);
            }
            progress.set_message(format!("median ratio so far {:.2}", median(&ratios(&rates))));
            progress.inc(1);
        }
        Ok(rates)
    }

    fn outcome(&self, rates: Rates, index: PerSide<Option<IndexSize>>, flushes: PerSide<u64>) -> Outcome {
        let config = self.scene.config;
        Outcome {
            workload: self.workload,
            keys: self.scene.keys.name().to_owned(),
            num: config.num,
            value_size: config.value_size,
            threads: config.threads,
            learned: config.learned.clone(),
            against: self.sides.a.name.clone(),
            ratio: bootstrap_median(&ratios(&rates)),
            a_ops_per_sec: rates.a,
            b_ops_per_sec: rates.b,
            index_bytes_per_block: PerSide {
                a: index.a.map(IndexSize::per_block),
                b: index.b.map(IndexSize::per_block),
            },
            flushes,
            b_name: self.sides.b.name.clone(),
            options: PerSide {
                a: self.sides.a.options.clone(),
                b: self.sides.b.options.clone(),
            },
            index,
        }
    }

    /// A bar over `pairs` steps, or a spinner for none.
    fn progress(&self, pairs: usize) -> ProgressBar {
        let config = self.scene.config;
        let target = if config.progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let template = if pairs == 0 {
            "{prefix:24} {spinner} {msg}"
        } else {
            "{prefix:24} [{bar:30}] {pos}/{len} pairs, {eta} left, {msg}"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(pairs as u64), target).with_style(style.progress_chars("=> "));
        bar.set_prefix(format!("{} {}", self.scene.keys.name(), self.workload));
        bar
    }
}

fn ratios(rates: &Rates) -> Vec<f64> {
    rates.a.iter().zip(&rates.b).map(|(a, b)| b / a).collect()
}
