//! Collects block boundaries and writes the index, a group at a time.

use super::boundary::Boundary;
use super::layout::group_parts;
use crate::error::{Error, Result};
use crate::format::{GROUP_LEN, HEADER_MAX_LEN, Header, Lone};
use std::cmp::Ordering;

/// How an index is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Separators are exact last keys, stored in full: for orders other than bytewise, where nothing may be shortened. The
    /// order of keys is then not checked, and readers search with `Reader::seek_with`.
    pub plain_only: bool,
}

impl IndexOptions {
    /// Options for a comparator other than bytewise.
    pub fn plain() -> Self {
        Self { plain_only: true }
    }
}

/// Bytes of a group beyond its separators, tags and handles: descriptor, line, bit maps, padding of bit arrays.
const GROUP_OVERHEAD: u64 = 8 + 4 * 8 + 9 + 2 * 8 + 8 + 4;

/// Bytes of a boundary beyond its separator: offset and size corrections, end of an exception.
const BOUNDARY_OVERHEAD: u64 = 8 + 8 + 4;

/// Builds the index of one file.
///
/// Boundaries are written out in groups, so memory beyond the finished bytes is one group of keys.
#[derive(Debug)]
pub struct IndexBuilder {
    options: IndexOptions,
    /// Room for the header, which needs the count, and behind it the finished groups.
    out: Vec<u8>,
    /// Boundaries of the open group, of which the first `open` are in use; the rest keep their buffers.
    boundaries: Vec<Boundary>,
    open: usize,
    /// Upper bound of what the open group will take.
    open_size: u64,
    count: u64,
    gap: Option<u8>,
    previous: Option<(Vec<u8>, u64)>,
    /// The first error of `add`, which cannot return one: RocksDB's `AddIndexEntry` has no status.
    error: Option<Error>,
    finished: Option<usize>,
}

impl IndexBuilder {
    /// A builder without boundaries.
    pub fn new(options: IndexOptions) -> Self {
        Self {
            options,
            out: vec![0; HEADER_MAX_LEN],
            boundaries: Vec::new(),
            open: 0,
            open_size: 0,
            count: 0,
            gap: None,
            previous: None,
            error: None,
            finished: None,
        }
    }

    /// Adds a data block, in file order. Keys are user keys; tags are `seq << 8 | type`, and count only where the same user
    /// key ends this block and starts the next one.
    ///
    /// `next_first_key` is `None` for the last block of the file. Errors are kept for [`IndexBuilder::finish`].
    pub fn add(
        &mut self,
        last_key: &[u8],
        next_first_key: Option<&[u8]>,
        offset: u64,
        size: u64,
        last_tag: u64,
        next_first_tag: u64,
    ) {
        let straddles = next_first_key == Some(last_key);
        if straddles && last_tag < next_first_tag {
            self.fail(format!(
                "tags of one user key must descend: {last_tag} before {next_first_tag} at boundary {}",
                self.count
            ));
        }
        if !self.options.plain_only && next_first_key.is_some_and(|next| next < last_key) {
            self.fail(format!(
                "keys must ascend: a block starts below the last key of block {}",
                self.count
            ));
        }
        self.push(last_key, next_first_key, offset, size, straddles.then_some(last_tag));
    }

    /// Adds a data block whose last user key equals the first one of the next block under the file's comparator although
    /// their bytes may differ. Only for `plain_only`.
    pub fn add_straddling(&mut self, last_key: &[u8], offset: u64, size: u64, last_tag: u64) {
        if !self.options.plain_only {
            self.fail("add_straddling needs an index built with plain_only".into());
        }
        self.push(last_key, None, offset, size, Some(last_tag));
    }

    fn push(&mut self, last_key: &[u8], next_first_key: Option<&[u8]>, offset: u64, size: u64, tag: Option<u64>) {
        if self.finished.is_some() {
            self.fail("a boundary was added after finish".into());
        }
        if offset.checked_add(size).is_none() {
            self.fail(format!(
                "offset {offset} and size {size} of block {} exceed 64 bits",
                self.count
            ));
        }
        if !self.options.plain_only
            && let Some((key, previous_tag)) = &self.previous
        {
            let descends = match key.as_slice().cmp(last_key) {
                Ordering::Less => false,
                Ordering::Equal => *previous_tag < tag.unwrap_or(0),
                Ordering::Greater => true,
            };
            if descends {
                self.fail(format!(
                    "keys must ascend: the last key of block {} is below the one before",
                    self.count
                ));
            }
        }
        if self.error.is_some() {
            return;
        }
        let (key, previous_tag) = self.previous.get_or_insert_default();
        key.clear();
        key.extend_from_slice(last_key);
        *previous_tag = tag.unwrap_or(0);
        if self.boundaries.len() == self.open {
            self.boundaries.push(Boundary::default());
        }
        if let Some(boundary) = self.boundaries.get_mut(self.open) {
            boundary.set(last_key, next_first_key, offset, size, tag);
        }
        if self.open == 0 {
            self.open_size = GROUP_OVERHEAD;
        }
        self.open += 1;
        self.open_size += last_key.len() as u64 + BOUNDARY_OVERHEAD + if tag.is_some() { 8 } else { 0 };
        self.count += 1;
        if self.open == GROUP_LEN {
            self.write_group();
        }
    }

    fn fail(&mut self, message: String) {
        self.error.get_or_insert(Error::InvalidArgument(message));
    }

    fn write_group(&mut self) {
        let boundaries = self.boundaries.get(..self.open).unwrap_or_default();
        let gap = *self.gap.get_or_insert_with(|| match boundaries {
            [first, second, ..] => second.gap_after(first).unwrap_or(0),
            _ => 0,
        });
        group_parts(boundaries, gap, self.options.plain_only).write(&mut self.out);
        self.open = 0;
        self.open_size = 0;
    }

    /// An upper bound of the bytes that [`IndexBuilder::finish`] will return for the boundaries added so far, at most one
    /// group of plain separators above them. Constant time.
    pub fn estimated_size(&self) -> u64 {
        self.out.len() as u64 + self.open_size
    }

    /// Number of boundaries added.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether no boundary was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The index. It may have no boundaries at all: files with range tombstones only have no data blocks. Calling it again
    /// returns the same bytes.
    ///
    /// # Errors
    /// `InvalidArgument` for the first misuse of `add`: keys out of order, handles beyond 64 bits, an index of 4 GiB.
    pub fn finish(&mut self) -> Result<&[u8]> {
        if self.finished.is_none() && self.error.is_none() {
            let lone = match self.boundaries.get(..self.open) {
                Some([only]) if self.count == 1 && only.tag.is_none() => {
                    Lone {
                        separator: &only.last,
                        offset: only.offset,
                        size: only.size,
                    }
                    .write(&mut self.out);
                    true
                }
                _ => false,
            };
            if self.open > 0 && !lone {
                self.write_group();
            }
            let (plain, gap) = (self.options.plain_only, self.gap.unwrap_or(0));
            let mut header = Vec::with_capacity(HEADER_MAX_LEN);
            Header {
                plain,
                lone,
                gap,
                count: self.count,
            }
            .write(&mut header);
            let start = HEADER_MAX_LEN - header.len();
            for (to, from) in self.out.iter_mut().skip(start).zip(header) {
                *to = from;
            }
            if u32::try_from(self.out.len() - start).is_err() {
                self.fail(format!("the index has {} bytes, 4 GiB or more", self.out.len() - start));
            }
            self.finished = Some(start);
        }
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(self.out.get(self.finished.unwrap_or(0)..).unwrap_or_default()),
        }
    }
}
