//! Switching the learned indexes on and off again on one database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mountdb::LearnedIndex;
use rocksdb::{DB, IteratorMode};

use crate::harness::keys::{Kind, universe};
use crate::harness::pair::{compact, open};
use crate::harness::{
    ALONGSIDE, BOTH, BOTH_ALONGSIDE, BOTH_REPLACE, Bounds, Model, PRIMARY, Pair, REPLACE, Rng, Shape, WINDOW,
    WINDOW_REPLACE, options, sealed, seeded, unseal,
};

/// The steps of one database's life, beside a stock database with the same writes.
struct Life {
    directory: tempfile::TempDir,
    shape: Shape,
    model: Model,
    keys: Vec<Vec<u8>>,
    number: u64,
}

impl Life {
    fn new(kind: Kind, rng: &mut Rng) -> Self {
        let keys = universe(kind, rng);
        let directory = tempfile::tempdir().unwrap();
        Life {
            directory,
            shape: Shape::default(),
            model: Model::default(),
            keys,
            number: 0,
        }
    }

    /// Opens with `learned` (none: stock options), reads everything, writes some more, flushes, reads everything.
    fn open(&mut self, learned: Option<LearnedIndex>) -> Pair {
        let path = |name: &str| self.directory.path().join(name);
        let pair = Pair {
            learned: open(&options(&self.shape, learned), &path("learned")).unwrap(),
            stock: open(&options(&self.shape, None), &path("stock")).unwrap(),
        };
        pair.check(None, &self.model, &self.keys);
        for key in self.keys.iter().skip(self.number as usize % 3).step_by(3) {
            self.number += 1;
            match self.number % 10 {
                0 => pair.delete(&mut self.model, key),
                1 => pair.merge(&mut self.model, key, b"+"),
                _ => pair.put(&mut self.model, key, &sealed(key, self.number, 60)),
            }
        }
        pair.flush();
        pair.check(None, &self.model, &self.keys);
        pair
    }

    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("learned")
    }
}

#[test]
fn both_indexes_then_stock() {
    let mut rng = seeded("both_indexes_then_stock");
    for kind in [Kind::Random, Kind::Url, Kind::Lengths] {
        for learned in [BOTH, PRIMARY, ALONGSIDE, BOTH_ALONGSIDE, REPLACE] {
            let mut life = Life::new(kind, &mut rng);
            life.open(Some(learned));
            life.open(Some(learned));
            life.open(None);
        }
    }
}

#[test]
fn stock_then_learned_and_back() {
    let mut rng = seeded("stock_then_learned_and_back");
    for kind in [Kind::Random, Kind::Uuid, Kind::Prefixes] {
        let mut life = Life::new(kind, &mut rng);
        life.open(None);
        let pair = life.open(Some(BOTH_ALONGSIDE));
        pair.compact();
        pair.check(None, &life.model, &life.keys);
        drop(pair);
        life.open(Some(BOTH));
        life.open(Some(BOTH));
        life.open(None);
    }
}

#[test]
fn off_and_on_without_compaction() {
    let mut rng = seeded("off_and_on_without_compaction");
    let mut life = Life::new(Kind::Hex, &mut rng);
    // Files with and without the learned index, side by side.
    for _ in 0..2 {
        life.open(Some(BOTH_ALONGSIDE));
        life.open(None);
        life.open(Some(ALONGSIDE));
    }
    life.open(None).compact();
    let pair = life.open(Some(ALONGSIDE));
    pair.compact();
    drop(pair);
    life.open(Some(PRIMARY));
}

/// How many live files of the database carry the standard index, the learned one.
fn indexes(db: &DB) -> (usize, usize) {
    let (mut standard, mut learned) = (0, 0);
    for file in db.live_files().unwrap() {
        let bytes = std::fs::read(db.path().join(file.name.trim_start_matches('/'))).unwrap();
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        // The index type property of a file without a standard index.
        standard += usize::from(!holds(b"index.typeU\0\0\0"));
        learned += usize::from(holds(b"MDIX") || holds(b"MDWX"));
    }
    (standard, learned)
}

#[test]
fn sf_03_every_mode_reads_the_files_of_every_other() {
    let mut rng = seeded("sf_03_every_mode");
    let mut life = Life::new(Kind::Random, &mut rng);
    let mut mixed = false;
    let modes = [
        None,
        Some(ALONGSIDE),
        Some(PRIMARY),
        Some(REPLACE),
        Some(WINDOW),
        Some(WINDOW_REPLACE),
        Some(BOTH_REPLACE),
    ];
    for _ in 0..2 {
        for learned in modes {
            let pair = life.open(learned);
            let point = pair.snapshot(&life.model);
            pair.check(Some(&point), &life.model, &life.keys);
            let (standard, learned) = indexes(&pair.learned);
            mixed |= standard > 0 && learned > 0;
        }
    }
    assert!(mixed, "no files of different modes side by side");
    // Compaction converts in either direction.
    for (mode, has_standard, has_learned) in [
        (Some(REPLACE), false, true),
        (None, true, false),
        (Some(ALONGSIDE), true, true),
        (Some(WINDOW_REPLACE), false, true),
        (Some(REPLACE), false, true),
        (Some(PRIMARY), true, true),
    ] {
        let pair = life.open(mode);
        pair.compact();
        pair.check(None, &life.model, &life.keys);
        let (standard, learned) = indexes(&pair.learned);
        assert_eq!((standard > 0, learned > 0), (has_standard, has_learned), "{mode:?}");
    }
}

/// What an operator can demand: files without the index are then refused, by name.
#[test]
fn sf_03_fail_if_no_udi_on_open_names_the_missing_index() {
    let mut rng = seeded("sf_03_fail_if");
    let mut life = Life::new(Kind::Random, &mut rng);
    life.open(None);
    let mut strict = options(&life.shape, Some(PRIMARY));
    mountdb::apply_option_string(&mut strict, "block_based_table_factory={fail_if_no_udi_on_open=true}").unwrap();
    let named = |text: &str| {
        assert!(text.contains("Corruption"), "{text}");
        assert!(text.contains("PgmIndexFactory"), "does not name the index: {text}");
    };
    match open(&strict, &life.path()) {
        Err(error) => named(error.as_ref()),
        Ok(db) => {
            for (key, _) in life.model.view(life.model.now(), &Bounds::default()) {
                match db.get(key) {
                    Ok(found) => panic!("read {found:?} without an index"),
                    Err(error) => named(error.as_ref()),
                }
            }
            let mut items = db.iterator(IteratorMode::Start);
            named(items.next().expect("an empty scan").unwrap_err().as_ref());
        }
    }
    // Nothing was harmed.
    life.open(None);
}

/// The modes change while four threads write and read back; nothing is lost, and the files follow.
#[test]
fn modes_change_under_writes() {
    seeded("modes_change_under_writes");
    let shape = Shape::default();
    let directory = tempfile::tempdir().unwrap();
    let db = open(&options(&shape, Some(BOTH_ALONGSIDE)), directory.path()).unwrap();
    let stop = AtomicBool::new(false);
    let (db, stop) = (&db, &stop);
    let key = |writer: u64, number: u64| {
        [number.wrapping_mul(0x9e37_79b9_7f4a_7c15), writer]
            .map(u64::to_be_bytes)
            .concat()
    };
    let written: Vec<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                scope.spawn(move || {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) && number < 200_000 {
                        let name = key(writer, number);
                        db.put(&name, sealed(&name, number, 60)).unwrap();
                        let old = key(writer, number * 7 / 9);
                        assert!(db.get(&old).unwrap().is_some(), "lost {writer} {number}");
                        number += 1;
                    }
                    number
                })
            })
            .collect();
        for mode in [
            "{user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
            "{user_defined_index_factory={id=pgm;mode=alongside};use_udi_as_primary_index=true}",
            "{user_defined_index_factory={id=pgm;mode=replace;lookup=window};use_udi_as_primary_index=true}",
            "{use_udi_as_primary_index=false;user_defined_index_factory=nullptr}",
            "{user_defined_index_factory={id=pgm;mode=alongside};use_udi_as_primary_index=false}",
            "{user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
        ] {
            db.set_options(&[("block_based_table_factory", mode)]).unwrap();
            db.flush().unwrap();
            compact(db);
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    for (writer, count) in (0..).zip(written) {
        assert!(count > 0);
        for number in 0..count {
            let name = key(writer, number);
            let value = db.get(&name).unwrap().expect("lost");
            assert_eq!(unseal(&name, &value), number);
        }
    }
    let (standard, learned) = indexes(db);
    assert!(learned > 0, "{standard} standard, {learned} learned");
}
