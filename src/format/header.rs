//! The header: what holds for all groups.

use super::bits::{read_varint, write_varint};
use super::{GROUP_LEN, MAGIC, VERSION};
use crate::error::{Error, Result};

/// No header is longer.
pub const HEADER_MAX_LEN: usize = MAGIC.len() + 3 + 10;

/// A group takes at least its descriptor.
const GROUP_MIN_LEN: u64 = 8;

const FLAG_PLAIN: u8 = 1;
const FLAG_LONE: u8 = 2;

/// Fields that hold for the whole index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Separators are exact last keys, in an order that need not be bytewise.
    pub plain: bool,
    /// There is one boundary, in the form that [`Lone`](super::Lone) describes.
    pub lone: bool,
    /// Bytes between the end of a block and the start of the next one, in groups without stored sizes.
    pub gap: u8,
    /// Number of boundaries.
    pub count: u64,
}

impl Header {
    /// Appends the header to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        let plain = if self.plain { FLAG_PLAIN } else { 0 };
        let lone = if self.lone { FLAG_LONE } else { 0 };
        out.extend([VERSION, plain | lone, self.gap]);
        write_varint(out, self.count);
    }

    /// Reads the header of `block`; also returns the position of the first group.
    ///
    /// # Errors
    /// `Corruption` for another magic or version, unknown flags, and a count that the block is too short for.
    pub fn read(block: &[u8]) -> Result<(Self, usize)> {
        let short = |what| Error::corruption(what, "more bytes", format_args!("end of block at {}", block.len()));
        let (magic, rest) = block.split_first_chunk::<4>().ok_or_else(|| short("magic"))?;
        if *magic != MAGIC {
            return Err(Error::corruption("magic", MAGIC.escape_ascii(), magic.escape_ascii()));
        }
        let (&[version, flags, gap], rest) = rest.split_first_chunk::<3>().ok_or_else(|| short("header"))?;
        if version != VERSION {
            return Err(Error::corruption("format version", VERSION, version));
        }
        if flags & !(FLAG_PLAIN | FLAG_LONE) != 0 {
            return Err(Error::corruption("flags", "0 to 3", flags));
        }
        let (count, rest) = read_varint(rest).ok_or_else(|| short("count"))?;
        let header = Self {
            plain: flags & FLAG_PLAIN != 0,
            lone: flags & FLAG_LONE != 0,
            gap,
            count,
        };
        let room = rest.len() as u64 / GROUP_MIN_LEN;
        if header.lone && count != 1 {
            return Err(Error::corruption("count", 1, count));
        }
        if !header.lone && count.div_ceil(GROUP_LEN as u64) > room {
            let found = format_args!("{count} boundaries in {} bytes", block.len()).to_string();
            return Err(Error::corruption("count", format_args!("at most {room} groups"), found));
        }
        Ok((header, block.len() - rest.len()))
    }
}
