//! Damaged bytes: an error or answers within bounds, never a panic.

use super::keys::{KINDS, Random, keys};
use crate::error::Error;
use crate::window::check::{Block, blocks, build_anything, open_anything, use_anything, verify, verify_bytes};
use crate::window::{MAGIC, VERSION, WindowReader};

fn sample(kind: &str, count: usize, random: &mut Random) -> (Vec<Block>, Vec<u8>) {
    let mut all = keys(kind, count, random);
    all.sort();
    all.dedup();
    if let Some(key) = all.get(all.len() / 2).cloned() {
        all.splice(all.len() / 2..all.len() / 2, std::iter::repeat_n(key, 20));
    }
    let mut blocks = blocks(all);
    if random.below(2) == 0 {
        let middle = blocks.len() / 2;
        blocks.iter_mut().skip(middle).for_each(|block| block.1 += 4096);
    }
    let built = verify(&blocks, &[]);
    (blocks, built)
}

#[test]
fn sf_01_a_block_at_any_address() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (blocks, built) = sample(kind, 300, &mut random);
        for offset in 0..16 {
            let moved = [vec![0xa5; offset], built.clone()].concat();
            verify_bytes(&moved[offset..], &blocks, &[]);
        }
    }
}

#[test]
fn sf_02_every_truncation_is_corruption() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (_, built) = sample(kind, 400, &mut random);
        let reader = WindowReader::open(&built).expect("valid");
        for len in 0..built.len() {
            let cut = &built[..len];
            match WindowReader::open(cut) {
                Err(Error::Corruption { expected, found, .. }) => assert_ne!(expected, found),
                other => panic!("{kind}: {len} of {} bytes: {other:?}", built.len()),
            }
            if len % 13 == 0 {
                use_anything(&reader, cut);
            }
        }
        let longer = [built, vec![0]].concat();
        assert!(matches!(WindowReader::open(&longer), Err(Error::Corruption { .. })));
    }
}

#[test]
fn sf_02_bit_flips_and_fields_stay_within_bounds() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (_, built) = sample(kind, 300, &mut random);
        let reader = WindowReader::open(&built).expect("valid");
        for bit in 0..(built.len() * 8).min(3000) {
            let mut damaged = built.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            open_anything(&damaged);
            if bit % 7 == 0 {
                use_anything(&reader, &damaged);
            }
        }
        for _ in 0..300 {
            let mut damaged = built.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(damaged.len() as u64) as usize;
                let len = 1 + random.below(8) as usize;
                let fill = [0, 0xff, random.next() as u8][random.below(3) as usize];
                damaged.iter_mut().skip(at).take(len).for_each(|byte| *byte = fill);
            }
            open_anything(&damaged);
        }
    }
}

#[test]
fn sf_02_counts_of_zero_and_of_all_bits() {
    let mut random = Random::fresh();
    let (_, built) = sample("uniform", 3000, &mut random);
    for at in 4..40 {
        for len in 1..=8 {
            for fill in [0, 0xff] {
                let mut damaged = built.clone();
                damaged[at..at + len].fill(fill);
                open_anything(&damaged);
            }
        }
    }
}

#[test]
fn sf_02_records_out_of_order_are_corruption() {
    let mut random = Random::fresh();
    let (_, built) = sample("uniform", 3000, &mut random);
    let levels = usize::from(built[7]);
    let len_of = |level: usize| u32::from_le_bytes(built[16 + 4 * level..][..4].try_into().expect("4 bytes"));
    let with = |at: usize, len: usize, fill: u8| {
        let mut damaged = built.clone();
        damaged[at..at + len].fill(fill);
        matches!(WindowReader::open(&damaged), Err(Error::Corruption { .. }))
    };
    assert!(levels > 1, "{levels}");
    let mut at = 16 + 4 * levels;
    for level in 0..levels {
        for record in 0..len_of(level) {
            assert!(record == 0 || with(at, 8, 0), "start {record} of {level}");
            assert!(
                record + 1 == len_of(level) || with(at, 8, 0xff),
                "start {record} of {level}"
            );
            assert!(with(at + 8, 4, 0xff), "intercept {record} of {level}");
            assert!(with(at + 15, 1, 0xff), "exponent {record} of {level}");
            // Upper levels have to lead to each record below.
            assert!(level == 0 || with(at + 8, 8, 0), "line {record} of {level}");
            at += 16;
        }
    }
}

#[test]
fn sf_02_arbitrary_bytes_behind_a_valid_header() {
    let mut random = Random::fresh();
    for _ in 0..10_000 {
        let count = random.below(100) as u8;
        let levels = random.below(3) as u8;
        let mut block = [
            MAGIC.as_slice(),
            &[VERSION, random.below(2) as u8, 0, levels, count, 0, 0, 0],
        ]
        .concat();
        block.extend([random.below(9) as u8, 0, 0, 0]);
        block.extend((0..levels).flat_map(|_| [random.below(10) as u8, 0, 0, 0]));
        let zeros = random.below(3);
        block.extend((0..random.below(300)).map(|_| {
            if random.below(3) < zeros {
                0
            } else {
                random.next() as u8
            }
        }));
        open_anything(&block);
    }
}

#[test]
fn sf_02_a_reader_on_another_block_stays_within_it() {
    let mut random = Random::fresh();
    let blocks: Vec<Vec<u8>> = KINDS.iter().map(|kind| sample(kind, 900, &mut random).1).collect();
    for opened in &blocks {
        let reader = WindowReader::open(opened).expect("valid");
        for other in &blocks {
            use_anything(&reader, other);
        }
        use_anything(&reader, &[]);
    }
}

#[test]
fn arbitrary_keys_build() {
    let mut random = Random::fresh();
    for _ in 0..2000 {
        let len = random.below(600);
        let mask = [0xff, 0x8f, 0x03][random.below(3) as usize];
        let data: Vec<u8> = (0..len).map(|_| random.next() as u8 & mask).collect();
        build_anything(&data);
    }
}

#[test]
fn messages_name_the_header_field() {
    let built = verify(&blocks((0..100u8).map(|byte| vec![byte])), &[]);
    let with = |at: usize, byte: u8| {
        let mut damaged = built.clone();
        damaged[at] = byte;
        WindowReader::open(&damaged).expect_err("damaged").to_string()
    };
    assert_eq!(with(0, b'X'), "learned index: magic: expected MDWX, found XDWX");
    assert_eq!(with(4, 9), "learned index: format version: expected 1, found 9");
    assert_eq!(with(5, 4), "learned index: flags: expected 0 or 1, found 4");
    assert_eq!(with(7, 0), "learned index: levels: expected 1 to 15, found 0");
    assert_eq!(
        with(16, 9),
        "learned index: records of a level: expected 1 to 8, found 9"
    );
    assert!(with(11, 0xff).starts_with("learned index: count: expected at most "));
    assert!(with(12, 0xff).starts_with("learned index: records: expected at most "));
}
