//! The linear model of one node: projection -> slot.
//!
//! A model may be wrong, never harmful: every search gallops from the predicted slot to the true one. That is why floating
//! point is fine here while the file format has none of it.

use super::sync::{Acquire, AtomicU64, Release};

/// `slot = (x - base) * slope`, with `base` the projection at slot 0. Two words, replaced under the node's lock; a reader
/// that catches one old and one new gets a poor prediction.
#[repr(C)]
#[derive(Debug)]
pub struct LinearModel {
    base: AtomicU64,
    slope: AtomicU64,
}

impl LinearModel {
    /// A model that predicts slot 0 for everything.
    pub fn flat() -> Self {
        LinearModel {
            base: AtomicU64::new(0),
            slope: AtomicU64::new(0),
        }
    }

    /// Predicted slot, below `slots` (which is positive).
    #[inline]
    pub fn predict(&self, x: u64, slots: usize) -> usize {
        let slope = f64::from_bits(self.slope.load(Acquire));
        // The cast saturates and sends NaN to 0.
        ((x.saturating_sub(self.base.load(Acquire)) as f64 * slope) as usize).min(slots - 1)
    }

    /// Sets base and slope.
    pub fn set(&self, (base, slope): (u64, f64)) {
        self.base.store(base, Release);
        self.slope.store(slope.to_bits(), Release);
    }

    /// Lays the line through two points, `at` being the slot of `x`. Meant for two quantiles well inside the node: an outlier at
    /// the end would flatten a line through the ends.
    pub fn fit(&self, a: (u64, usize), b: (u64, usize)) {
        self.set(Self::line(a, b));
    }

    /// Base and slope of the line through two points; slope 0 if there is no ascending one.
    pub fn line((x0, at0): (u64, usize), (x1, at1): (u64, usize)) -> (u64, f64) {
        if x1 <= x0 || at1 <= at0 {
            return (x0, 0.0);
        }
        let slope = (at1 - at0) as f64 / (x1 - x0) as f64;
        (x0.saturating_sub((at0 as f64 / slope) as u64), slope)
    }
}

/// First index in `0..len` whose key is not below `x`, searched outwards from `guess`. `key(i)` must not decrease with `i`;
/// if it does for a moment (a writer is at work) the result is some index in `0..=len`.
#[inline]
pub fn lower_bound(len: usize, guess: usize, x: u64, key: impl Fn(usize) -> u64) -> usize {
    if len == 0 {
        return 0;
    }
    let guess = guess.min(len - 1);
    let (mut lo, mut hi);
    if key(guess) < x {
        lo = guess + 1;
        let mut step = 2;
        hi = loop {
            let at = guess + step;
            if at >= len {
                break len;
            }
            if key(at) >= x {
                break at;
            }
            lo = at + 1;
            step *= 2;
        };
    } else {
        hi = guess;
        let mut step = 1;
        lo = loop {
            if step > guess {
                break 0;
            }
            let at = guess - step;
            if key(at) < x {
                break at + 1;
            }
            hi = at;
            step *= 2;
        };
    }
    while lo < hi {
        let mid = lo + (hi - lo) / 2;
        if key(mid) < x {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    lo
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn ln_03_lower_bound_is_right_from_every_guess() {
        let keys = [0u64, 3, 3, 3, 9, 9, 20, u64::MAX - 1, u64::MAX, u64::MAX];
        for len in 0..=keys.len() {
            for x in [0, 1, 3, 4, 9, 10, 20, 21, u64::MAX - 1, u64::MAX] {
                let want = keys[..len].partition_point(|k| *k < x);
                for guess in 0..=len {
                    assert_eq!(
                        lower_bound(len, guess, x, |i| keys[i]),
                        want,
                        "len {len} x {x} guess {guess}"
                    );
                }
            }
        }
    }

    #[test]
    fn ln_02_models_of_equal_or_extreme_points_stay_in_range() {
        let model = LinearModel::flat();
        for (a, b) in [
            (5, 5),
            (0, u64::MAX),
            (u64::MAX - 1, u64::MAX),
            ((1 << 53) - 1, (1 << 53) + 1),
        ] {
            model.fit((a, 10), (b, 200));
            for x in [0, a, b, a / 2 + b / 2, u64::MAX] {
                assert!(model.predict(x, 256) < 256);
            }
        }
        model.fit((1_000, 0), (2_000, 100));
        assert_eq!(model.predict(1_500, 256), 50);
    }
}
