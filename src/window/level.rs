//! One level of the model: records, and the arithmetic that builder and readers share.

use crate::format::{bits_needed, load_le};
use crate::model::Segment;

/// Bytes of a record.
pub(super) const RECORD_LEN: usize = 16;

const MANTISSA_BITS: u32 = 25;
const MAX_EXPONENT: u32 = 64;
const MAX_FRACTION: u32 = 8;

/// How far a predicted record may be from the right one. A level then has at most a quarter of the records below; on 48,000
/// blocks of uniform keys 2,699 records need 33 above them and one root, of skewed keys 2,768 need 55 and 6. With a reach of
/// 1 it is 127, 17 and 4: one more step down for two fewer keys compared at each.
const UPPER_REACH: u8 = 2;

/// Records on which a search decides: those within reach of a guess but the first one.
const COMPARED: usize = 2 * UPPER_REACH as usize;

/// What `block` holds from `at` on, as whole records.
#[inline]
fn records(block: &[u8], at: usize) -> &[[u8; RECORD_LEN]] {
    block.get(at..).unwrap_or_default().as_chunks().0
}

/// A line over projections, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Projection from which on the line counts.
    pub(super) first: u64,
    /// Intercept in the low half, then the mantissa, then the exponent.
    pub(super) line: u64,
}

impl Record {
    /// The record next to `segment`, whose values must be within 0..2^32 at its start.
    pub(super) fn nearest(segment: Segment) -> Self {
        let rounded = segment.intercept.saturating_add(1 << 63) >> 64;
        let intercept = rounded.clamp(0, u32::MAX.into()) as u64;
        let bits = u128::BITS - segment.slope.leading_zeros();
        let mut shift = bits.saturating_sub(MANTISSA_BITS);
        let half = (1u128 << shift) >> 1;
        let mut mantissa = segment.slope.saturating_add(half) >> shift;
        if mantissa >> MANTISSA_BITS != 0 {
            (mantissa, shift) = (mantissa >> 1, shift + 1);
        }
        let (mantissa, exponent) = match MAX_EXPONENT.checked_sub(shift) {
            Some(exponent) => (mantissa as u64, exponent),
            // Steeper than any record: the caller finds the next demand missed.
            None => ((1 << MANTISSA_BITS) - 1, 0),
        };
        Self {
            first: segment.first,
            line: intercept | mantissa << 32 | u64::from(exponent) << (32 + MANTISSA_BITS),
        }
    }

    /// The record at byte `at`.
    fn read(block: &[u8], at: usize) -> Self {
        records(block, at).first().map(Self::of).unwrap_or_default()
    }

    #[inline]
    fn of(bytes: &[u8; RECORD_LEN]) -> Self {
        Self {
            first: load_le(bytes, 0),
            line: load_le(bytes, 8),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.first.to_le_bytes());
        out.extend(self.line.to_le_bytes());
    }

    /// Value at `first`.
    #[inline]
    pub(super) fn intercept(&self) -> u64 {
        self.line & u64::from(u32::MAX)
    }

    /// Exponent as stored, and the largest one that is valid.
    pub(super) fn exponent(&self) -> (u32, u32) {
        (self.exponent_bits(), MAX_EXPONENT)
    }

    #[inline]
    fn exponent_bits(&self) -> u32 {
        (self.line >> (32 + MANTISSA_BITS)) as u32
    }

    /// Value at `number`; numbers below `first` are treated as `first`.
    #[inline]
    pub(super) fn value(&self, number: u64) -> u64 {
        let mantissa = (self.line >> 32) & ((1 << MANTISSA_BITS) - 1);
        let run = number.saturating_sub(self.first);
        // One multiplication of 64 by 64 bits; seven bits of exponent cannot shift too far.
        let rise = (u128::from(mantissa) * u128::from(run)) >> self.exponent_bits();
        self.intercept().saturating_add(u64::try_from(rise).unwrap_or(u64::MAX))
    }
}

/// How values become positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scale {
    /// Largest position.
    pub(super) last: u32,
    /// Fractional bits of a value.
    pub(super) fraction: u8,
    /// How far a predicted position may be from the right one. Values are raised by it, so that they are not negative.
    pub(super) reach: u8,
}

impl Scale {
    /// The scale of a level that points into `positions` (1 to [`super::MAX_BLOCKS`]) blocks or records.
    pub(super) fn new(level: usize, positions: usize) -> Self {
        let bits = bits_needed(positions as u64 + 4);
        Self {
            last: positions.saturating_sub(1) as u32,
            fraction: 32u32.saturating_sub(bits).min(MAX_FRACTION) as u8,
            reach: if level == 0 { 1 } else { UPPER_REACH },
        }
    }

    /// Values that stand for `len` positions from `position` on, which is raised by the reach. A unit at either end stays
    /// free for rounding.
    pub(super) fn values(&self, position: usize, len: usize) -> (u32, u32) {
        let low = (position as u64) << self.fraction;
        let high = (position as u64 + len as u64) << self.fraction;
        ((low + 1) as u32, (high - 2) as u32)
    }

    /// Values within half of `position`, which is raised by the reach. Their middle lies a 128th above it, so that on an exact
    /// line the first key of a block, which is at the very start of it, is not rounded down into the block before.
    pub(super) fn around(&self, position: usize) -> (u32, u32) {
        let unit = 1u64 << self.fraction;
        let middle = ((position as u64) << self.fraction) + unit / 128;
        ((middle - unit / 2 + 1) as u32, (middle + unit / 2 - 2) as u32)
    }

    /// No value at the start of a record is higher.
    pub(super) fn limit(&self) -> u64 {
        (u64::from(self.last) + 1 + 2 * u64::from(self.reach)) << self.fraction
    }

    /// Position of `value`.
    #[inline]
    pub(super) fn position(&self, value: u64) -> usize {
        (value >> self.fraction)
            .saturating_sub(u64::from(self.reach))
            .min(u64::from(self.last)) as usize
    }
}

/// Where the records of a level are, and what they point into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// Byte of the first record.
    pub(super) at: u32,
    /// Number of records.
    pub(super) len: u32,
    pub(super) scale: Scale,
}

impl Level {
    #[inline]
    fn place(&self, index: usize) -> usize {
        self.at as usize + index * RECORD_LEN
    }

    /// Record `index`, which is below [`Level::len`].
    pub(super) fn record(&self, block: &[u8], index: usize) -> Record {
        Record::read(block, self.place(index))
    }

    /// Position that record `index` predicts for `number`; 0 where `block` ends before it.
    #[inline]
    pub(super) fn predict(&self, block: &[u8], index: usize, number: u64) -> usize {
        let Some((record, behind)) = records(block, self.place(index)).split_first() else {
            return 0;
        };
        let next = match behind.first() {
            Some(next) if index + 1 < self.len as usize => Record::of(next).intercept(),
            _ => u64::MAX,
        };
        self.scale.position(Record::of(record).value(number).min(next))
    }

    /// The last record that starts at or below `number`, given a `guess` within the reach of it. There are more records than
    /// [`ROOT_LEN`](super::ROOT_LEN), and so more than are compared.
    #[inline]
    pub(super) fn find(&self, block: &[u8], guess: usize, number: u64) -> usize {
        // A fixed number of comparisons, shifted to the left at the end of the level: no branch depends on the data.
        let least_end = (self.len as usize).saturating_sub(COMPARED + 1);
        let low = guess.saturating_sub(UPPER_REACH as usize).min(least_end);
        let compared = records(block, self.place(low + 1)).first_chunk::<COMPARED>();
        let begun = compared.map_or(0, |compared| {
            compared
                .iter()
                .filter(|&record| Record::of(record).first <= number)
                .count()
        });
        low + begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_01_records_keep_lines_to_a_unit() {
        for (slope, rises) in [
            (1u128 << 64, 1u64 << 20),
            (3 << 64, 1 << 20),
            (1 << 40, 1 << 40),
            (513, 1 << 60),
        ] {
            let segment = Segment {
                first: 1000,
                slope,
                intercept: 7 << 64,
            };
            let record = Record::nearest(segment);
            assert_eq!((record.first, record.intercept()), (1000, 7));
            for run in [0, 1, rises / 3, rises] {
                let exact = 7 + ((slope * u128::from(run)) >> 64) as u64;
                assert!(record.value(1000 + run).abs_diff(exact) <= 1, "{slope} {run}");
            }
            assert_eq!((record.value(0), record.value(999)), (7, 7));
        }
    }

    #[test]
    fn ln_03_values_saturate() {
        let steep = Record::nearest(Segment {
            first: 0,
            slope: u128::MAX,
            intercept: i128::MAX,
        });
        assert_eq!(steep.value(u64::MAX), u64::MAX);
        let scale = Scale::new(0, 10);
        assert_eq!((scale.position(0), scale.position(u64::MAX)), (0, 9));
        let below = Segment {
            first: 0,
            slope: 0,
            intercept: -(5 << 64),
        };
        assert_eq!(Record::nearest(below).value(9), 0);
    }

    #[test]
    fn ln_03_scales_of_the_smallest_and_the_largest_file() {
        for positions in [1, 2, 4, (1 << 24) - 4, 1 << 24, super::super::MAX_BLOCKS] {
            for level in [0, 1] {
                let scale = Scale::new(level, positions);
                assert!(
                    scale.fraction >= 2 && scale.limit() <= u32::MAX.into(),
                    "{positions} {scale:?}"
                );
                let (low, high) = scale.values(positions - 1, 1);
                assert!(low <= high && u64::from(high) < scale.limit());
            }
        }
    }
}
