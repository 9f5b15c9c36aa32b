//! Offsets and sizes of blocks: a line for each 64 of them, and corrections of a few bits.

use crate::error::{Error, Result};
use crate::format::{bits_needed, load_le, packed_len, read_bits, write_bits};
use crate::model::{Interval, fit_slope};

/// Values on one line.
const LINE_VALUES: usize = 64;

/// Bytes of a line.
const LINE_LEN: usize = 16;

/// Fractional bits of a slope, and those that [`fit_slope`] has beyond.
const FRACTION: u32 = 8;
const EXTRA_FRACTION: u32 = 16 - FRACTION;

const WIDTH_BITS: u32 = 7;
const PLACE_LIMIT: u64 = 1 << (u32::BITS - WIDTH_BITS);

/// Packs values as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct LinesBuilder {
    lines: Vec<u8>,
    corrections: Vec<u8>,
    open: Vec<u64>,
    overflow: bool,
}

impl LinesBuilder {
    pub(super) fn push(&mut self, value: u64) {
        self.open.push(value);
        if self.open.len() == LINE_VALUES {
            self.close();
        }
    }

    /// Bytes when `more` values of at most 64 bits have been pushed and the last line is closed, at most.
    pub(super) fn bound(&self, more: usize) -> usize {
        let open = self.open.len() + more;
        self.lines.len() + self.corrections.len() + open.div_ceil(LINE_VALUES) * LINE_LEN + open * 8
    }

    /// Writes the line of the open values.
    pub(super) fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (base, slope, corrections) = fit(&self.open);
        let width = bits_needed(corrections.iter().fold(0, |all, value| all | value));
        // All lines but the last have 64 values, so corrections start at multiples of 8 bytes.
        let place = self.corrections.len() as u64 / 8;
        self.overflow |= place >= PLACE_LIMIT;
        self.lines.extend(base.to_le_bytes());
        self.lines.extend(slope.to_le_bytes());
        self.lines.extend(((place as u32) << WIDTH_BITS | width).to_le_bytes());
        write_bits(&mut self.corrections, corrections.iter().copied(), width);
        self.open.clear();
    }

    /// Lines and corrections, once closed; `None` where corrections take 256 MiB or more.
    pub(super) fn parts(&self) -> Option<(&[u8], &[u8])> {
        (!self.overflow).then_some((&self.lines, &self.corrections))
    }
}

/// Base, slope in 1/256 and corrections of up to 64 values.
fn fit(values: &[u64]) -> (u64, u32, Vec<u64>) {
    let steepest = || {
        let exact = |&value: &u64| Interval {
            low: value,
            high: Some(value),
        };
        let slope = fit_slope(&values.iter().map(exact).collect::<Vec<_>>());
        u32::try_from((slope + (1 << EXTRA_FRACTION) / 2) >> EXTRA_FRACTION).unwrap_or(u32::MAX)
    };
    let with = |slope: u32| {
        let above = |(index, &value): (usize, &u64)| i128::from(value) - i128::from(line_at(slope, index));
        let base = values.iter().enumerate().map(above).min().unwrap_or(0);
        let corrections = values
            .iter()
            .enumerate()
            .map(|value| u64::try_from(above(value) - base).ok());
        Some((base as u64, slope, corrections.collect::<Option<Vec<_>>>()?))
    };
    let sloped = values.is_sorted().then(steepest).and_then(with);
    sloped.or_else(|| with(0)).unwrap_or_default()
}

#[inline]
fn line_at(slope: u32, index: usize) -> u64 {
    (u64::from(slope) * index as u64) >> FRACTION
}

/// Where packed values are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    at: usize,
    corrections_at: usize,
}

impl Lines {
    /// Bytes that the lines of `count` values take, without corrections.
    pub(super) fn len(count: usize) -> usize {
        count.div_ceil(LINE_VALUES) * LINE_LEN
    }

    /// Lines of `count` values at `at` with corrections at `corrections_at`, and the byte behind the corrections.
    ///
    /// # Errors
    /// `Corruption` for lines whose corrections do not follow each other or end behind the block.
    pub(super) fn open(block: &[u8], at: usize, corrections_at: usize, count: usize) -> Result<(Self, usize)> {
        let lines = Self { at, corrections_at };
        let mut end = 0usize;
        for first in (0..count).step_by(LINE_VALUES) {
            let (width, place) = lines.place(block, first);
            if width > u64::BITS {
                return Err(Error::corruption("bits of a correction", "at most 64", width));
            }
            if place != end {
                return Err(Error::corruption("place of corrections", end, place));
            }
            end += packed_len((count - first).min(LINE_VALUES), width);
            if corrections_at + end > block.len() {
                let expected = format_args!("at most {} bytes", block.len()).to_string();
                return Err(Error::corruption("corrections", expected, corrections_at + end));
            }
        }
        Ok((lines, corrections_at + end))
    }

    #[inline]
    fn line(&self, index: usize) -> usize {
        self.at.saturating_add(index / LINE_VALUES * LINE_LEN)
    }

    /// Bits of a correction, and the byte where those of the line of value `index` start.
    #[inline]
    fn place(&self, block: &[u8], index: usize) -> (u32, usize) {
        let place = (load_le(block, self.line(index).saturating_add(8)) >> 32) as u32;
        (place & ((1 << WIDTH_BITS) - 1), (place >> WIDTH_BITS) as usize * 8)
    }

    /// Value `index`, which is below the count that was opened.
    #[inline]
    pub(super) fn get(&self, block: &[u8], index: usize) -> u64 {
        let line = self.line(index);
        let (base, slope) = (load_le(block, line), load_le(block, line.saturating_add(8)) as u32);
        let (width, place) = self.place(block, index);
        let within = index % LINE_VALUES;
        let corrections = self.corrections_at.saturating_add(place);
        base.wrapping_add(line_at(slope, within)).wrapping_add(read_bits(
            block,
            corrections,
            within,
            width.min(u64::BITS),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(values: &[u64]) -> usize {
        let mut builder = LinesBuilder::default();
        for (index, &value) in values.iter().enumerate() {
            let bound = builder.bound(1);
            builder.push(value);
            let mut closed = builder.clone();
            closed.close();
            let (lines, corrections) = closed.parts().expect("small");
            assert!(lines.len() + corrections.len() <= bound, "{index}");
        }
        builder.close();
        let (lines, corrections) = builder.parts().expect("small");
        assert_eq!(lines.len(), Lines::len(values.len()));
        let block = [lines, corrections].concat();
        let (opened, end) = Lines::open(&block, 0, lines.len(), values.len()).expect("valid");
        assert_eq!(end, block.len());
        for (index, &value) in values.iter().enumerate() {
            assert_eq!(opened.get(&block, index), value, "{index} of {values:?}");
        }
        block.len()
    }

    #[test]
    fn values_of_every_shape_come_back() {
        round_trip(&[]);
        round_trip(&[u64::MAX]);
        round_trip(&[0, u64::MAX]);
        round_trip(&[u64::MAX, 0]);
        round_trip(&[[0; 63].as_slice(), &[u64::MAX; 2]].concat());
        round_trip(&(0..200).map(|i| i << 50).collect::<Vec<u64>>());
        round_trip(
            &(0..200u64)
                .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect::<Vec<_>>(),
        );
        for len in 0..200 {
            round_trip(&(0..len).map(|i| 7 + i * 4101 + i * i % 97).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn even_values_need_their_lines_only() {
        assert_eq!(round_trip(&(0..640).map(|i| 9 + i * 4101).collect::<Vec<u64>>()), 160);
    }
}
