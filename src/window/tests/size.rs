//! Bytes of an index, where look-ups end, and golden bytes.

use super::keys::{KINDS, Random, keys};
use crate::window::check::{Block, Oracle, blocks, build, verify};
use crate::window::{WindowBuilder, WindowReader};

/// Keys of `kind` in blocks of `block_size`, with 100-byte values: the blocks and all keys.
fn file(kind: &str, count: usize, block_size: u64, random: &mut Random) -> (Vec<Block>, Vec<Vec<u8>>) {
    let mut all = keys(kind, count, random);
    all.sort();
    all.dedup();
    let mut blocks: Vec<Block> = Vec::new();
    let (mut first, mut used, mut offset) = (None, 0, 0);
    for (index, key) in all.iter().enumerate() {
        first.get_or_insert_with(|| key.clone());
        used += 100 + 11 + key.len() as u64 - index as u64 % 2;
        if used + 111 + key.len() as u64 > block_size || index + 1 == all.len() {
            blocks.extend(first.take().map(|first| (first, offset, used)));
            (offset, used) = (offset + used + 5, 0);
        }
    }
    (blocks, all)
}

#[test]
fn bits_per_block_and_shares_on_every_kind() {
    let mut random = Random::new(7);
    for kind in KINDS {
        for block_size in [1365, 4096] {
            let (blocks, all) = file(kind, 100_000, block_size, &mut random);
            let (built, stats) = build(&blocks).expect("in order");
            let reader = WindowReader::open(&built).expect("valid");
            let bits = built.len() as f64 * 8.0 / blocks.len() as f64;
            let oracle = Oracle::new(&blocks);
            let mut ends = [0usize; 4];
            for key in &all {
                let place = oracle.home(key) + 1 - reader.predict(&built, key);
                ends[place.min(3)] += 1;
            }
            let [left, home, right, beyond] = ends.map(|end| 100.0 * end as f64 / all.len() as f64);
            println!(
                "{kind:>13} {block_size:>5} {:>6} blocks {bits:>6.1} bits, records {:?}, equal {:.1}%, \
                 predicted {home:.1}% left {left:.1}% right {right:.1}% beyond {beyond:.1}%",
                blocks.len(),
                stats.records,
                100.0 * stats.equal as f64 / blocks.len() as f64,
            );
            // 4-byte offsets alone are the paper's 32.
            match kind {
                "uniform" => assert!(bits <= 16.0 && home >= 70.0, "{bits} {home}"),
                "sequential" => assert!(bits <= 8.0 && home >= 99.0, "{bits} {home}"),
                _ => {}
            }
        }
    }
}

#[test]
fn up_to_three_blocks_need_no_model() {
    for count in 0..6u8 {
        let built = verify(&blocks((0..count).map(|byte| vec![b'k', byte])), &[]);
        let levels = usize::from(built[7]);
        assert_eq!(levels, usize::from(count > 3));
        assert!(built.len() <= 16 + 16 + 8 * 6 + 21 * levels, "{count}: {}", built.len());
    }
}

#[test]
fn the_estimate_is_an_upper_bound_at_any_time() {
    let mut random = Random::fresh();
    for kind in KINDS {
        let (blocks, _) = file(kind, 3000, 1365, &mut random);
        for len in (0..blocks.len()).step_by(blocks.len() / 40 + 1) {
            build(&blocks[..len]).expect("in order");
        }
        let mut builder = WindowBuilder::new();
        for (key, offset, size) in &blocks {
            builder.add(key, *offset, *size);
        }
        let (estimate, built) = (
            builder.estimated_size(),
            builder.finish().expect("in order").len() as u64,
        );
        assert!(
            estimate <= built + 64 * 8 + 400 + 13 * blocks.len() as u64,
            "{kind}: {estimate} for {built}"
        );
    }
}

#[test]
fn ln_07_golden_bytes() {
    let numbers = (0..1500u64).map(|i| (i * i * 977).to_be_bytes().to_vec());
    let strings = (0..500u64).map(|i| format!("https://example.com/{:06}/{}", i * 37 % 2000, i % 7).into_bytes());
    let numbers_only = blocks(numbers.clone());
    let mut all: Vec<Vec<u8>> = numbers.step_by(3).chain(strings).collect();
    all.sort();
    let repeated = all[400].clone();
    all.splice(400..400, std::iter::repeat_n(repeated, 40));
    let mut all = blocks(all);
    all.iter_mut().skip(320).for_each(|block| block.1 += 4096);
    for (name, blocks) in [("window-v1.bin", numbers_only), ("window-sizes-v1.bin", all)] {
        let index = verify(&blocks, &[]);
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("MOUNTDB_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, &index).expect("writable");
        }
        let golden = std::fs::read(&path).unwrap_or_default();
        assert_eq!(
            index, golden,
            "the format changed: raise VERSION and add a golden file beside {name}"
        );
    }
}
