//! Many versions of one key.

use std::sync::Barrier;
use std::thread;

use rand::RngExt;
use rocksdb::{DB, IteratorMode, Options, WriteBatchIterator};

use crate::harness::keys::show;
use crate::harness::pair::compact;
use crate::harness::{
    BOTH, Bounds, MEMTABLE, Model, PRIMARY, Pair, REPLACE, Shape, WINDOW, WINDOW_REPLACE, Walk, options, seeded,
};

/// Everything a hot key and its neighbours can be asked.
fn probes(key: &[u8]) -> Vec<Vec<u8>> {
    let mut below = key.to_vec();
    below.pop();
    vec![below, key.to_vec(), [key, b"\0"].concat(), b"zz".to_vec()]
}

#[test]
fn one_key_with_100k_versions() {
    let mut rng = seeded("one_key_with_100k_versions");
    let directory = tempfile::tempdir().unwrap();
    let shape = Shape {
        write_buffer: 256 << 20,
        block_size: 1024,
        ..Shape::default()
    };
    let mut model = Model::default();
    let pair = Pair::open(directory.path(), &shape, BOTH);
    let mut points = Vec::new();
    let mut write = |pair: &Pair, model: &mut Model, number: u64| match rng.random_range(0..100) {
        0 => pair.delete(model, b"hot"),
        1 => pair.merge(model, b"hot", b"+"),
        _ => pair.put(model, b"hot", &number.to_be_bytes()),
    };
    pair.put(&mut model, b"cold", b"before");
    pair.put(&mut model, b"zebra", b"after");
    for number in 0..100_000 {
        if number % 1000 == 1 {
            points.push(pair.snapshot(&model));
        }
        write(&pair, &mut model, number);
    }
    let check = |pair: &Pair, points: &[_], model: &Model| {
        for point in points.iter().map(Some).chain([None]) {
            pair.check(point, model, &probes(b"hot"));
        }
    };
    check(&pair, &points, &model);
    pair.flush();
    check(&pair, &points, &model);
    pair.compact();
    check(&pair, &points, &model);
    points.clear();
    pair.compact();
    check(&pair, &points, &model);
}

/// Where the key with many versions stands in the file.
fn others(place: &str) -> Vec<&'static [u8]> {
    match place {
        "only" => vec![],
        "first" => vec![b"n", b"o"],
        "last" => vec![b"k", b"l"],
        _ => vec![b"k", b"l", b"n", b"o"],
    }
}

fn versions_over_blocks(place: &str, versions: usize, value_size: usize) {
    println!("{place}: {versions} versions of {value_size} bytes");
    let directory = tempfile::tempdir().unwrap();
    let shape = Shape {
        write_buffer: 64 << 20,
        file_size: 64 << 20,
        block_size: 64,
        ..Shape::default()
    };
    let pair = Pair::open(directory.path(), &shape, PRIMARY);
    let mut model = Model::default();
    for key in others(place) {
        pair.put(&mut model, key, b"other");
    }
    let mut points = Vec::new();
    for number in 0..versions {
        pair.put(
            &mut model,
            b"m",
            &number.to_string().repeat(value_size).as_bytes()[..value_size],
        );
        points.push(pair.snapshot(&model));
        if number % 16 == 7 {
            pair.delete(&mut model, b"m");
            points.push(pair.snapshot(&model));
        } else if number % 16 == 3 {
            pair.merge(&mut model, b"m", b"+");
            points.push(pair.snapshot(&model));
        }
    }
    let check = |pair: &Pair, points: &[_], model: &Model| {
        for point in points.iter().map(Some).chain([None]) {
            pair.check(
                point,
                model,
                &[&probes(b"m")[..], &[b"k".to_vec(), b"o".to_vec()]].concat(),
            );
        }
    };
    pair.flush();
    check(&pair, &points, &model);
    pair.compact();
    check(&pair, &points, &model);
    // A third of the snapshots stays: other versions share blocks.
    let mut number = 0;
    points.retain(|_| {
        number += 1;
        number % 3 == 0
    });
    pair.compact();
    check(&pair, &points, &model);
    points.clear();
    pair.compact();
    check(&pair, &points, &model);
}

#[test]
fn si_01_versions_of_one_key_span_blocks() {
    for place in ["only", "first", "last", "middle"] {
        versions_over_blocks(place, 300, 40);
        for (versions, value_size) in [(2, 50), (3, 70), (20, 20), (60, 10)] {
            versions_over_blocks(place, versions, value_size);
        }
    }
}

#[test]
fn si_02_plain_separators_beside_a_straddled_key() {
    // A separator between "acc" and "acd" cannot be shorter, and equals a key; "same" straddles a boundary elsewhere.
    let keys: Vec<Vec<u8>> = ["acc", "acd", "ace", "b", "ba", "bb", "same", "sand", "sane", "t", "u"]
        .iter()
        .map(|key| key.as_bytes().to_vec())
        .collect();
    for learned in [PRIMARY, BOTH, REPLACE, WINDOW, WINDOW_REPLACE] {
        for straddled in ["same", "acd", "acc", "u"] {
            let directory = tempfile::tempdir().unwrap();
            let shape = Shape {
                write_buffer: 64 << 20,
                file_size: 64 << 20,
                block_size: 1,
                ..Shape::default()
            };
            let pair = Pair::open(directory.path(), &shape, learned);
            let mut model = Model::default();
            let mut points = Vec::new();
            for number in 0..6u64 {
                for key in &keys {
                    if number == 0 || key == straddled.as_bytes() {
                        pair.put(&mut model, key, &[number as u8; 30]);
                        points.push(pair.snapshot(&model));
                    }
                }
            }
            for _ in 0..2 {
                pair.flush();
                for point in points.iter().map(Some).chain([None]) {
                    pair.check(point, &model, &keys);
                }
                pair.compact();
            }
            for point in points.iter().map(Some).chain([None]) {
                pair.check(point, &model, &keys);
            }
            points.clear();
            pair.compact();
            pair.check(None, &model, &keys);
        }
    }
}

/// Key and value.
type Put = (Box<[u8]>, Box<[u8]>);

/// Puts in the order of their sequence numbers, as the log has them.
#[derive(Default)]
struct Log(Vec<Put>);

impl WriteBatchIterator for Log {
    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.0.push((key.into(), value.into()));
    }

    fn delete(&mut self, key: &[u8]) {
        panic!("a deletion of {} that nobody wrote", show(key));
    }
}

/// Threads write one key at once. The log tells the order of sequence numbers; repeated in that order, it gives the other
/// two voices.
fn same_key_from_many_threads(mode: fn(&mut Options)) {
    let directory = tempfile::tempdir().unwrap();
    let shape = Shape {
        write_buffer: 64 << 20,
        block_size: 256,
        rest: mode,
        ..Shape::default()
    };
    let learned = directory.path().join("learned");
    let db = DB::open(&options(&shape, Some(MEMTABLE)), &learned).unwrap();
    let (threads, each) = (8, 1500u64);
    let start = Barrier::new(threads);
    let snapshots: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (db, start) = (&db, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut snapshots = Vec::new();
                    for number in 0..each {
                        db.put(b"hot", [&[thread as u8][..], &number.to_be_bytes()].concat())
                            .unwrap();
                        if number % 50 == 0 {
                            db.put([b"hot", &[thread as u8][..]].concat(), number.to_be_bytes())
                                .unwrap();
                            snapshots.push(db.snapshot());
                        }
                    }
                    snapshots
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });

    let mut log = Log::default();
    for batch in db.get_updates_since(0).unwrap() {
        let (sequence, batch) = batch.unwrap();
        // The first sequence number is 1, so that the log's length is that of its last entry.
        assert_eq!(sequence, log.0.len() as u64 + 1);
        batch.iterate(&mut log);
    }
    assert_eq!(log.0.len() as u64, threads as u64 * (each + each.div_ceil(50)));

    let stock = DB::open(&options(&shape, None), directory.path().join("stock")).unwrap();
    let mut model = Model::default();
    for (key, value) in &log.0 {
        model.put(key, value);
        stock.put(key, value).unwrap();
    }
    let keys = model.keys();
    // Stock has no snapshots at these times; the sorted map has.
    let check_snapshots = || {
        for snapshot in &snapshots {
            let time = snapshot.sequence_number();
            for key in &keys {
                assert_eq!(
                    snapshot.get(key).unwrap().as_deref(),
                    model.get(key, time),
                    "{} at {time}",
                    show(key)
                );
            }
            for (mode, reverse) in [(IteratorMode::Start, false), (IteratorMode::End, true)] {
                let mut items: Vec<_> = snapshot.iterator(mode).map(Result::unwrap).collect();
                if reverse {
                    items.reverse();
                }
                let items = items.iter().map(|(key, value)| (&key[..], &value[..]));
                assert!(
                    items.eq(model.view(time, &Bounds::default())),
                    "scan at {time}, reverse {reverse}"
                );
            }
        }
    };
    check_snapshots();
    db.flush().unwrap();
    check_snapshots();
    compact(&db);
    check_snapshots();
    drop(snapshots);
    drop(db);

    let pair = Pair {
        learned: DB::open(&options(&shape, Some(MEMTABLE)), &learned).unwrap(),
        stock,
    };
    let mut walk = Walk::new(&pair, None, &model, Bounds::default());
    walk.scan();
    for key in &keys {
        walk.probe(key);
        pair.check_get(None, &model, key);
    }
}

#[test]
fn mt_06_one_key_from_many_threads() {
    same_key_from_many_threads(|_| ());
}

#[test]
fn mt_06_one_key_unordered_write() {
    same_key_from_many_threads(|options| options.set_unordered_write(true));
}

#[test]
fn mt_06_one_key_pipelined_write() {
    same_key_from_many_threads(|options| options.set_enable_pipelined_write(true));
}
