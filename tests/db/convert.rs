//! The program's `inspect` and `convert`.

use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;

use crate::harness::keys::{Kind, universe};
use crate::harness::pair::open;
use crate::harness::{Model, Pair, REPLACE, Shape, options, sealed, seeded};

fn mountdb(arguments: &[&str], path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mountdb"));
    command.arg(arguments[0]).arg(path).args(&arguments[1..]);
    command
}

fn run(arguments: &[&str], path: &Path) -> String {
    let Output { status, stdout, stderr } = mountdb(arguments, path).output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success(),
        "{arguments:?}: {status}\n{text}{}",
        String::from_utf8_lossy(&stderr)
    );
    text
}

/// Many small files, without merges: the program does not know the tests' merge operator.
fn fill(path: &Path, shape: &Shape, model: &mut Model) -> Vec<Vec<u8>> {
    // Options without a learned index read converted files by the name of their index.
    mountdb::register();
    let mut rng = seeded("convert");
    let keys: Vec<Vec<u8>> = [Kind::Random, Kind::Url, Kind::Lengths]
        .into_iter()
        .flat_map(|kind| universe(kind, &mut rng))
        .collect();
    let pair = Pair {
        learned: open(&options(shape, None), &path.join("learned")).unwrap(),
        stock: open(&options(shape, None), &path.join("stock")).unwrap(),
    };
    for number in 0..3 {
        for key in &keys {
            pair.put(model, key, &sealed(key, number, 60));
        }
        pair.flush();
    }
    for key in keys.iter().step_by(7) {
        pair.delete(model, key);
    }
    pair.flush();
    keys
}

fn check(path: &Path, shape: &Shape, model: &Model, keys: &[Vec<u8>]) {
    for learned in [None, Some(REPLACE)] {
        let pair = Pair {
            learned: open(&options(shape, learned), &path.join("learned")).unwrap(),
            stock: open(&options(shape, None), &path.join("stock")).unwrap(),
        };
        pair.check(None, model, keys);
    }
}

#[test]
fn sf_03_convert_there_and_back() {
    let directory = tempfile::tempdir().unwrap();
    let (shape, mut model) = (Shape::default(), Model::default());
    let keys = fill(directory.path(), &shape, &mut model);
    let learned = directory.path().join("learned");
    assert!(run(&["inspect"], &learned).contains("every file is as standard writes it"));
    for (to, said) in [
        ("pgm", "every file is as replace writes it"),
        ("alongside", "every file is as alongside writes it"),
        ("replace", "every file is as replace writes it"),
        ("standard", "every file is as standard writes it"),
    ] {
        run(&["convert", "--to", to], &learned);
        let text = run(&["inspect"], &learned);
        assert!(text.contains(said), "{to}: {text}");
        assert_eq!(text.matches("left to convert").count(), 2, "{to}: {text}");
        check(directory.path(), &shape, &model, &keys);
        // The check has written files of other modes.
    }
}

#[test]
fn sf_03_convert_killed_at_any_time_goes_on() {
    let mut rng = seeded("convert killed");
    let directory = tempfile::tempdir().unwrap();
    let shape = Shape {
        file_size: 16 << 10,
        ..Shape::default()
    };
    let mut model = Model::default();
    let keys = fill(directory.path(), &shape, &mut model);
    let learned = directory.path().join("learned");
    for round in 0..8 {
        let to = if round % 2 == 0 { "pgm" } else { "standard" };
        let mut child = mountdb(&["convert", "--to", to], &learned).spawn().unwrap();
        thread::sleep(Duration::from_millis(rng.random_range(0..400)));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        check(directory.path(), &shape, &model, &keys);
    }
    run(&["convert", "--to", "pgm"], &learned);
    assert!(run(&["inspect"], &learned).contains("every file is as replace writes it"));
    check(directory.path(), &shape, &model, &keys);
}

/// Names, sizes and times of all that is in a folder.
fn listing(path: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut files: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, metadata.len(), metadata.modified().unwrap())
        })
        .collect();
    files.sort();
    files
}

/// The row of a column family in the second table: numbers as they are printed.
fn estimate(text: &str, family: &str) -> Vec<f64> {
    let (_, table) = text.split_once("estimated from a sample").expect(text);
    numbers(table.lines().find(|line| line.contains(family)).expect(text))
}

fn numbers(row: &str) -> Vec<f64> {
    row.split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|number| number.parse().ok())
        .collect()
}

/// What a compaction with both indexes then writes is what was said, and until then nothing is written.
#[test]
fn the_estimate_is_what_a_conversion_brings() {
    mountdb::register();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut stock = options(
        &Shape {
            block_size: 1024,
            file_size: 64 << 20,
            write_buffer: 1 << 20,
            ..Shape::default()
        },
        None,
    );
    // With compression, files hold index blocks smaller than they are in memory.
    stock.set_compression_type(rocksdb::DBCompressionType::None);
    stock.enable_statistics();
    stock.set_stats_dump_period_sec(1);
    let db = open(&stock, &path).unwrap();
    for number in 0..20_000u64 {
        db.put((number * 1000).to_be_bytes(), sealed(&number.to_be_bytes(), 0, 100))
            .unwrap();
    }
    db.flush().unwrap();
    // One timer of RocksDB serves all databases of the process, the other tests' too: the dump may come late.
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut in_use = String::new();
    while !in_use.contains("20000 keys written") {
        assert!(Instant::now() < deadline, "{in_use}");
        thread::sleep(Duration::from_millis(500));
        in_use = run(&["inspect"], &path);
    }
    drop(db);
    let before = listing(&path);
    let text = run(&["inspect"], &path);
    assert_eq!(listing(&path), before, "inspect changed the folder");
    let without = run(&["inspect", "--sample", "0"], &path);
    assert!(
        !without.contains("sample") && !without.contains("keys written"),
        "{without}"
    );

    let [mib, keys, standard, learned, off, standard_kib, learned_kib] = estimate(&text, "default")[..] else {
        panic!("{text}");
    };
    assert_eq!(keys, 20_000.0, "{text}");
    assert!((2.0..3.0).contains(&mib) && (0.0..100.0).contains(&off), "{text}");
    assert!(learned < standard && learned_kib < standard_kib, "{text}");
    run(&["convert", "--to", "alongside"], &path);
    let text = run(&["inspect", "--sample", "0"], &path);
    let row = text.lines().find(|line| line.contains("all")).unwrap();
    // Each file has a header: there are no more files than places that are sampled.
    let [.., standard_bytes, standard_bits, learned_bytes, learned_bits] = numbers(row)[..] else {
        panic!("{text}");
    };
    assert!((standard_bits - standard).abs() < 0.05 * standard, "{standard}: {text}");
    assert!((learned_bits - learned).abs() < 0.35 * learned, "{learned}: {text}");
    assert!(
        (standard_bytes / 1024.0 - standard_kib).abs() < 0.1 * standard_kib,
        "{standard_kib}: {text}"
    );
    assert!(
        (learned_bytes / 1024.0 - learned_kib).abs() < 0.4 * learned_kib,
        "{learned_kib}: {text}"
    );
}

#[test]
fn no_estimate_where_keys_cannot_be_read_or_gain_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut reverse = options(&Shape::default(), None);
    mountdb::apply_option_string(&mut reverse, "comparator=rocksdb.ReverseBytewiseComparator").unwrap();
    let db = open(&reverse, &path).unwrap();
    db.put("key", "value").unwrap();
    db.flush().unwrap();
    drop(db);
    let text = run(&["inspect"], &path);
    assert!(
        text.contains("no estimate for column family default: its comparator is rocksdb.ReverseBytewiseComparator"),
        "{text}"
    );
}

#[test]
fn a_folder_without_a_database_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [&["inspect"][..], &["convert", "--to", "pgm"]] {
        let output = mountdb(arguments, &directory.path().join("none")).output().unwrap();
        assert!(!output.status.success());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("cannot read the options of"), "{text}");
        assert!(!directory.path().join("none").exists(), "it made a database");
    }
}
