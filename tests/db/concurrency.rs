//! Many threads on one database.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mountdb::LearnedIndex;
use rand::{RngExt, SeedableRng};
use rocksdb::{DB, IteratorMode, Options, WriteBatch};

use crate::harness::keys::show;
use crate::harness::{BOTH, MEMTABLE, Rng, Shape, options, sealed, seeded, unseal};

/// A thread that makes no progress for so long is stuck: far more than a busy machine explains.
const STALL: Duration = Duration::from_secs(20);

fn open(directory: &std::path::Path, shape: &Shape, learned: LearnedIndex) -> DB {
    DB::open(&options(shape, Some(learned)), directory.join("learned")).unwrap()
}

/// Runs `work` on `count` threads with a number and a step counter each, for which it has to call the given function often.
/// Aborts the process when one of them stalls, since it cannot be stopped.
fn watched(count: usize, work: impl Fn(usize, &dyn Fn()) + Sync) {
    let steps: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    let left = AtomicU64::new(count as u64);
    thread::scope(|scope| {
        for (number, steps) in steps.iter().enumerate() {
            let (work, left) = (&work, &left);
            scope.spawn(move || {
                // Counted down by a drop guard, so that a failed assertion ends the watch as well.
                struct Leave<'a>(&'a AtomicU64, &'a AtomicU64);
                impl Drop for Leave<'_> {
                    fn drop(&mut self) {
                        self.1.store(u64::MAX, Ordering::Relaxed);
                        self.0.fetch_sub(1, Ordering::Relaxed);
                    }
                }
                let _leave = Leave(left, steps);
                work(number, &|| {
                    steps.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
        let mut seen = vec![(0, Instant::now()); count];
        while left.load(Ordering::Relaxed) > 0 {
            thread::sleep(Duration::from_millis(20));
            for (number, (steps, seen)) in steps.iter().zip(&mut seen).enumerate() {
                let now = steps.load(Ordering::Relaxed);
                if now != seen.0 || now == u64::MAX {
                    *seen = (now, Instant::now());
                } else if seen.1.elapsed() > STALL {
                    eprintln!("thread {number} stalls after {now} steps");
                    std::process::abort();
                }
            }
        }
    });
}

/// The whole database, in order and intact.
fn contents(db: &DB, mode: IteratorMode) -> Vec<(Vec<u8>, u64)> {
    let mut all = Vec::new();
    for item in db.iterator(mode) {
        let (key, value) = item.unwrap();
        all.push((key.to_vec(), unseal(&key, &value)));
    }
    all
}

/// `expected` against the learned database and a stock database that gets the same entries.
fn check_contents(db: &DB, directory: &std::path::Path, shape: &Shape, expected: &BTreeMap<Vec<u8>, u64>) {
    let stock = DB::open(&options(shape, None), directory.join("stock")).unwrap();
    for (key, number) in expected {
        stock.put(key, sealed(key, *number, 16)).unwrap();
    }
    let expected: Vec<_> = expected.iter().map(|(key, number)| (key.clone(), *number)).collect();
    let backwards: Vec<_> = expected.iter().rev().cloned().collect();
    for (name, db) in [("stock", &stock), ("learned", db)] {
        assert!(
            contents(db, IteratorMode::Start) == expected,
            "{name}: forward scan differs"
        );
        assert!(
            contents(db, IteratorMode::End) == backwards,
            "{name}: backward scan differs"
        );
        for (key, number) in &expected {
            let value = db
                .get(key)
                .unwrap()
                .unwrap_or_else(|| panic!("{name}: no {}", show(key)));
            assert_eq!(unseal(key, &value), *number, "{name}: {}", show(key));
        }
    }
}

/// Clustered numbers: few clusters, neighbours close together.
fn clustered(rng: &mut Rng) -> u64 {
    let cluster = rng.random_range(0..8u64);
    (cluster << 60) | ((cluster * 0x1234_5678_9abc) + rng.random_range(0..200_000))
}

fn no_thread_stalls(learned: LearnedIndex, shape: Shape, threads: usize, ops: u64) {
    let mut rng = seeded("mt_01");
    let directory = tempfile::tempdir().unwrap();
    let db = open(directory.path(), &shape, learned);
    // Half loaded: keys that every scan has to see.
    let mut loaded: BTreeMap<u64, ()> = (0..8000).map(|_| (clustered(&mut rng) & !1, ())).collect();
    loaded.insert(u64::MAX - 1, ());
    for key in loaded.keys() {
        db.put(key.to_be_bytes(), sealed(&key.to_be_bytes(), 0, 16)).unwrap();
    }
    let seeds: Vec<u64> = (0..threads).map(|_| rng.random()).collect();
    let written: Vec<_> = (0..threads).map(|_| std::sync::Mutex::new(Vec::new())).collect();
    watched(threads, |thread, step| {
        let mut rng = Rng::seed_from_u64(seeds[thread]);
        for _ in 0..ops {
            step();
            let key = clustered(&mut rng);
            match rng.random_range(0..10) {
                0..7 => {
                    let bytes = key.to_be_bytes();
                    match db.get(bytes).unwrap() {
                        Some(value) => drop(unseal(&bytes, &value)),
                        None => assert!(!loaded.contains_key(&key), "lost {key:#x}"),
                    }
                }
                7..9 => {
                    let bytes = (key | 1).to_be_bytes();
                    db.put(bytes, sealed(&bytes, 1, 16)).unwrap();
                    written[thread].lock().unwrap().push(key | 1);
                }
                _ => scan(&db, &loaded, key, rng.random()),
            }
        }
    });
    let mut expected: BTreeMap<_, _> = loaded.keys().map(|key| (key.to_be_bytes().to_vec(), 0)).collect();
    for keys in &written {
        expected.extend(keys.lock().unwrap().iter().map(|key| (key.to_be_bytes().to_vec(), 1)));
    }
    check_contents(&db, directory.path(), &shape, &expected);
}

/// A hundred entries from `start`: in order, whole, with all loaded keys among them.
fn scan(db: &DB, loaded: &BTreeMap<u64, ()>, start: u64, forward: bool) {
    let mut iterator = db.raw_iterator();
    if forward {
        iterator.seek(start.to_be_bytes())
    } else {
        iterator.seek_for_prev(start.to_be_bytes())
    }
    let mut expected: Box<dyn Iterator<Item = &u64>> = if forward {
        Box::new(loaded.range(start..).map(|e| e.0))
    } else {
        Box::new(loaded.range(..=start).rev().map(|e| e.0))
    };
    let mut last = None;
    for _ in 0..100 {
        let Some((bytes, value)) = iterator.item() else {
            iterator.status().unwrap();
            assert_eq!(expected.next(), None, "a scan from {start:#x} ends early");
            break;
        };
        unseal(bytes, value);
        let key = u64::from_be_bytes(bytes.try_into().unwrap());
        let in_order = last.is_none_or(|last| if forward { last < key } else { last > key });
        assert!(in_order, "{key:#x} after {last:x?}");
        last = Some(key);
        if key & 1 == 0 {
            assert_eq!(expected.next(), Some(&key), "a scan from {start:#x} missed a key");
        }
        if forward { iterator.next() } else { iterator.prev() }
    }
}

#[test]
fn mt_01_no_thread_stalls_in_one_memtable() {
    no_thread_stalls(
        MEMTABLE,
        Shape {
            write_buffer: 256 << 20,
            ..Shape::default()
        },
        32,
        4000,
    );
}

#[test]
fn mt_01_no_thread_stalls_with_flushes() {
    no_thread_stalls(BOTH, Shape::default(), 16, 4000);
}

#[test]
fn mt_02_sentinels_stay_visible() {
    for learned in [MEMTABLE, BOTH] {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape {
            write_buffer: 64 << 20,
            ..Shape::default()
        };
        let db = open(directory.path(), &shape, learned);
        let sentinels: Vec<u64> = (1..=64u64).map(|i| i << 32).collect();
        for key in &sentinels {
            db.put(key.to_be_bytes(), sealed(&key.to_be_bytes(), 0, 16)).unwrap();
        }
        let mut rng = seeded("mt_02");
        let seeds: Vec<u64> = (0..9).map(|_| rng.random()).collect();
        let done = AtomicBool::new(false);
        let written = std::sync::Mutex::new(BTreeMap::new());
        watched(9, |thread, step| {
            let mut rng = Rng::seed_from_u64(seeds[thread]);
            if thread == 0 {
                // Smaller and larger neighbours, at growing distances and in clusters.
                for number in 1..60_000u64 {
                    step();
                    let sentinel = sentinels[rng.random_range(0..sentinels.len())];
                    let distance = if number % 3 == 0 {
                        number
                    } else {
                        rng.random_range(1..1 << 31)
                    };
                    let key = if number & 1 == 0 {
                        sentinel + distance
                    } else {
                        sentinel - distance
                    };
                    db.put(key.to_be_bytes(), sealed(&key.to_be_bytes(), number, 16))
                        .unwrap();
                    written.lock().unwrap().insert(key.to_be_bytes().to_vec(), number);
                }
                done.store(true, Ordering::Release);
                return;
            }
            while !done.load(Ordering::Acquire) {
                step();
                for _ in 0..200 {
                    let key = sentinels[rng.random_range(0..sentinels.len())].to_be_bytes();
                    let value = db
                        .get(key)
                        .unwrap()
                        .unwrap_or_else(|| panic!("sentinel {} lost", show(&key)));
                    assert_eq!(unseal(&key, &value), 0);
                }
                let forward = thread % 2 == 0;
                let mode = if forward {
                    IteratorMode::Start
                } else {
                    IteratorMode::End
                };
                let mut last: Option<Box<[u8]>> = None;
                let mut seen = 0;
                for item in db.iterator(mode) {
                    step();
                    let (key, value) = item.unwrap();
                    if unseal(&key, &value) == 0 {
                        seen += 1;
                    }
                    let in_order = last.is_none_or(|last| if forward { last < key } else { last > key });
                    assert!(in_order, "{} out of order", show(&key));
                    last = Some(key);
                }
                assert_eq!(seen, sentinels.len());
            }
        });
        let mut expected = written.into_inner().unwrap();
        expected.extend(sentinels.iter().map(|key| (key.to_be_bytes().to_vec(), 0)));
        check_contents(&db, directory.path(), &shape, &expected);
        db.flush().unwrap();
    }
}

#[test]
fn mt_03_every_writer_finds_its_insert() {
    for (learned, write_buffer) in [(MEMTABLE, 256 << 20), (BOTH, 256 << 10)] {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape {
            write_buffer,
            ..Shape::default()
        };
        let db = open(directory.path(), &shape, learned);
        let (threads, each) = (16, 4000);
        let start = Barrier::new(threads);
        watched(threads, |thread, step| {
            start.wait();
            for number in 0..each as u64 {
                step();
                // Interleaved: all threads work on the same nodes.
                let key = (number * threads as u64 + thread as u64).to_be_bytes();
                db.put(key, sealed(&key, number, 16)).unwrap();
                let value = db.get(key).unwrap().unwrap_or_else(|| panic!("{} lost", show(&key)));
                assert_eq!(unseal(&key, &value), number);
            }
        });
        let expected = (0..threads * each).map(|key| ((key as u64).to_be_bytes().to_vec(), (key / threads) as u64));
        check_contents(&db, directory.path(), &shape, &expected.collect());
    }
}

/// Every operation has a key of its own, so that a flush can merge none away: its entries have to be those that were written.
fn every_flush_has_every_entry(mode: fn(&mut Options)) {
    let directory = tempfile::tempdir().unwrap();
    let rest = mode;
    for learned in [MEMTABLE, BOTH] {
        let shape = Shape {
            write_buffer: 512 << 10,
            rest,
            ..Shape::default()
        };
        let mut options = options(&shape, Some(learned));
        options.set_disable_auto_compactions(true);
        options.set_level_zero_slowdown_writes_trigger(-1);
        options.set_level_zero_stop_writes_trigger(1 << 30);
        let path = directory.path().join(format!("{:?}", learned.index));
        let db = DB::open(&options, &path).unwrap();
        let (threads, each) = (16u64, 4000u64);
        let mut rng = seeded("mc_06");
        let seeds: Vec<u64> = (0..=threads).map(|_| rng.random()).collect();
        let key = |number: u64, thread: u64| {
            [
                &(number % 97).to_be_bytes()[4..],
                &(number * threads + thread).to_be_bytes(),
            ]
            .concat()
        };
        watched(threads as usize + 1, |thread, step| {
            let mut rng = Rng::seed_from_u64(seeds[thread]);
            if thread == threads as usize {
                for _ in 0..20 {
                    step();
                    thread::sleep(Duration::from_millis(rng.random_range(0..100)));
                    db.flush().unwrap();
                }
                return;
            }
            for number in 0..each {
                step();
                let key = key(number, thread as u64);
                match number % 4 {
                    0 => db.put(&key, sealed(&key, number, 16)).unwrap(),
                    1 => db.delete(&key).unwrap(),
                    2 => db.merge(&key, sealed(&key, number, 16)).unwrap(),
                    _ => {
                        let mut batch = WriteBatch::default();
                        batch.single_delete(&key);
                        db.write(batch).unwrap();
                    }
                }
            }
        });
        db.flush().unwrap();
        let files = db.live_files().unwrap();
        assert_eq!(files.iter().map(|file| file.num_entries).sum::<u64>(), threads * each);
        assert_eq!(
            files.iter().map(|file| file.num_deletions).sum::<u64>(),
            threads * each / 2
        );
        assert_eq!(db.property_int_value("rocksdb.background-errors").unwrap(), Some(0));
        let numbers = (0..threads).flat_map(|thread| (0..each).step_by(2).map(move |number| (number, thread)));
        let expected = numbers.map(|(number, thread)| (key(number, thread), number));
        let stock_path = directory.path().join(format!("{:?}-stock", learned.index));
        check_contents(&db, &stock_path, &shape, &expected.collect());
    }
}

#[test]
fn mc_06_every_flush_has_every_entry() {
    every_flush_has_every_entry(|_| ());
}

#[test]
fn mt_06_every_flush_has_every_entry_unordered() {
    every_flush_has_every_entry(|options| {
        options.set_allow_concurrent_memtable_write(true);
        options.set_unordered_write(true);
    });
}

#[test]
fn mt_06_every_flush_has_every_entry_pipelined() {
    every_flush_has_every_entry(|options| {
        options.set_allow_concurrent_memtable_write(true);
        options.set_enable_pipelined_write(true);
    });
}
