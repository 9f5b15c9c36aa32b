//! Writes one group.

use super::bits::{bits_needed, bytes_needed, write_bits, write_len};
use super::{GROUP_LEN, MAX_CORRECTION_BITS, SLOPE_LIMIT};

/// Separators stored as numbers on a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Bytes of a number, 0 to 8.
    pub width: u32,
    /// Low bits of every number that are zero.
    pub shift: u32,
    /// Steps of `2^shift` per boundary, in 1/256; below [`SLOPE_LIMIT`].
    pub slope: u64,
    /// Value at boundary 0, in steps of `2^shift`, modulo the range of numbers.
    pub base: u64,
    /// What remains above the line, in steps, per boundary; at most [`MAX_CORRECTION_BITS`] bits each. Empty where all
    /// boundaries are exceptions. With exceptions among them, numbers still do not decrease, and that of an exception is
    /// at least its separator.
    pub corrections: Vec<u64>,
}

/// Where the blocks are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// Offset on the line at boundary 0.
    pub base: u64,
    /// Bytes per boundary, in 1/256; below [`SLOPE_LIMIT`].
    pub slope: u64,
    /// What remains above the line: one per boundary, and one for the end of the group unless there are `sizes`.
    pub corrections: Vec<u64>,
    /// Sizes of the blocks, where they do not follow from the offsets.
    pub sizes: Option<Vec<u64>>,
}

/// A separator stored as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// What follows the prefix of the group.
    pub bytes: Vec<u8>,
    /// Tag of the last key of the block, where the next block starts with the same user key.
    pub tag: Option<u64>,
}

/// Everything a group stores, before it is bytes. Boundary i is an exception where bit i of `exceptions` is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupParts<'a> {
    /// Bytes that every separator starts with, at most 65,535.
    pub prefix: &'a [u8],
    /// Number of boundaries, 1 to [`GROUP_LEN`].
    pub len: usize,
    /// Numbers that stand for the separators of the boundaries that are no exceptions.
    pub numbers: Numbers,
    /// The blocks of all boundaries.
    pub offsets: Offsets,
    /// Which boundaries are in `tails`.
    pub exceptions: u64,
    /// The exceptions in order.
    pub tails: Vec<Tail>,
}

impl GroupParts<'_> {
    /// Appends the group to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Numbers {
            width,
            shift,
            slope,
            base,
            corrections,
        } = &self.numbers;
        let correction_bits = widest(corrections);
        let offset_bits = widest(&self.offsets.corrections);
        let tail_len: usize = self.tails.iter().map(|tail| tail.bytes.len()).sum();
        let end_bits = bits_needed(tail_len as u64);
        let all = self.tails.len() == self.len;
        let some = !all && !self.tails.is_empty();
        let tagged = (self.tails.iter().enumerate()).fold(0u64, |tagged, (index, tail)| {
            tagged | u64::from(tail.tag.is_some()) << index
        });
        debug_assert!(self.len <= GROUP_LEN && self.prefix.len() <= usize::from(u16::MAX));
        debug_assert!(corrections.len() == if all { 0 } else { self.len });
        debug_assert!(self.tails.len() == self.exceptions.count_ones() as usize);
        debug_assert!(
            correction_bits <= MAX_CORRECTION_BITS && *slope < SLOPE_LIMIT && self.offsets.slope < SLOPE_LIMIT
        );

        let mut descriptor = 0u64;
        let mut at = 0;
        let mut field = |value: u32, bits: u32| {
            debug_assert!(u64::from(value) < 1 << bits);
            descriptor |= u64::from(value) << at;
            at += bits;
        };
        field(self.prefix.len() as u32, 16);
        field(*width, 4);
        field(*shift, 6);
        field(correction_bits, 6);
        field(bytes_needed(*slope), 3);
        field(bytes_needed(*base), 4);
        field(offset_bits, 7);
        field(bytes_needed(self.offsets.base), 4);
        field(bytes_needed(self.offsets.slope), 4);
        field(self.offsets.sizes.is_some().into(), 1);
        field(some.into(), 1);
        field(all.into(), 1);
        field((tagged != 0).into(), 1);
        field(end_bits, 6);

        write_len(out, descriptor, 8);
        out.extend(self.prefix);
        for value in [*slope, *base, self.offsets.base, self.offsets.slope] {
            write_len(out, value, bytes_needed(value));
        }
        let sizes = self.offsets.sizes.as_deref().unwrap_or_default();
        let size_base = sizes.iter().copied().min().unwrap_or(0);
        let size_bits = sizes
            .iter()
            .map(|size| bits_needed(size - size_base))
            .max()
            .unwrap_or(0);
        if self.offsets.sizes.is_some() {
            write_len(out, size_base, 8);
            write_len(out, u64::from(size_bits), 1);
        }
        if some {
            write_len(out, self.exceptions, 8);
        }
        if tagged != 0 {
            write_len(out, tagged, 8);
        }
        write_bits(out, corrections.iter().copied(), correction_bits);
        write_bits(out, self.offsets.corrections.iter().copied(), offset_bits);
        write_bits(out, sizes.iter().map(|size| size - size_base), size_bits);
        let ends = self.tails.iter().scan(0u64, |end, tail| {
            *end += tail.bytes.len() as u64;
            Some(*end)
        });
        write_bits(out, ends, end_bits);
        for tag in self.tails.iter().filter_map(|tail| tail.tag) {
            write_len(out, tag, 8);
        }
        for tail in &self.tails {
            out.extend(&tail.bytes);
        }
    }
}

fn widest(values: &[u64]) -> u32 {
    bits_needed(values.iter().fold(0, |all, value| all | value))
}
