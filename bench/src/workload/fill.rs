//! `fillrandom`: all entries once, in random order; also loads the databases of the other workloads.

use std::time::Instant;

use anyhow::{Result, ensure};
use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Scene, on_threads, rng_for};
use crate::database::{Database, write_options};
use crate::keys::KeySet;

/// One write.
struct Entry {
    key: u64,
    index: u32,
    round: u32,
}

/// Who writes what in which order, worked out before the clock starts.
///
/// If there are more entries than keys, the keys are written again in further rounds, each in its own order, with values that
/// name the round. All writes of one key belong to one thread, so the last round wins whatever the threads do.
pub(crate) struct FillPlan {
    threads: Vec<Vec<Entry>>,
    last_rounds: Vec<u32>,
}

impl FillPlan {
    pub(crate) fn new(keys: &KeySet, num: usize, threads: usize, seed: u64, pair: u64) -> Self {
        let keys = keys.keys();
        let mut rng = rng_for(seed, pair, usize::MAX);
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        let mut plan = FillPlan {
            threads: (0..threads).map(|_| Vec::with_capacity(num / threads + 1)).collect(),
            last_rounds: vec![0; keys.len()],
        };
        let mut left = num;
        let mut round = 0;
        while left > 0 {
            order.shuffle(&mut rng);
            for &index in &order[..left.min(keys.len())] {
                let key = keys[index as usize];
                plan.threads[index as usize % threads].push(Entry { key, index, round });
                plan.last_rounds[index as usize] = round;
            }
            left -= left.min(keys.len());
            round += 1;
        }
        plan
    }

    /// The round whose value each key holds in the end.
    pub(crate) fn last_rounds(&self) -> &[u32] {
        &self.last_rounds
    }

    fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }
}

/// Carries out the plan and returns entries per second, from the common start to the last write accepted by the slowest
/// thread.
pub(crate) fn fill(scene: &Scene<'_>, plan: &FillPlan, database: &Database, log: bool) -> Result<f64> {
    let seconds = on_threads(plan.threads.len(), |thread, start| {
        let options = write_options(log);
        let mut value = vec![0; scene.values.size()];
        start.wait();
        let begin = Instant::now();
        for entry in &plan.threads[thread] {
            scene.values.fill(&mut value, u64::from(entry.index), entry.round);
            database.db().put_opt(entry.key.to_be_bytes(), &value, &options)?;
        }
        Ok(begin.elapsed().as_secs_f64())
    })?;
    Ok(plan.len() as f64 / seconds.into_iter().fold(0.0, f64::max))
}

/// Overwrites random keys until the memtable in use is nearly full, so that it is not flushed.
pub(crate) fn fill_memtable(scene: &Scene<'_>, database: &Database, round: u32) -> Result<()> {
    let keys = scene.keys.keys();
    let mut rng = rng_for(scene.config.seed, u64::MAX - 1, 0);
    let options = write_options(false);
    let mut value = vec![0; scene.values.size()];
    let full = scene.config.write_buffer_size as u64 * 9 / 10;
    while database.memtable_size()? < full {
        for _ in 0..50 {
            let index = rng.random_range(0..keys.len());
            scene.values.fill(&mut value, index as u64, round);
            database.db().put_opt(keys[index].to_be_bytes(), &value, &options)?;
        }
    }
    Ok(())
}

/// Gets every so-manieth key and compares the value with what the plan wrote last.
pub(crate) fn check_fill(scene: &Scene<'_>, plan: &FillPlan, database: &Database) -> Result<()> {
    let keys = scene.keys.keys();
    let mut expected = vec![0; scene.values.size()];
    for index in (0..keys.len()).step_by((keys.len() / 5000).max(1)) {
        scene
            .values
            .fill(&mut expected, index as u64, plan.last_rounds()[index]);
        let found = database.db().get(keys[index].to_be_bytes())?;
        ensure!(
            found.as_deref() == Some(&expected[..]),
            "get of key {:#018x} is not what was written",
            keys[index]
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeySource;

    #[test]
    fn every_entry_is_planned_once_and_keys_stay_with_their_thread() {
        let keys = KeySource::Sequential.load(10, 0).unwrap();
        let plan = FillPlan::new(&keys, 25, 3, 1, 0);
        assert_eq!(plan.len(), 25);
        let mut writes = [0; 10];
        for (thread, entries) in plan.threads.iter().enumerate() {
            for entry in entries {
                assert_eq!(entry.index as usize % 3, thread);
                assert_eq!(entry.round, writes[entry.index as usize], "rounds of a key ascend");
                writes[entry.index as usize] += 1;
            }
        }
        assert_eq!(writes.iter().filter(|&&count| count == 3).count(), 5);
        assert!(
            plan.last_rounds()
                .iter()
                .zip(writes)
                .all(|(&last, count)| last + 1 == count)
        );
    }

    #[test]
    fn the_order_depends_on_the_pair() {
        let keys = KeySource::Sequential.load(1_000, 0).unwrap();
        let order = |pair| {
            FillPlan::new(&keys, 1_000, 1, 1, pair).threads[0]
                .iter()
                .map(|e| e.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
