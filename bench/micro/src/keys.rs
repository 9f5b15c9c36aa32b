//! Keys of one memtable, back to back.

use anyhow::Result;
use mountdb_bench::{KeySource, strings};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Keys in the order in which they are used.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl Keys {
    /// Appends a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u64);
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All keys.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each key ends in [`Keys::bytes`].
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// `count` times the same key.
    pub fn repeated(key: &[u8], count: usize) -> Self {
        let mut keys = Keys::default();
        (0..count).for_each(|_| keys.push(key));
        keys
    }
}

/// What is done to one memtable.
pub struct Workload {
    /// Inserted into the memtable before, from whose shape this one may profit.
    pub before: Keys,
    /// Inserted.
    pub inserts: Keys,
    /// Of `inserts`, in another order.
    pub hits: Keys,
    /// Not in.
    pub misses: Keys,
}

impl Workload {
    /// Keys of a set by name; "versions" is one user key.
    ///
    /// # Errors
    /// If there is no set of this name.
    pub fn load(name: &str, count: usize, seed: u64) -> Result<Self> {
        if name == "versions" {
            let keys = |count| Keys::repeated(b"the hot key", count);
            return Ok(Workload {
                before: keys(count),
                inserts: keys(count),
                hits: keys(count / 2),
                misses: Keys::repeated(b"another key", count / 2),
            });
        }
        let keys: Vec<Vec<u8>> = match strings::keys(name, 3 * count, seed) {
            Some(keys) => keys,
            None => {
                let source: KeySource = name.parse().map_err(anyhow::Error::msg)?;
                let set = source.load(3 * count, seed)?;
                set.keys().iter().map(|key| key.to_be_bytes().to_vec()).collect()
            }
        };
        Self::deal(&keys, count, name == "sequential", seed)
    }

    /// Deals three times `count` distinct ascending keys to the three parts; in random order or, for an ascending load, in theirs.
    fn deal(set: &[Vec<u8>], count: usize, ascending: bool, seed: u64) -> Result<Self> {
        anyhow::ensure!(set.len() >= 3 * count, "{} keys for three parts of {count}", set.len());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..3 * count).collect();
        if !ascending {
            order.shuffle(&mut rng);
        }
        let take = |part: &[usize]| {
            let mut keys = Keys::default();
            part.iter().for_each(|&i| keys.push(&set[i]));
            keys
        };
        let (before, inserts, misses) = (&order[..count], &order[count..2 * count], &order[2 * count..]);
        let mut again = inserts.to_vec();
        again.shuffle(&mut rng);
        Ok(Workload {
            before: take(before),
            inserts: take(inserts),
            hits: take(&again[..count / 2]),
            misses: take(&misses[..count / 2]),
        })
    }
}
