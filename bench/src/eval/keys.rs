//! Keys of an experiment: numbers or text, in ascending order.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rand::seq::SliceRandom;
use serde::{Serialize, Serializer};

use crate::keys::{KeySet, KeySource, strings};
use crate::workload::rng_for;

/// Where the keys of an experiment come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A set of numbers.
    Numbers(KeySource),
    /// A set of text: `decimal`, `uuid`, `url`.
    Text(&'static str),
}

impl Source {
    /// Name in tables.
    pub fn name(&self) -> String {
        match self {
            Source::Numbers(source) => source.to_string(),
            Source::Text(name) => (*name).to_owned(),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// Files in the SOSD format that stand in for generated sets, by name of the set.
pub type Files = BTreeMap<String, KeySource>;

/// Distinct keys, ascending.
pub(super) enum Keys {
    Numbers(KeySet),
    Text(Vec<Vec<u8>>),
}

impl Keys {
    /// Exactly `num` keys, or all that the source has if it has fewer.
    pub(super) fn load(source: &Source, num: usize, seed: u64) -> Result<Self> {
        ensure!(u32::try_from(num).is_ok(), "more than 2^32 keys are not supported");
        match source {
            Source::Numbers(source) => Ok(Keys::Numbers(source.load(num, seed)?)),
            Source::Text(name) => match strings::keys(name, num, seed) {
                Some(keys) => Ok(Keys::Text(keys)),
                None => anyhow::bail!("no set of text is called {name:?}"),
            },
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Keys::Numbers(set) => set.keys().len(),
            Keys::Text(keys) => keys.len(),
        }
    }

    /// The bytes of key number `index`; numbers are turned into bytes in `buffer`.
    #[inline]
    pub(super) fn bytes<'a>(&'a self, index: usize, buffer: &'a mut [u8; 8]) -> &'a [u8] {
        match self {
            Keys::Numbers(set) => {
                *buffer = set.keys()[index].to_be_bytes();
                buffer
            }
            Keys::Text(keys) => &keys[index],
        }
    }

    /// The bytes of key number `index`.
    pub(super) fn owned(&self, index: usize) -> Vec<u8> {
        self.bytes(index, &mut [0; 8]).to_vec()
    }
}

/// The numbers of `0..len`, shuffled; another order for another `round`.
pub(super) fn shuffled(len: usize, seed: u64, round: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    order.shuffle(&mut rng_for(seed, round, usize::MAX));
    order
}
