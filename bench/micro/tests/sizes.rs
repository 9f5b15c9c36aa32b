//! What an index takes, exactly: files of 64 MB on every key set.

use mountdb_micro::sizes::{FORMS, NUMBERS, Size, TEXTS, keys, lookups, measure, shares};

/// Entries of 8 + 100 bytes that fill 64 MB.
const ENTRIES: usize = 590_000;

fn sizes(name: &str, block_size: usize) -> [Size; 4] {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(name, ENTRIES).unwrap();
    FORMS.map(|form| measure(folder.path(), &keys, block_size, form).unwrap())
}

#[test]
fn the_exact_index_is_small_on_numbers() {
    println!("bits per block, blocks of 4 KiB: standard, trie, exact, window");
    let mut failures = Vec::new();
    for name in NUMBERS {
        let limit = match name {
            "uniform" | "sequential" => 32.0,
            "covid" | "cities" => 40.0,
            _ => 55.0,
        };
        let large = sizes(name, 4096);
        let small = sizes(name, 1024);
        println!(
            "{name:10} {:6.1} {:6.1} {:6.1} {:6.1}; {} bytes with blocks of 1 KiB, standard with 4 KiB {}",
            large[0].bits_per_block(),
            large[1].bits_per_block(),
            large[2].bits_per_block(),
            large[3].bits_per_block(),
            small[2].bytes,
            large[0].bytes,
        );
        if large[2].bits_per_block() > limit {
            failures.push(format!(
                "{name}: {:.1} bits a block, at most {limit}",
                large[2].bits_per_block()
            ));
        }
        if small[2].bytes >= large[0].bytes {
            failures.push(format!("{name}: {} bytes with 1 KiB blocks", small[2].bytes));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_exact_index_is_never_larger_on_text() {
    println!("bits per block, blocks of 4 KiB: standard, trie, exact, window");
    for name in TEXTS {
        for block_size in [4096, 1024] {
            let [standard, trie, exact, window] = sizes(name, block_size);
            println!(
                "{name:10} {block_size:5} {:6.1} {:6.1} {:6.1} {:6.1}",
                standard.bits_per_block(),
                trie.bits_per_block(),
                exact.bits_per_block(),
                window.bits_per_block()
            );
            assert!(
                exact.bytes <= standard.bytes,
                "{name}, blocks of {block_size}: {} bytes, RocksDB's own {}",
                exact.bytes,
                standard.bytes
            );
        }
    }
}

/// Epsilon = 1, and one read where nothing is cached (paper, section 4.3). No other test of this program looks anything up.
#[test]
fn windowed_lookups_end_in_the_window_after_one_read() {
    for name in ["uniform", "osm", "uuid"] {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(name, 50_000).unwrap();
        let shares = shares(folder.path(), &keys, 1365).unwrap();
        println!("{name}: {shares:?}");
        assert_eq!(lookups(shares.all), keys.len() as u64);
        assert_eq!(shares.all.beyond, 0, "{name}");
        assert!(shares.all.predicted > shares.all.left + shares.all.right, "{name}");
        assert_eq!(shares.cold_reads, shares.cold, "{name}");
        assert!(shares.cold > 400, "{name}");
    }
}
