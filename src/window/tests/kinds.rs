//! Predictions against a binary search over all first keys.

use super::keys::{KINDS, Random, keys};
use crate::error::Error;
use crate::window::check::{Block, Oracle, blocks, build, verify};
use crate::window::{WindowBuilder, WindowReader};

fn sorted(kind: &str, count: usize, random: &mut Random) -> Vec<Vec<u8>> {
    let mut all = keys(kind, count, random);
    all.sort();
    all.dedup();
    all
}

fn numbers(numbers: impl IntoIterator<Item = u64>) -> Vec<Block> {
    blocks(numbers.into_iter().map(|number| number.to_be_bytes().to_vec()))
}

#[test]
fn ln_01_ln_04_every_kind_of_key() {
    let mut random = Random::fresh();
    for kind in KINDS {
        for count in [5, 30, 300, 5000] {
            let all = sorted(kind, count, &mut random);
            let targets = keys(kind, 500, &mut random);
            for stride in [1, 12] {
                verify(&blocks(all.iter().step_by(stride).cloned()), &targets);
            }
        }
    }
}

#[test]
fn ln_01_numbers_beyond_the_precision_of_floating_point() {
    let mut random = Random::fresh();
    let bases = [1 << 53, (1 << 53) - 700, 1 << 63, (1 << 63) - 700, u64::MAX - 1400, 0];
    for base in bases {
        for step in [1, 2, 3] {
            verify(&numbers((0..1400 / step).map(|i| base + i * step)), &[]);
        }
    }
    // Dense runs behind huge gaps.
    verify(&numbers((0..4000).map(|i| (i / 100) * (1 << 58) + i)), &[]);
    let mut skewed: Vec<u64> = (0..4000).map(|_| random.next() >> (random.next() % 60)).collect();
    skewed.sort();
    verify(&numbers(skewed), &[]);
}

#[test]
fn ln_01_a_million_probes() {
    let mut random = Random::fresh();
    for kind in ["uniform", "clusters", "heavy-tailed"] {
        let blocks = blocks(sorted(kind, 60_000, &mut random).into_iter().step_by(3));
        let (built, _) = build(&blocks).expect("in order");
        let reader = WindowReader::open(&built).expect("valid");
        let oracle = Oracle::new(&blocks);
        for key in keys(kind, 330_000, &mut random) {
            oracle.ask(&reader, &built, &key);
        }
    }
}

#[test]
fn ln_02_equal_first_keys() {
    let mut random = Random::fresh();
    for run in [2, 3, 4, 10, 700] {
        for start in [0, 1, 5] {
            let before = (0..start).map(|i| i * 3);
            let behind = (0..40).map(|i| 1000 + i * i);
            let equal = std::iter::repeat_n(500, run);
            verify(&numbers(before.clone().chain(equal.clone()).chain(behind.clone())), &[]);
            // Directly followed by the next number, twice, and at the end of the file.
            let next = std::iter::repeat_n(501, run);
            verify(
                &numbers(before.clone().chain(equal.clone()).chain(next).chain(behind)),
                &[],
            );
            verify(&numbers(before.chain(equal)), &[]);
        }
    }
    for _ in 0..100 {
        let spread = 1 + random.below(60);
        let mut multiset: Vec<u64> = (0..random.below(600)).map(|_| random.below(spread) << 40).collect();
        multiset.sort();
        verify(&numbers(multiset), &[]);
    }
}

#[test]
fn ln_02_a_million_blocks_of_one_key() {
    let blocks = numbers(
        [1, 2, 3]
            .into_iter()
            .chain(std::iter::repeat_n(7, 1_000_000))
            .chain([8, 9]),
    );
    let (built, stats) = build(&blocks).expect("in order");
    assert_eq!((stats.equal, stats.longest_run), (999_999, 1_000_000));
    assert!(stats.records.iter().sum::<usize>() <= 4, "{stats:?}");
    let reader = WindowReader::open(&built).expect("valid");
    let oracle = Oracle::new(&blocks);
    for number in 0..12u64 {
        oracle.ask(&reader, &built, &number.to_be_bytes());
    }
    assert_eq!(reader.predict(&built, &7u64.to_be_bytes()), 3);
}

#[test]
fn ln_02_keys_that_differ_behind_the_projection() {
    let mut random = Random::fresh();
    for group in [1, 2, 3, 50] {
        let keys = (0..2000u64).map(|i| {
            let tail = format!("{:06}", i % group);
            [&((i / group * 977) << 42).to_be_bytes(), tail.as_bytes()].concat()
        });
        let blocks = blocks(keys);
        let mut targets: Vec<Vec<u8>> = blocks.iter().map(|(key, ..)| key[..8].to_vec()).collect();
        targets.extend((0..1000).map(|_| {
            let mut key = ((random.below(2000) * 977) << 42).to_be_bytes().to_vec();
            key.extend(random.next().to_be_bytes());
            key
        }));
        verify(&blocks, &targets);
        let (_, stats) = build(&blocks).expect("in order");
        assert_eq!(stats.longest_run, group as usize);
    }
}

#[test]
fn ln_03_tiny_files_and_extreme_keys() {
    let ends = [b"".to_vec(), vec![0], vec![0; 8], vec![0xff; 8], vec![0xff; 9]];
    for mask in 0..1u32 << ends.len() {
        let chosen = (0..ends.len()).filter(|bit| mask >> bit & 1 != 0);
        for copies in 1..4 {
            let keys = chosen
                .clone()
                .flat_map(|bit| std::iter::repeat_n(ends[bit].clone(), copies));
            verify(&blocks(keys), &ends);
        }
    }
    for count in 0..12 {
        verify(&numbers((0..count).map(|i| i * (u64::MAX / 11))), &ends);
        verify(&blocks((0..count).map(|len| vec![0xff; len as usize])), &ends);
    }
    verify(&blocks((0..=64).map(|len| vec![0xff; len])), &ends);
    verify(&blocks((0..=64).map(|len| vec![0; len])), &ends);
    verify(
        &numbers([0, u64::MAX].into_iter().flat_map(|number| [number; 4])),
        &ends,
    );
}

#[test]
fn ln_04_starts_of_records() {
    // Each cube starts a new slope, so most probes are next to a record's start.
    verify(&numbers((0..3000u64).map(|i| i * i * i * 1_000_003)), &[]);
    verify(&numbers((0..63).flat_map(|bit| [1u64 << bit, (1 << bit) + 1])), &[]);
}

#[test]
fn ln_05_levels_stay_few() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let all = sorted(kind, 300_000, &mut random);
        let (_, stats) = build(&blocks(all)).expect("in order");
        assert!(stats.records.len() <= 8, "{kind}: {stats:?}");
    }
    // No two gaps alike: the worst that a model can meet.
    let doubling = (0..60u64).flat_map(|a| (0..a).map(move |b| (1u64 << a) + (1 << b)));
    let (_, stats) = build(&numbers(doubling)).expect("in order");
    assert!(stats.records.len() <= 8, "{stats:?}");
}

#[test]
fn gaps_that_differ_are_kept() {
    let mut blocks = numbers((0..500).map(|i| i * i));
    for (index, block) in blocks.iter_mut().enumerate() {
        block.1 += (index / 100 * 4096) as u64;
        block.2 -= index as u64 % 3;
    }
    verify(&blocks, &[]);
    verify(&blocks[..120], &[]);
    let end = |offset| vec![(b"a".to_vec(), 0, 5), (b"b".to_vec(), offset, u64::MAX - offset)];
    verify(&end(10), &[]);
    verify(&end(u64::MAX), &[]);
}

#[test]
fn misuse_is_reported_by_finish() {
    let refused = |blocks: &[(&[u8], u64, u64)]| {
        let mut builder = WindowBuilder::new();
        for (key, offset, size) in blocks {
            builder.add(key, *offset, *size);
        }
        matches!(builder.finish(), Err(Error::InvalidArgument(message)) if !message.is_empty())
    };
    assert!(refused(&[(b"b", 0, 1), (b"a", 6, 1)]));
    assert!(refused(&[(b"a", 0, 10), (b"b", 9, 1)]));
    assert!(refused(&[(b"a", u64::MAX, 1)]));
    assert!(!refused(&[(b"a", 0, 10), (b"a", 10, 0)]));
    let mut builder = WindowBuilder::new();
    assert!(builder.is_empty() && builder.finish().is_ok());
    builder.add(b"a", 0, 1);
    assert!(matches!(builder.finish(), Err(Error::InvalidArgument(_))));
}
