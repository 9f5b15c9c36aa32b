//! The slope that leaves the smallest corrections for a group of intervals.

/// Fractional bits of the slope that [`fit_slope`] returns.
const FRACTION: u32 = 16;

/// Numbers `low..=high` among which one is to be chosen; without `high` only the lower bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Smallest choice.
    pub low: u64,
    /// Largest choice, at least `low`.
    pub high: Option<u64>,
}

/// Slope S >= 0 that minimizes `max(low_i - S * i) - min(high_i - S * i)` over the intervals, times 2^16.
///
/// The difference is what a correction must span so that each interval is reached from one line. It is a convex,
/// piecewise-linear function of S; intersecting the tangents of both flanks ends in a few rounds, in exact integers.
pub fn fit_slope(intervals: &[Interval]) -> u128 {
    let value = |number: u64, index: usize, slope: i128| (i128::from(number) << FRACTION) - slope * index as i128;
    // Tangent at a slope: (value at slope 0, derivative).
    let tangent = |top: usize, bottom: usize| {
        let (Some(top_at), Some(bottom_at)) = (intervals.get(top), intervals.get(bottom)) else {
            return (0, 0);
        };
        let high = bottom_at.high.unwrap_or(bottom_at.low);
        let level = (i128::from(top_at.low) - i128::from(high)) << FRACTION;
        (level, bottom as i128 - top as i128)
    };
    let mut bounded = intervals
        .iter()
        .enumerate()
        .filter(|(_, interval)| interval.high.is_some());
    let Some((first_bounded, _)) = bounded.next() else {
        return 0;
    };
    let last_bounded = bounded.next_back().map_or(first_bounded, |(index, _)| index);
    let mut left = tangent(intervals.len() - 1, first_bounded);
    let mut right = tangent(0, last_bounded);
    if left.1 >= 0 {
        return 0;
    }
    let mut best = (i128::MAX, 0);
    for _ in 0..32 {
        let slope = ((left.0 - right.0) / (right.1 - left.1)).max(0);
        let mut top = (i128::MIN, 0);
        let mut bottom = (i128::MAX, 0);
        for (index, interval) in intervals.iter().enumerate() {
            let low = value(interval.low, index, slope);
            if low > top.0 {
                top = (low, index);
            }
            if let Some(high) = interval.high {
                let high = value(high, index, slope);
                if high < bottom.0 {
                    bottom = (high, index);
                }
            }
        }
        let span = top.0 - bottom.0;
        if span < best.0 {
            best = (span, slope);
        }
        // A step may overshoot, so a larger span is no reason to end; meeting a known tangent again is.
        let next = tangent(top.1, bottom.1);
        if next.1 == 0 || next == left || next == right {
            break;
        }
        match next.1 > 0 {
            true => right = next,
            false => left = next,
        }
    }
    best.1 as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(numbers: &[u64]) -> Vec<Interval> {
        numbers
            .iter()
            .map(|&number| Interval {
                low: number,
                high: Some(number),
            })
            .collect()
    }

    fn span(intervals: &[Interval], slope: u128) -> i128 {
        let at = |number: u64, index: usize| (i128::from(number) << FRACTION) - slope as i128 * index as i128;
        let top = intervals
            .iter()
            .enumerate()
            .map(|(i, x)| at(x.low, i))
            .max()
            .unwrap_or(0);
        let bottom = intervals
            .iter()
            .enumerate()
            .filter_map(|(i, x)| Some(at(x.high?, i)))
            .min()
            .unwrap_or(0);
        top - bottom
    }

    #[test]
    fn exact_lines_leave_nothing() {
        for step in [0u64, 1, 35, 4096, 1 << 57] {
            let intervals = points(&(0..64).map(|i| 12345 + i * step).collect::<Vec<_>>());
            assert_eq!(fit_slope(&intervals), u128::from(step) << FRACTION, "step {step}");
        }
    }

    #[test]
    fn ln_01_no_slope_does_better() {
        let bases = [0, (1 << 53) - 40, (1 << 63) - 40, u64::MAX - 400_000];
        for (seed, base) in (1..200u64).flat_map(|seed| bases.map(|base| (seed, base))) {
            let mut state = seed;
            let mut number = base;
            let intervals: Vec<Interval> = (0..1 + seed % 64)
                .map(|_| {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    let low = number + (state >> 33) % 3000;
                    let high = low + (state >> 50) % 3000;
                    number = high;
                    Interval {
                        low,
                        high: (!state.is_multiple_of(7)).then_some(high),
                    }
                })
                .collect();
            let found = fit_slope(&intervals);
            if intervals.iter().all(|interval| interval.high.is_none()) {
                continue;
            }
            // One unit of slope rounding moves the far end of a group by less than one number.
            let slack = 64;
            for other in (0..6000u128).step_by(50) {
                assert!(
                    span(&intervals, found) <= span(&intervals, other << FRACTION) + slack,
                    "seed {seed} {other}"
                );
            }
        }
    }

    #[test]
    fn ln_02_ln_03_degenerate_groups() {
        assert_eq!(fit_slope(&[]), 0);
        assert_eq!(fit_slope(&points(&[7])), 0);
        assert_eq!(fit_slope(&points(&[7; 64])), 0);
        assert_eq!(fit_slope(&points(&[0, u64::MAX])), u128::from(u64::MAX) << FRACTION);
        assert_eq!(fit_slope(&[Interval { low: 3, high: None }; 5]), 0);
    }
}
