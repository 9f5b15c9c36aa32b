//! Damaged bytes: an error or answers within bounds, never a panic.

use super::keys::{KINDS, Random, keys};
use crate::error::Error;
use crate::format::{MAGIC, VERSION};
use crate::index::Reader;
use crate::index::check::{Block, cut, entries, open_anything, use_anything, verify, verify_bytes};

fn sample(kind: &str, count: usize, random: &mut Random) -> (Vec<Block>, Vec<u8>) {
    let mut all = entries(keys(kind, count, random));
    if let Some((key, _)) = all.get(all.len() / 2).cloned() {
        let versions = (0..20u64).rev().map(|seq| (key.clone(), seq << 8 | 1));
        let at = all.len() / 2;
        all.splice(at..=at, versions);
    }
    let blocks = cut(&all, &[3]);
    let built = verify(&blocks, &[]);
    (blocks, built)
}

#[test]
fn sf_01_a_block_at_any_address() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (blocks, built) = sample(kind, 400, &mut random);
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
        let reader = Reader::open(&built).expect("valid");
        // A lone separator has no length of its own: cut short it is another one.
        let lone_separator = if reader.len() == 1 {
            built.len() - 9
        } else {
            built.len()
        };
        for len in 0..lone_separator {
            let cut = &built[..len];
            match Reader::open(cut) {
                Err(Error::Corruption { expected, found, .. }) => assert_ne!(expected, found),
                other => panic!("{kind}: {len} of {} bytes: {other:?}", built.len()),
            }
            if len % 13 == 0 {
                use_anything(&reader, cut);
            }
        }
        assert!(matches!(
            Reader::open(&[built, vec![0]].concat()),
            Err(Error::Corruption { .. })
        ));
    }
}

#[test]
fn sf_02_bit_flips_and_fields_stay_within_bounds() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (_, built) = sample(kind, 300, &mut random);
        let reader = Reader::open(&built).expect("valid");
        for bit in 0..(built.len() * 8).min(1200) {
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
fn sf_02_arbitrary_bytes_behind_a_valid_header() {
    let mut random = Random::fresh();
    for _ in 0..10_000 {
        let count = random.below(100) as u8;
        let mut block = [MAGIC.as_slice(), &[VERSION, random.below(4) as u8, 5, count]].concat();
        let zeros = random.below(3);
        block.extend((0..random.below(200)).map(|_| {
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
        let reader = Reader::open(opened).expect("valid");
        for other in &blocks {
            use_anything(&reader, other);
        }
        use_anything(&reader, &[]);
    }
}

#[test]
fn messages_name_the_header_field() {
    let built = verify(&cut(&entries([b"a".to_vec(), b"b".to_vec()]), &[1]), &[]);
    let with = |at: usize, byte: u8| {
        let mut damaged = built.clone();
        damaged[at] = byte;
        Reader::open(&damaged).expect_err("damaged").to_string()
    };
    assert_eq!(with(0, b'X'), "learned index: magic: expected MDIX, found XDIX");
    assert_eq!(with(4, 9), "learned index: format version: expected 1, found 9");
    assert_eq!(with(5, 4), "learned index: flags: expected 0 to 3, found 4");
    assert!(with(7, 0x7f).starts_with("learned index: "));
    assert!(with(7, 0xff).starts_with("learned index: count: expected "));
}
