//! RocksDB's other options beside the learned indexes: each combination works, or is refused when the database opens.

use std::thread;

use mountdb::LearnedIndex;
use rand::RngExt;
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, DB, DBCompressionType, DataBlockIndexType, IteratorMode, Options,
    SliceTransform, WriteBatch, WriteOptions,
};

use crate::harness::keys::{Kind, probe, universe};
use crate::harness::pair::open;
use crate::harness::{
    ALONGSIDE, BOTH, BOTH_ALONGSIDE, Bounds, MEMTABLE, Model, PRIMARY, Pair, REPLACE, Shape, WINDOW, WINDOW_REPLACE,
    Walk, options, sealed, seeded, verified,
};

/// Writes, flushes, compacts, reopens; reads everything each time.
fn smoke(what: &str, learned: LearnedIndex, shape: &Shape, snapshots: bool) {
    println!("{what}: {learned:?}");
    let mut rng = seeded(what);
    let directory = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let keys = universe(Kind::DbBench, &mut rng);
    for _ in 0..2 {
        let pair = Pair::open(directory.path(), shape, learned);
        let probes: Vec<_> = (0..50).map(|_| probe(&keys, &mut rng)).collect();
        let value: Vec<u8> = (0..100).map(|_| rng.random()).collect();
        for batch in keys.chunks(7) {
            for key in batch {
                model.put(key, &value);
            }
            pair.batch(|writes| batch.iter().for_each(|key| writes.put(key, &value)));
        }
        let point = snapshots.then(|| pair.snapshot(&model));
        for key in keys.iter().step_by(5) {
            pair.delete(&mut model, key);
        }
        for key in keys.iter().step_by(3) {
            pair.put(&mut model, key, &value[..20]);
        }
        pair.check(None, &model, &probes);
        pair.flush();
        for point in [None, point.as_ref()] {
            pair.check(point, &model, &probes);
        }
        pair.compact();
        for point in [None, point.as_ref()] {
            pair.check(point, &model, &probes);
        }
    }
    let pair = Pair::open(directory.path(), shape, learned);
    pair.check(None, &model, &keys);
}

/// Opening has to fail with InvalidArgument and these words.
fn refused(what: &str, learned: LearnedIndex, shape: &Shape, words: &str) {
    println!("{what}: {learned:?} is refused");
    let directory = tempfile::tempdir().unwrap();
    let error = DB::open(&options(shape, Some(learned)), directory.path())
        .map(drop)
        .expect_err(what)
        .to_string();
    assert!(error.starts_with("Invalid argument"), "{what}: {error}");
    assert!(error.contains(words), "{what}: {error} does not say {words}");
}

fn set(options: &mut Options, text: &str) {
    mountdb::apply_option_string(options, text).unwrap();
}

fn table(table: fn(&mut BlockBasedOptions)) -> Shape {
    Shape {
        table,
        ..Shape::default()
    }
}

fn rest(rest: fn(&mut Options)) -> Shape {
    Shape {
        rest,
        ..Shape::default()
    }
}

#[test]
fn od_04_in_place_updates() {
    let concurrent = rest(|options| options.set_inplace_update_support(true));
    for learned in [MEMTABLE, PRIMARY, BOTH] {
        refused("in place, concurrent", learned, &concurrent, "inplace_update_support");
    }
    let serial = rest(|options| {
        options.set_inplace_update_support(true);
        options.set_allow_concurrent_memtable_write(false);
    });
    for learned in [MEMTABLE, PRIMARY, BOTH] {
        in_place(learned, &serial);
    }
}

/// Overwrites that fit in the old value's place. RocksDB cannot iterate backwards over such a memtable, so no full smoke test.
fn in_place(learned: LearnedIndex, shape: &Shape) {
    let mut rng = seeded("in place");
    let directory = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let keys = universe(Kind::Random, &mut rng);
    let pair = Pair::open(directory.path(), shape, learned);
    for round in 0..4usize {
        for key in keys.iter().skip(round).step_by(2) {
            pair.put(&mut model, key, &sealed(key, round as u64, 60 - round));
        }
        for key in &keys {
            pair.check_get(None, &model, key);
        }
        let expected = model.view(model.now(), &Bounds::default());
        for db in [&pair.learned, &pair.stock] {
            let found: Vec<_> = db.iterator(IteratorMode::Start).map(Result::unwrap).collect();
            let found: Vec<_> = found.iter().map(|(key, value)| (&key[..], &value[..])).collect();
            assert!(found == expected, "{learned:?}: round {round}");
        }
        if round == 1 {
            pair.flush();
        }
    }
}

#[test]
fn od_04_parallel_compression() {
    let shape = rest(|options| {
        options.set_compression_type(DBCompressionType::Zstd);
        options.set_compression_options_parallel_threads(4);
    });
    for learned in [MEMTABLE, PRIMARY, ALONGSIDE, BOTH, REPLACE, WINDOW_REPLACE] {
        smoke("parallel compression", learned, &shape, true);
    }
}

#[test]
fn od_04_partitioned_index_and_filters() {
    let index = table(|table| table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch));
    let filters = table(|table| {
        table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
        table.set_partition_filters(true);
        table.set_metadata_block_size(256);
    });
    let coupled = rest(|options| {
        set(
            options,
            "block_based_table_factory={index_type=kTwoLevelIndexSearch;partition_filters=true;metadata_block_size=256;\
             decouple_partitioned_filters=false}",
        );
        options.set_compression_options_parallel_threads(4);
    });
    for (what, shape) in [
        ("partitioned index", &index),
        ("partitioned filters", &filters),
        ("coupled filters", &coupled),
    ] {
        for learned in [MEMTABLE, ALONGSIDE, PRIMARY, BOTH, REPLACE, WINDOW, verified(PRIMARY)] {
            smoke(what, learned, shape, true);
        }
    }
}

#[test]
fn od_04_index_types() {
    let hash_alone = table(|table| table.set_index_type(BlockBasedIndexType::HashSearch));
    for learned in [MEMTABLE, PRIMARY, ALONGSIDE, REPLACE] {
        refused("hash index", learned, &hash_alone, "prefix_extractor");
    }
    let hash = Shape {
        rest: |options| options.set_prefix_extractor(SliceTransform::create_fixed_prefix(8)),
        ..hash_alone
    };
    // Only prefixes can be scanned without total order.
    let hash = Shape {
        table: |table| {
            table.set_index_type(BlockBasedIndexType::HashSearch);
            table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
        },
        ..hash
    };
    for learned in [
        MEMTABLE,
        PRIMARY,
        ALONGSIDE,
        BOTH,
        REPLACE,
        WINDOW_REPLACE,
        verified(PRIMARY),
        verified(ALONGSIDE),
    ] {
        prefixes("hash index", learned, &hash);
    }
    assert_eq!(mountdb::verify_stats().wrong_seeks, 0);
    let first_key = rest(|options| {
        set(
            options,
            "block_based_table_factory={index_type=kBinarySearchWithFirstKey}",
        )
    });
    for learned in [MEMTABLE, PRIMARY, ALONGSIDE, BOTH, REPLACE, WINDOW_REPLACE] {
        smoke("first key", learned, &first_key, true);
    }
    let interpolation = rest(|options| {
        set(
            options,
            "block_based_table_factory={index_block_search_type=kInterpolation}",
        )
    });
    for learned in [MEMTABLE, PRIMARY, ALONGSIDE, BOTH, REPLACE, WINDOW_REPLACE] {
        smoke("interpolation", learned, &interpolation, true);
    }
}

/// Point reads, and scans in total order and within one prefix: all that a hash index offers.
fn prefixes(what: &str, learned: LearnedIndex, shape: &Shape) {
    println!("{what}: {learned:?}");
    let directory = tempfile::tempdir().unwrap();
    let pair = Pair::open(directory.path(), shape, learned);
    let mut model = Model::default();
    let key = |prefix: u64, number: u64| [prefix.to_be_bytes(), number.to_be_bytes()].concat();
    for prefix in 0..100 {
        for number in 0..20 {
            pair.put(&mut model, &key(prefix * 2, number * 3), b"value");
        }
    }
    for _ in 0..3 {
        Walk::with(&pair, None, &model, Bounds::default(), |options| {
            options.set_total_order_seek(true)
        })
        .scan();
        for prefix in 0..200 {
            let bounds = Bounds {
                lower: Some(key(prefix, 0)),
                upper: Some(key(prefix + 1, 0)),
            };
            let mut walk = Walk::with(&pair, None, &model, bounds, |options| {
                options.set_prefix_same_as_start(true)
            });
            for number in 0..62 {
                walk.step(crate::harness::Step::Seek(&key(prefix, number)));
                pair.check_get(None, &model, &key(prefix, number));
            }
        }
        pair.flush();
        pair.compact();
    }
}

#[test]
fn od_04_memtable_options() {
    let shapes: [(&str, Shape); 9] = [
        (
            "serial",
            rest(|options| options.set_allow_concurrent_memtable_write(false)),
        ),
        ("paranoid", rest(|options| set(options, "paranoid_memory_checks=true"))),
        (
            "checksum on seek",
            rest(|options| {
                set(
                    options,
                    "memtable_protection_bytes_per_key=8;memtable_verify_per_key_checksum_on_seek=true",
                )
            }),
        ),
        (
            "checksum on seek, bloom",
            rest(|options| {
                set(
                    options,
                    "memtable_protection_bytes_per_key=4;memtable_verify_per_key_checksum_on_seek=true",
                );
                options.set_memtable_prefix_bloom_ratio(0.1);
                options.set_memtable_whole_key_filtering(true);
            }),
        ),
        (
            "prefix bloom",
            rest(|options| {
                options.set_prefix_extractor(SliceTransform::create_fixed_prefix(4));
                options.set_memtable_prefix_bloom_ratio(0.2);
            }),
        ),
        (
            "batch lookup",
            rest(|options| set(options, "memtable_batch_lookup_optimization=true")),
        ),
        (
            "batch lookup, paranoid",
            rest(|options| {
                set(
                    options,
                    "memtable_batch_lookup_optimization=true;paranoid_memory_checks=true",
                )
            }),
        ),
        (
            "maintained",
            rest(|options| options.set_max_write_buffer_size_to_maintain(1 << 20)),
        ),
        (
            "mempurge",
            rest(|options| {
                options.set_experimental_mempurge_threshold(1.0);
                options.set_max_write_buffer_number(4);
            }),
        ),
    ];
    for (name, shape) in &shapes {
        for learned in [MEMTABLE, BOTH] {
            smoke(name, learned, shape, true);
        }
    }
}

#[test]
fn od_04_write_modes() {
    let shapes: [(&str, Shape); 5] = [
        ("unordered", rest(|options| options.set_unordered_write(true))),
        ("pipelined", rest(|options| options.set_enable_pipelined_write(true))),
        ("atomic flush", rest(|options| options.set_atomic_flush(true))),
        ("two queues", rest(|options| set(options, "two_write_queues=true"))),
        (
            "successive merges",
            rest(|options| options.set_max_successive_merges(3)),
        ),
    ];
    for (name, shape) in &shapes {
        for learned in [MEMTABLE, BOTH, BOTH_ALONGSIDE] {
            smoke(name, learned, shape, true);
        }
    }
}

#[test]
fn od_04_modes_of_the_index() {
    let unread = rest(|options| {
        set(
            options,
            "block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace}}",
        )
    });
    refused(
        "replace, not primary",
        MEMTABLE,
        &unread,
        "use_udi_as_primary_index=true",
    );
    let unknown = rest(|options| {
        set(
            options,
            "block_based_table_factory={user_defined_index_factory={id=pgm;mode=some}}",
        )
    });
    refused(
        "unknown mode",
        MEMTABLE,
        &unknown,
        "must be one of alongside, replace, is some",
    );
}

#[test]
fn od_04_learned_index_needs_block_based_tables() {
    let mut options = Options::default();
    options.set_plain_table_factory(&rocksdb::PlainTableFactoryOptions {
        user_key_length: 0,
        bloom_bits_per_key: 10,
        hash_table_ratio: 0.75,
        index_sparseness: 16,
        huge_page_tlb_size: 0,
        encoding_type: rocksdb::KeyEncodingType::Plain,
        full_scan_mode: false,
        store_index_in_file: false,
    });
    let error = PRIMARY.apply(&mut options).unwrap_err().to_string();
    assert!(error.contains("block-based"), "{error}");
    MEMTABLE.apply(&mut options).unwrap();
}

#[test]
fn mc_02_validating_reads_find_every_key() {
    let shapes = [
        rest(|options| set(options, "paranoid_memory_checks=true")),
        rest(|options| {
            set(
                options,
                "memtable_protection_bytes_per_key=8;memtable_verify_per_key_checksum_on_seek=true",
            )
        }),
        rest(|options| {
            set(
                options,
                "paranoid_memory_checks=true;memtable_batch_lookup_optimization=true",
            );
            set(
                options,
                "memtable_protection_bytes_per_key=8;memtable_verify_per_key_checksum_on_seek=true",
            );
        }),
    ];
    for shape in shapes {
        let shape = Shape {
            write_buffer: 64 << 20,
            ..shape
        };
        let directory = tempfile::tempdir().unwrap();
        let pair = Pair::open(directory.path(), &shape, MEMTABLE);
        let mut model = Model::default();
        let mut rng = seeded("mc_02");
        let keys: Vec<Vec<u8>> = (0..10_000)
            .map(|_| rng.random::<u64>().to_be_bytes().to_vec())
            .collect();
        for key in &keys {
            pair.put(&mut model, key, key);
        }
        assert!(pair.learned.live_files().unwrap().is_empty(), "a flush");
        pair.check(None, &model, &keys);
        let absent: Vec<_> = (0..200).map(|_| probe(&keys, &mut rng)).collect();
        pair.check(None, &model, &absent);
    }
}

/// Sorted and random batches of eight writers, with hints.
fn hinted(shape: &Shape, per_batch: bool) {
    let directory = tempfile::tempdir().unwrap();
    let stock = open(&options(shape, None), &directory.path().join("stock")).unwrap();
    let learned = open(&options(shape, Some(MEMTABLE)), &directory.path().join("learned")).unwrap();
    let pair = Pair { learned, stock };
    let mut rng = seeded("mc_03");
    let (writers, each) = (8u64, 6000u64);
    let salt: u64 = rng.random();
    let key = |writer: u64, number: u64| {
        // Even writers write in order, odd ones all over.
        let number = if writer.is_multiple_of(2) {
            number
        } else {
            (number * 7919) % each
        };
        [
            &(writer / 2).to_be_bytes()[4..],
            &((number << 1) | (writer % 2)).to_be_bytes()[4..],
        ]
        .concat()
    };
    let mut hints = WriteOptions::default();
    hints.set_memtable_insert_hint_per_batch(per_batch);
    let hints = &hints;
    for db in [&pair.stock, &pair.learned] {
        thread::scope(|scope| {
            for writer in 0..writers {
                scope.spawn(move || {
                    for start in (0..each).step_by(50) {
                        let mut batch = WriteBatch::default();
                        for number in start..start + 50 {
                            batch.put(key(writer, number), (number ^ salt).to_be_bytes());
                        }
                        db.write_opt(batch, hints).unwrap();
                    }
                });
            }
        });
    }
    let mut model = Model::default();
    for writer in 0..writers {
        for number in 0..each {
            model.put(&key(writer, number), &(number ^ salt).to_be_bytes());
        }
    }
    let probes: Vec<_> = (0..each).step_by(100).map(|number| key(number % 8, number)).collect();
    pair.check(None, &model, &probes);
    pair.flush();
    pair.check(None, &model, &probes);
}

#[test]
fn mc_03_hint_per_batch() {
    for write_buffer in [64 << 20, 512 << 10] {
        hinted(
            &Shape {
                write_buffer,
                ..Shape::default()
            },
            true,
        );
    }
}

#[test]
fn mc_03_hint_by_prefix() {
    for write_buffer in [64 << 20, 512 << 10] {
        let concurrent = rest(|options| set(options, "memtable_insert_with_hint_prefix_extractor=fixed:4"));
        hinted(
            &Shape {
                write_buffer,
                ..concurrent
            },
            false,
        );
        let serial = rest(|options| {
            set(options, "memtable_insert_with_hint_prefix_extractor=fixed:4");
            options.set_allow_concurrent_memtable_write(false);
        });
        hinted(&Shape { write_buffer, ..serial }, true);
    }
}
