//! Bytes of an index, and golden bytes.

use super::keys::{KINDS, Random, keys};
use crate::index::check::{Block, entries, verify};
use crate::index::{IndexBuilder, IndexOptions, Reader};
use crate::key::common_prefix_len;

/// Blocks of 4 KiB as RocksDB 11.8.1 cuts them: 100-byte values, 8 bytes of tag, keys sharing their prefix with the entry
/// before, a restart every 16 entries.
fn rocksdb_blocks(all: &[(Vec<u8>, u64)], block_size: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut used, mut since_restart, mut restarts, mut offset) = (0, 0, 1, 0u64);
    let mut previous: &[u8] = &[];
    for (index, (key, _)) in all.iter().enumerate() {
        let restart = since_restart == 16;
        if restart {
            (since_restart, restarts) = (0, restarts + 1);
        }
        let shared = if since_restart == 0 {
            0
        } else {
            common_prefix_len(previous, key)
        };
        used += 3 + key.len() + 8 - shared + 100;
        since_restart += 1;
        previous = key;
        let size = used + 4 * restarts + 4;
        if size + 3 + key.len() + 8 + 100 > block_size || index + 1 == all.len() {
            let next = all.get(index + 1).cloned();
            blocks.push(Block {
                last: (key.clone(), 0x101),
                next,
                handle: (offset, size as u64),
            });
            offset += size as u64 + 5;
            (used, since_restart, restarts) = (0, 0, 1);
        }
    }
    blocks
}

fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// RocksDB's index block: an entry per block with a shortened separator, full handle and a restart (format version 5,
/// restart interval 1).
fn rocksdb_index_len(blocks: &[Block]) -> usize {
    let entry = |block: &Block| {
        let separator = block.next.as_ref().map_or(block.last.0.len(), |(next, _)| {
            // BytewiseComparatorImpl::FindShortestSeparator.
            let last = &block.last.0;
            let shared = common_prefix_len(last, next);
            match (last.get(shared), next.get(shared)) {
                (Some(&a), Some(&b)) if b > a + 1 || next.len() > shared + 1 && b > a => {
                    if b > a + 1 {
                        shared + 1
                    } else {
                        let rest = last.get(shared + 1..).unwrap_or_default();
                        rest.iter()
                            .position(|&byte| byte < 0xff)
                            .map_or(last.len(), |end| shared + 2 + end)
                    }
                }
                _ => last.len(),
            }
        });
        varint_len(0)
            + varint_len(separator as u64)
            + separator
            + varint_len(block.handle.0)
            + varint_len(block.handle.1)
            + 4
    };
    blocks.iter().map(entry).sum::<usize>() + 4
}

fn bits_per_block(bytes: usize, blocks: &[Block]) -> f64 {
    bytes as f64 * 8.0 / blocks.len() as f64
}

fn built(blocks: &[Block]) -> Vec<u8> {
    let mut builder = IndexBuilder::new(IndexOptions::default());
    for block in blocks {
        let next = block.next.as_ref().map(|next| next.0.as_slice());
        builder.add(&block.last.0, next, block.handle.0, block.handle.1, block.last.1, 0x101);
    }
    builder.finish().expect("in order").to_vec()
}

#[test]
fn bits_per_block_on_every_kind() {
    let mut random = Random::new(7);
    for kind in KINDS {
        let all = entries(keys(kind, 100_000, &mut random));
        for block_size in [1024, 4096] {
            let blocks = rocksdb_blocks(&all, block_size);
            let index = built(&blocks);
            let reader = Reader::open(&index).expect("valid");
            let (ours, stock) = (
                bits_per_block(index.len(), &blocks),
                bits_per_block(rocksdb_index_len(&blocks), &blocks),
            );
            println!(
                "{kind:>13} {block_size:>5} {:>6} blocks {ours:>7.1} bits, directory {:>4.1}, exceptions {:>5.1}%, stock {stock:>6.1}",
                blocks.len(),
                bits_per_block(reader.memory_usage(), &blocks),
                100.0 * reader.exceptions(&index) as f64 / blocks.len() as f64,
            );
            assert!(index.len() <= rocksdb_index_len(&blocks), "{kind}");
            match (kind, block_size) {
                ("uniform", 4096) => assert!(ours <= 32.0, "{ours}"),
                ("sequential", 4096) => assert!(ours <= 24.0, "{ours}"),
                _ => {}
            }
        }
    }
}

#[test]
fn small_files_are_not_larger_than_stock_beyond_two_blocks() {
    let mut random = Random::fresh();
    for kind in KINDS {
        for count in [1, 30, 60, 100, 200, 500, 1500] {
            let blocks = rocksdb_blocks(&entries(keys(kind, count, &mut random)), 4096);
            let (ours, stock) = (built(&blocks).len(), rocksdb_index_len(&blocks));
            // Two blocks may differ by less than a descriptor from a file whose separator stock shortens to a byte.
            assert!(
                ours <= stock + 8 * usize::from(blocks.len() == 2),
                "{kind} {}: {ours} stock {stock}",
                blocks.len()
            );
        }
    }
}

#[test]
fn golden_bytes() {
    let numbers = (0..3000u64).map(|i| (i * i * 977).to_be_bytes().to_vec());
    let strings = (0..2000u64).map(|i| format!("https://example.com/{:06}/{}", i * 37 % 2000, i % 7).into_bytes());
    let mut all = entries(numbers.chain(strings));
    let at = all.len() - 1000;
    let key = all[at].0.clone();
    all.splice(at..=at, (0..40u64).rev().map(|seq| (key.clone(), seq << 8 | 1)));
    let mut blocks = crate::index::check::cut(&all, &[12]);
    for block in blocks.iter_mut().skip(320) {
        block.handle.0 += 4096;
    }
    let index = verify(&blocks, &[]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/index-v1.bin");
    if std::env::var_os("MOUNTDB_WRITE_GOLDEN").is_some() {
        std::fs::write(path, &index).expect("writable");
    }
    let golden = std::fs::read(path).expect("tests/golden/index-v1.bin");
    assert_eq!(index, golden, "the format changed: raise VERSION and add a golden file");
}
