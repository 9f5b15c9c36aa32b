//! The program's `inspect` and `convert`.

use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

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
