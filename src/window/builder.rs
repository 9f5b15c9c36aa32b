//! Collects the first keys of blocks, as far as their projection needs them, and writes the index.

use super::cover::{block_demands, cover, record_demands};
use super::header::{FIXED_LEN, Header};
use super::level::{Level, RECORD_LEN, Record, Scale};
use super::lines::LinesBuilder;
use super::{MAX_BLOCKS, MAX_LEVELS, ROOT_LEN, WINDOW};
use crate::error::{Error, Result};
use crate::key::{common_prefix_len, load_be};

/// What building found out about the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowStats {
    /// Data blocks.
    pub blocks: usize,
    /// Blocks whose first key projects as that of the block before does.
    pub equal: usize,
    /// Blocks of the longest run of equal projections. Lookups may have to leave the window where this exceeds two.
    pub longest_run: usize,
    /// Records of each level, from the blocks up to the root.
    pub records: Vec<usize>,
}

/// The first key of a block. The projection of all keys skips what the first and the last one share, which is not known
/// before the end but never more than what the first and this one share; eight bytes behind that are enough.
#[derive(Clone, Copy, Debug)]
struct FirstKey {
    /// Bytes in common with the first key of the file.
    shared: usize,
    /// The eight bytes behind them.
    rest: u64,
}

/// Builds the windowed index of one file. Takes 32 bytes a block beyond the finished bytes, however long keys are.
#[derive(Debug, Default)]
pub struct WindowBuilder {
    first: Vec<u8>,
    previous: Vec<u8>,
    keys: Vec<FirstKey>,
    offsets: LinesBuilder,
    sizes: LinesBuilder,
    gap: Option<u8>,
    /// Whether all blocks so far follow each other at the distance of `gap`.
    irregular: bool,
    last_end: u64,
    /// The first error of `add`: RocksDB's builder interface has no status there.
    error: Option<Error>,
    stats: WindowStats,
    out: Option<Vec<u8>>,
}

impl WindowBuilder {
    /// A builder without blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a data block, in file order. `first_key` is its first user key; it may equal that of the block before, where
    /// versions of one key span blocks. Errors are kept for [`WindowBuilder::finish`].
    pub fn add(&mut self, first_key: &[u8], offset: u64, size: u64) {
        let index = self.keys.len();
        if self.out.is_some() {
            self.fail("a block was added after finish".into());
        }
        if index == MAX_BLOCKS {
            self.fail(format!("the file has more than {MAX_BLOCKS} blocks"));
        }
        if index > 0 && first_key < self.previous.as_slice() {
            self.fail(format!(
                "keys must not descend: the first key of block {index} is below that of the block before"
            ));
        }
        let Some(end) = offset.checked_add(size) else {
            return self.fail(format!(
                "offset {offset} and size {size} of block {index} exceed 64 bits"
            ));
        };
        let Some(gap) = offset.checked_sub(self.last_end) else {
            return self.fail(format!(
                "block {index} starts at {offset}, before the end of the block before at {}",
                self.last_end
            ));
        };
        if self.error.is_some() {
            return;
        }
        if index == 0 {
            self.first.extend_from_slice(first_key);
        } else {
            let gap = u8::try_from(gap).ok();
            self.irregular |= gap.is_none() || *self.gap.get_or_insert(gap.unwrap_or(0)) != gap.unwrap_or(0);
        }
        self.previous.clear();
        self.previous.extend_from_slice(first_key);
        let shared = common_prefix_len(&self.first, first_key);
        self.keys.push(FirstKey {
            shared,
            rest: load_be(first_key, shared),
        });
        self.offsets.push(offset);
        self.sizes.push(size);
        self.last_end = end;
    }

    fn fail(&mut self, message: String) {
        self.error.get_or_insert(Error::InvalidArgument(message));
    }

    /// Number of blocks added.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no block was added.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// An upper bound of the bytes that [`WindowBuilder::finish`] will return for the blocks added so far. Constant time.
    pub fn estimated_size(&self) -> u64 {
        if let Some(out) = &self.out {
            return out.len() as u64;
        }
        // A record serves two demands at least, and there are no more demands than blocks; each level above has a quarter.
        let records = self.keys.len().div_ceil(2) + self.keys.len().div_ceil(6) + MAX_LEVELS;
        let model = match self.keys.len() > WINDOW {
            true => 4 * MAX_LEVELS + self.keys.last().map_or(0, |key| key.shared) + records * RECORD_LEN,
            false => 0,
        };
        // The end of the last block may not fit in 64 bits together with the gap: then sizes are stored.
        let sizes = match self.irregular || self.last_end > u64::MAX - u64::from(u8::MAX) {
            true => self.sizes.bound(0),
            false => 0,
        };
        (FIXED_LEN + model + self.offsets.bound(1) + sizes) as u64
    }

    /// What the keys were like; empty before [`WindowBuilder::finish`].
    pub fn stats(&self) -> &WindowStats {
        &self.stats
    }

    /// The index. It may have no blocks at all. Calling it again returns the same bytes.
    ///
    /// # Errors
    /// `InvalidArgument` for the first misuse of `add`: keys out of order, blocks that overlap or end beyond 64 bits, more
    /// than 2^29 of them.
    pub fn finish(&mut self) -> Result<&[u8]> {
        if self.error.is_none() && self.out.is_none() {
            match self.write() {
                Ok(out) => self.out = Some(out),
                Err(error) => self.error = Some(error),
            }
        }
        match (&self.error, &self.out) {
            (None, Some(out)) => Ok(out),
            (Some(error), _) => Err(error.clone()),
            (None, None) => Ok(&[]),
        }
    }

    fn write(&mut self) -> Result<Vec<u8>> {
        let gap = self.gap.unwrap_or(0);
        let end = self.last_end.checked_add(gap.into()).filter(|_| !self.irregular);
        if let Some(end) = end.filter(|_| !self.is_empty()) {
            self.offsets.push(end);
        }
        let sizes_stored = end.is_none();
        self.offsets.close();
        self.sizes.close();

        let prefix_len = self.keys.last().map_or(0, |key| key.shared);
        let numbers: Vec<u64> = self.keys.iter().map(|key| self.project(key, prefix_len)).collect();
        let levels = levels(&numbers);
        self.note(&numbers, &levels);

        let mut header = Header {
            sizes_stored,
            gap: if sizes_stored { 0 } else { gap },
            count: numbers.len(),
            prefix_len: if levels.is_empty() { 0 } else { prefix_len },
            depth: levels.len(),
            levels: [Level::default(); MAX_LEVELS],
        };
        for (level, records) in header.levels.iter_mut().zip(&levels) {
            level.len = records.len() as u32;
        }
        let mut out = Vec::new();
        header.write(&mut out);
        out.extend(self.first.get(..header.prefix_len).unwrap_or_default());
        for record in levels.iter().flatten() {
            record.write(&mut out);
        }
        let parts = [Some(&self.offsets), sizes_stored.then_some(&self.sizes)];
        let too_large = || Error::InvalidArgument("the handles of the blocks take 256 MiB or more".into());
        let mut corrections = Vec::new();
        for part in parts.into_iter().flatten() {
            let (lines, behind) = part.parts().ok_or_else(too_large)?;
            out.extend(lines);
            corrections.push(behind);
        }
        out.extend(corrections.into_iter().flatten());
        if levels.len() > MAX_LEVELS || u32::try_from(out.len()).is_err() {
            return Err(Error::InvalidArgument(format!(
                "the index has {} levels and {} bytes",
                levels.len(),
                out.len()
            )));
        }
        Ok(out)
    }

    /// The eight bytes of `key` behind the first `skip`, which are shared by all keys.
    fn project(&self, key: &FirstKey, skip: usize) -> u64 {
        let known = key.shared.saturating_sub(skip);
        if known >= 8 {
            return load_be(&self.first, skip);
        }
        let bits = 8 * known as u32;
        let head = load_be(&self.first, skip) & !u64::MAX.checked_shr(bits).unwrap_or(0);
        head | key.rest >> bits
    }

    fn note(&mut self, numbers: &[u64], levels: &[Vec<Record>]) {
        let runs = || numbers.chunk_by(|a, b| a == b).map(<[u64]>::len);
        self.stats = WindowStats {
            blocks: numbers.len(),
            equal: runs().map(|run| run - 1).sum(),
            longest_run: runs().max().unwrap_or(0),
            records: levels.iter().map(Vec::len).collect(),
        };
    }
}

/// Records of all levels over the projected first keys.
fn levels(numbers: &[u64]) -> Vec<Vec<Record>> {
    let mut levels = Vec::new();
    if numbers.len() <= WINDOW {
        return levels;
    }
    let mut records = cover(&block_demands(numbers, Scale::new(0, numbers.len())));
    while records.len() > ROOT_LEN {
        let scale = Scale::new(levels.len() + 1, records.len());
        let above = cover(&record_demands(records.iter().map(|record| record.first), scale));
        levels.push(std::mem::replace(&mut records, above));
    }
    levels.push(records);
    levels
}
