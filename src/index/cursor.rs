//! Walks over the data blocks of a file.

use super::reader::{Position, Reader};
use crate::format::{GROUP_LEN, Group};

/// A place in an index, with its separator and block handle decoded.
///
/// Like [`Reader`] it does not hold the block. All calls of one cursor must get the same reader and block. Moving to a
/// neighbour within a group decodes one number and one handle, and nothing allocates once the separator buffer has grown to
/// the longest separator.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    position: Position,
    valid: bool,
    group: Option<(usize, Group)>,
    separator: Vec<u8>,
    handle: (u64, u64),
}

impl Cursor {
    /// A cursor that is nowhere yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// To the first block that may hold `(user_key, tag)`, as [`Reader::seek`].
    pub fn seek(&mut self, reader: &Reader, block: &[u8], user_key: &[u8], tag: u64) {
        let (position, group) = reader.lookup().seek_group(block, user_key, tag);
        if let Some(group) = group {
            self.group = Some((position / GROUP_LEN, group));
        }
        self.settle(reader, block, position);
    }

    /// To a position that a search of the caller yielded, such as [`Reader::seek_with`].
    pub fn set_position(&mut self, reader: &Reader, block: &[u8], position: Position) {
        self.settle(reader, block, position);
    }

    /// To the first block.
    pub fn seek_to_first(&mut self, reader: &Reader, block: &[u8]) {
        self.settle(reader, block, 0);
    }

    /// To the last block.
    pub fn seek_to_last(&mut self, reader: &Reader, block: &[u8]) {
        self.settle(reader, block, reader.len().wrapping_sub(1));
    }

    /// To the next block; invalid behind the last one. An invalid cursor stays where it is.
    pub fn next(&mut self, reader: &Reader, block: &[u8]) {
        if self.valid {
            self.settle(reader, block, self.position + 1);
        }
    }

    /// To the previous block; invalid before the first one. An invalid cursor stays where it is.
    pub fn prev(&mut self, reader: &Reader, block: &[u8]) {
        if self.valid {
            self.settle(reader, block, self.position.wrapping_sub(1));
        }
    }

    /// Whether the cursor is at a block.
    #[inline]
    pub fn valid(&self) -> bool {
        self.valid
    }

    /// Number of the block; meaningful while valid.
    #[inline]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The separator's user key; meaningful while valid.
    #[inline]
    pub fn separator(&self) -> &[u8] {
        &self.separator
    }

    /// Offset and size in bytes of the data block; meaningful while valid.
    #[inline]
    pub fn handle(&self) -> (u64, u64) {
        self.handle
    }

    fn settle(&mut self, reader: &Reader, block: &[u8], position: Position) {
        self.position = position;
        self.valid = position < reader.len();
        if !self.valid {
            return;
        }
        let number = position / GROUP_LEN;
        let group = match &self.group {
            Some((held, group)) if *held == number => group,
            _ => &self.group.insert((number, reader.lookup().group(block, number))).1,
        };
        group.separator(block, position % GROUP_LEN, &mut self.separator);
        self.handle = group.handle(block, position % GROUP_LEN);
    }
}
