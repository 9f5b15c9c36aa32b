//! Medians and bootstrap intervals.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Resamples behind an interval. The percentile ends move by less than 0.2% between seeds at this number.
const RESAMPLES: usize = 10_000;

/// Smallest sample that supports a 95% interval for a median: the range of five numbers misses it in 1 of 16 cases.
pub(crate) const MIN_SAMPLE: usize = 6;

/// A median and the ends of its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Median of the sample.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Median; the mean of the two middle numbers for an even count, NaN for none.
pub fn median(numbers: &[f64]) -> f64 {
    median_in_place(&mut numbers.to_vec())
}

fn median_in_place(numbers: &mut [f64]) -> f64 {
    let count = numbers.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, upper, _) = numbers.select_nth_unstable_by(count / 2, f64::total_cmp);
    let upper = *upper;
    if count % 2 == 1 {
        upper
    } else {
        (below.iter().copied().fold(f64::MIN, f64::max) + upper) / 2.0
    }
}

/// Median with a 95% percentile-bootstrap interval (Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13).
/// The resampling is seeded: the same numbers give the same interval.
///
/// A sample of fewer than six numbers cannot support a 95% interval for a median; its interval is the sample's range.
pub fn bootstrap_median(numbers: &[f64]) -> Interval {
    let middle = median(numbers);
    let count = numbers.len();
    if count < MIN_SAMPLE {
        let low = numbers.iter().copied().fold(middle, f64::min);
        let high = numbers.iter().copied().fold(middle, f64::max);
        return Interval {
            median: middle,
            low,
            high,
        };
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(count as u64);
    let mut resample = vec![0.0; count];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            resample.fill_with(|| numbers[rng.random_range(0..count)]);
            median_in_place(&mut resample)
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    Interval {
        median: middle,
        low: medians[RESAMPLES * 25 / 1000],
        high: medians[RESAMPLES * 975 / 1000 - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_no_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn equal_numbers_have_no_spread() {
        assert_eq!(
            bootstrap_median(&[1.5; 60]),
            Interval {
                median: 1.5,
                low: 1.5,
                high: 1.5
            }
        );
    }

    /// For the numbers 1 to 99 the exact 95% order-statistic interval of the median is 40 to 60.
    #[test]
    fn interval_agrees_with_order_statistics() {
        let numbers: Vec<f64> = (1..100).map(f64::from).collect();
        let interval = bootstrap_median(&numbers);
        assert_eq!(interval.median, 50.0);
        assert!((38.0..=42.0).contains(&interval.low), "{interval:?}");
        assert!((58.0..=62.0).contains(&interval.high), "{interval:?}");
        assert_eq!(interval, bootstrap_median(&numbers), "the resampling is seeded");
    }

    #[test]
    fn outliers_move_the_interval_little() {
        let mut numbers = vec![1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.0];
        numbers.push(50.0);
        let interval = bootstrap_median(&numbers);
        assert!(interval.low >= 0.98 && interval.high <= 1.02, "{interval:?}");
    }

    #[test]
    fn tiny_samples_report_their_range() {
        assert_eq!(
            bootstrap_median(&[2.0, 1.0]),
            Interval {
                median: 1.5,
                low: 1.0,
                high: 2.0
            }
        );
    }
}
