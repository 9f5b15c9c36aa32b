//! Key sets that are as hard for piecewise-linear models as published ones.
//!
//! The gap between neighbours is a product of random factors. Each factor belongs to a scale: it stays the same for a number of keys,
//! geometric with the scale's length as mean, and is log-normal with the scale's deviation. A model with error bound epsilon has to
//! follow the factors whose scale is longer than epsilon; shorter ones look like noise. Where keys come in bursts, those of one burst
//! stand close together, and the gap after it makes up for that: a model follows bursts that are longer than twice epsilon. The
//! deviations are chosen so that the number of optimal segments for epsilon 32, 128 and 1024 is that of the published data set
//! (`bench/data/hardness.csv`, `bench/micro/tests/hardness.rs`).
//!
//! Keys come one by one, from two passes over the same random numbers: the first adds the gaps up, the second scales them to the
//! width of the set. Nothing is held that grows with the number of keys.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Mean lengths of the scales, in keys.
const LENGTHS: [f64; SCALES] = [1.0, 16.0, 128.0, 1024.0, 8192.0];
const SCALES: usize = 5;

/// Deviations of the factors' logarithms, by scale, and how the set lies in the key space.
#[derive(Clone, Copy, Debug)]
pub struct Gaps {
    /// One for each scale.
    pub deviations: [f64; SCALES],
    /// Whether each gap has one more factor, exponential, as the gaps of uniform random numbers have.
    pub random: bool,
    /// Mean keys of a burst, of which lengths from a half to one and a half occur; 0: none.
    pub burst: usize,
    /// Bits of the distance from the first to the last key.
    pub bits: u32,
    /// Keys at the upper end, far away from all others.
    pub outliers: usize,
}

const PLAIN: Gaps = Gaps {
    deviations: [0.0; SCALES],
    random: false,
    burst: 0,
    bits: 62,
    outliers: 0,
};

/// Hashed identifiers of users: uniform random numbers, in ascending order from the start.
pub const YCSB: Gaps = Gaps { random: true, ..PLAIN };

/// Ranks of sold books: noise at short scales, even at long ones.
pub const AMAZON: Gaps = Gaps {
    deviations: [1.28, 0.28, 0.02, 0.01, 0.01],
    bits: 50,
    ..PLAIN
};

/// Identifiers of tweets: nearly even in time.
pub const COVID: Gaps = Gaps {
    deviations: [0.105, 0.0, 0.096, 0.094, 0.07],
    bits: 50,
    ..PLAIN
};

/// Identifiers of users: uneven at all scales, a few outliers.
pub const FACEBOOK: Gaps = Gaps {
    deviations: [2.25, 1.0, 1.0, 0.125, 0.125],
    bits: 40,
    outliers: 21,
    ..PLAIN
};

/// Pairs of places on chromosomes: uneven at short scales.
pub const GENOME: Gaps = Gaps {
    deviations: [0.82, 0.7, 0.01, 0.01, 0.158],
    burst: 47,
    bits: 52,
    ..PLAIN
};

/// Cells of a map: clusters of clusters.
pub const OSM: Gaps = Gaps {
    deviations: [1.23, 0.75, 0.55, 0.89, 0.49],
    bits: 63,
    ..PLAIN
};

/// `num` distinct keys, ascending, one by one.
pub fn keys(gaps: Gaps, num: usize, seed: u64) -> impl Iterator<Item = u64> {
    let whole: f64 = Lengths::new(gaps, num, seed).sum();
    let unit = f64::from(gaps.bits).exp2() / whole;
    let outliers = if gaps.outliers < num { gaps.outliers } else { 0 };
    let far = 62f64.exp2() / outliers as f64;
    let mut at = 1u64 << 20;
    Lengths::new(gaps, num, seed).enumerate().map(move |(i, length)| {
        at += 1 + if i < num - outliers { length * unit } else { far } as u64;
        at
    })
}

/// The gaps, in units of their own.
struct Lengths {
    gaps: Gaps,
    rng: Xoshiro256PlusPlus,
    /// Apart from `rng`, so that the gaps of a set do not depend on its bursts.
    bursts: Xoshiro256PlusPlus,
    factors: [f64; SCALES],
    left: usize,
    /// Keys left in the burst, and the room that its keys so far have given up.
    burst: (usize, f64),
}

impl Lengths {
    fn new(gaps: Gaps, num: usize, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Lengths {
            factors: gaps.deviations.map(|deviation| factor(deviation, &mut rng)),
            gaps,
            rng,
            bursts: Xoshiro256PlusPlus::seed_from_u64(!seed),
            left: num,
            burst: (0, 0.0),
        }
    }

    fn next_gap(&mut self) -> f64 {
        for ((factor_now, deviation), length) in self.factors.iter_mut().zip(self.gaps.deviations).zip(LENGTHS) {
            if length == 1.0 || self.rng.random::<f64>() * length < 1.0 {
                *factor_now = factor(deviation, &mut self.rng);
            }
        }
        let random: f64 = if self.gaps.random {
            Exp1.sample(&mut self.rng)
        } else {
            1.0
        };
        self.factors.iter().product::<f64>() * random
    }
}

impl Iterator for Lengths {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.left = self.left.checked_sub(1)?;
        let length = self.next_gap();
        let mean = self.gaps.burst;
        if mean == 0 {
            return Some(length);
        }
        if self.burst.0 == 0 {
            self.burst = (self.bursts.random_range(mean / 2..mean * 3 / 2), 0.0);
        }
        self.burst.0 -= 1;
        self.burst.1 += length;
        let closes = self.burst.0 == 0 || self.left == 0;
        Some(length / 64.0 + if closes { self.burst.1 } else { 0.0 })
    }
}

fn factor(deviation: f64, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    (deviation * normal).exp()
}
