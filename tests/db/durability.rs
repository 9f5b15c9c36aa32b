//! Reopening, recovery from the log, and kill -9 while a process writes.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use mountdb::LearnedIndex;
use rand::RngExt;
use rocksdb::{DB, IteratorMode, WriteOptions};

use crate::harness::keys::{Kind, show, universe};
use crate::harness::pair::open;
use crate::harness::{
    ALONGSIDE, BOTH, BOTH_ALONGSIDE, CONFIGS, MEMTABLE, Model, Pair, Rng, Shape, options, sealed, seeded,
};

fn fill(pair: &Pair, model: &mut Model, keys: &[Vec<u8>], rng: &mut Rng) {
    for number in 0..3000 {
        let key = &keys[rng.random_range(0..keys.len())];
        match rng.random_range(0..10) {
            0 => pair.delete(model, key),
            1 => pair.merge(model, key, b"+"),
            _ => pair.put(model, key, &sealed(key, number, 40)),
        }
    }
}

#[test]
fn recovery_from_the_log() {
    let mut rng = seeded("recovery_from_the_log");
    // From a log that fits in one memtable, from one that has been flushed in part, and without a flush on recovery.
    for (write_buffer, keep) in [(64 << 20, false), (128 << 10, false), (64 << 20, true)] {
        for learned in CONFIGS {
            let directory = tempfile::tempdir().unwrap();
            let shape = Shape {
                write_buffer,
                ..Shape::default()
            };
            let mut model = Model::default();
            let keys = universe(Kind::Hex, &mut rng);
            for _ in 0..3 {
                let mut with = [options(&shape, Some(learned)), options(&shape, None)];
                if keep {
                    for options in &mut with {
                        mountdb::apply_option_string(options, "avoid_flush_during_recovery=true").unwrap();
                    }
                }
                let pair = Pair {
                    learned: open(&with[0], &directory.path().join("learned")).unwrap(),
                    stock: open(&with[1], &directory.path().join("stock")).unwrap(),
                };
                pair.check(None, &model, &keys[..100]);
                fill(&pair, &mut model, &keys, &mut rng);
            }
        }
    }
}

#[test]
fn closing_flushes_what_has_no_log() {
    let mut rng = seeded("closing_flushes_what_has_no_log");
    let keys = universe(Kind::Url, &mut rng);
    for learned in CONFIGS {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape::default();
        let mut model = Model::default();
        let mut unlogged = WriteOptions::default();
        unlogged.disable_wal(true);
        let pair = Pair::open(directory.path(), &shape, learned);
        for key in &keys {
            model.put(key, b"unlogged");
            pair.both(|db| db.put_opt(key, b"unlogged", &unlogged).unwrap());
        }
        drop(pair);
        let pair = Pair::open(directory.path(), &shape, learned);
        pair.check(None, &model, &keys);
    }
}

const WRITERS: usize = 4;

/// Operation `number` of a writer, a function of both alone: key, and what to do with it.
fn operation(writer: usize, number: u64) -> (Vec<u8>, u64) {
    let mixed = (number ^ (writer as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = format!("{writer}-{:05}", (mixed >> 32) % 3000);
    (key.into_bytes(), mixed % 10)
}

fn apply(db: &DB, writer: usize, number: u64) {
    let (key, choice) = operation(writer, number);
    match choice {
        0 => db.delete(&key).unwrap(),
        1 => db.merge(&key, number.to_string()).unwrap(),
        _ => db
            .put(&key, sealed(&key, number, 30 + (number % 100) as usize))
            .unwrap(),
    }
}

/// What a writer's keys hold after its first `count` operations.
fn state(writer: usize, count: u64) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut state: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for number in 0..count {
        let (key, choice) = operation(writer, number);
        match choice {
            0 => drop(state.remove(&key)),
            1 => state.entry(key).or_default().extend(number.to_string().bytes()),
            _ => drop(state.insert(key.clone(), sealed(&key, number, 30 + (number % 100) as usize))),
        }
    }
    state
}

fn shape(write_buffer: usize) -> Shape {
    Shape {
        write_buffer,
        ..Shape::default()
    }
}

fn learned(name: &str) -> LearnedIndex {
    match name {
        "memtable" => MEMTABLE,
        "alongside" => ALONGSIDE,
        "both" => BOTH,
        "both_alongside" => BOTH_ALONGSIDE,
        _ => panic!("no configuration {name}"),
    }
}

/// The process that is killed: writes for ever, and acknowledges each operation with a byte.
#[test]
#[ignore = "runs in a process of its own, started by acknowledged_writes_survive_kill"]
fn crash_child() {
    let directory = PathBuf::from(env::var("MOUNTDB_CRASH_DIRECTORY").unwrap());
    let write_buffer = env::var("MOUNTDB_CRASH_WRITE_BUFFER").unwrap().parse().unwrap();
    let starts = env::var("MOUNTDB_CRASH_STARTS").unwrap();
    let starts: Vec<u64> = starts.split(',').map(|start| start.parse().unwrap()).collect();
    let learned = learned(&env::var("MOUNTDB_CRASH_LEARNED").unwrap());
    let db = DB::open(&options(&shape(write_buffer), Some(learned)), directory.join("db")).unwrap();
    thread::scope(|scope| {
        for (writer, start) in starts.iter().enumerate() {
            let mut acknowledged = OpenOptions::new()
                .append(true)
                .open(acknowledgements(&directory, writer))
                .unwrap();
            let db = &db;
            scope.spawn(move || {
                for number in *start.. {
                    apply(db, writer, number);
                    acknowledged.write_all(b"+").unwrap();
                }
            });
        }
    });
}

fn acknowledgements(directory: &Path, writer: usize) -> PathBuf {
    directory.join(format!("acknowledged-{writer}"))
}

fn contents(db: &DB) -> BTreeMap<Vec<u8>, Vec<u8>> {
    db.iterator(IteratorMode::Start)
        .map(|item| item.unwrap())
        .map(|(key, value)| (key.into_vec(), value.into_vec()))
        .collect()
}

/// Kills writers in several rounds on the same database. Each time, every acknowledged operation has to be there, and at
/// most one more of each writer.
fn survive_kill(name: &str, write_buffer: usize, rng: &mut Rng) {
    println!("{name}, write buffer {write_buffer}");
    let directory = tempfile::tempdir().unwrap();
    let mut done = [0u64; WRITERS];
    for _ in 0..4 {
        for writer in 0..WRITERS {
            File::create(acknowledgements(directory.path(), writer)).unwrap();
        }
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "durability::crash_child", "--ignored", "--nocapture"])
            .env("MOUNTDB_CRASH_DIRECTORY", directory.path())
            .env("MOUNTDB_CRASH_WRITE_BUFFER", write_buffer.to_string())
            .env("MOUNTDB_CRASH_STARTS", done.map(|count| count.to_string()).join(","))
            .env("MOUNTDB_CRASH_LEARNED", name)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let count = |writer| fs::metadata(acknowledgements(directory.path(), writer)).unwrap().len();
        let started = Instant::now();
        while (0..WRITERS).map(count).sum::<u64>() == 0 {
            assert_eq!(child.try_wait().unwrap(), None, "the child failed before it wrote");
            assert!(started.elapsed() < Duration::from_secs(60), "the child does not write");
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_millis(rng.random_range(0..500)));
        assert_eq!(child.try_wait().unwrap(), None, "the child ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();

        let path = directory.path().join("db");
        let found = contents(&DB::open(&options(&shape(write_buffer), Some(learned(name))), &path).unwrap());
        let mut expected = BTreeMap::new();
        for (writer, done) in done.iter_mut().enumerate() {
            let prefix = format!("{writer}-").into_bytes();
            let part: BTreeMap<_, _> = found
                .iter()
                .filter(|(key, _)| key.starts_with(&prefix))
                .map(clone)
                .collect();
            let acknowledged = *done + count(writer);
            // The operation in flight may have reached the log.
            let next = [acknowledged, acknowledged + 1]
                .into_iter()
                .find(|count| state(writer, *count) == part);
            *done = next.unwrap_or_else(|| report(writer, acknowledged, &part));
            expected.extend(part);
        }
        assert!(done.iter().sum::<u64>() > 0);
        // The second voice: stock RocksDB on the same files. It only reads, since it would write files without the index.
        let stock = DB::open_for_read_only(&options(&shape(write_buffer), None), &path, false).unwrap();
        let db = DB::open_for_read_only(&options(&shape(write_buffer), Some(learned(name))), &path, false).unwrap();
        for db in [stock, db] {
            assert!(contents(&db) == expected);
            for (key, value) in &expected {
                assert_eq!(db.get(key).unwrap().as_ref(), Some(value));
            }
        }
    }
    println!("operations: {done:?}");
}

fn clone((key, value): (&Vec<u8>, &Vec<u8>)) -> (Vec<u8>, Vec<u8>) {
    (key.clone(), value.clone())
}

fn report(writer: usize, acknowledged: u64, found: &BTreeMap<Vec<u8>, Vec<u8>>) -> u64 {
    let expected = state(writer, acknowledged);
    for (key, value) in &expected {
        if found.get(key) != Some(value) {
            println!(
                "{}: {:?}, expected {}",
                show(key),
                found.get(key).map(|value| show(value)),
                show(value)
            );
        }
    }
    panic!(
        "writer {writer}: {acknowledged} operations acknowledged; {} keys, expected {}",
        found.len(),
        expected.len()
    );
}

#[test]
fn acknowledged_writes_survive_kill() {
    let mut rng = seeded("acknowledged_writes_survive_kill");
    for name in ["memtable", "alongside", "both", "both_alongside"] {
        for write_buffer in [64 << 10, 16 << 20] {
            survive_kill(name, write_buffer, &mut rng);
        }
    }
}
