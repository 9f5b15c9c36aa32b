//! Answers are checked before anything is timed.
//!
//! The generator knows every key and every value, so each side is held against it rather than only against the other side: a
//! fault that both share is seen as well.

use anyhow::{Context, Result, bail, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rocksdb::DBRawIterator;

use crate::database::{Database, read_options};
use crate::values::Values;
use crate::workload::{MULTIGET_BATCH, Scene};

/// Keys drawn from those that are there, and about as many from those that are not.
const SAMPLE: usize = 1_000;

/// Longest walk of an iterator in each direction, in entries.
const WALK: usize = 1_000_000;

/// Which write round each key must hold.
#[derive(Clone, Copy)]
pub(crate) enum Rounds<'a> {
    /// The round per key.
    Exact(&'a [u32]),
    /// Any round up to this one: after slices of fixed length, which write as many entries as they get to.
    UpTo(u32),
}

/// Checks `get`, `multiget`, `seek`, `seek_for_prev` and walks in both directions on present and absent keys.
///
/// # Errors
/// The first wrong answer, with the side, the call, the key, what was expected and what was found.
pub(crate) fn verify(scene: &Scene<'_>, side: &str, database: &Database, rounds: Rounds<'_>, seed: u64) -> Result<()> {
    let check = Check {
        keys: scene.keys.keys(),
        values: scene.values,
        rounds,
    };
    let targets = sample(scene, seed);
    check
        .gets(database, &targets)
        .and_then(|()| check.multigets(database, &targets))
        .and_then(|()| check.seeks(database, scene, &targets))
        .and_then(|()| check.walks(database))
        .with_context(|| format!("side {side} gives a wrong answer on the keys {}", scene.keys.name()))
}

/// Present keys, their neighbours, random numbers, and both ends of the key space.
fn sample(scene: &Scene<'_>, seed: u64) -> Vec<u64> {
    let keys = scene.keys.keys();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut targets = vec![0, 1, u64::MAX - 1, u64::MAX, keys[0], keys[keys.len() - 1]];
    for _ in 0..SAMPLE {
        let key = keys[rng.random_range(0..keys.len())];
        let neighbour = if rng.random() {
            key.wrapping_add(1)
        } else {
            key.wrapping_sub(1)
        };
        targets.extend([key, neighbour]);
        if rng.random_ratio(1, 4) {
            targets.push(rng.random());
        }
    }
    targets
}

struct Check<'a> {
    keys: &'a [u64],
    values: &'a Values,
    rounds: Rounds<'a>,
}

impl Check<'_> {
    fn gets(&self, database: &Database, targets: &[u64]) -> Result<()> {
        let options = read_options();
        for &target in targets {
            let found = database.db().get_pinned_opt(target.to_be_bytes(), &options)?;
            self.answer("get", target, found.as_deref())?;
        }
        Ok(())
    }

    fn multigets(&self, database: &Database, targets: &[u64]) -> Result<()> {
        let family = database.family()?;
        for batch in targets.chunks(MULTIGET_BATCH) {
            let keys: Vec<[u8; 8]> = batch.iter().map(|key| key.to_be_bytes()).collect();
            let found = database
                .db()
                .batched_multi_get_cf_opt(family, &keys, false, &read_options());
            ensure!(
                found.len() == batch.len(),
                "multiget of {} keys gave {} answers",
                batch.len(),
                found.len()
            );
            for (&target, value) in batch.iter().zip(found) {
                self.answer("multiget", target, value?.as_deref())?;
            }
        }
        Ok(())
    }

    fn seeks(&self, database: &Database, scene: &Scene<'_>, targets: &[u64]) -> Result<()> {
        let mut iter = database.db().raw_iterator_opt(read_options());
        for &target in targets {
            let position = scene.keys.position(target);
            let (Ok(from) | Err(from)) = position;
            iter.seek(target.to_be_bytes());
            self.place("seek", target, &iter, Some(from).filter(|&at| at < self.keys.len()))?;
            iter.seek_for_prev(target.to_be_bytes());
            let to = if position.is_ok() {
                Some(from)
            } else {
                from.checked_sub(1)
            };
            self.place("seek_for_prev", target, &iter, to)?;
        }
        Ok(())
    }

    fn walks(&self, database: &Database) -> Result<()> {
        let count = self.keys.len();
        let mut iter = database.db().raw_iterator_opt(read_options());
        iter.seek_to_first();
        for at in 0..count.min(WALK) {
            self.place("next", self.keys[at], &iter, Some(at))?;
            iter.next();
        }
        if count <= WALK {
            self.place("next after the last key", self.keys[count - 1], &iter, None)?;
        }
        iter.seek_to_last();
        for at in (count.saturating_sub(WALK)..count).rev() {
            self.place("prev", self.keys[at], &iter, Some(at))?;
            iter.prev();
        }
        if count <= WALK {
            self.place("prev before the first key", self.keys[0], &iter, None)?;
        }
        Ok(())
    }

    /// The answer of a get.
    fn answer(&self, call: &str, target: u64, found: Option<&[u8]>) -> Result<()> {
        match (self.keys.binary_search(&target), found) {
            (Err(_), None) => Ok(()),
            (Ok(at), Some(value)) => self.value(call, at, value),
            (Ok(_), None) => bail!("{call} of key {target:#018x} found nothing, the key was written"),
            (Err(_), Some(value)) => {
                bail!(
                    "{call} of key {target:#018x} found {} bytes, the key was never written",
                    value.len()
                )
            }
        }
    }

    /// The place an iterator stands at.
    fn place(&self, call: &str, target: u64, iter: &DBRawIterator<'_>, expected: Option<usize>) -> Result<()> {
        if !iter.valid() {
            iter.status().with_context(|| format!("{call}, key {target:#018x}"))?;
        }
        let expected_key = expected.map(|at| self.keys[at].to_be_bytes());
        let found = iter.key();
        if found != expected_key.as_ref().map(|key| key.as_slice()) {
            let found = found.map_or("the end".to_owned(), |key| format!("key {key:02x?}"));
            let expected = expected.map_or("the end".to_owned(), |at| format!("key {:#018x}", self.keys[at]));
            bail!("{call}, key {target:#018x}: at {found}, expected {expected}");
        }
        match (expected, iter.value()) {
            (Some(at), Some(value)) => self.value(call, at, value),
            _ => Ok(()),
        }
    }

    fn value(&self, call: &str, at: usize, value: &[u8]) -> Result<()> {
        let key = self.keys[at];
        let Some(round) = self.values.round_of(value, at as u64) else {
            bail!(
                "{call}: the value of key {key:#018x} is not one that was written for it ({} bytes)",
                value.len()
            );
        };
        let (right, expected) = match self.rounds {
            Rounds::Exact(rounds) => (round == rounds[at], rounds[at]),
            Rounds::UpTo(last) => (round <= last, last),
        };
        ensure!(
            right,
            "{call}: the value of key {key:#018x} is from write round {round}, expected {expected}"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Side};
    use crate::keys::{KeySet, KeySource};
    use crate::workload::{FillPlan, fill};

    const NUM: usize = 3_000;

    fn with_database(check: impl FnOnce(&Scene<'_>, &Database, &FillPlan)) {
        let config = Config {
            num: NUM,
            cache_size: 8 << 20,
            ..Config::default()
        };
        let keys: KeySet = KeySource::Uniform.load(NUM / 2, 3).unwrap();
        let values = Values::new(100).unwrap();
        let scene = Scene {
            config: &config,
            keys: &keys,
            values: &values,
        };
        let database = Database::create(&config, &Side::new("test", "")).unwrap();
        let plan = FillPlan::new(&keys, NUM, 2, 1, 0);
        fill(&scene, &plan, &database, false).unwrap();
        check(&scene, &database, &plan);
    }

    fn error(scene: &Scene<'_>, database: &Database, plan: &FillPlan) -> String {
        format!(
            "{:#}",
            verify(scene, "test", database, Rounds::Exact(plan.last_rounds()), 1).unwrap_err()
        )
    }

    #[test]
    fn right_answers_pass_from_memtable_and_file() {
        with_database(|scene, database, plan| {
            verify(scene, "test", database, Rounds::Exact(plan.last_rounds()), 1).unwrap();
            database.flush().unwrap();
            verify(scene, "test", database, Rounds::Exact(plan.last_rounds()), 2).unwrap();
            verify(scene, "test", database, Rounds::UpTo(1), 2).unwrap();
        });
    }

    #[test]
    fn a_lost_key_is_found() {
        with_database(|scene, database, plan| {
            database.db().delete(scene.keys.keys()[77].to_be_bytes()).unwrap();
            let error = error(scene, database, plan);
            assert!(error.contains("side test gives a wrong answer"), "{error}");
        });
    }

    #[test]
    fn an_extra_key_is_found() {
        with_database(|scene, database, plan| {
            let extra = scene.keys.keys()[77] + 1;
            database.db().put(extra.to_be_bytes(), b"x").unwrap();
            error(scene, database, plan);
        });
    }

    #[test]
    fn a_stale_or_foreign_value_is_found() {
        with_database(|scene, database, plan| {
            let mut value = vec![0; 100];
            scene.values.fill(&mut value, 500, 0);
            database.db().put(scene.keys.keys()[500].to_be_bytes(), &value).unwrap();
            assert!(error(scene, database, plan).contains("write round 0, expected 1"));
            scene.values.fill(&mut value, 501, 1);
            database.db().put(scene.keys.keys()[500].to_be_bytes(), &value).unwrap();
            assert!(error(scene, database, plan).contains("is not one that was written for it"));
        });
    }
}
