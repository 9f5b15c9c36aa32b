//! The workloads: what one slice does.

mod fill;
mod mixed;
mod read;

use std::fmt;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::config::{Config, WalMode};
use crate::database::Database;
use crate::keys::KeySet;
use crate::values::Values;

pub(crate) use fill::{FillPlan, check_fill, fill, fill_memtable};

/// Operations between two looks at the clock.
const STEP: usize = 64;

/// Keys of one `multiget` call.
pub(crate) const MULTIGET_BATCH: usize = 32;

/// What a slice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
pub enum Workload {
    /// Writes all entries in random order into an empty database.
    FillRandom,
    /// Gets of random keys that are there.
    ReadRandom,
    /// Gets of random keys that are there, with a full memtable in front of the files.
    ReadMem,
    /// Seeks to random keys that are there, and a few entries more.
    SeekRandom,
    /// Gets of random keys that are there, in batches of 32; each key counts as one operation.
    MultiGet,
    /// Half gets, half overwrites, of random keys that are there.
    Balanced,
}

impl Workload {
    /// All workloads, in the order in which they are run.
    pub const ALL: [Workload; 6] = [
        Workload::FillRandom,
        Workload::ReadRandom,
        Workload::ReadMem,
        Workload::SeekRandom,
        Workload::MultiGet,
        Workload::Balanced,
    ];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Workload::FillRandom => "fillrandom",
            Workload::ReadRandom => "readrandom",
            Workload::ReadMem => "readmem",
            Workload::SeekRandom => "seekrandom",
            Workload::MultiGet => "multiget",
            Workload::Balanced => "balanced",
        }
    }

    /// Whether its writes are logged. Workloads that do not write log nothing.
    pub(crate) fn logs(self, mode: WalMode) -> bool {
        match (self, mode) {
            (Workload::FillRandom, mode) => mode == WalMode::Always,
            (Workload::Balanced, mode) => mode != WalMode::Never,
            _ => false,
        }
    }

    pub(crate) fn writes(self) -> bool {
        matches!(self, Workload::FillRandom | Workload::ReadMem | Workload::Balanced)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What all slices of a workload share.
pub(crate) struct Scene<'a> {
    pub(crate) config: &'a Config,
    pub(crate) keys: &'a KeySet,
    pub(crate) values: &'a Values,
}

/// Does [`STEP`] operations and says how many that were.
type Step<'a> = Box<dyn FnMut() -> Result<u64> + 'a>;

/// Runs one timed slice against `database` and returns operations per second. Both slices of a pair get the same `pair` and
/// so the same operations, as far as each side gets in the time.
///
/// `round` marks the values that a writing workload writes.
pub(crate) fn timed_slice(
    scene: &Scene<'_>,
    workload: Workload,
    database: &Database,
    pair: u64,
    round: u32,
) -> Result<f64> {
    let limit = Duration::from_secs_f64(scene.config.seconds);
    on_threads(scene.config.threads, |thread, start| {
        let rng = rng_for(scene.config.seed, pair, thread);
        // Made before the start: building an iterator is not part of the slice.
        let step = match workload {
            Workload::ReadRandom | Workload::ReadMem => Ok(read::get(scene, database, rng)),
            Workload::SeekRandom => Ok(read::seek(scene, database, rng)),
            Workload::MultiGet => read::multiget(scene, database, rng),
            Workload::Balanced => Ok(mixed::balanced(scene, database, rng, round)),
            Workload::FillRandom => Err(anyhow!("fillrandom has no slices of fixed length")),
        };
        start.wait();
        run_until(limit, step?)
    })
    .map(|rates| rates.iter().sum())
}

fn run_until(limit: Duration, mut step: Step<'_>) -> Result<f64> {
    let start = Instant::now();
    let mut operations = 0;
    loop {
        operations += step()?;
        let elapsed = start.elapsed();
        if elapsed >= limit {
            return Ok(operations as f64 / elapsed.as_secs_f64());
        }
    }
}

/// Runs `work` on `threads` threads. Each must wait once at the barrier, also if its preparation failed.
pub(crate) fn on_threads<T: Send>(
    threads: usize,
    work: impl Fn(usize, &Barrier) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let (work, barrier) = (&work, &barrier);
        let handles: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread, barrier)))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().map_err(|_| anyhow!("a worker thread panicked"))?)
            .collect()
    })
}

pub(crate) fn rng_for(seed: u64, pair: u64, thread: usize) -> Xoshiro256PlusPlus {
    let mixed = seed ^ pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (thread as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_command_line_and_json() {
        for workload in Workload::ALL {
            let value = clap::ValueEnum::to_possible_value(&workload).unwrap();
            assert_eq!(value.get_name(), workload.name());
            assert_eq!(serde_json::to_value(workload).unwrap(), workload.name());
        }
    }

    #[test]
    fn log_modes() {
        assert!(!Workload::FillRandom.logs(WalMode::PerWorkload));
        assert!(Workload::FillRandom.logs(WalMode::Always));
        assert!(Workload::Balanced.logs(WalMode::PerWorkload));
        assert!(!Workload::Balanced.logs(WalMode::Never));
    }

    #[test]
    fn errors_of_one_thread_reach_the_caller() {
        let result = on_threads(3, |thread, start| {
            start.wait();
            if thread == 1 {
                Err(anyhow!("thread 1"))
            } else {
                Ok(thread)
            }
        });
        assert_eq!(result.unwrap_err().to_string(), "thread 1");
    }
}
