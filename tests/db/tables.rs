//! Table files: many in one level, bounds at their edges, ways of reading them, unusual contents, damage.

use std::fs;
use std::path::PathBuf;

use mountdb::LearnedIndex;
use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, Options, SliceTransform};

use crate::harness::keys::{Kind, probe, universe};
use crate::harness::pair::{compact, open};
use crate::harness::{
    ALONGSIDE, BOTH, Bounds, Model, PRIMARY, Pair, REPLACE, Rng, Shape, WINDOW, WINDOW_REPLACE, Walk, options, sealed,
    seeded,
};

/// About sixty bytes a value, so that a block of 256 bytes holds three or four.
fn fill(pair: &Pair, model: &mut Model, keys: &[Vec<u8>]) {
    for (number, key) in keys.iter().enumerate() {
        pair.put(model, key, &sealed(key, number as u64, 60));
    }
}

fn files(pair: &Pair) -> Vec<(Vec<u8>, Vec<u8>)> {
    let live = pair.learned.live_files().unwrap();
    let mut edges: Vec<_> = live
        .into_iter()
        .map(|f| (f.start_key.unwrap(), f.end_key.unwrap()))
        .collect();
    edges.sort();
    edges
}

#[test]
fn si_04_scans_cross_files_in_both_directions() {
    let mut rng = seeded("si_04");
    let prefix = |options: &mut Options| options.set_prefix_extractor(SliceTransform::create_fixed_prefix(7));
    for rest in [|_: &mut Options| (), prefix] {
        let shape = Shape {
            file_size: 1 << 10,
            rest,
            ..Shape::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let mut model = Model::default();
        let keys = universe(Kind::Sequential, &mut rng);
        let pair = Pair::open(directory.path(), &shape, PRIMARY);
        fill(&pair, &mut model, &keys);
        pair.compact();
        let edges = files(&pair);
        assert!(edges.len() >= 20, "{} files", edges.len());
        Walk::with(&pair, None, &model, Bounds::default(), |read| {
            read.set_total_order_seek(true)
        })
        .scan();
        for (first, last) in &edges {
            for key in [first, last] {
                let mut walk = Walk::with(&pair, None, &model, Bounds::default(), |read| {
                    read.set_total_order_seek(true)
                });
                walk.probe(key);
                let mut below = key.clone();
                below.pop();
                walk.probe(&below);
                let mut above = key.clone();
                above.push(0);
                walk.probe(&above);
                let lower = Bounds {
                    lower: Some(key.clone()),
                    upper: None,
                };
                Walk::with(&pair, None, &model, lower, |read| read.set_total_order_seek(true)).scan();
            }
        }
        // With prefix_same_as_start the three need only agree inside the prefix: bound the walk to it.
        for key in keys.iter().step_by(97) {
            let (mut lower, mut upper) = (key.clone(), key.clone());
            lower[7] = 0;
            upper[7] = 0xff;
            let bounds = Bounds {
                lower: Some(lower.clone()),
                upper: Some(upper),
            };
            let mut walk = Walk::with(&pair, None, &model, bounds, |read| read.set_prefix_same_as_start(true));
            walk.probe(key);
        }
    }
}

#[test]
fn si_05_upper_bounds_around_every_block() {
    let mut rng = seeded("si_05");
    for kind in [Kind::Random, Kind::Url] {
        // One or two entries per block, so that every key is near the end of one.
        let shape = Shape {
            block_size: 64,
            ..Shape::default()
        };
        let directory = tempfile::tempdir().unwrap();
        let mut model = Model::default();
        let keys: Vec<_> = universe(kind, &mut rng).into_iter().step_by(7).collect();
        let pair = Pair::open(directory.path(), &shape, PRIMARY);
        fill(&pair, &mut model, &keys);
        pair.compact();
        for at in 0..keys.len() {
            let mut after = keys[at].clone();
            after.push(0);
            for upper in [keys[at].clone(), after] {
                let lower = keys.get(at.wrapping_sub(5)).cloned();
                let mut walk = Walk::new(
                    &pair,
                    None,
                    &model,
                    Bounds {
                        lower,
                        upper: Some(upper),
                    },
                );
                walk.scan();
                walk.probe(&keys[at]);
            }
        }
    }
}

#[test]
fn sf_01_every_way_of_reading_files() {
    let mut rng = seeded("sf_01");
    type Change = (fn(&mut BlockBasedOptions), fn(&mut Options));
    let ways: [(&str, Change); 5] = [
        ("mapped", (|_| (), |options| options.set_allow_mmap_reads(true))),
        ("direct", (|_| (), |options| options.set_use_direct_reads(true))),
        ("few open files", (|_| (), |options| options.set_max_open_files(12))),
        (
            "index in a tiny cache",
            (
                |table| {
                    table.set_cache_index_and_filter_blocks(true);
                    table.set_block_cache(&Cache::new_lru_cache(8 << 10));
                },
                |_| (),
            ),
        ),
        (
            "index pinned in the cache",
            (
                |table| {
                    table.set_cache_index_and_filter_blocks(true);
                    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
                },
                |_| (),
            ),
        ),
    ];
    for (what, (table, rest)) in ways {
        for learned in [PRIMARY, ALONGSIDE, REPLACE, WINDOW, WINDOW_REPLACE] {
            println!("{what}: {learned:?}");
            let shape = Shape {
                file_size: 8 << 10,
                table,
                rest,
                ..Shape::default()
            };
            let directory = tempfile::tempdir().unwrap();
            let mut model = Model::default();
            let keys = universe(Kind::Random, &mut rng);
            for half in keys.chunks(keys.len() / 2 + 1) {
                let pair = Pair::open(directory.path(), &shape, learned);
                fill(&pair, &mut model, half);
                // An iterator lives on while the files below it are replaced and closed.
                let mut living = Walk::new(&pair, None, &model, Bounds::default());
                pair.compact();
                living.scan();
                let probes: Vec<_> = (0..100).map(|_| probe(&keys, &mut rng)).collect();
                pair.check(None, &model, &probes);
            }
        }
    }
}

#[test]
fn si_07_compressed_with_a_dictionary_and_values_in_blob_files() {
    let mut rng = seeded("si_07");
    let dictionary = |options: &mut Options| {
        options.set_compression_type(DBCompressionType::Zstd);
        options.set_compression_options(-14, 3, 0, 4 << 10);
        options.set_zstd_max_train_bytes(64 << 10);
    };
    let blobs = |options: &mut Options| {
        options.set_enable_blob_files(true);
        options.set_min_blob_size(50);
    };
    for rest in [dictionary, blobs] {
        for learned in [PRIMARY, BOTH, REPLACE, WINDOW, WINDOW_REPLACE] {
            let shape = Shape {
                rest,
                ..Shape::default()
            };
            let directory = tempfile::tempdir().unwrap();
            let mut model = Model::default();
            let keys = universe(Kind::Url, &mut rng);
            let pair = Pair::open(directory.path(), &shape, learned);
            fill(&pair, &mut model, &keys);
            for key in keys.iter().step_by(4) {
                pair.merge(&mut model, key, b"more");
            }
            for key in keys.iter().step_by(9) {
                pair.delete(&mut model, key);
            }
            pair.flush();
            pair.check(None, &model, &keys);
            pair.compact();
            drop(pair);
            Pair::open(directory.path(), &shape, learned).check(None, &model, &keys);
        }
    }
}

#[test]
fn files_of_one_block_and_of_range_tombstones_alone() {
    let mut rng = seeded("few");
    let keys = universe(Kind::Few, &mut rng);
    let directory = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let shape = Shape::default();
    let pair = Pair::open(directory.path(), &shape, BOTH);
    pair.check(None, &model, &keys);
    pair.flush();
    pair.put(&mut model, &keys[1], b"value");
    pair.flush();
    pair.check(None, &model, &keys);
    for key in &keys {
        pair.put(&mut model, key, b"again");
    }
    pair.flush();
    // A file in which there is nothing but a range tombstone: its index has no entry.
    pair.delete_range(&mut model, &keys[0], &keys[3]);
    pair.flush();
    pair.check(None, &model, &keys);
    let point = pair.snapshot(&model);
    pair.delete_range(&mut model, b"", b"\xff\xff");
    pair.flush();
    for point in [None, Some(&point)] {
        pair.check(point, &model, &keys);
    }
    drop(point);
    drop(pair);
    let pair = Pair::open(directory.path(), &shape, BOTH);
    pair.check(None, &model, &keys);
    pair.compact();
    pair.check(None, &model, &keys);
}

/// The only SST file with an index of the database below `directory`, and where the index starts in it.
fn index_of(directory: &std::path::Path) -> (PathBuf, usize) {
    let mut found = Vec::new();
    for file in fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "sst") {
            let bytes = fs::read(&file).unwrap();
            found.extend(
                bytes
                    .windows(4)
                    .position(|magic| magic == b"MDIX" || magic == b"MDWX")
                    .map(|at| (file, at)),
            );
        }
    }
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn sf_02_a_damaged_index_is_corruption_and_a_repaired_file_opens_again() {
    let mut rng = seeded("sf_02");
    for learned in [PRIMARY, REPLACE, WINDOW, WINDOW_REPLACE] {
        damage(learned, &mut rng);
    }
}

fn damage(learned: LearnedIndex, rng: &mut Rng) {
    let shape = Shape {
        file_size: 64 << 20,
        ..Shape::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let keys = universe(Kind::Random, rng);
    let db = open(&options(&shape, Some(learned)), &path).unwrap();
    for key in &keys {
        db.put(key, sealed(key, 1, 60)).unwrap();
    }
    compact(&db);
    drop(db);
    let (file, at) = index_of(&path);
    let whole = fs::read(&file).unwrap();
    let read_all = || -> Result<(), rocksdb::Error> {
        let db = open(&options(&shape, Some(learned)), &path)?;
        for key in &keys {
            let value = db.get(key)?;
            assert_eq!(value, Some(sealed(key, 1, 60)), "a wrong answer from a damaged file");
        }
        Ok(())
    };
    read_all().unwrap();
    for offset in [0, 4, 5, 7, 20, 63] {
        let mut damaged = whole.clone();
        damaged[at + offset] ^= 0x10;
        fs::write(&file, &damaged).unwrap();
        let error = read_all().expect_err("a flipped bit goes unnoticed").to_string();
        assert!(error.contains("Corruption"), "{error}");
        fs::write(&file, &whole).unwrap();
        read_all().unwrap();
    }
}
