//! Answers are checked on a sample before anything is timed: against the generator, which knows every key, and so against stock
//! RocksDB, which has to give the same ones.

use anyhow::{Context, Result, bail, ensure};
use rand::RngExt;
use std::sync::atomic::Ordering::Relaxed;

use super::stage::{Loaded, Stage};
use crate::database::read_options;
use crate::workload::rng_for;

/// Keys asked for; about a quarter more are not there.
const SAMPLE: usize = 1_000;

/// Entries that an iterator goes on from each key, both ways.
const WALK: usize = 8;

/// Asks every side the same and says what was asked.
///
/// # Errors
/// The first wrong answer, with side, call and key.
pub(super) fn answers(stage: &Stage, sides: &[&Loaded]) -> Result<String> {
    let mut rng = rng_for(stage.recipe.seed, u64::MAX - 3, stage.last_round() as usize);
    let sample: Vec<usize> = (0..SAMPLE).map(|_| rng.random_range(0..stage.keys.len())).collect();
    for side in sides {
        let check = Check { stage, side };
        for &index in &sample {
            check
                .get(index)
                .and_then(|()| check.absent(index))
                .and_then(|()| check.walk(index))
                .with_context(|| {
                    format!(
                        "side {} gives a wrong answer on the keys {}",
                        side.system.name,
                        stage.recipe.source.name()
                    )
                })?;
        }
    }
    let names: Vec<&str> = sides.iter().map(|side| side.system.name).collect();
    Ok(format!(
        "{SAMPLE} keys, as many that are not there, and {WALK} entries on and back from each, asked of {} before timing: all as \
         written.",
        names.join(", ")
    ))
}

struct Check<'a> {
    stage: &'a Stage,
    side: &'a Loaded,
}

impl Check<'_> {
    fn present(&self, index: usize) -> bool {
        self.stage.layout.present(index, self.side.inserted.load(Relaxed))
    }

    fn get(&self, index: usize) -> Result<()> {
        let key = self.stage.keys.owned(index);
        let found = self.side.database()?.db().get_pinned_opt(&key, &read_options())?;
        match (self.present(index), found) {
            (true, Some(value)) => self.value("get", index, &value),
            (false, None) => Ok(()),
            (true, None) => bail!("get of key {key:02x?} found nothing, the key was written"),
            (false, Some(_)) => bail!("get of key {key:02x?} found a value, the key was never written"),
        }
    }

    /// A key with a zero byte more is not there: numbers have eight bytes, and text has no zero.
    fn absent(&self, index: usize) -> Result<()> {
        let mut key = self.stage.keys.owned(index);
        key.push(0);
        let found = self.side.database()?.db().get_pinned_opt(&key, &read_options())?;
        ensure!(
            found.is_none(),
            "get of key {key:02x?} found a value, the key was never written"
        );
        Ok(())
    }

    fn walk(&self, index: usize) -> Result<()> {
        let inserted = self.side.inserted.load(Relaxed);
        let layout = &self.stage.layout;
        let start = self.stage.keys.owned(index);
        let mut iter = self.side.database()?.db().raw_iterator_opt(read_options());
        for forward in [true, false] {
            let mut expected = if forward {
                iter.seek(&start);
                layout.next_present(index, inserted)
            } else {
                iter.seek_for_prev(&start);
                layout.previous_present(index + 1, inserted)
            };
            for _ in 0..WALK {
                let key = expected.map(|at| self.stage.keys.owned(at));
                if iter.key() != key.as_deref() {
                    iter.status()?;
                    bail!(
                        "iterator from key {start:02x?}, {}: at {:02x?}, expected {key:02x?}",
                        if forward { "on" } else { "back" },
                        iter.key()
                    );
                }
                let (Some(at), Some(value)) = (expected, iter.value()) else {
                    break;
                };
                self.value("iterator", at, value)?;
                if forward {
                    iter.next();
                    expected = layout.next_present(at + 1, inserted);
                } else {
                    iter.prev();
                    expected = layout.previous_present(at, inserted);
                }
            }
        }
        Ok(())
    }

    fn value(&self, call: &str, index: usize, value: &[u8]) -> Result<()> {
        let round = self.stage.values.round_of(value, index as u64);
        ensure!(
            round.is_some_and(|round| round <= self.stage.last_round()),
            "{call}: the value of key {:02x?} is not one that was written for it",
            self.stage.keys.owned(index)
        );
        Ok(())
    }
}
