//! Switching the learned indexes on and off again on one database.

use std::path::Path;

use mountdb::LearnedIndex;
use rocksdb::{DB, IteratorMode};

use crate::harness::keys::{Kind, universe};
use crate::harness::pair::{compact, open};
use crate::harness::{
    ALONGSIDE, BOTH, BOTH_ALONGSIDE, Bounds, Model, PRIMARY, Pair, Rng, Shape, options, sealed, seeded,
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
        for learned in [BOTH, PRIMARY, ALONGSIDE, BOTH_ALONGSIDE] {
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
    // Files with and without the learned index, side by side: only alongside can read both.
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

/// Every read of a database that lacks the index has to fail, and say why.
fn names_missing_index(path: &Path, shape: &Shape, model: &Model) {
    let named = |text: &str| {
        assert!(text.contains("Corruption"), "{text}");
        assert!(text.contains("PgmIndexFactory"), "does not name the index: {text}");
    };
    let db = match open(&options(shape, Some(PRIMARY)), path) {
        Ok(db) => db,
        Err(error) => return named(error.as_ref()),
    };
    for (key, _) in model.view(model.now(), &Bounds::default()) {
        match db.get(key) {
            Ok(found) => panic!("read {found:?} without an index"),
            Err(error) => named(error.as_ref()),
        }
    }
    let mut items = db.iterator(IteratorMode::Start);
    named(items.next().expect("an empty scan").unwrap_err().as_ref());
}

#[test]
fn primary_on_files_of_stock_names_the_missing_index() {
    let mut rng = seeded("primary_on_files_of_stock");
    let mut life = Life::new(Kind::Random, &mut rng);
    life.open(None);
    names_missing_index(&life.path(), &life.shape, &life.model);
    // Nothing was harmed.
    life.open(None);
    let db = DB::open(&options(&life.shape, Some(ALONGSIDE)), life.path()).unwrap();
    compact(&db);
    drop(db);
    life.open(Some(PRIMARY));
}
