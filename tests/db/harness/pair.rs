//! The two databases, written and compared together.

use std::path::Path;

use mountdb::LearnedIndex;
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, Options, ReadOptions, Snapshot, WriteBatch};

use super::keys::show;
use super::{Bounds, Model, Shape, Walk, options};

pub struct Pair {
    pub learned: DB,
    pub stock: DB,
}

/// A snapshot of both databases and the model's time.
pub struct Point<'a> {
    pub learned: Snapshot<'a>,
    pub stock: Snapshot<'a>,
    pub time: u64,
}

/// Opens with a handle of the default column family, which the batched calls need.
pub fn open(options: &Options, path: &Path) -> Result<DB, rocksdb::Error> {
    DB::open_cf_with_opts(options, path, [("default", options.clone())])
}

impl Pair {
    pub fn open(directory: &Path, shape: &Shape, learned: LearnedIndex) -> Pair {
        Pair {
            learned: open(&options(shape, Some(learned)), &directory.join("learned")).unwrap(),
            stock: open(&options(shape, None), &directory.join("stock")).unwrap(),
        }
    }

    pub fn both(&self, act: impl Fn(&DB)) {
        act(&self.stock);
        act(&self.learned);
    }

    pub fn put(&self, model: &mut Model, key: &[u8], value: &[u8]) {
        model.put(key, value);
        self.both(|db| db.put(key, value).unwrap());
    }

    pub fn delete(&self, model: &mut Model, key: &[u8]) {
        model.delete(key);
        self.both(|db| db.delete(key).unwrap());
    }

    pub fn merge(&self, model: &mut Model, key: &[u8], operand: &[u8]) {
        model.merge(key, operand);
        self.both(|db| db.merge(key, operand).unwrap());
    }

    pub fn delete_range(&self, model: &mut Model, from: &[u8], to: &[u8]) {
        model.delete_range(from, to);
        self.batch(|batch| batch.delete_range(from, to));
    }

    pub fn batch(&self, fill: impl Fn(&mut WriteBatch)) {
        self.both(|db| {
            let mut batch = WriteBatch::default();
            fill(&mut batch);
            db.write(batch).unwrap();
        });
    }

    pub fn flush(&self) {
        self.both(|db| db.flush().unwrap());
    }

    /// Rewrites everything into the last level.
    pub fn compact(&self) {
        self.both(compact);
    }

    pub fn snapshot(&self, model: &Model) -> Point<'_> {
        Point {
            learned: self.learned.snapshot(),
            stock: self.stock.snapshot(),
            time: model.now(),
        }
    }

    pub fn read_options(&self, point: Option<&Point>) -> (ReadOptions, ReadOptions) {
        let (mut learned, mut stock) = (ReadOptions::default(), ReadOptions::default());
        if let Some(point) = point {
            learned.set_snapshot(&point.learned);
            stock.set_snapshot(&point.stock);
        }
        (learned, stock)
    }

    pub fn check_get(&self, point: Option<&Point>, model: &Model, key: &[u8]) {
        let expected = model.get(key, point.map_or(model.now(), |point| point.time));
        let (learned, stock) = self.read_options(point);
        for (name, db, options) in [("stock", &self.stock, &stock), ("learned", &self.learned, &learned)] {
            let found = db.get_opt(key, options).unwrap();
            assert_same(name, "get", key, found.as_deref(), expected);
        }
    }

    /// Both kinds of MultiGet.
    pub fn check_multi_get(&self, point: Option<&Point>, model: &Model, keys: &[Vec<u8>]) {
        let time = point.map_or(model.now(), |point| point.time);
        let (learned, stock) = self.read_options(point);
        for (name, db, options) in [("stock", &self.stock, &stock), ("learned", &self.learned, &learned)] {
            for (key, found) in keys.iter().zip(db.multi_get_opt(keys, options)) {
                assert_same(name, "multi_get", key, found.unwrap().as_deref(), model.get(key, time));
            }
            let family = db.cf_handle("default").unwrap();
            let sorted = keys.is_sorted();
            for (key, found) in keys
                .iter()
                .zip(db.batched_multi_get_cf_opt(family, keys, sorted, options))
            {
                assert_same(
                    name,
                    "batched_multi_get",
                    key,
                    found.unwrap().as_deref(),
                    model.get(key, time),
                );
            }
        }
    }

    /// Every kind of read, at `point` or now: of all keys ever written by a full scan and MultiGet, of `probes` one by one.
    pub fn check(&self, point: Option<&Point>, model: &Model, probes: &[Vec<u8>]) {
        let mut walk = Walk::new(self, point, model, Bounds::default());
        walk.scan();
        for key in probes {
            self.check_get(point, model, key);
            walk.probe(key);
        }
        for keys in probes.chunks(50) {
            self.check_multi_get(point, model, keys);
        }
        for keys in model.keys().chunks(500) {
            self.check_multi_get(point, model, keys);
        }
    }
}

/// Rewrites everything into the last level, what is there already included.
pub fn compact(db: &DB) {
    let mut options = CompactOptions::default();
    options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
}

fn assert_same(voice: &str, call: &str, key: &[u8], found: Option<&[u8]>, expected: Option<&[u8]>) {
    assert!(
        found == expected,
        "{voice}: {call}({}) is {:?}, expected {:?}",
        show(key),
        found.map(show),
        expected.map(show)
    );
}
