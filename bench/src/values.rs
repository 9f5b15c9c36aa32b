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
use rand_xoshiro::Xoshiro256PlusPlus;

/// Smallest value that can carry its header, in bytes.
pub(crate) const MIN_VALUE_SIZE: usize = 16;

const WINDOWS: usize = 1 << 16;

/// Produces and recognizes values of one size.
pub(crate) struct Values {
    size: usize,
    pool: Vec<u8>,
}

impl Values {
    pub(crate) fn new(size: usize) -> Result<Self> {
        ensure!(
            size >= MIN_VALUE_SIZE,
            "a value must have at least {MIN_VALUE_SIZE} bytes, {size} were asked for"
        );
        let mut pool = vec![0; WINDOWS + size];
        Xoshiro256PlusPlus::seed_from_u64(size as u64).fill_bytes(&mut pool);
        Ok(Values { size, pool })
    }

    pub(crate) fn size(&self) -> usize {
        self.size
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
        if value.len() != self.size {
            return None;
        }
        let round = u32::from_le_bytes(*value[8..].first_chunk()?);
        let mut expected = vec![0; self.size];
        self.fill(&mut expected, index, round);
        (expected == value).then_some(round)
    }
}

/// Finalizer of SplitMix64: every bit of the input changes half of the output.
fn mix(mut x: u64) -> u64 {
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

    #[test]
    fn too_small_sizes_are_refused() {
        assert!(Values::new(15).is_err());
    }
}
