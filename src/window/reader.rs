//! Opens a windowed index and predicts blocks.

use super::header::Header;
use super::level::{Level, Record};
use super::lines::Lines;
use super::{MAX_LEVELS, ROOT_LEN};
use crate::error::{Error, Result};
use crate::key::Projection;
use std::ops::Range;

/// Number of a data block within the file, from 0.
pub type Position = usize;

/// An opened windowed index: what was learned about a byte string while checking it.
///
/// The bytes are passed to each call. On others than were opened answers are meaningless, but no call reads outside of the
/// slice or panics.
#[derive(Clone, Debug)]
pub struct WindowReader {
    count: usize,
    depth: usize,
    root_len: usize,
    /// Starts of the root's records; the rest never starts.
    root: [u64; ROOT_LEN],
    levels: [Level; MAX_LEVELS],
    projection: Projection,
    offsets: Lines,
    sizes: Option<Lines>,
    gap: u8,
    data_end: u64,
}

impl WindowReader {
    /// Checks all of `block`. Nothing that the reader does afterwards can fail.
    ///
    /// What cannot be checked is whether level 0 predicts the blocks of this file: its keys are not stored. The block's
    /// checksum has to vouch for that.
    ///
    /// # Errors
    /// `Corruption` naming the field, what was expected and what was found.
    pub fn open(block: &[u8]) -> Result<Self> {
        let (header, prefix_at, lines_at) = Header::read(block)?;
        let prefix = block
            .get(prefix_at..)
            .and_then(|rest| rest.get(..header.prefix_len))
            .unwrap_or_default();

        let count = header.count;
        let offset_count = if header.sizes_stored || count == 0 {
            count
        } else {
            count + 1
        };
        let sizes_at = lines_at.saturating_add(Lines::len(offset_count));
        let size_count = if header.sizes_stored { count } else { 0 };
        let corrections_at = sizes_at.saturating_add(Lines::len(size_count));
        if corrections_at > block.len() {
            let expected = format_args!("lines of {count} blocks up to {corrections_at}").to_string();
            return Err(Error::corruption("length of the index", expected, block.len()));
        }
        let (offsets, end) = Lines::open(block, lines_at, corrections_at, offset_count)?;
        let (sizes, end) = Lines::open(block, sizes_at, end, size_count)?;
        if end != block.len() {
            return Err(Error::corruption("end of the index", end, block.len()));
        }
        let mut reader = Self {
            count,
            depth: header.depth,
            root_len: 0,
            root: [u64::MAX; ROOT_LEN],
            levels: header.levels,
            projection: Projection::new(prefix),
            offsets,
            sizes: header.sizes_stored.then_some(sizes),
            gap: header.gap,
            data_end: 0,
        };
        reader.check_handles(block)?;
        reader.check_levels(block)?;
        Ok(reader)
    }

    /// Blocks follow each other.
    fn check_handles(&mut self, block: &[u8]) -> Result<()> {
        for position in 0..self.count {
            let (offset, size) = self.handle(block, position);
            let regular = self.sizes.is_some()
                || offset
                    .checked_add(self.gap.into())
                    .is_some_and(|least| least <= self.offsets.get(block, position + 1));
            let end = offset.checked_add(size).filter(|_| regular && offset >= self.data_end);
            self.data_end = end.ok_or_else(|| {
                let expected = format_args!("block {position} behind {} and within 64 bits", self.data_end).to_string();
                Error::corruption("block handle", expected, format_args!("offset {offset} size {size}"))
            })?;
        }
        Ok(())
    }

    /// Records ascend, and each is found from the root.
    fn check_levels(&mut self, block: &[u8]) -> Result<()> {
        let levels = self.levels;
        for (height, level) in levels.iter().enumerate().take(self.depth).rev() {
            let mut previous: Option<Record> = None;
            for index in 0..level.len as usize {
                let record = level.record(block, index);
                if let Some(before) = previous.filter(|before| before.first >= record.first) {
                    let expected = format_args!("above {:#x} at {index} of level {height}", before.first).to_string();
                    return Err(Error::corruption(
                        "start of a record",
                        expected,
                        format_args!("{:#x}", record.first),
                    ));
                }
                if record.intercept() > level.scale.limit() {
                    let expected =
                        format_args!("at most {} at {index} of level {height}", level.scale.limit()).to_string();
                    return Err(Error::corruption("intercept", expected, record.intercept()));
                }
                let (exponent, most) = record.exponent();
                if exponent > most {
                    return Err(Error::corruption("exponent", format_args!("at most {most}"), exponent));
                }
                if height + 1 == self.depth {
                    if let Some(start) = self.root.get_mut(index) {
                        *start = record.first;
                    }
                    self.root_len = index + 1;
                } else {
                    self.check_route(block, height, index, record.first)?;
                }
                previous = Some(record);
            }
        }
        Ok(())
    }

    /// Keys from `first` on, and those just below, find their way down to record `index` at `height` and the one before.
    fn check_route(&self, block: &[u8], height: usize, index: usize, first: u64) -> Result<()> {
        for (number, expected) in [(Some(first), index), (first.checked_sub(1), index.saturating_sub(1))] {
            let found = number.map_or(expected, |number| self.descend(block, height, number));
            if found != expected {
                let expected = format_args!("record {expected} of level {height} for {number:x?}").to_string();
                return Err(Error::corruption("way from the root", expected, found));
            }
        }
        Ok(())
    }

    /// Number of data blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the file has no data blocks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes from the start of the file to the end of the last data block. A caller who knows the size of the file rejects
    /// an index that points beyond it.
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Heap bytes of the reader and its own size; the block is not included.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.projection.prefix().len()
    }

    /// The record at `height` that `number` belongs to.
    #[inline]
    fn descend(&self, block: &[u8], height: usize, number: u64) -> usize {
        let begun = self.root.iter().filter(|&&start| start <= number).count();
        // The unused part of the root starts at the largest number.
        let mut index = begun.min(self.root_len).saturating_sub(1);
        let below_root = self.levels.get(height..self.depth).unwrap_or_default();
        for pair in below_root.windows(2).rev() {
            if let [below, level] = pair {
                let guess = level.predict(block, index, number);
                index = below.find(block, guess, number);
            }
        }
        index
    }

    /// The predicted block p of `user_key`, any byte string: its home, the last block whose first key is at or below it (0
    /// if there is none), is within p - 1..=p + 1 but for long runs of equal projections. The guarantees in full:
    /// [`crate::window`]. 0 where there are no blocks.
    #[inline]
    pub fn predict(&self, block: &[u8], user_key: &[u8]) -> Position {
        let Some(blocks) = self.levels.first().filter(|_| self.depth > 0) else {
            return self.count.saturating_sub(1).min(1);
        };
        let number = self.projection.project(user_key);
        blocks.predict(block, self.descend(block, 0, number), number)
    }

    /// The blocks to read for a prediction: p - 1..p + 2, within the file.
    #[inline]
    pub fn window(&self, predicted: Position) -> Range<Position> {
        let end = predicted.saturating_add(2).min(self.count);
        predicted.saturating_sub(1).min(end)..end
    }

    /// Whether the model cannot tell `a` from `b`: with the first key of a block as `a` and the target as `b`, whether the
    /// target's home may lie further right, outside of the window.
    pub fn projects_equally(&self, a: &[u8], b: &[u8]) -> bool {
        self.projection.project(a) == self.projection.project(b)
    }

    /// Offset and size in bytes of the data block at `position`; zeros beyond the last block. Blocks ascend and do not
    /// overlap, so one read from the start of the window's first block to the end of its last serves them all.
    #[inline]
    pub fn handle(&self, block: &[u8], position: Position) -> (u64, u64) {
        if position >= self.count {
            return (0, 0);
        }
        let offset = self.offsets.get(block, position);
        let size = match self.sizes {
            Some(sizes) => sizes.get(block, position),
            None => (self.offsets.get(block, position + 1))
                .wrapping_sub(offset)
                .wrapping_sub(self.gap.into()),
        };
        (offset, size)
    }
}
