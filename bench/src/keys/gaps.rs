//! Key sets that are as hard for piecewise-linear models as published ones.
//!
//! The gap between neighbours is a product of random factors. Each factor belongs to a scale: it stays the same for a number of keys,
//! geometric with the scale's length as mean, and is log-normal with the scale's deviation. A model with error bound epsilon has to
//! follow the factors whose scale is longer than epsilon; shorter ones look like noise. Where keys come in bursts, those of one burst
//! stand close together, and the gap after it makes up for that: a model follows bursts that are longer than twice epsilon. The
//! deviations are chosen so that the number of optimal segments for epsilon 32, 128 and 1024 is that of the published data set
//! (`bench/micro/tests/hardness.rs`).

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Mean lengths of the scales, in keys.
const LENGTHS: [f64; SCALES] = [1.0, 16.0, 128.0, 1024.0, 8192.0];
const SCALES: usize = 5;

/// Deviations of the factors' logarithms, by scale, and how the set lies in the key space.
#[derive(Clone, Copy, Debug)]
pub struct Gaps {
    /// One for each scale.
    pub deviations: [f64; SCALES],
    /// Mean keys of a burst, of which lengths from a half to one and a half occur; 0: none.
    pub burst: usize,
    /// Bits of the distance from the first to the last key.
    pub bits: u32,
    /// Keys at the upper end, far away from all others.
    pub outliers: usize,
}

/// Identifiers of tweets: nearly even in time.
pub const COVID: Gaps = Gaps {
    deviations: [0.105, 0.0, 0.096, 0.094, 0.07],
    burst: 0,
    bits: 50,
    outliers: 0,
};

/// Identifiers of users: uneven at all scales, a few outliers.
pub const FACEBOOK: Gaps = Gaps {
    deviations: [2.25, 1.0, 1.0, 0.125, 0.125],
    burst: 0,
    bits: 40,
    outliers: 21,
};

/// Pairs of places on chromosomes: uneven at short scales.
pub const GENOME: Gaps = Gaps {
    deviations: [0.82, 0.7, 0.01, 0.01, 0.158],
    burst: 47,
    bits: 52,
    outliers: 0,
};

/// Cells of a map: clusters of clusters.
pub const OSM: Gaps = Gaps {
    deviations: [1.23, 0.75, 0.55, 0.89, 0.49],
    burst: 0,
    bits: 63,
    outliers: 0,
};

/// `num` distinct keys, ascending.
pub fn keys(gaps: &Gaps, num: usize, seed: u64) -> Vec<u64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut factors = gaps.deviations.map(|deviation| factor(deviation, &mut rng));
    let mut lengths: Vec<f64> = (0..num)
        .map(|_| {
            for (scale, factor_now) in factors.iter_mut().enumerate() {
                if LENGTHS[scale] == 1.0 || rng.random::<f64>() * LENGTHS[scale] < 1.0 {
                    *factor_now = factor(gaps.deviations[scale], &mut rng);
                }
            }
            factors.iter().product()
        })
        .collect();
    if gaps.burst > 0 {
        let mut start = 0;
        while start < num {
            let end = num.min(start + rng.random_range(gaps.burst / 2..gaps.burst * 3 / 2));
            let whole: f64 = lengths[start..end].iter().sum();
            lengths[start..end].iter_mut().for_each(|length| *length /= 64.0);
            lengths[end - 1] += whole;
            start = end;
        }
    }
    let unit = (gaps.bits as f64).exp2() / lengths.iter().sum::<f64>();
    let outliers = num.saturating_sub(gaps.outliers);
    if gaps.outliers < num {
        lengths[outliers..]
            .iter_mut()
            .for_each(|length| *length = 62f64.exp2() / unit / (gaps.outliers as f64));
    }
    let mut at = 1u64 << 20;
    lengths
        .into_iter()
        .map(|length| {
            at += 1 + (length * unit) as u64;
            at
        })
        .collect()
}

fn factor(deviation: f64, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    (deviation * normal).exp()
}
