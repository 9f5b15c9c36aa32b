//! Every kind of key against the definition of the right block.

use super::keys::{KINDS, Random, keys};
use crate::index::check::{Block, build_anything, cut, entries, verify};

fn random_blocks(kind: &str, count: usize, lengths: &[usize], random: &mut Random) -> Vec<Block> {
    cut(&entries(keys(kind, count, random)), lengths)
}

#[test]
fn ln_01_ln_03_every_kind_of_key_lands_in_its_block() {
    let mut random = Random::fresh();
    for kind in KINDS {
        for (count, lengths) in [
            (3000, vec![35]),
            (3000, vec![1]),
            (3000, vec![1, 7, 3, 40]),
            (9000, vec![35, 34]),
        ] {
            let blocks = random_blocks(kind, count, &lengths, &mut random);
            let targets: Vec<_> = keys(kind, 500, &mut random)
                .into_iter()
                .map(|key| (key, random.next()))
                .collect();
            verify(&blocks, &targets);
        }
    }
}

#[test]
fn ln_03_few_entries() {
    let mut random = Random::fresh();
    verify(&[], &[(b"a".to_vec(), 1)]);
    for kind in KINDS {
        for count in [1, 2, 3, 63, 64, 65, 127, 128, 129] {
            verify(&random_blocks(kind, count, &[1], &mut random), &[]);
            verify(&random_blocks(kind, count, &[2], &mut random), &[]);
        }
    }
    for only in [&b""[..], b"\0", b"a", &[0xff; 8], &[0xff; 64], &[0; 64]] {
        verify(&cut(&entries([only.to_vec()]), &[1]), &[]);
        verify(
            &cut(&entries([b"".to_vec(), only.to_vec(), [only, b"\0"].concat()]), &[1]),
            &[],
        );
    }
}

#[test]
fn ln_01_ln_04_numbers_where_floating_point_ends() {
    for base in [(1u64 << 53) - 700, (1 << 63) - 700, u64::MAX - 1400, 0] {
        for step in [1, 2, 3] {
            for length in [1, 2, 35] {
                let numbers = (0..1400 / step).map(|i| (base + i * step).to_be_bytes().to_vec());
                let targets: Vec<_> = (0..1400).map(|i| ((base + i).to_be_bytes().to_vec(), i)).collect();
                verify(&cut(&entries(numbers), &[length]), &targets);
            }
        }
    }
    // A dense run behind a huge gap, at both ends of the range.
    let numbers = (0..400u64)
        .chain((0..400).map(|i| u64::MAX - i))
        .map(|number| number.to_be_bytes().to_vec());
    verify(&cut(&entries(numbers), &[3]), &[]);
}

#[test]
fn ln_02_projections_that_are_all_equal() {
    let deep = |i: u64| {
        [
            &[b'x'; 40][..],
            if i == 0 { b"a" } else { b"b" },
            &[b'y'; 30],
            &i.to_be_bytes(),
        ]
        .concat()
    };
    verify(&cut(&entries((0..3000).map(deep)), &[1]), &[]);
    verify(&cut(&entries((0..3000).map(deep)), &[13, 2]), &[]);
    let zeros = |i: usize| vec![0; i];
    verify(&cut(&entries((0..400).map(zeros)), &[1]), &[]);
    verify(
        &cut(&entries((0..400).map(|i| [vec![b'k'; 9], zeros(i)].concat())), &[3]),
        &[],
    );
    // Longer than the prefix length field.
    let long = |i: u64| [vec![b'p'; 70_000], i.to_be_bytes().to_vec()].concat();
    verify(&cut(&entries((0..150).map(long)), &[2]), &[]);
    verify(&cut(&entries([vec![7; 70_000]]), &[2]), &[]);
}

#[test]
fn empty_key_and_runs_of_ff() {
    let runs = (0..64).map(|len| vec![0xff; len]);
    verify(&cut(&entries(runs.clone()), &[1]), &[]);
    verify(
        &cut(
            &entries(
                runs.clone()
                    .chain((0..64).map(|len| [vec![0xff; len], vec![0]].concat())),
            ),
            &[1],
        ),
        &[],
    );
    verify(
        &cut(
            &entries(runs.chain((0..640u64).map(|i| i.to_be_bytes().to_vec()))),
            &[2],
        ),
        &[],
    );
}

#[test]
fn handles_need_not_follow_each_other() {
    let mut random = Random::fresh();
    let mut blocks = random_blocks("uniform", 4000, &[20], &mut random);
    type Rule = fn(&mut Random, u64, u64) -> (u64, u64);
    let rules: [Rule; 7] = [
        |_, i, _| (i * 4096, 4091),
        |random, i, _| (i * 4096, random.below(4000)),
        |random, _, end| (end + 5 + random.below(2) * random.below(4096), random.below(70_000)),
        |random, _, _| (random.next() >> 1, random.next() >> 1),
        |_, i, _| (1_000_000 - i * 5000, 4000),
        |_, _, _| (0, 0),
        |random, _, end| (end, random.below(300)),
    ];
    for rule in rules {
        let mut end = 0;
        for (index, block) in (0..).zip(&mut blocks) {
            block.handle = rule(&mut random, index, end);
            end = block.handle.0.saturating_add(block.handle.1);
        }
        verify(&blocks, &[]);
    }
    for handle in [(u64::MAX, 0), (0, u64::MAX), (u64::MAX - 9, 9), (u64::MAX - 4, 1)] {
        for block in &mut blocks {
            block.handle = handle;
        }
        verify(&blocks, &[]);
        verify(&blocks[blocks.len() - 1..], &[]);
    }
}

#[test]
fn numbers_of_trailing_exceptions_do_not_wrap_around() {
    // Versions of the highest key end a group whose line would pass the largest number of one byte.
    let mut all = entries((0..20u8).map(|i| vec![b'k', i * 12]));
    all.extend((0..44).rev().map(|seq| (vec![b'k', 0xff], seq << 8 | 1)));
    verify(&cut(&all, &[1]), &[]);
}

#[test]
fn sf_02_random_input_of_the_build_fuzz_target() {
    let mut random = Random::fresh();
    for _ in 0..3000 {
        let len = random.below(400);
        let narrow = random.below(2) == 0;
        let data: Vec<u8> = (0..len)
            .map(|_| {
                if narrow {
                    [0, 1, 2, 3, 0x10, 0x82, 0xff][random.below(7) as usize]
                } else {
                    random.next() as u8
                }
            })
            .collect();
        build_anything(&data);
    }
}
