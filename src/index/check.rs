//! What tests and fuzz targets assert about an index. Panics on a violation.
//!
//! Here rather than in `tests`, so that fuzzing and the test suite judge by the same definitions.

use super::{Cursor, IndexBuilder, IndexOptions, Reader};
use crate::error::Error;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// One data block by its ends: user keys, tags, handle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Last user key and its tag.
    pub last: (Vec<u8>, u64),
    /// First user key of the next block and its tag.
    pub next: Option<(Vec<u8>, u64)>,
    /// Offset and size.
    pub handle: (u64, u64),
}

/// Cuts entries, sorted by key and then by descending tag, into blocks of the given lengths (cycled), with handles that
/// follow each other at a distance of 5 bytes.
pub fn cut(entries: &[(Vec<u8>, u64)], lengths: &[usize]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut start, mut offset) = (0, 0);
    for &length in lengths.iter().cycle() {
        let length = length.max(1);
        let Some(last) = entries.get((start + length - 1).min(entries.len().saturating_sub(1))) else {
            break;
        };
        if start >= entries.len() {
            break;
        }
        start += length;
        let size = 100 * length as u64 + start as u64 % 7;
        blocks.push(Block {
            last: last.clone(),
            next: entries.get(start).cloned(),
            handle: (offset, size),
        });
        offset += size + 5;
    }
    blocks
}

/// Entries of distinct keys, tag `1 << 8 | 1` each.
pub fn entries(keys: impl IntoIterator<Item = Vec<u8>>) -> Vec<(Vec<u8>, u64)> {
    keys.into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|key| (key, 0x101))
        .collect()
}

/// Builds the index of `blocks`.
///
/// # Errors
/// Those of [`IndexBuilder::finish`].
pub fn build(blocks: &[Block], options: IndexOptions) -> Result<Vec<u8>, Error> {
    let mut builder = IndexBuilder::new(options);
    for block in blocks {
        let next_key = block.next.as_ref().map(|next| next.0.as_slice());
        let next_tag = block.next.as_ref().map_or(0, |next| next.1);
        builder.add(
            &block.last.0,
            next_key,
            block.handle.0,
            block.handle.1,
            block.last.1,
            next_tag,
        );
    }
    let estimate = builder.estimated_size();
    let built = builder.finish()?.to_vec();
    assert!(
        built.len() as u64 <= estimate,
        "estimated {estimate}, built {}",
        built.len()
    );
    Ok(built)
}

/// Builds the index of `blocks` and asserts that separators, handles, seeks and both directions of a cursor are right, for
/// the ends of all blocks, their neighbours and `targets`. Returns the index.
pub fn verify(blocks: &[Block], targets: &[(Vec<u8>, u64)]) -> Vec<u8> {
    let built = build(blocks, IndexOptions::default()).expect("blocks in order");
    verify_bytes(&built, blocks, targets);
    built
}

/// [`verify`] for an index that was built before.
pub fn verify_bytes(built: &[u8], blocks: &[Block], targets: &[(Vec<u8>, u64)]) {
    let reader = Reader::open(built).expect("a built index opens");
    assert_eq!(reader.len(), blocks.len());
    let separators = verify_separators(&reader, built, blocks);
    let lower_bound = |key: &[u8], tag: u64| {
        separators.partition_point(|(separator, stored)| (separator.as_slice(), Reverse(*stored)) < (key, Reverse(tag)))
    };
    let mut cursor = Cursor::new();
    let mut ask = |key: &[u8], tag: u64| {
        let expected = lower_bound(key, tag);
        assert_eq!(
            reader.seek(built, key, tag),
            expected,
            "seek {:?} tag {tag}",
            key.escape_ascii().to_string()
        );
        assert_eq!(reader.seek_with(built, key, tag, <[u8]>::cmp), expected);
        cursor.seek(&reader, built, key, tag);
        assert_eq!(cursor.valid(), expected < blocks.len());
        if let Some(block) = blocks.get(expected) {
            assert_eq!((cursor.position(), cursor.handle()), (expected, block.handle));
            assert_eq!(cursor.separator(), separators[expected].0);
        }
        // Everything before the answer is below the target; what starts behind it is above.
        assert!(expected == 0 || before(&blocks[expected - 1].last, key, tag));
        if let Some(next) = blocks.get(expected).and_then(|block| block.next.as_ref()) {
            assert!(!before(next, key, tag) && (next.0.as_slice(), next.1) != (key, tag));
        }
    };
    for block in blocks {
        for (key, tag) in [Some(&block.last), block.next.as_ref()].into_iter().flatten() {
            for tag in [*tag, tag.saturating_sub(1), tag.saturating_add(1), 0, u64::MAX] {
                ask(key, tag);
            }
            for near in neighbours(key) {
                ask(&near, 0);
                ask(&near, u64::MAX);
            }
        }
    }
    for (key, _) in &separators {
        ask(key, 0);
        ask(key, u64::MAX);
    }
    for (key, tag) in targets {
        ask(key, *tag);
    }
    ask(b"", u64::MAX);
    ask(&[0xff; 80], 0);
    verify_walk(&reader, built, blocks);
}

fn before(entry: &(Vec<u8>, u64), key: &[u8], tag: u64) -> bool {
    (entry.0.as_slice(), Reverse(entry.1)) < (key, Reverse(tag))
}

fn verify_separators(reader: &Reader, built: &[u8], blocks: &[Block]) -> Vec<(Vec<u8>, u64)> {
    let mut separators = Vec::new();
    for (position, block) in blocks.iter().enumerate() {
        let mut separator = Vec::new();
        reader.separator(built, position, &mut separator);
        let tag = reader.tag(built, position);
        match &block.next {
            Some(next) if next.0 == block.last.0 => assert_eq!((&separator, tag), (&next.0, block.last.1)),
            Some(next) => {
                assert!(
                    block.last.0 <= separator && separator < next.0,
                    "{separator:?} in {block:?}"
                );
                assert_eq!(tag, 0);
            }
            None => assert_eq!((&separator, tag), (&block.last.0, 0)),
        }
        assert_eq!(reader.handle(built, position), block.handle, "handle {position}");
        separators.push((separator, tag));
    }
    separators
}

fn verify_walk(reader: &Reader, built: &[u8], blocks: &[Block]) {
    let mut cursor = Cursor::new();
    let mut separator = Vec::new();
    let mut here = |cursor: &Cursor, position: usize| {
        assert!(cursor.valid() && cursor.position() == position);
        assert_eq!(cursor.handle(), reader.handle(built, position));
        reader.separator(built, position, &mut separator);
        assert_eq!(cursor.separator(), separator);
    };
    cursor.seek_to_first(reader, built);
    for position in 0..blocks.len() {
        here(&cursor, position);
        cursor.next(reader, built);
    }
    assert!(!cursor.valid());
    cursor.seek_to_last(reader, built);
    for position in (0..blocks.len()).rev() {
        here(&cursor, position);
        cursor.prev(reader, built);
    }
    assert!(!cursor.valid());
}

/// Strings close to `key` in order.
fn neighbours(key: &[u8]) -> Vec<Vec<u8>> {
    let mut near = vec![[key, b"\0"].concat(), [key, b"\xff"].concat()];
    if let Some((&last, rest)) = key.split_last() {
        near.push(rest.to_vec());
        near.extend(last.checked_sub(1).map(|byte| [rest, &[byte]].concat()));
        near.extend(
            last.checked_sub(1)
                .map(|byte| [rest, &[byte], [0xff; 9].as_slice()].concat()),
        );
        near.extend(last.checked_add(1).map(|byte| [rest, &[byte]].concat()));
    }
    near
}

/// Opens arbitrary bytes, and asks an index that opens everything it can be asked. Nothing may panic.
pub fn open_anything(block: &[u8]) {
    let Ok(reader) = Reader::open(block) else { return };
    assert!(
        reader.memory_usage() <= 4 * block.len() + 1024,
        "{} for {}",
        reader.memory_usage(),
        block.len()
    );
    use_anything(&reader, block);
}

/// Asks `reader` everything, on a slice that need not be the one it was opened on.
pub fn use_anything(reader: &Reader, block: &[u8]) {
    let mut cursor = Cursor::new();
    let mut separator = Vec::new();
    cursor.seek_to_first(reader, block);
    let step = reader.len() / 500 + 1;
    for position in (0..reader.len()).step_by(step).chain([reader.len(), usize::MAX]) {
        reader.separator(block, position, &mut separator);
        for tag in [0, u64::MAX] {
            assert!(reader.seek(block, &separator, tag) <= reader.len());
            assert!(reader.seek_with(block, &separator, tag, <[u8]>::cmp) <= reader.len());
            cursor.seek(reader, block, &separator, tag);
        }
        reader.handle(block, position);
        reader.tag(block, position);
        cursor.next(reader, block);
        cursor.prev(reader, block);
    }
    for start in (0..block.len()).step_by(block.len() / 50 + 1) {
        for len in [0, 1, 8, 9, 40] {
            let target = block.get(start..).map_or(block, |rest| rest.get(..len).unwrap_or(rest));
            assert!(reader.seek(block, target, 7) <= reader.len());
        }
    }
    cursor.seek_to_last(reader, block);
    cursor.prev(reader, block);
    reader.exceptions(block);
}

/// Reads keys, block lengths and versions from arbitrary bytes, and verifies the index of those blocks.
pub fn build_anything(data: &[u8]) {
    let Some((&control, data)) = data.split_first() else {
        return;
    };
    let mut all = BTreeSet::new();
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        // Short lengths and a shared prefix make neighbours; the high bit adds versions of the key.
        let (key, behind) = after.split_at(usize::from(length & 0x0f).min(after.len()));
        let key = if control & 0x80 == 0 {
            key.to_vec()
        } else {
            [b"prefix/".as_slice(), key].concat()
        };
        for version in 0..=u64::from(length >> 4) * u64::from(length >> 7) {
            all.insert((key.clone(), Reverse(version << 8 | 1)));
        }
        rest = behind;
    }
    let sorted: Vec<(Vec<u8>, u64)> = all.into_iter().map(|(key, Reverse(tag))| (key, tag)).collect();
    let lengths = [usize::from(control & 3) + 1, usize::from(control >> 2 & 7) + 1];
    let targets: Vec<(Vec<u8>, u64)> = data
        .chunks(9)
        .map(|chunk| (chunk.to_vec(), u64::from(control)))
        .collect();
    verify(&cut(&sorted, &lengths), &targets);
}
