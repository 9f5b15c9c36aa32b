//! The only boundary of a file with one data block.

use super::bits::{read_varint, write_varint};
use super::group::Group;
use crate::error::{Error, Result};

/// One boundary without tag: files of a few entries would pay more for a group's descriptor than for their separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lone<'a> {
    /// The separator, whole.
    pub separator: &'a [u8],
    /// Where the block starts.
    pub offset: u64,
    /// Bytes of the block.
    pub size: u64,
}

impl<'a> Lone<'a> {
    /// Appends the boundary to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_varint(out, self.offset);
        write_varint(out, self.size);
        out.extend(self.separator);
    }

    /// Reads the boundary that fills `block` from `at` on.
    ///
    /// # Errors
    /// `Corruption` for a handle that is cut off or exceeds 64 bits.
    pub fn read(block: &'a [u8], at: usize) -> Result<Self> {
        let handle = || {
            let (offset, rest) = read_varint(block.get(at..)?)?;
            let (size, separator) = read_varint(rest)?;
            offset.checked_add(size)?;
            Some(Self {
                separator,
                offset,
                size,
            })
        };
        handle().ok_or_else(|| Error::corruption("block handle", "offset and size within 64 bits", "other bytes"))
    }

    /// The boundary at `at` as a group of one.
    #[inline]
    pub fn group(block: &'a [u8], at: usize) -> Group {
        let Self {
            separator,
            offset,
            size,
        } = Self::read(block, at).unwrap_or(Self {
            separator: &[],
            offset: 0,
            size: 0,
        });
        Group::lone(block.len() - separator.len(), separator.len(), offset, size)
    }
}
