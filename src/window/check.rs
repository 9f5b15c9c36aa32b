//! What tests and fuzz targets assert about a windowed index. Panics on a violation.

use super::{WindowBuilder, WindowReader, WindowStats};
use crate::error::Error;
use crate::key::Projection;

/// A data block: its first key, offset and size.
pub type Block = (Vec<u8>, u64, u64);

/// Blocks that start with `keys`, which are in order, at a distance of 5 bytes.
pub fn blocks(keys: impl IntoIterator<Item = Vec<u8>>) -> Vec<Block> {
    let mut offset = 0;
    let block = |(index, key): (usize, Vec<u8>)| {
        let size = 1300 + index as u64 * 31 % 97;
        offset += size + 5;
        (key, offset - size - 5, size)
    };
    keys.into_iter().enumerate().map(block).collect()
}

/// Builds the index of `blocks`; the estimate has to be an upper bound after each of them.
///
/// # Errors
/// Those of [`WindowBuilder::finish`].
pub fn build(blocks: &[Block]) -> Result<(Vec<u8>, WindowStats), Error> {
    let mut builder = WindowBuilder::new();
    for (key, offset, size) in blocks {
        builder.add(key, *offset, *size);
    }
    let estimate = builder.estimated_size();
    let built = builder.finish()?.to_vec();
    let len = built.len() as u64;
    assert!(len <= estimate, "estimated {estimate}, built {len}");
    assert_eq!(builder.finish()?, built);
    assert_eq!(builder.estimated_size(), len);
    assert_eq!((builder.len(), builder.stats().blocks), (blocks.len(), blocks.len()));
    Ok((built, builder.stats().clone()))
}

/// Builds the index of `blocks` and asserts what it promises for the first keys of all blocks, their neighbours and
/// `targets`. Returns the index.
pub fn verify(blocks: &[Block], targets: &[Vec<u8>]) -> Vec<u8> {
    let (built, stats) = build(blocks).expect("blocks in order");
    verify_bytes(&built, blocks, targets);
    verify_stats(&stats, blocks);
    built
}

/// [`verify`] for an index that was built before.
pub fn verify_bytes(built: &[u8], blocks: &[Block], targets: &[Vec<u8>]) {
    let reader = WindowReader::open(built).expect("a built index opens");
    assert_eq!((reader.len(), reader.is_empty()), (blocks.len(), blocks.is_empty()));
    for (position, &(_, offset, size)) in blocks.iter().enumerate() {
        assert_eq!(reader.handle(built, position), (offset, size), "handle {position}");
    }
    assert_eq!(reader.handle(built, blocks.len()), (0, 0));
    assert_eq!(
        reader.data_end(),
        blocks.last().map_or(0, |(_, offset, size)| offset + size)
    );
    let oracle = Oracle::new(blocks);
    for (key, ..) in blocks {
        oracle.ask(&reader, built, key);
        for near in neighbours(key) {
            oracle.ask(&reader, built, &near);
        }
    }
    for pair in blocks.windows(2) {
        if let [(a, ..), (b, ..)] = pair {
            oracle.ask(&reader, built, &between(a, b));
        }
    }
    for key in targets
        .iter()
        .map(Vec::as_slice)
        .chain([b"".as_slice(), &[0], &[0xff; 80]])
    {
        oracle.ask(&reader, built, key);
    }
}

/// The first keys, all of them, and the projection that an index of them uses.
#[derive(Debug)]
pub struct Oracle<'a> {
    blocks: &'a [Block],
    projection: Projection,
    numbers: Vec<u64>,
}

impl<'a> Oracle<'a> {
    /// An oracle for `blocks`.
    pub fn new(blocks: &'a [Block]) -> Self {
        let (first, last) = (blocks.first(), blocks.last());
        let projection = first
            .zip(last)
            .map(|(first, last)| Projection::between(&first.0, &last.0))
            .unwrap_or_default();
        let numbers = blocks.iter().map(|(key, ..)| projection.project(key)).collect();
        Self {
            blocks,
            projection,
            numbers,
        }
    }

    /// The last block whose first key is at or below `key`, or 0.
    pub fn home(&self, key: &[u8]) -> usize {
        self.blocks
            .partition_point(|(first, ..)| first.as_slice() <= key)
            .saturating_sub(1)
    }

    /// Asserts each guarantee that the documentation of the module gives for `key`.
    pub fn ask(&self, reader: &WindowReader, built: &[u8], key: &[u8]) {
        let predicted = reader.predict(built, key);
        let window = reader.window(predicted);
        let name = || {
            format!(
                "{:?} predicted {predicted} of {}",
                key.escape_ascii().to_string(),
                self.blocks.len()
            )
        };
        if self.blocks.is_empty() {
            return assert_eq!((predicted, window), (0, 0..0));
        }
        assert!(
            predicted < self.blocks.len() && window.contains(&predicted),
            "{}",
            name()
        );
        let number = self.projection.project(key);
        let start = self.numbers.partition_point(|&other| other < number);
        let end = self.numbers.partition_point(|&other| other <= number);
        let home = self.home(key);
        assert!(window.start <= home, "{} home {home}", name());
        if end - start <= 2 {
            assert!(window.contains(&home), "{} home {home}", name());
        } else if self.blocks.len() > 3 {
            assert!(predicted == start && home < end, "{} run {start}..{end}", name());
        }
        // In the order of internal keys the block before the run may hold versions, and the run all of them.
        assert!(
            end == start || window.start < start.max(1),
            "{} run {start}..{end}",
            name()
        );
        // Walking as the documentation says ends at home.
        let mut at = window.end - 1;
        let goes_on = |at: usize| {
            self.blocks
                .get(at)
                .is_some_and(|(first, ..)| reader.projects_equally(first, key))
        };
        while at < home {
            assert!(goes_on(at), "{} home {home}, stuck at {at}", name());
            at += 1;
        }
    }
}

fn verify_stats(stats: &WindowStats, blocks: &[Block]) {
    let numbers = Oracle::new(blocks).numbers;
    let equal = numbers
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a == b))
        .count();
    let longest = numbers.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0);
    assert_eq!((stats.equal, stats.longest_run), (equal, longest));
    let mut below = blocks.len();
    for (level, &records) in stats.records.iter().enumerate() {
        let most = if level == 0 {
            below.div_ceil(2)
        } else {
            below.div_ceil(4)
        };
        assert!(records <= most, "{records} records of level {level} for {below}");
        below = records;
    }
}

/// Strings close to `key` in order.
pub fn neighbours(key: &[u8]) -> Vec<Vec<u8>> {
    let mut near = vec![[key, b"\0"].concat(), [key, b"\xff"].concat()];
    // The next numbers of all bytes, with a carry, are the next projections where keys have eight bytes.
    let carried = |from: u8, to: &dyn Fn(u8) -> u8, over: u8| {
        let at = key.iter().rposition(|&byte| byte != from)?;
        let (head, tail) = key.split_at(at);
        let byte = *tail.first()?;
        Some([head, &[to(byte)], vec![over; tail.len() - 1].as_slice()].concat())
    };
    near.extend(carried(0xff, &|byte| byte + 1, 0));
    near.extend(carried(0, &|byte| byte - 1, 0xff));
    if let Some((&last, rest)) = key.split_last() {
        near.push(rest.to_vec());
        near.extend(last.checked_sub(1).map(|byte| [rest, &[byte], &[0xff; 9]].concat()));
    }
    near
}

/// A string of the middle between `a` and `b`, which is not below it.
fn between(a: &[u8], b: &[u8]) -> Vec<u8> {
    let len = a.len().max(b.len()) + 1;
    let at = |key: &[u8], index: usize| u32::from(key.get(index).copied().unwrap_or(0));
    let mut sum: Vec<u32> = (0..len).map(|index| at(a, index) + at(b, index)).collect();
    let mut carry = 0;
    for digit in sum.iter_mut().rev() {
        *digit += carry;
        carry = *digit >> 8;
        *digit &= 0xff;
    }
    let halves = sum.iter().scan(carry, |above, &digit| {
        let value = *above << 8 | digit;
        *above = value & 1;
        Some((value >> 1) as u8)
    });
    halves.collect()
}

/// Opens arbitrary bytes, and asks an index that opens everything it can be asked. Nothing may panic.
pub fn open_anything(block: &[u8]) {
    let Ok(reader) = WindowReader::open(block) else { return };
    let fixed = size_of::<WindowReader>();
    assert!(
        reader.memory_usage() <= block.len() + fixed,
        "{}",
        reader.memory_usage()
    );
    let mut end = 0;
    for position in 0..reader.len() {
        let (offset, size) = reader.handle(block, position);
        assert!(offset >= end, "block {position} at {offset}, before {end}");
        end = offset.checked_add(size).expect("checked when opened");
    }
    assert_eq!(reader.data_end(), end);
    use_anything(&reader, block);
}

/// Asks `reader` everything, on a slice that need not be the one it was opened on.
pub fn use_anything(reader: &WindowReader, block: &[u8]) {
    let ask = |key: &[u8]| {
        let predicted = reader.predict(block, key);
        let window = reader.window(predicted);
        assert!(reader.is_empty() || predicted < reader.len() && window.contains(&predicted));
        assert!(window.len() <= 3 && window.end <= reader.len());
    };
    for number in (0..64).flat_map(|bit| [1u64 << bit, u64::MAX >> bit]).chain([0]) {
        ask(&number.to_be_bytes());
    }
    for start in (0..block.len()).step_by(block.len() / 50 + 1) {
        for len in [0, 1, 8, 9, 40] {
            ask(block.get(start..).map_or(block, |rest| rest.get(..len).unwrap_or(rest)));
        }
    }
    let step = reader.len() / 500 + 1;
    for position in (0..reader.len()).step_by(step).chain([reader.len(), usize::MAX]) {
        reader.handle(block, position);
        reader.window(position);
    }
}

/// Reads first keys and sizes from arbitrary bytes, and verifies the index of those blocks.
pub fn build_anything(data: &[u8]) {
    let Some((&control, data)) = data.split_first() else {
        return;
    };
    let mut keys = Vec::new();
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        // Short lengths and a shared prefix make neighbours; the high bit repeats the key over several blocks.
        let (key, behind) = after.split_at(usize::from(length & 0x0f).min(after.len()));
        let prefix: &[u8] = if control & 0x80 == 0 { b"" } else { b"prefix/" };
        let copies = 1 + usize::from(length >> 4) * usize::from(length >> 7);
        keys.extend(std::iter::repeat_n([prefix, key].concat(), copies));
        rest = behind;
    }
    keys.sort();
    let mut blocks = blocks(keys);
    if control & 0x40 != 0 {
        // Gaps that differ: sizes are stored.
        let mut moved = 0;
        for ((_, offset, _), &byte) in blocks.iter_mut().zip(data) {
            moved += u64::from(byte);
            *offset += moved;
        }
        let last = blocks.len().min(data.len());
        blocks.iter_mut().skip(last).for_each(|(_, offset, _)| *offset += moved);
    }
    let targets: Vec<Vec<u8>> = data.chunks(9).map(<[u8]>::to_vec).collect();
    verify(&blocks, &targets);
}
