//! The header: counts from which the places of all parts follow.

use super::level::{Level, RECORD_LEN, Scale};
use super::{MAGIC, MAX_BLOCKS, MAX_LEVELS, ROOT_LEN, VERSION, WINDOW};
use crate::error::{Error, Result};
use crate::format::load_le;

/// Bytes before the numbers of records.
pub(super) const FIXED_LEN: usize = 16;

const FLAG_SIZES: u8 = 1;

/// Counts of the whole index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    pub(super) sizes_stored: bool,
    pub(super) gap: u8,
    pub(super) count: usize,
    pub(super) prefix_len: usize,
    /// Number of levels in use.
    pub(super) depth: usize,
    /// From the blocks up to the root; the rest is empty.
    pub(super) levels: [Level; MAX_LEVELS],
}

impl Header {
    /// Appends the header to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        out.extend([
            VERSION,
            if self.sizes_stored { FLAG_SIZES } else { 0 },
            self.gap,
            self.depth as u8,
        ]);
        out.extend((self.count as u32).to_le_bytes());
        out.extend((self.prefix_len as u32).to_le_bytes());
        for level in self.levels.iter().take(self.depth) {
            out.extend(level.len.to_le_bytes());
        }
    }

    /// Reads the header of `block`; also returns the positions of the prefix and of what follows the records.
    ///
    /// # Errors
    /// `Corruption` for another magic or version, unknown flags, and counts that contradict each other or the length of the
    /// block.
    pub(super) fn read(block: &[u8]) -> Result<(Self, usize, usize)> {
        let short = |what| Error::corruption(what, "more bytes", format_args!("end of block at {}", block.len()));
        let magic = block.first_chunk::<4>().ok_or_else(|| short("magic"))?;
        if *magic != MAGIC {
            return Err(Error::corruption("magic", MAGIC.escape_ascii(), magic.escape_ascii()));
        }
        let fixed = block.first_chunk::<FIXED_LEN>().ok_or_else(|| short("header"))?;
        let [_, _, _, _, version, flags, gap, depth, ..] = *fixed;
        if version != VERSION {
            return Err(Error::corruption("format version", VERSION, version));
        }
        if flags & !FLAG_SIZES != 0 {
            return Err(Error::corruption("flags", "0 or 1", flags));
        }
        if flags & FLAG_SIZES != 0 && gap != 0 {
            return Err(Error::corruption("gap", "0 with stored sizes", gap));
        }
        let number = |at: usize| load_le(block, at) as u32;
        let mut header = Self {
            sizes_stored: flags & FLAG_SIZES != 0,
            gap,
            count: number(8) as usize,
            prefix_len: number(12) as usize,
            depth: usize::from(depth),
            levels: [Level::default(); MAX_LEVELS],
        };
        if header.count > MAX_BLOCKS {
            return Err(Error::corruption(
                "count",
                format_args!("at most {MAX_BLOCKS}"),
                header.count,
            ));
        }
        let (least, most) = if header.count > WINDOW { (1, MAX_LEVELS) } else { (0, 0) };
        if header.depth < least || header.depth > most {
            return Err(Error::corruption("levels", format_args!("{least} to {most}"), depth));
        }
        if header.depth == 0 && header.prefix_len != 0 {
            return Err(Error::corruption(
                "prefix length",
                "0 without levels",
                header.prefix_len,
            ));
        }
        let prefix_at = FIXED_LEN + 4 * header.depth;
        let mut at = prefix_at.saturating_add(header.prefix_len);
        let mut below = header.count;
        let root = header.depth.saturating_sub(1);
        for (index, level) in header.levels.iter_mut().take(header.depth).enumerate() {
            let len = number(FIXED_LEN + 4 * index) as usize;
            let (least, most) = match index == root {
                true => (1, ROOT_LEN),
                false => (ROOT_LEN + 1, usize::MAX),
            };
            // Level 0 may have a record for each block.
            let most = most.min(if index == 0 { below } else { below.saturating_sub(1) });
            if len < least || len > most {
                return Err(Error::corruption(
                    "records of a level",
                    format_args!("{least} to {most}"),
                    len,
                ));
            }
            let start = at;
            at = at.saturating_add(len.saturating_mul(RECORD_LEN));
            let end = u32::try_from(at).ok().filter(|&end| end as usize <= block.len());
            if end.is_none() {
                let expected = format_args!("at most {} bytes", block.len()).to_string();
                return Err(Error::corruption("records", expected, at));
            }
            *level = Level {
                at: start as u32,
                len: len as u32,
                scale: Scale::new(index, below),
            };
            below = len;
        }
        if at > block.len() {
            return Err(short("prefix"));
        }
        Ok((header, prefix_at, at))
    }
}
