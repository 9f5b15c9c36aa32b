//! Decides how a group is stored: which separators become numbers, on which line, with how many bits.

use super::boundary::{Boundary, Choice};
use crate::format::{
    GroupParts, MAX_CORRECTION_BITS, Numbers, Offsets, SLOPE_FRACTION, SLOPE_LIMIT, Tail, bytes_needed,
};
use crate::key::common_prefix_len;
use crate::model::{Interval, fit_slope};

/// Fractional bits that [`fit_slope`] has beyond those of the format.
const EXTRA_FRACTION: u32 = 16 - SLOPE_FRACTION;

/// Shifts tried beyond the best one before the search ends. Cost falls, then rises, with small bumps between.
const PATIENCE: u32 = 3;

/// What the group of `boundaries` stores. With `plain`, all separators are exact last keys in one piece.
pub(super) fn group_parts(boundaries: &[Boundary], gap: u8, plain: bool) -> GroupParts<'_> {
    let prefix = shared_prefix(boundaries, plain);
    let tails: Vec<Tail> = (boundaries.iter())
        .map(|boundary| Tail {
            bytes: boundary.tail(prefix.len(), plain),
            tag: boundary.tag,
        })
        .collect();
    let all = u64::MAX >> (64 - boundaries.len().clamp(1, 64));
    let (exceptions, numbers) = match plain {
        true => (all, Numbers::default()),
        false => numbers(boundaries, prefix.len(), &tails).unwrap_or((all, Numbers::default())),
    };
    GroupParts {
        prefix,
        len: boundaries.len(),
        numbers,
        offsets: offsets(boundaries, gap),
        exceptions,
        tails: (0..)
            .zip(tails)
            .filter(|(index, _)| exceptions >> index & 1 != 0)
            .map(|(_, tail)| tail)
            .collect(),
    }
}

fn shared_prefix(boundaries: &[Boundary], plain: bool) -> &[u8] {
    match boundaries {
        [first, .., last] if !plain => {
            let shared = common_prefix_len(&first.last, &last.last).min(u16::MAX.into());
            first.last.get(..shared).unwrap_or_default()
        }
        // Numbers of a lone boundary would save nothing, and the prefix could be longer than its length field.
        [only] if !plain => only
            .last
            .get(..only.last.len().min(u16::MAX.into()))
            .unwrap_or_default(),
        _ => &[],
    }
}

/// The line and corrections with the fewest bits, and the boundaries that they cannot serve; `None` where plain separators
/// are not larger.
fn numbers(boundaries: &[Boundary], skip: usize, tails: &[Tail]) -> Option<(u64, Numbers)> {
    let width = boundaries
        .iter()
        .map(|boundary| boundary.longest_rest(skip))
        .max()?
        .min(8) as u32;
    let mut intervals = Vec::with_capacity(boundaries.len());
    for boundary in boundaries {
        intervals.push(match boundary.choice(skip, width) {
            Choice::Among(interval) => interval,
            Choice::Above(least) => Interval {
                low: least?,
                high: None,
            },
        });
    }
    let slope = fit_slope(&intervals);
    let sizes = || {
        intervals
            .iter()
            .filter_map(|interval| Some(interval.high? - interval.low))
    };
    // With steps up to the smallest interval nothing is lost; larger steps make exceptions of small intervals.
    let first_shift = sizes()
        .min()?
        .checked_add(1)
        .map_or(63, u64::ilog2)
        .min((width * 8).saturating_sub(1));
    let last_shift = sizes()
        .max()?
        .checked_add(1)
        .map_or(63, u64::ilog2)
        .min((width * 8).saturating_sub(1));

    let plain_cost = tails_cost(tails.iter(), 0);
    let mut best: Option<(usize, Candidate)> = None;
    let mut worse = 0;
    for shift in first_shift..=last_shift {
        if let Some(candidate) = Candidate::new(&intervals, slope, width, shift) {
            let cost = candidate.cost(tails);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate));
                worse = 0;
                continue;
            }
        }
        worse += 1;
        if best.is_some() && worse > PATIENCE {
            break;
        }
    }
    let (cost, candidate) = best?;
    (cost < plain_cost).then(|| (candidate.exceptions, candidate.numbers(&intervals, width)))
}

/// Bits that exceptions take, tags aside.
fn tails_cost<'a>(tails: impl Iterator<Item = &'a Tail>, map: usize) -> usize {
    let (count, len) = tails.fold((0, 0), |(count, len), tail| (count + 1, len + tail.bytes.len()));
    let end_bits = (usize::BITS - len.leading_zeros()) as usize;
    if count == 0 {
        0
    } else {
        map + count * end_bits + len * 8
    }
}

/// A line for one shift.
struct Candidate {
    shift: u32,
    /// Steps per boundary, in 1/256.
    slope: u64,
    /// Steps at boundary 0; may be below zero.
    base: i128,
    bits: u32,
    exceptions: u64,
    base_bytes: u32,
}

impl Candidate {
    fn new(intervals: &[Interval], slope: u128, width: u32, shift: u32) -> Option<Self> {
        let unit = shift + EXTRA_FRACTION;
        let slope = u64::try_from((slope + (1 << unit) / 2) >> unit)
            .ok()
            .filter(|&slope| slope < SLOPE_LIMIT)?;
        let limit = steps_limit(width, shift);
        let (mut exceptions, mut served) = (0, 0);
        let (mut base, mut top) = (i128::MAX, i128::MIN);
        for (index, interval) in intervals.iter().enumerate() {
            let line = line_at(slope, index);
            let low = ceil_shift(interval.low, shift);
            if low > limit {
                return None;
            }
            top = top.max(i128::from(low) - line);
            match interval.high.map(|high| high >> shift) {
                Some(high) if low <= high => {
                    base = base.min(i128::from(high) - line);
                    served += 1;
                }
                _ => {
                    // Its number needs no upper end, but must not wrap around.
                    base = base.min(i128::from(limit) - line);
                    exceptions |= 1 << index;
                }
            }
        }
        if served == 0 {
            return None;
        }
        let span = u64::try_from((top - base).max(0)).ok()?;
        let bits = u64::BITS - span.leading_zeros();
        let base_bytes = bytes_needed(wrap(base, limit));
        (bits <= MAX_CORRECTION_BITS).then_some(Self {
            shift,
            slope,
            base,
            bits,
            exceptions,
            base_bytes,
        })
    }

    fn cost(&self, tails: &[Tail]) -> usize {
        let exceptions = (0..)
            .zip(tails)
            .filter(|(index, _)| self.exceptions >> index & 1 != 0)
            .map(|(_, tail)| tail);
        let line = 8 * (bytes_needed(self.slope) + self.base_bytes) as usize;
        line + tails.len() * self.bits as usize + tails_cost(exceptions, 64)
    }

    /// Numbers are the larger of the line's lowest useful level and the interval's lower end. Both ascend, so numbers do;
    /// exceptions get a number above their separator by the same rule.
    fn numbers(&self, intervals: &[Interval], width: u32) -> Numbers {
        let corrections = intervals.iter().enumerate().map(|(index, interval)| {
            let line = self.base + line_at(self.slope, index);
            (i128::from(ceil_shift(interval.low, self.shift)) - line).max(0) as u64
        });
        Numbers {
            width,
            shift: self.shift,
            slope: self.slope,
            base: wrap(self.base, steps_limit(width, self.shift)),
            corrections: corrections.collect(),
        }
    }
}

fn line_at(slope: u64, index: usize) -> i128 {
    i128::from((slope * index as u64) >> SLOPE_FRACTION)
}

fn ceil_shift(number: u64, shift: u32) -> u64 {
    (number >> shift) + u64::from(number & ((1 << shift) - 1) != 0)
}

/// Largest number of `width` bytes, in steps of `2^shift`.
fn steps_limit(width: u32, shift: u32) -> u64 {
    u64::MAX.checked_shr(64 - width * 8).unwrap_or(0) >> shift
}

/// `base` modulo `limit + 1`, a power of two.
fn wrap(base: i128, limit: u64) -> u64 {
    base as u64 & limit
}

/// Offsets as corrections above a line; sizes only where they do not follow from the offsets.
fn offsets(boundaries: &[Boundary], gap: u8) -> Offsets {
    let regular = boundaries
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if b.gap_after(a) == Some(gap)));
    let end = boundaries
        .last()
        .and_then(|last| last.offset.checked_add(last.size)?.checked_add(gap.into()));
    let mut points: Vec<u64> = boundaries.iter().map(|boundary| boundary.offset).collect();
    let sizes = match end {
        Some(end) if regular => {
            points.push(end);
            None
        }
        _ => Some(boundaries.iter().map(|boundary| boundary.size).collect()),
    };
    // Exact points: the interval of each is itself. Offsets that descend, which no file has, get a flat line.
    let ascending = points.is_sorted();
    let intervals: Vec<Interval> = points.iter().map(|&low| Interval { low, high: Some(low) }).collect();
    let slope = if ascending { fit_slope(&intervals) } else { 0 };
    let slope = u64::try_from((slope + (1 << EXTRA_FRACTION) / 2) >> EXTRA_FRACTION).unwrap_or(u64::MAX);
    let slope = if slope < SLOPE_LIMIT { slope } else { 0 };
    let above = |(index, &point): (usize, &u64)| i128::from(point) - line_at(slope, index);
    let base = points.iter().enumerate().map(above).min().unwrap_or(0);
    let corrections = points
        .iter()
        .enumerate()
        .map(|point| (above(point) - base) as u64)
        .collect();
    Offsets {
        base: base as u64,
        slope,
        corrections,
        sizes,
    }
}
