//! Random 64-bit numbers.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// `num` distinct numbers. The generator is named rather than left to the library's choice, so that a seed stands for the
/// same keys in every release.
pub(super) fn keys(num: usize, seed: u64) -> Vec<u64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut keys = Vec::with_capacity(num);
    while keys.len() < num {
        keys.extend((keys.len()..num).map(|_| rng.random::<u64>()));
        keys.sort_unstable();
        keys.dedup();
    }
    keys
}
