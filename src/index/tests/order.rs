//! Versions of one user key over many blocks, other comparators, misuse.

use super::keys::{Random, keys};
use crate::error::Error;
use crate::index::check::{build, cut, entries, verify};
use crate::index::{IndexBuilder, IndexOptions, Reader};
use std::cmp::Ordering;

fn versions(key: &[u8], count: u64) -> impl Iterator<Item = (Vec<u8>, u64)> {
    (0..count).rev().map(move |seq| (key.to_vec(), (seq + 1) << 8 | 1))
}

#[test]
fn si_01_versions_of_one_key_over_many_blocks() {
    let key = b"user:1234".as_slice();
    let around = |name: &[u8]| (name.to_vec(), 0x501);
    for blocks in [2, 3, 63, 64, 65, 130, 200] {
        let run: Vec<_> = versions(key, blocks * 5).collect();
        let only = run.clone();
        let first: Vec<_> = run
            .iter()
            .cloned()
            .chain([around(b"user:1235"), around(b"user:9")])
            .collect();
        let last: Vec<_> = [around(b"user:1"), around(b"user:123")]
            .into_iter()
            .chain(run.iter().cloned())
            .collect();
        let middle: Vec<_> = last
            .iter()
            .cloned()
            .chain([around(b"user:1234\0"), around(b"user:2")])
            .collect();
        for set in [only, first, last, middle] {
            let snapshots: Vec<_> = (0..blocks * 5 + 2)
                .flat_map(|seq| [(seq << 8) | 1, seq << 8 | 0xff])
                .collect();
            let targets: Vec<_> = snapshots.into_iter().map(|tag| (key.to_vec(), tag)).collect();
            verify(&cut(&set, &[5]), &targets);
            verify(&cut(&set, &[1, 9]), &targets);
        }
    }
}

#[test]
fn si_01_many_keys_with_versions_among_many_without() {
    let mut random = Random::fresh();
    for kind in ["uniform", "sequential", "urls", "mixed", "uuid"] {
        let mut all = Vec::new();
        for (key, _) in entries(keys(kind, 2000, &mut random)) {
            let count = if random.below(10) == 0 { 1 + random.below(30) } else { 1 };
            all.extend(versions(&key, count));
        }
        verify(&cut(&all, &[3]), &[]);
        verify(&cut(&all, &[1, 4]), &[]);
    }
}

#[test]
fn si_02_tags_apply_to_their_own_boundary_only() {
    // "acc" and "acd" leave no room for a shorter separator, so a separator equals a stored key, next to a boundary with a
    // tag in the same group.
    let mut all: Vec<(Vec<u8>, u64)> = Vec::new();
    for key in ["aca", "acb", "acc", "acd", "ace"] {
        all.push((key.into(), 9 << 8 | 1));
    }
    all.extend(versions(b"acf", 12));
    all.push((b"acg".to_vec(), 3 << 8 | 1));
    let blocks = cut(&all, &[1]);
    let built = verify(&blocks, &[]);
    let reader = Reader::open(&built).expect("valid");
    for (position, (key, tag)) in all.iter().enumerate() {
        assert_eq!(reader.seek(&built, key, *tag), position, "the entry itself");
        if key != b"acf" {
            for snapshot in [0, 1 << 8, 9 << 8 | 1, u64::MAX] {
                assert_eq!(reader.seek(&built, key, snapshot), position, "{key:?} at {snapshot}");
            }
        }
    }
}

#[test]
fn si_08_other_comparators_use_the_plain_form() {
    let mut random = Random::fresh();
    let reverse = |a: &[u8], b: &[u8]| b.cmp(a);
    for kind in ["uniform", "words", "mixed", "urls"] {
        let mut all = entries(keys(kind, 3000, &mut random));
        all.reverse();
        let blocks = cut(&all, &[7]);
        let built = build(&blocks, IndexOptions::plain()).expect("any order");
        let reader = Reader::open(&built).expect("valid");
        assert!(reader.is_plain() && reader.check_order(&built, reverse).is_ok());
        assert!(matches!(
            reader.check_order(&built, <[u8]>::cmp),
            Err(Error::Corruption { .. })
        ));
        let mut separator = Vec::new();
        for (position, block) in blocks.iter().enumerate() {
            reader.separator(&built, position, &mut separator);
            assert_eq!(separator, block.last.0);
            assert_eq!(reader.handle(&built, position), block.handle);
        }
        for (key, tag) in all
            .iter()
            .cloned()
            .chain(keys(kind, 300, &mut random).into_iter().map(|key| (key, 1)))
        {
            let expected = blocks.partition_point(|block| block.last.0 > key);
            assert_eq!(reader.seek_with(&built, &key, tag, reverse), expected);
            assert!(reader.seek(&built, &key, tag) <= reader.len());
        }
    }
}

#[test]
fn si_08_keys_that_are_equal_with_different_bytes() {
    let ignore_case = |a: &[u8], b: &[u8]| a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
    let mut builder = IndexBuilder::new(IndexOptions::plain());
    builder.add(b"a", Some(b"KEY"), 0, 10, 1, 900);
    builder.add_straddling(b"Key", 15, 10, 700);
    builder.add_straddling(b"kEY", 30, 10, 500);
    builder.add(b"key", None, 45, 10, 300, 0);
    let built = builder.finish().expect("in order").to_vec();
    let reader = Reader::open(&built).expect("valid");
    assert!(reader.check_order(&built, ignore_case).is_ok());
    for (tag, position) in [
        (u64::MAX, 1),
        (900, 1),
        (700, 1),
        (699, 2),
        (500, 2),
        (499, 3),
        (300, 3),
        (0, 3),
    ] {
        assert_eq!(
            reader.seek_with(&built, b"keY", tag, ignore_case),
            position,
            "tag {tag}"
        );
    }
    let order = |a: &[u8], b: &[u8]| if a == b { Ordering::Equal } else { Ordering::Greater };
    assert!(reader.check_order(&built, order).is_err());
}

#[test]
fn misuse_is_reported_by_finish() {
    let refused = |steps: &dyn Fn(&mut IndexBuilder)| {
        let mut builder = IndexBuilder::new(IndexOptions::default());
        steps(&mut builder);
        matches!(builder.finish(), Err(Error::InvalidArgument(message)) if !message.is_empty())
    };
    assert!(refused(&|builder| builder.add(b"b", Some(b"a"), 0, 1, 1, 1)));
    assert!(refused(&|builder| builder.add(b"b", Some(b"b"), 0, 1, 1, 2)));
    assert!(refused(&|builder| builder.add(b"b", Some(b"c"), u64::MAX, 1, 1, 1)));
    assert!(refused(&|builder| builder.add_straddling(b"b", 0, 1, 1)));
    assert!(refused(&|builder| {
        builder.add(b"b", Some(b"c"), 0, 1, 1, 1);
        builder.add(b"a", None, 6, 1, 1, 0);
    }));
    assert!(refused(&|builder| {
        builder.finish().expect("empty");
        builder.add(b"a", None, 6, 1, 1, 0);
    }));
    let mut builder = IndexBuilder::new(IndexOptions::default());
    builder.add(b"a", None, 0, 10, 1, 0);
    assert_eq!((builder.len(), builder.is_empty()), (1, false));
    let once = builder.finish().expect("valid").to_vec();
    assert_eq!(builder.finish().expect("valid"), once);
}
