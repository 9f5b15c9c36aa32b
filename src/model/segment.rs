//! Streaming piecewise-linear approximation with the fewest segments (O'Rourke 1981).

/// A line that starts at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Smallest number that the segment covers.
    pub first: u64,
    /// Value per unit of the number, times 2^64; never negative, so values do not decrease.
    pub slope: u128,
    /// Value at `first`, times 2^64.
    pub intercept: i128,
}

#[cfg(test)]
impl Segment {
    /// Value at `number`, at least 0. Numbers below `first` are treated as `first`.
    fn predict(&self, number: u64) -> u64 {
        let run = u128::from(number.saturating_sub(self.first));
        let rise = i128::try_from(self.slope.saturating_mul(run)).unwrap_or(i128::MAX);
        u64::try_from(self.intercept.saturating_add(rise) >> 64).unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Point {
    x: i128,
    y: i128,
}

/// Whether the line from `a` to `b` is steeper than the line from `c` to `d`; each pair in ascending order of x.
fn steeper(a: Point, b: Point, c: Point, d: Point) -> bool {
    (b.y - a.y) * (d.x - c.x) > (d.y - c.y) * (b.x - a.x)
}

/// All lines that pass through each of the ranges added so far: bounded by the flattest and the steepest of them.
///
/// Adding ranges until one is refused, and starting over from that one, covers a sequence with as few lines as possible.
#[derive(Debug, Default)]
pub struct Cone {
    first: i128,
    /// Convex hull of the upper ends, as far as it can still bound the flattest line.
    upper: Vec<Point>,
    /// Convex hull of the lower ends, as far as it can still bound the steepest line.
    lower: Vec<Point>,
    upper_start: usize,
    lower_start: usize,
    flattest: (Point, Point),
    steepest: (Point, Point),
    points: usize,
}

impl Cone {
    /// Forgets all ranges.
    pub fn clear(&mut self) {
        self.upper.clear();
        self.lower.clear();
        (self.upper_start, self.lower_start, self.points) = (0, 0, 0);
    }

    /// Leaves the lines whose value at `number` is within `low..=high`; false, and nothing changed, where there is none.
    ///
    /// Numbers must ascend, and neither end of the ranges may descend; ends must be within 2^61 of 0, which keeps cross
    /// products within 128 bits.
    pub fn add(&mut self, number: u64, low: i128, high: i128) -> bool {
        let x = i128::from(number);
        let (above, below) = (Point { x, y: high }, Point { x, y: low });
        match self.points {
            0 => {
                self.first = x;
                (self.flattest.0, self.steepest.0) = (above, below);
                (self.flattest.1, self.steepest.1) = (below, above);
            }
            1 => (self.flattest.1, self.steepest.1) = (below, above),
            _ => {
                let ((flat_from, flat_to), (steep_from, steep_to)) = (self.flattest, self.steepest);
                if steeper(flat_from, flat_to, flat_to, above) || steeper(steep_to, below, steep_from, steep_to) {
                    return false;
                }
                if steeper(steep_from, steep_to, steep_from, above) {
                    let flatter_next = |pair: &[Point]| matches!(pair, [a, b] if !steeper(*b, above, *a, above));
                    let hull = self.lower.get(self.lower_start..).unwrap_or_default();
                    self.lower_start += hull.windows(2).take_while(|pair| flatter_next(pair)).count();
                    self.steepest = (self.lower.get(self.lower_start).copied().unwrap_or(steep_from), above);
                }
                if steeper(flat_from, below, flat_from, flat_to) {
                    let steeper_next = |pair: &[Point]| matches!(pair, [a, b] if !steeper(*a, below, *b, below));
                    let hull = self.upper.get(self.upper_start..).unwrap_or_default();
                    self.upper_start += hull.windows(2).take_while(|pair| steeper_next(pair)).count();
                    self.flattest = (self.upper.get(self.upper_start).copied().unwrap_or(flat_from), below);
                }
            }
        }
        while matches!(self.upper.get(self.upper_start..), Some([.., a, b]) if !steeper(*b, above, *a, *b)) {
            self.upper.pop();
        }
        self.upper.push(above);
        while matches!(self.lower.get(self.lower_start..), Some([.., a, b]) if !steeper(*a, *b, *b, below)) {
            self.lower.pop();
        }
        self.lower.push(below);
        self.points += 1;
        true
    }

    /// A line in the middle of the cone; `None` where no range was added.
    pub fn segment(&self) -> Option<Segment> {
        let first = u64::try_from(self.first).ok().filter(|_| self.points > 0)?;
        if self.points == 1 {
            let (above, below) = self.flattest;
            return Some(Segment {
                first,
                slope: 0,
                intercept: ((above.y + below.y) / 2) << 64,
            });
        }
        let line = |(from, to): (Point, Point)| {
            let slope = ((to.y - from.y) << 64) / (to.x - from.x);
            (slope, (from.y << 64) - slope * (from.x - self.first))
        };
        let (flat, steep) = (line(self.flattest), line(self.steepest));
        // Lines within the bound form a convex set, so the mean of two is one as well. The steepest never descends.
        let (slope, intercept) = if flat.0 < 0 {
            steep
        } else {
            (flat.0 + (steep.0 - flat.0) / 2, flat.1 + (steep.1 - flat.1) / 2)
        };
        Some(Segment {
            first,
            slope: slope.unsigned_abs(),
            intercept,
        })
    }
}

/// Largest error bound; keeps cross products within 128 bits together with positions below 2^61.
const EPSILON_LIMIT: u64 = 1 << 60;

/// Segments for `numbers` in ascending order, such that the prediction for a stored number is at most `epsilon + 1` from its
/// first position, and for any other number at most `epsilon + 2` from the position of the next larger stored number.
///
/// Equal numbers count as one point, at the position of the first; a second point behind them marks where they end. A
/// number below its predecessor is treated as equal to it.
pub fn segments(numbers: impl IntoIterator<Item = u64>, epsilon: u64) -> Vec<Segment> {
    let epsilon = i128::from(epsilon.min(EPSILON_LIMIT));
    let mut done = Vec::new();
    let mut cone = Cone::default();
    let mut add = |number: u64, position: i128| {
        if !cone.add(number, position - epsilon, position + epsilon) {
            done.extend(cone.segment());
            cone.clear();
            cone.add(number, position - epsilon, position + epsilon);
        }
    };
    let mut previous: Option<(u64, i128)> = None;
    for (position, number) in (0i128..).zip(numbers) {
        match previous {
            Some((last, _)) if number <= last => continue,
            Some((last, first_position)) if position > first_position + 1 && number > last + 1 => {
                add(last + 1, position)
            }
            _ => {}
        }
        add(number, position);
        previous = Some((number, position));
    }
    done.extend(cone.segment());
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    fn check(name: &str, numbers: &[u64], epsilon: u64) -> usize {
        let model = segments(numbers.iter().copied(), epsilon);
        let mut probes: Vec<u64> = Vec::new();
        for pair in numbers.windows(2) {
            if let [a, b] = *pair {
                probes.extend([a, a.saturating_add(1), a + (b - a) / 2, b.saturating_sub(1), b]);
            }
        }
        probes.extend(
            model
                .iter()
                .flat_map(|s| [s.first.saturating_sub(1), s.first, s.first.saturating_add(1)]),
        );
        probes.extend(numbers.iter().take(1));
        for probe in probes {
            let Some(segment) = model.partition_point(|segment| segment.first <= probe).checked_sub(1) else {
                continue;
            };
            // The window of a lookup ends where the next segment starts to predict.
            let bound = model
                .get(segment + 1)
                .map_or(numbers.len() as u64, |next| next.predict(next.first));
            let predicted = model[segment].predict(probe).min(numbers.len() as u64);
            let predicted = if bound + epsilon < predicted { bound } else { predicted };
            let wanted = numbers.partition_point(|&number| number < probe) as u64;
            let allowed = if numbers.binary_search(&probe).is_ok() {
                epsilon + 1
            } else {
                epsilon + 2
            };
            let next_first = model.get(segment + 1).is_some_and(|next| {
                probe > numbers[wanted.saturating_sub(1) as usize]
                    && next.first == numbers[(wanted as usize).min(numbers.len() - 1)]
            });
            // Between the last number of a segment and the next segment only the next start bounds the position.
            if next_first || wanted as usize == numbers.len() {
                continue;
            }
            assert!(
                predicted.abs_diff(wanted) <= allowed,
                "{name} epsilon {epsilon} probe {probe}: {predicted} for {wanted}"
            );
        }
        model.len()
    }

    fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn ln_01_ln_04_every_probe_is_within_the_bound() {
        let mut random = Random(1);
        let sets: Vec<(&str, Vec<u64>)> = vec![
            ("sequential", (0..3000).collect()),
            ("uniform", sorted((0..3000).map(|_| random.next()).collect())),
            ("2^53", (0..3000).map(|i| (1 << 53) - 1500 + i).collect()),
            ("2^63", (0..3000).map(|i| (1 << 63) - 1500 + i).collect()),
            ("max", (0..3000).map(|i| u64::MAX - 2999 + i).collect()),
            ("runs", (0..3000).map(|i| (i / 100) * (1 << 58) + i).collect()),
            (
                "skewed",
                sorted((0..3000).map(|_| random.next() >> (random.next() % 60)).collect()),
            ),
            (
                "ends",
                [vec![0], (0..1000).map(|i| i * i * i).collect(), vec![u64::MAX]].concat(),
            ),
        ];
        for (name, numbers) in &sets {
            for epsilon in [0, 1, 2, 4, 16, 64, 256] {
                check(name, &sorted(numbers.clone()), epsilon);
            }
        }
    }

    #[test]
    fn ln_02_duplicates() {
        let mut random = Random(2);
        for _ in 0..200 {
            let spread = 1 + random.next() % 40;
            let numbers = sorted((0..random.next() % 500).map(|_| random.next() % spread).collect());
            check("multiset", &numbers, random.next() % 8);
        }
        assert_eq!(segments([5; 100_000], 1).len(), 1);
        assert_eq!(
            segments([5, 5], 1),
            [Segment {
                first: 5,
                slope: 0,
                intercept: 0
            }]
        );
    }

    #[test]
    fn ln_03_tiny_and_extreme() {
        assert_eq!(segments([], 4), []);
        assert_eq!(
            segments([u64::MAX], 4),
            [Segment {
                first: u64::MAX,
                slope: 0,
                intercept: 0
            }]
        );
        assert_eq!(check("two", &[0, u64::MAX], 1), 1);
        assert_eq!(segments([0, 1, u64::MAX], u64::MAX).len(), 1);
    }

    #[test]
    fn straight_lines_need_one_segment_and_steps_one_each() {
        assert_eq!(segments((0..100_000).map(|i| i * 1_000_003), 1).len(), 1);
        let steps: Vec<u64> = (0..10u64)
            .flat_map(|step| (0..1000).map(move |i| (step << 50) + i))
            .collect();
        assert_eq!(segments(steps, 8).len(), 10);
    }

    #[test]
    fn no_greedy_cover_from_the_same_start_is_longer() {
        // The first segment must reach as far as any line does: compare with every pair of extreme points.
        let mut random = Random(3);
        for _ in 0..100 {
            let numbers: Vec<u64> = sorted((0..40).map(|_| random.next() % 4000).collect());
            let mut numbers = numbers;
            numbers.dedup();
            let epsilon = (1 + random.next() % 4) as i128;
            let model = segments(numbers.iter().copied(), epsilon as u64);
            let reach = model
                .get(1)
                .map_or(numbers.len(), |next| numbers.partition_point(|&n| n < next.first));
            let feasible = |count: usize| {
                let at = |i: usize, y: i128| Point {
                    x: i128::from(numbers[i]),
                    y: i as i128 + y,
                };
                (0..count).any(|i| {
                    (i + 1..count).any(|j| {
                        [(1, -1), (-1, 1)].iter().any(|&(a, b)| {
                            let (from, to) = (at(i, a * epsilon), at(j, b * epsilon));
                            (0..count).all(|k| {
                                let x = i128::from(numbers[k]);
                                let line = (to.y - from.y) * (x - from.x) + from.y * (to.x - from.x);
                                let scale = to.x - from.x;
                                (line - k as i128 * scale).abs() <= epsilon * scale
                            })
                        })
                    })
                })
            };
            assert!(reach < 2 || feasible(reach), "segment of {reach} points is infeasible");
            assert!(
                reach == numbers.len() || !feasible(reach + 1),
                "{} points fit one line, got {reach}",
                reach + 1
            );
        }
    }
}
