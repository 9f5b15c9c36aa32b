//! Mixes of operations: what a client draws and does, one operation at a time.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Result, bail};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rocksdb::{ReadOptions, WriteOptions};
use serde::Serialize;

use super::stage::{Loaded, Stage};
use crate::database::{read_options, write_options};
use crate::values::mix as scatter;

/// Longest scan, in entries.
const SCAN: usize = 100;

/// Which keys are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// All alike.
    Uniform,
    /// By the rank of a key that has nothing to do with its place, exponent 0.99.
    Zipfian,
    /// By the rank in order of insertion, the last one first, exponent 0.99.
    Latest,
}

/// Percents of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// Name in tables.
    pub name: &'static str,
    /// Gets.
    pub read: u32,
    /// Overwrites.
    pub update: u32,
    /// New keys.
    pub insert: u32,
    /// Iterators over 1 to 100 entries from a key on.
    pub scan: u32,
    /// A get and an overwrite of the same key.
    pub modify: u32,
    /// Keys.
    pub draw: Draw,
}

const NOTHING: Mix = Mix {
    name: "",
    read: 0,
    update: 0,
    insert: 0,
    scan: 0,
    modify: 0,
    draw: Draw::Uniform,
};

/// Gets alone.
pub const READ_ONLY: Mix = Mix {
    name: "read-only",
    read: 100,
    ..NOTHING
};

/// Half gets, half overwrites.
pub const BALANCED: Mix = Mix {
    name: "balanced",
    read: 50,
    update: 50,
    ..NOTHING
};

/// Overwrites alone.
pub const OVERWRITE: Mix = Mix {
    name: "overwrite",
    update: 100,
    ..NOTHING
};

/// YCSB's six, drawn from `zipfian` keys or uniform ones. D draws the latest keys if zipfian.
pub fn ycsb(zipfian: bool) -> Vec<Mix> {
    let draw = if zipfian { Draw::Zipfian } else { Draw::Uniform };
    let latest = if zipfian { Draw::Latest } else { Draw::Uniform };
    let mix = |names: [&'static str; 2], base: Mix, draw| Mix {
        name: names[usize::from(zipfian)],
        draw,
        ..base
    };
    let shares = |read, update, insert, scan, modify| Mix {
        read,
        update,
        insert,
        scan,
        modify,
        ..NOTHING
    };
    // Reads first, inserts last: what a mix leaves behind is compacted before the next, but the inserted keys stay.
    vec![
        mix(["YCSB C, uniform", "YCSB C, zipfian"], shares(100, 0, 0, 0, 0), draw),
        mix(["YCSB B, uniform", "YCSB B, zipfian"], shares(95, 5, 0, 0, 0), draw),
        mix(["YCSB A, uniform", "YCSB A, zipfian"], shares(50, 50, 0, 0, 0), draw),
        mix(["YCSB F, uniform", "YCSB F, zipfian"], shares(50, 0, 0, 0, 50), draw),
        mix(["YCSB E, uniform", "YCSB E, zipfian"], shares(0, 0, 5, 95, 0), draw),
        mix(["YCSB D, uniform", "YCSB D, latest"], shares(95, 0, 5, 0, 0), latest),
    ]
}

impl Mix {
    /// Whether it changes the database.
    pub fn writes(&self) -> bool {
        self.update + self.insert + self.modify > 0
    }
}

/// A client of one side.
pub(super) struct Client<'a> {
    stage: &'a Stage,
    side: &'a Loaded,
    mix: Mix,
    round: u32,
    rng: Xoshiro256PlusPlus,
    /// Place in the stage's pool of ranks.
    at: usize,
    read: ReadOptions,
    write: WriteOptions,
    value: Vec<u8>,
    /// Inserted before the slice: these have to be there.
    settled: usize,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        side: &'a Loaded,
        mix: Mix,
        log: bool,
        round: u32,
        mut rng: Xoshiro256PlusPlus,
    ) -> Self {
        Client {
            at: rng.random_range(0..stage.ranks().len()),
            value: vec![0; stage.values.size()],
            settled: side.inserted.load(Relaxed),
            read: read_options(),
            write: write_options(log),
            stage,
            side,
            mix,
            round,
            rng,
        }
    }

    /// Does one operation.
    pub(super) fn step(&mut self) -> Result<()> {
        let mut choice = self.rng.random_range(0..100);
        let mut is = |share: u32| {
            let hit = choice < share;
            choice = choice.wrapping_sub(share);
            hit
        };
        let Mix {
            read,
            update,
            insert,
            scan,
            ..
        } = self.mix;
        if is(read) {
            let index = self.draw();
            self.get(index)
        } else if is(update) {
            let index = self.draw();
            self.put(index)
        } else if is(insert) {
            let claimed = self.side.inserted.fetch_add(1, Relaxed);
            let index = match self.stage.layout.reserved(claimed) {
                Some(index) => index,
                // All new keys are used up: overwrites from here on, and the counter stays at the end.
                None => {
                    self.side.inserted.fetch_sub(1, Relaxed);
                    self.draw()
                }
            };
            self.put(index)
        } else if is(scan) {
            let index = self.draw();
            self.scan(index)
        } else {
            let index = self.draw();
            self.get(index)?;
            self.put(index)
        }
    }

    fn draw(&mut self) -> usize {
        let layout = &self.stage.layout;
        match self.mix.draw {
            Draw::Uniform if self.settled > 0 => {
                let number = self.rng.random_range(0..layout.loaded() + self.settled);
                layout.nth(number)
            }
            Draw::Uniform => layout.nth(self.rng.random_range(0..layout.loaded())),
            Draw::Zipfian => layout.nth(scatter(self.rank() as u64) as usize % layout.loaded()),
            Draw::Latest => {
                let inserted = self.side.inserted.load(Relaxed).min(layout.reserve());
                layout.latest(self.rank(), inserted)
            }
        }
    }

    fn rank(&mut self) -> usize {
        let ranks = self.stage.ranks();
        self.at = (self.at + 1) % ranks.len();
        ranks[self.at] as usize
    }

    fn get(&self, index: usize) -> Result<()> {
        let mut buffer = [0; 8];
        let key = self.stage.keys.bytes(index, &mut buffer);
        let found = self.side.database()?.db().get_pinned_opt(key, &self.read)?;
        match found {
            Some(value) if value.len() == self.stage.values.size_of(index as u64) => Ok(()),
            // Another client has claimed the key, but not written it yet.
            None if !self.stage.layout.present(index, self.settled) => Ok(()),
            _ => bail!("side {}: get of key {key:02x?} lost its value", self.side.system.name),
        }
    }

    fn put(&mut self, index: usize) -> Result<()> {
        let mut buffer = [0; 8];
        let key = self.stage.keys.bytes(index, &mut buffer);
        let value = self.stage.values.write(&mut self.value, index as u64, self.round);
        Ok(self.side.database()?.db().put_opt(key, value, &self.write)?)
    }

    fn scan(&mut self, index: usize) -> Result<()> {
        let entries = self.rng.random_range(1..=SCAN);
        let mut buffer = [0; 8];
        let key = self.stage.keys.bytes(index, &mut buffer);
        let mut iter = self.side.database()?.db().raw_iterator_opt(read_options());
        iter.seek(key);
        if iter.key() != Some(key) && self.stage.layout.present(index, self.settled) {
            iter.status()?;
            bail!("side {}: seek to key {key:02x?} did not find it", self.side.system.name);
        }
        for _ in 0..entries {
            // Past the last entry there is nothing to read.
            std::hint::black_box((iter.key(), iter.value()));
            if !iter.valid() {
                break;
            }
            iter.next();
        }
        Ok(iter.status()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let all = [vec![READ_ONLY, BALANCED, OVERWRITE], ycsb(true), ycsb(false)].concat();
        for mix in &all {
            let sum = mix.read + mix.update + mix.insert + mix.scan + mix.modify;
            assert_eq!(sum, 100, "{}", mix.name);
        }
        assert_eq!(ycsb(true).len(), 6);
        assert!(!READ_ONLY.writes() && BALANCED.writes());
    }
}
