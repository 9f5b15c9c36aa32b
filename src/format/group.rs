//! Reads one group in place.

use super::bits::{load_le, load_len, low_mask, packed_len, read_bits};
use super::{GROUP_LEN, MAX_CORRECTION_BITS, SLOPE_FRACTION};
use crate::error::{Error, Result};
use crate::key::load_be;
use std::cmp::Ordering;

/// Where the parts of one group are, and the parameters of its lines.
///
/// Parsing is a handful of loads from the start of the group and cannot fail: on bytes that are not a group it yields
/// wrong answers, never an access outside the slice. [`Group::check`] says whether the bytes are a group.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    at: usize,
    len: usize,
    gap: u8,
    prefix_at: usize,
    prefix_len: usize,
    width: u32,
    shift: u32,
    correction_bits: u32,
    slope: u64,
    base: u64,
    offset_bits: u32,
    offset_base: u64,
    offset_slope: u64,
    size_base: u64,
    size_bits: u32,
    sizes_stored: bool,
    exceptions: u64,
    tagged: u64,
    end_bits: u32,
    corrections_at: usize,
    offsets_at: usize,
    sizes_at: usize,
    ends_at: usize,
    tags_at: usize,
    tails_at: usize,
}

impl Group {
    /// The group of `len` boundaries (1 to [`GROUP_LEN`]) at byte `at`.
    #[inline]
    pub fn parse(block: &[u8], at: usize, len: usize, gap: u8) -> Self {
        let len = len.clamp(1, GROUP_LEN);
        let descriptor = load_le(block, at);
        let field = |at: u32, bits: u32| (descriptor >> at) as u32 & ((1 << bits) - 1);
        let (slope_len, base_len) = (field(32, 3), field(35, 4).min(8));
        let (offset_base_len, offset_slope_len) = (field(46, 4).min(8), field(50, 4).min(8));
        let (correction_bits, offset_bits, end_bits) = (field(26, 6), field(39, 7).min(64), field(58, 6));
        let (sizes_stored, some, all, tags) = (
            field(54, 1) != 0,
            field(55, 1) != 0,
            field(56, 1) != 0,
            field(57, 1) != 0,
        );

        let prefix_at = at.saturating_add(8);
        let prefix_len = field(0, 16) as usize;
        let mut next = prefix_at.saturating_add(prefix_len);
        let mut number = |len: u32| {
            let value = load_len(block, next, len);
            next = next.saturating_add(len as usize);
            value
        };
        let (slope, base, offset_base, offset_slope) = (
            number(slope_len),
            number(base_len),
            number(offset_base_len),
            number(offset_slope_len),
        );
        let (size_base, size_bits) = if sizes_stored {
            (number(8), number(1) as u32 & 0x7f)
        } else {
            (0, 0)
        };
        let members = low_mask(len as u32);
        let exceptions = match (all, some) {
            (true, _) => members,
            (false, true) => number(8) & members,
            (false, false) => 0,
        };
        let tagged = if tags {
            number(8) & low_mask(exceptions.count_ones())
        } else {
            0
        };
        let tails = exceptions.count_ones() as usize;

        let corrections_at = next;
        let offsets_at = corrections_at.saturating_add(packed_len(if tails < len { len } else { 0 }, correction_bits));
        let sizes_at = offsets_at.saturating_add(packed_len(len + usize::from(!sizes_stored), offset_bits));
        let ends_at = sizes_at.saturating_add(packed_len(if sizes_stored { len } else { 0 }, size_bits));
        let tags_at = ends_at.saturating_add(packed_len(tails, end_bits));
        let tails_at = tags_at.saturating_add(8 * tagged.count_ones() as usize);
        Self {
            at,
            len,
            gap,
            prefix_at,
            prefix_len,
            width: field(16, 4).min(8),
            shift: field(20, 6),
            correction_bits,
            slope,
            base,
            offset_bits,
            offset_base,
            offset_slope,
            size_base,
            size_bits: size_bits.min(64),
            sizes_stored,
            exceptions,
            tagged,
            end_bits,
            corrections_at,
            offsets_at,
            sizes_at,
            ends_at,
            tags_at,
            tails_at,
        }
    }

    /// A group of one boundary whose separator is `prefix_len` bytes at `prefix_at`.
    #[inline]
    pub(super) fn lone(prefix_at: usize, prefix_len: usize, offset: u64, size: u64) -> Self {
        let empty = Self::parse(&[], 0, 1, 0);
        Self {
            prefix_at,
            prefix_len,
            offset_base: offset,
            sizes_stored: true,
            size_base: size,
            ..empty
        }
    }

    /// Checks that `block` holds this group whole, and returns the position behind it.
    ///
    /// # Errors
    /// `Corruption` naming the field. The order of separators is for the caller to check, who knows the neighbours.
    pub fn check(&self, block: &[u8]) -> Result<usize> {
        let descriptor = load_le(block, self.at);
        let field = |at: u32, bits: u32| (descriptor >> at) as u32 & ((1 << bits) - 1);
        let at_most = |what, value: u32, limit: u32| match value > limit {
            true => Err(Error::corruption(what, format_args!("at most {limit}"), value)),
            false => Ok(()),
        };
        at_most("bytes of a number", field(16, 4), 8)?;
        at_most("shift of numbers", self.shift, (self.width * 8).saturating_sub(1))?;
        at_most("bits of a correction", self.correction_bits, MAX_CORRECTION_BITS)?;
        at_most("bytes of the base", field(35, 4), 8)?;
        at_most("bits of an offset correction", field(39, 7), 64)?;
        at_most("bytes of the offset base", field(46, 4), 8)?;
        at_most("bytes of the offset slope", field(50, 4), 7)?;
        at_most("exception flags", field(55, 2), 2)?;
        if self.sizes_stored {
            let size_bits_at = self
                .corrections_at
                .saturating_sub(1 + 8 * (field(55, 1) as usize) + 8 * (field(57, 1) as usize));
            at_most(
                "bits of a size",
                u32::from(block.get(size_bits_at).copied().unwrap_or(0)),
                64,
            )?;
        }
        let members = low_mask(self.len as u32);
        if field(55, 1) != 0 {
            let stored = load_le(block, self.corrections_at.saturating_sub(8 + 8 * field(57, 1) as usize));
            if stored == 0 || stored & members == members || stored & !members != 0 {
                let expected = format_args!("some but not all of {} boundaries", self.len).to_string();
                return Err(Error::corruption("exceptions", expected, format_args!("{stored:#x}")));
            }
        }
        if field(57, 1) != 0 {
            let stored = load_le(block, self.corrections_at.saturating_sub(8));
            if stored == 0 || stored != self.tagged {
                let expected = format_args!("some of {} exceptions", self.exceptions.count_ones()).to_string();
                return Err(Error::corruption(
                    "tagged exceptions",
                    expected,
                    format_args!("{stored:#x}"),
                ));
            }
        }
        let fits = |end: u64| match end > block.len() as u64 {
            true => Err(Error::corruption(
                "group length",
                format_args!("at most {} bytes", block.len()),
                end,
            )),
            false => Ok(()),
        };
        fits(self.tails_at as u64)?;
        let mut end = 0;
        for index in 0..self.exceptions.count_ones() as usize {
            let next = read_bits(block, self.ends_at, index, self.end_bits);
            if next < end {
                return Err(Error::corruption("exception end", format_args!("at least {end}"), next));
            }
            end = next;
        }
        let group_end = (self.tails_at as u64).saturating_add(end);
        fits(group_end)?;
        let too_large = |offset: u64, size: u64| {
            Err(Error::corruption(
                "block handle",
                "offset + size within 64 bits",
                format_args!("{offset} + {size}"),
            ))
        };
        for index in 0..self.len {
            let (offset, size) = self.handle(block, index);
            if offset.checked_add(size).is_none() {
                return too_large(offset, size);
            }
            if !self.sizes_stored {
                let end = self.offset(block, index + 1);
                if offset.checked_add(u64::from(self.gap)).is_none_or(|least| least > end) {
                    let expected = format_args!("at least {offset} + {}", self.gap).to_string();
                    return Err(Error::corruption("end of a block", expected, end));
                }
            } else if self.size_base.checked_add(self.size_correction(block, index)).is_none() {
                return too_large(self.size_base, self.size_correction(block, index));
            }
        }
        Ok(group_end as usize)
    }

    /// Checks the number of boundary `index` against its predecessor's and, for an exception, against its separator: one
    /// search over all numbers relies on both.
    ///
    /// # Errors
    /// `Corruption`.
    pub fn check_number(&self, block: &[u8], index: usize) -> Result<()> {
        if self.exceptions() == self.len {
            return Ok(());
        }
        let number = self.steps(block, index);
        if let Some(before) = index.checked_sub(1).map(|before| self.steps(block, before))
            && before > number
        {
            return Err(Error::corruption(
                "numbers of a group",
                format_args!("at least {before}"),
                number,
            ));
        }
        let tail = self.exception(index).map(|exception| self.tail(block, exception));
        if let Some(least) = tail.map(|tail| self.target(tail))
            && least.is_none_or(|least| least > number)
        {
            return Err(Error::corruption(
                "number of an exception",
                format_args!("at least {least:?}"),
                number,
            ));
        }
        Ok(())
    }

    /// Number of boundaries.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false: a group has at least one boundary.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How many boundaries are stored as bytes.
    pub fn exceptions(&self) -> usize {
        self.exceptions.count_ones() as usize
    }

    #[inline]
    fn prefix<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        block
            .get(self.prefix_at..)
            .and_then(|rest| rest.get(..self.prefix_len))
            .unwrap_or_default()
    }

    /// The number of boundary `index`, in steps of `2^shift`.
    #[inline]
    fn steps(&self, block: &[u8], index: usize) -> u64 {
        let correction = read_bits(block, self.corrections_at, index, self.correction_bits);
        let line = self
            .base
            .wrapping_add(self.slope.wrapping_mul(index as u64) >> SLOPE_FRACTION);
        line.wrapping_add(correction) & self.steps_mask()
    }

    #[inline]
    fn steps_mask(&self) -> u64 {
        low_mask(self.width * 8) >> self.shift
    }

    /// The smallest number, in steps, whose separator is at or above `prefix + rest`; `None` beyond 64 bits.
    #[inline]
    fn target(&self, rest: &[u8]) -> Option<u64> {
        // A number is a string of exactly `width` bytes. A longer target with the same first bytes is above it, a shorter
        // one that is its prefix below it, which padding the target with zero bytes preserves.
        let number = load_be(rest, 0).checked_shr(64 - self.width * 8).unwrap_or(0);
        let round_up = rest.len() > self.width as usize || number & low_mask(self.shift) != 0;
        (number >> self.shift).checked_add(round_up.into())
    }

    /// First boundary whose number is at or above `prefix + rest`, or [`Group::len`].
    #[inline]
    fn lower_number(&self, block: &[u8], rest: &[u8]) -> usize {
        let Some(target) = self.target(rest) else {
            return self.len;
        };
        let reached = |index: usize| self.steps(block, index) >= target;

        let ahead = target.wrapping_sub(self.base) & self.steps_mask();
        // The base may lie below zero, stored modulo the range: distances in the upper half are negative.
        let ahead = if ahead > self.steps_mask() / 2 { 0 } else { ahead };
        let ahead = ahead.saturating_sub(low_mask(self.correction_bits) / 2);
        // Only a guess, so floating point is safe here; an integer division takes up to 90 cycles.
        let guess = ahead as f64 / self.slope.max(1) as f64 * f64::from(1 << SLOPE_FRACTION);
        let mut index = (guess as usize).min(self.len - 1);
        // The guess is off by the correction over the slope, mostly 0 or 1; galloping bounds the rest.
        let mut stride = 1;
        let (mut low, mut high) = (0, self.len);
        if reached(index) {
            high = index;
            while high > 0 {
                index = high.saturating_sub(stride);
                if !reached(index) {
                    low = index + 1;
                    break;
                }
                high = index;
                stride *= 2;
            }
        } else {
            low = index + 1;
            while low < self.len {
                index = (low + stride - 1).min(self.len - 1);
                if reached(index) {
                    high = index;
                    break;
                }
                low = index + 1;
                stride *= 2;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if reached(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        low
    }

    #[inline]
    fn tail<'a>(&self, block: &'a [u8], index: usize) -> &'a [u8] {
        let end = |index| read_bits(block, self.ends_at, index, self.end_bits) as usize;
        let start = index.checked_sub(1).map_or(0, end);
        block
            .get(self.tails_at..)
            .and_then(|tails| tails.get(start..end(index)))
            .unwrap_or_default()
    }

    #[inline]
    fn tail_tag(&self, block: &[u8], index: usize) -> u64 {
        if (self.tagged >> (index % 64)) & 1 == 0 {
            return 0;
        }
        let rank = (self.tagged & low_mask(index as u32)).count_ones() as usize;
        load_le(block, self.tags_at.saturating_add(8 * rank))
    }

    /// First exception in `range` at or above `prefix + rest` with `tag`; the end of `range` if there is none.
    fn lower_tail(&self, block: &[u8], rest: &[u8], tag: u64, range: std::ops::Range<usize>) -> usize {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            let reached = match self.tail(block, middle).cmp(rest) {
                Ordering::Less => false,
                Ordering::Equal => self.tail_tag(block, middle) <= tag,
                Ordering::Greater => true,
            };
            if reached { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// First boundary at or above `(target, tag)`, or [`Group::len`].
    #[inline]
    pub fn seek(&self, block: &[u8], target: &[u8], tag: u64) -> usize {
        let prefix = self.prefix(block);
        let Some(rest) = target.strip_prefix(prefix) else {
            return if target < prefix { 0 } else { self.len };
        };
        let exceptions = self.exceptions;
        if exceptions.count_ones() as usize == self.len {
            return self.lower_tail(block, rest, tag, 0..self.len);
        }
        let index = self.lower_number(block, rest);
        let from_index = exceptions.checked_shr(index as u32).unwrap_or(0);
        if from_index & 1 == 0 {
            return index;
        }
        // The number of an exception is an upper bound of its separator: the answer is in this run of exceptions, or it
        // is the boundary behind the run.
        let before = (exceptions & low_mask(index as u32)).count_ones() as usize;
        let run = from_index.trailing_ones() as usize;
        self.lower_tail(block, rest, tag, before..before + run) - before + index
    }

    /// Number of boundary `index` among the exceptions, if it is one.
    #[inline]
    fn exception(&self, index: usize) -> Option<usize> {
        let is_one = self.exceptions.checked_shr(index as u32).unwrap_or(0) & 1 != 0;
        is_one.then(|| (self.exceptions & low_mask(index as u32)).count_ones() as usize)
    }

    /// Writes the separator of boundary `index` over `out`.
    #[inline]
    pub fn separator(&self, block: &[u8], index: usize, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.prefix(block));
        match self.exception(index) {
            Some(exception) => out.extend_from_slice(self.tail(block, exception)),
            None => {
                let number = self.steps(block, index) << self.shift;
                let bytes = number.checked_shl(64 - self.width * 8).unwrap_or(0).to_be_bytes();
                out.extend_from_slice(bytes.get(..self.width as usize).unwrap_or_default());
            }
        }
    }

    /// The separator of boundary `index` where the block holds it in one piece: exceptions of a group without prefix.
    #[inline]
    pub fn stored_separator<'a>(&self, block: &'a [u8], index: usize) -> Option<&'a [u8]> {
        match self.exception(index) {
            Some(exception) if self.prefix_len == 0 => Some(self.tail(block, exception)),
            _ => None,
        }
    }

    /// Tag of boundary `index`; 0, the lowest, where none is stored.
    #[inline]
    pub fn tag(&self, block: &[u8], index: usize) -> u64 {
        self.exception(index)
            .map_or(0, |exception| self.tail_tag(block, exception))
    }

    #[inline]
    fn offset(&self, block: &[u8], index: usize) -> u64 {
        let line = self
            .offset_base
            .wrapping_add(self.offset_slope.wrapping_mul(index as u64) >> SLOPE_FRACTION);
        line.wrapping_add(read_bits(block, self.offsets_at, index, self.offset_bits))
    }

    #[inline]
    fn size_correction(&self, block: &[u8], index: usize) -> u64 {
        read_bits(block, self.sizes_at, index, self.size_bits)
    }

    /// Offset and size of the data block of boundary `index`.
    #[inline]
    pub fn handle(&self, block: &[u8], index: usize) -> (u64, u64) {
        let offset = self.offset(block, index);
        let size = match self.sizes_stored {
            true => self.size_base.wrapping_add(self.size_correction(block, index)),
            false => self
                .offset(block, index + 1)
                .wrapping_sub(offset)
                .wrapping_sub(self.gap.into()),
        };
        (offset, size)
    }
}
