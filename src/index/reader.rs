//! Opens an index block and answers which data block holds a key.

use super::directory::{Directory, Entry};
use super::lookup::Lookup;
use crate::error::{Error, Result};
use crate::format::{GROUP_LEN, Group, Header, Lone};
use crate::key::Projection;
use std::cmp::Ordering;

/// Number of a data block within the file, from 0; [`Reader::len`] stands for "none".
pub type Position = usize;

/// An opened index: what was learned about a block while checking it.
///
/// The reader does not hold the block: each call gets it again, so that the owner of the bytes (a block cache, a mapping)
/// can live in another language. Seeks and accessors cannot fail. Given a slice other than the one that was opened they
/// answer wrongly, but stay inside the slice.
#[derive(Clone, Debug)]
pub struct Reader {
    count: usize,
    gap: u8,
    plain: bool,
    lone: bool,
    data_end: u64,
    directory: Directory,
}

impl Reader {
    /// Checks every byte of `block` that lookups rely on. The block may be at any address.
    ///
    /// The order of separators in an index that was built with `plain_only` is for [`Reader::check_order`].
    ///
    /// # Errors
    /// `Corruption` that names the field, what the format demands and what was found.
    pub fn open(block: &[u8]) -> Result<Self> {
        if u32::try_from(block.len()).is_err() {
            return Err(Error::corruption("index length", "below 4 GiB", block.len()));
        }
        let (header, mut at) = Header::read(block)?;
        let mut reader = Self {
            count: header.count as usize,
            gap: header.gap,
            plain: header.plain,
            lone: header.lone,
            data_end: 0,
            directory: Directory::default(),
        };
        if header.lone {
            let lone = Lone::read(block, at)?;
            reader.data_end = lone.offset.saturating_add(lone.size);
            let entry = Entry {
                upper: 0,
                at: at as u32,
            };
            // With the whole separator as prefix, a key at or below it projects to 0, which the group decides; so does a key
            // that only adds zero bytes. Other keys above it project above the bound 0.
            reader.directory = Directory::new(Projection::new(lone.separator), vec![entry]);
            return Ok(reader);
        }
        let mut uppers = Uppers::default();
        let mut order = Order::default();
        for start in (0..reader.count).step_by(GROUP_LEN) {
            let group = Group::parse(block, at, (reader.count - start).min(GROUP_LEN), header.gap);
            let end = group.check(block)?;
            for index in 0..group.len() {
                let (offset, size) = group.handle(block, index);
                reader.data_end = reader.data_end.max(offset.saturating_add(size));
                if !header.plain {
                    group.check_number(block, index)?;
                    order.next(&group, block, index, start + index, <[u8]>::cmp)?;
                }
            }
            uppers.push(&order.key, at as u32);
            at = end;
        }
        if at != block.len() {
            return Err(Error::corruption("end of the index", at, block.len()));
        }
        reader.directory = if header.plain {
            uppers.unordered()
        } else {
            uppers.directory(block, &reader)?
        };
        Ok(reader)
    }

    /// Checks that separators ascend under `cmp`, the order of the keys that the index was built from. [`Reader::open`]
    /// does this for bytewise order.
    ///
    /// # Errors
    /// `Corruption` naming the first boundary that is out of order.
    pub fn check_order(&self, block: &[u8], cmp: impl Fn(&[u8], &[u8]) -> Ordering) -> Result<()> {
        let mut order = Order::default();
        for position in 0..self.count {
            if let Some((group, index)) = self.lookup().locate(block, position) {
                order.next(&group, block, index, position, &cmp)?;
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

    /// Whether the index was built with `plain_only`: it is to be searched with [`Reader::seek_with`].
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Bytes from the start of the file to the end of the last data block. A caller who knows the size of the file rejects
    /// an index that points beyond it.
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Heap bytes of the reader and its own size; the block is not included.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.directory.memory_usage()
    }

    /// What look-ups need of this reader.
    #[inline]
    pub fn lookup(&self) -> Lookup<'_> {
        self.directory
            .lookup(self.count as u32, self.gap, self.plain, self.lone)
    }

    /// [`Lookup::seek`].
    #[inline]
    pub fn seek(&self, block: &[u8], user_key: &[u8], tag: u64) -> Position {
        self.lookup().seek(block, user_key, tag)
    }

    /// [`Lookup::seek_with`].
    pub fn seek_with(
        &self,
        block: &[u8],
        user_key: &[u8],
        tag: u64,
        cmp: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Position {
        self.lookup().seek_with(block, user_key, tag, cmp)
    }

    /// [`Lookup::separator`].
    pub fn separator(&self, block: &[u8], position: Position, out: &mut Vec<u8>) {
        self.lookup().separator(block, position, out);
    }

    /// Tag stored at `position`; 0 where none is.
    pub fn tag(&self, block: &[u8], position: Position) -> u64 {
        self.lookup()
            .locate(block, position)
            .map_or(0, |(group, index)| group.tag(block, index))
    }

    /// [`Lookup::handle`].
    pub fn handle(&self, block: &[u8], position: Position) -> (u64, u64) {
        self.lookup().handle(block, position)
    }

    /// How many separators are stored as bytes rather than as numbers.
    pub fn exceptions(&self, block: &[u8]) -> usize {
        (0..self.lookup().groups())
            .map(|group| self.lookup().group(block, group).exceptions())
            .sum()
    }
}

/// Last separators of the groups, as far as the directory needs them.
#[derive(Default)]
struct Uppers {
    /// What the first and the latest separator have in common.
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    entries: Vec<Entry>,
}

impl Uppers {
    fn push(&mut self, last: &[u8], at: u32) {
        if self.first.is_none() {
            self.first = Some(last.to_vec());
        }
        self.last.clear();
        self.last.extend_from_slice(last);
        self.entries.push(Entry { upper: 0, at });
    }

    fn unordered(self) -> Directory {
        Directory::new(Projection::default(), self.entries)
    }

    fn directory(mut self, block: &[u8], reader: &Reader) -> Result<Directory> {
        let projection = Projection::between(self.first.as_deref().unwrap_or_default(), &self.last);
        let mut separator = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let len = (reader.count - index * GROUP_LEN).min(GROUP_LEN);
            let group = Group::parse(block, entry.at as usize, len, reader.gap);
            group.separator(block, len - 1, &mut separator);
            entry.upper = projection.project(&separator);
        }
        Ok(Directory::new(projection, self.entries))
    }
}

/// Checks that separators do not descend, and keeps the latest one.
#[derive(Default)]
struct Order {
    key: Vec<u8>,
    tag: u64,
    next_key: Vec<u8>,
}

impl Order {
    fn next(
        &mut self,
        group: &Group,
        block: &[u8],
        index: usize,
        position: Position,
        cmp: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<()> {
        group.separator(block, index, &mut self.next_key);
        let tag = group.tag(block, index);
        // There is nothing before the first separator, and `cmp` may be asked about real keys only.
        let descends = position > 0
            && match cmp(&self.key, &self.next_key) {
                Ordering::Less => false,
                Ordering::Equal => self.tag < tag,
                Ordering::Greater => true,
            };
        if descends {
            let expected = format_args!("at or above {} tag {}", self.key.escape_ascii(), self.tag).to_string();
            let found = format_args!("{} tag {tag} at {position}", self.next_key.escape_ascii()).to_string();
            return Err(Error::corruption("order of separators", expected, found));
        }
        std::mem::swap(&mut self.key, &mut self.next_key);
        self.tag = tag;
        Ok(())
    }
}
