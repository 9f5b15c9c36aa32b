//! Values that say which entry they belong to, so that every answer of a database can be checked.
//!
//! ```text
//! | key index | write round | check  | filler        |
//! | u64 LE    | u32 LE      | u32 LE | pseudo-random |
//! ```
//! The filler is a window into a pool of random bytes, chosen by index and round: it does not compress, and it costs one copy
//! where generating bytes would cost a measurable share of a write.

use anyhow::{Result, ensure};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Smallest value that can carry its header, in bytes.
pub(crate) const MIN_VALUE_SIZE: usize = 16;

const WINDOWS: usize = 1 << 16;

/// Sizes drawn in advance for mixed values; each key has one of them for ever.
const SIZES: usize = 1 << 12;

/// How large values are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSize {
    /// All of the same number of bytes.
    Fixed(usize),
    /// Log-normal beyond the header, with this mean and deviation of the whole.
    Mixed {
        /// Mean size in bytes.
        mean: f64,
        /// Standard deviation in bytes.
        deviation: f64,
    },
}

/// Produces and recognizes values.
pub(crate) struct Values {
    /// One size, or [`SIZES`] of them.
    sizes: Vec<u32>,
    pool: Vec<u8>,
}

impl Values {
    pub(crate) fn new(size: usize) -> Result<Self> {
        Self::of(ValueSize::Fixed(size))
    }

    pub(crate) fn of(size: ValueSize) -> Result<Self> {
        let sizes = match size {
            ValueSize::Fixed(size) => vec![u32::try_from(size)?],
            ValueSize::Mixed { mean, deviation } => mixed_sizes(mean, deviation)?,
        };
        let least = sizes.iter().copied().min().unwrap_or(0) as usize;
        ensure!(
            least >= MIN_VALUE_SIZE,
            "a value must have at least {MIN_VALUE_SIZE} bytes, {least} were asked for"
        );
        let largest = sizes.iter().copied().max().unwrap_or(0) as usize;
        let mut pool = vec![0; WINDOWS + largest];
        Xoshiro256PlusPlus::seed_from_u64(largest as u64).fill_bytes(&mut pool);
        Ok(Values { sizes, pool })
    }

    /// The size of all values, or of the largest.
    pub(crate) fn size(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0) as usize
    }

    /// The size of the values of key number `index`.
    pub(crate) fn size_of(&self, index: u64) -> usize {
        match self.sizes[..] {
            [size] => size as usize,
            _ => self.sizes[mix(index) as usize % self.sizes.len()] as usize,
        }
    }

    /// The value of key number `index` in write round `round`, in a buffer of [`Values::size`] bytes.
    pub(crate) fn write<'a>(&self, buffer: &'a mut [u8], index: u64, round: u32) -> &'a [u8] {
        let size = self.size_of(index);
        self.fill(&mut buffer[..size], index, round);
        &buffer[..size]
    }

    /// Writes the value of key number `index` in write round `round`.
    pub(crate) fn fill(&self, buffer: &mut [u8], index: u64, round: u32) {
        let mixed = mix(index ^ u64::from(round).rotate_left(40));
        buffer[..8].copy_from_slice(&index.to_le_bytes());
        buffer[8..12].copy_from_slice(&round.to_le_bytes());
        buffer[12..16].copy_from_slice(&(mixed as u32).to_le_bytes());
        let filler = &mut buffer[MIN_VALUE_SIZE..];
        let window = (mixed >> 48) as usize % WINDOWS;
        filler.copy_from_slice(&self.pool[window..window + filler.len()]);
    }

    /// The write round of a value, if it is a whole and unchanged value of key number `index`.
    pub(crate) fn round_of(&self, value: &[u8], index: u64) -> Option<u32> {
        if value.len() != self.size_of(index) {
            return None;
        }
        let round = u32::from_le_bytes(*value[8..].first_chunk()?);
        let mut expected = vec![0; value.len()];
        self.fill(&mut expected, index, round);
        (expected == value).then_some(round)
    }
}

fn mixed_sizes(mean: f64, deviation: f64) -> Result<Vec<u32>> {
    let header = MIN_VALUE_SIZE as f64;
    let beyond = LogNormal::from_mean_cv(mean - header, deviation / (mean - header))?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SIZES as u64);
    let draw = |_| MIN_VALUE_SIZE as u32 + beyond.sample(&mut rng).round().min(1e6) as u32;
    Ok((0..SIZES).map(draw).collect())
}

/// Finalizer of SplitMix64: every bit of the input changes half of the output.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_names_its_key_and_round() {
        for size in [16, 17, 100, 4096] {
            let values = Values::new(size).unwrap();
            let mut buffer = vec![0; size];
            values.fill(&mut buffer, 42, 7);
            assert_eq!(values.round_of(&buffer, 42), Some(7));
            assert_eq!(values.round_of(&buffer, 43), None);
        }
    }

    #[test]
    fn any_changed_byte_is_seen() {
        let values = Values::new(100).unwrap();
        let mut buffer = vec![0; 100];
        values.fill(&mut buffer, 1, 0);
        for at in 0..100 {
            buffer[at] ^= 1;
            assert_eq!(values.round_of(&buffer, 1), None, "byte {at}");
            buffer[at] ^= 1;
        }
        assert_eq!(values.round_of(&buffer[..99], 1), None);
    }

    /// The mixes of the paper's figure 8.
    #[test]
    fn mixed_sizes_have_mean_and_deviation() {
        for (mean, deviation) in [(126.7, 22.1), (42.9, 26.1), (46.8, 11.6)] {
            let values = Values::of(ValueSize::Mixed { mean, deviation }).unwrap();
            let sizes: Vec<f64> = (0..100_000).map(|index| values.size_of(index) as f64).collect();
            let found = sizes.iter().sum::<f64>() / sizes.len() as f64;
            let spread = (sizes.iter().map(|size| (size - found).powi(2)).sum::<f64>() / sizes.len() as f64).sqrt();
            assert!((found / mean - 1.0).abs() < 0.05, "{found}, not {mean}");
            assert!((spread / deviation - 1.0).abs() < 0.15, "{spread}, not {deviation}");
            let mut buffer = vec![0; values.size()];
            let value = values.write(&mut buffer, 7, 3).to_vec();
            assert_eq!(values.round_of(&value, 7), Some(3));
            assert_eq!(values.round_of(&value[1..], 7), None);
        }
    }

    #[test]
    fn too_small_sizes_are_refused() {
        assert!(Values::new(15).is_err());
        let mean = 10.0;
        assert!(Values::of(ValueSize::Mixed { mean, deviation: 1.0 }).is_err());
    }
}
