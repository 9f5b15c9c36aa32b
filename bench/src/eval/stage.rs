//! Databases of several sides with the same keys: loaded once, used by all experiments on that key set.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use anyhow::{Context, Result, anyhow};
use rand_distr::{Distribution, Zipf};

use super::check;
use super::keys::{Keys, Source};
use super::layout::Layout;
use super::systems::System;
use crate::config::Config;
use crate::database::{Database, write_options};
use crate::values::{ValueSize, Values};
use crate::workload::{on_threads, rng_for};

/// Exponent of the zipfian draws, YCSB's.
const EXPONENT: f64 = 0.99;

/// Zipfian ranks drawn in advance: drawing one takes a tenth of a read that is answered from the cache.
const RANKS: usize = 1 << 20;

/// What a stage is made of; experiments that ask for the same share it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recipe {
    pub(super) source: Source,
    pub(super) entries: usize,
    pub(super) value: ValueSize,
    pub(super) seed: u64,
    pub(super) block_size: usize,
}

/// Keys, values and the databases that hold them.
pub(super) struct Stage {
    pub(super) recipe: Recipe,
    pub(super) config: Config,
    pub(super) keys: Keys,
    pub(super) values: Values,
    pub(super) layout: Layout,
    ranks: OnceLock<Vec<u32>>,
    sides: Vec<Loaded>,
    round: u32,
    /// What the last check of answers looked at.
    pub(super) checked: String,
}

/// A database of one side.
pub(super) struct Loaded {
    pub(super) system: &'static System,
    /// `None` only while it is opened again.
    database: Option<Database>,
    /// Kept-back keys inserted so far.
    pub(super) inserted: AtomicUsize,
}

impl Loaded {
    pub(super) fn database(&self) -> Result<&Database> {
        self.database
            .as_ref()
            .context("a database that could not be opened again")
    }
}

impl Stage {
    pub(super) fn new(recipe: Recipe, config: Config) -> Result<Self> {
        let keys = Keys::load(&recipe.source, recipe.entries, recipe.seed)?;
        Ok(Stage {
            layout: Layout::new(keys.len(), recipe.seed),
            values: Values::of(recipe.value)?,
            keys,
            recipe,
            config,
            ranks: OnceLock::new(),
            sides: Vec::new(),
            round: 0,
            checked: String::new(),
        })
    }

    /// Zipfian ranks from 0 on.
    pub(super) fn ranks(&self) -> &[u32] {
        self.ranks.get_or_init(|| {
            let mut rng = rng_for(self.recipe.seed, u64::MAX, 1);
            match Zipf::new(self.layout.loaded() as f64, EXPONENT) {
                Ok(zipf) => (0..RANKS).map(|_| zipf.sample(&mut rng) as u32 - 1).collect(),
                Err(_) => vec![0],
            }
        })
    }

    /// The sides of these names.
    pub(super) fn sides(&self, names: &[&str]) -> Result<Vec<&Loaded>> {
        let find = |name: &&str| {
            let found = self.sides.iter().find(|side| side.system.name == *name);
            found.with_context(|| format!("side {name} is not loaded"))
        };
        names.iter().map(find).collect()
    }

    /// A number for the next writes, above that of all earlier ones.
    pub(super) fn next_round(&mut self) -> u32 {
        self.round += 1;
        self.round
    }

    pub(super) fn last_round(&self) -> u32 {
        self.round
    }

    /// Makes sure that the sides of these names are loaded, hold the same keys, are compacted, and answer right.
    pub(super) fn prepare(&mut self, names: &[&str]) -> Result<()> {
        let missing: Vec<&'static System> = names
            .iter()
            .filter(|name| !self.sides.iter().any(|side| side.system.name == **name))
            .map(|name| System::named(name))
            .collect::<Result<_>>()?;
        let loaded = Mutex::new(Vec::new());
        // Two at once: a load keeps about one core busy.
        for pair in missing.chunks(2) {
            on_threads(pair.len(), |thread, start| {
                start.wait();
                let side = self.load(pair[thread])?;
                loaded.lock().map_err(|_| anyhow!("a load panicked"))?.push(side);
                Ok(())
            })?;
        }
        let loaded = loaded.into_inner().map_err(|_| anyhow!("a load panicked"))?;
        self.sides.extend(loaded);
        self.settle(names)?;
        let sides = self.sides(names)?;
        self.checked = check::answers(self, &sides)?;
        Ok(())
    }

    /// Brings sides that wrote different numbers of entries to the same keys, flushes and compacts them.
    pub(super) fn settle(&self, names: &[&str]) -> Result<()> {
        let most = self
            .sides
            .iter()
            .map(|side| side.inserted.load(Relaxed))
            .max()
            .unwrap_or(0);
        for side in self.sides(names)? {
            let from = side.inserted.swap(most, Relaxed);
            self.write(
                side.database()?,
                (from..most).filter_map(|at| self.layout.reserved(at)),
                self.round,
            )?;
            let database = side.database()?;
            if from < most || database.memtable_size()? > 1 << 20 {
                database.flush()?;
                database.compact()?;
            }
            database.wait_until_idle()?;
        }
        Ok(())
    }

    fn load(&self, system: &'static System) -> Result<Loaded> {
        let database = Database::create(&self.config, &system.side())?;
        self.write(&database, self.layout.loading(), 0)?;
        database.flush()?;
        database.compact()?;
        Ok(Loaded {
            system,
            database: Some(database),
            inserted: AtomicUsize::new(0),
        })
    }

    /// Writes keys without the log.
    pub(super) fn write(&self, database: &Database, indexes: impl Iterator<Item = usize>, round: u32) -> Result<()> {
        let options = write_options(false);
        let mut value = vec![0; self.values.size()];
        let mut buffer = [0; 8];
        for index in indexes {
            let value = self.values.write(&mut value, index as u64, round);
            database
                .db()
                .put_opt(self.keys.bytes(index, &mut buffer), value, &options)?;
        }
        Ok(())
    }

    /// Opens the sides of these names again with other settings, which stay until the next call.
    pub(super) fn reopen(&mut self, names: &[&str], config: &Config) -> Result<()> {
        for side in self.sides.iter_mut().filter(|side| names.contains(&side.system.name)) {
            if let Some(database) = side.database.take() {
                database.flush()?;
                side.database = Some(database.reopen(config, &side.system.side())?);
            }
        }
        Ok(())
    }

    /// Bytes of the loaded keys and their values.
    pub(super) fn data_bytes(&self) -> u64 {
        let values = |index| self.values.size_of(index as u64) as u64;
        let mut buffer = [0; 8];
        self.layout
            .loading()
            .map(|index| values(index) + self.keys.bytes(index, &mut buffer).len() as u64)
            .sum()
    }
}
