//! Random operations, random reads, reopened now and then.

use mountdb::LearnedIndex;
use rand::RngExt;
use rocksdb::WriteBatch;

use crate::harness::keys::{Kind, probe, show, universe};
use crate::harness::{Bounds, CONFIGS, Model, Pair, Point, Rng, Shape, Step, Walk, seeded};

#[derive(Debug)]
enum Op {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    SingleDelete(Vec<u8>),
    Merge(Vec<u8>, Vec<u8>),
    DeleteRange(Vec<u8>, Vec<u8>),
}

struct Run {
    keys: Vec<Vec<u8>>,
    model: Model,
    rng: Rng,
    /// SingleDelete and DeleteRange do not mix in RocksDB; a run has one of them.
    ranges: bool,
    largest_value: usize,
}

impl Run {
    fn value(&mut self) -> Vec<u8> {
        let length = self.rng.random_range(0..=self.largest_value);
        (0..length).map(|_| self.rng.random()).collect()
    }

    /// A legal operation, applied to the model.
    fn op(&mut self) -> Op {
        let index = self.rng.random_range(0..self.keys.len());
        let key = self.keys[index].clone();
        let length = self.model.get(&key, self.model.now()).map(<[u8]>::len);
        // SingleDelete needs keys that see nothing else than single puts.
        if !self.ranges && index.is_multiple_of(4) {
            return if length.is_some() {
                self.model.delete(&key);
                Op::SingleDelete(key)
            } else {
                let value = self.value();
                self.model.put(&key, &value);
                Op::Put(key, value)
            };
        }
        match self.rng.random_range(0..100) {
            0..20 => {
                self.model.delete(&key);
                Op::Delete(key)
            }
            20..40 if length.unwrap_or(0) < 1000 => {
                let operand = self.value();
                self.model.merge(&key, &operand);
                Op::Merge(key, operand)
            }
            40 if self.ranges => {
                // Mostly short ranges, or little would survive.
                let span = if self.rng.random_bool(0.1) {
                    self.keys.len()
                } else {
                    1 + self.keys.len() / 20
                };
                let end = self.keys[(index + self.rng.random_range(0..span)).min(self.keys.len() - 1)].clone();
                self.model.delete_range(&key, &end);
                Op::DeleteRange(key, end)
            }
            _ => {
                let value = self.value();
                self.model.put(&key, &value);
                Op::Put(key, value)
            }
        }
    }

    fn write(&mut self, pair: &Pair) {
        let count = if self.rng.random_bool(0.2) {
            self.rng.random_range(2..20)
        } else {
            1
        };
        let ops: Vec<Op> = (0..count).map(|_| self.op()).collect();
        match &ops[..] {
            [Op::Put(key, value)] => pair.both(|db| db.put(key, value).unwrap()),
            [Op::Delete(key)] => pair.both(|db| db.delete(key).unwrap()),
            [Op::Merge(key, operand)] => pair.both(|db| db.merge(key, operand).unwrap()),
            ops => pair.batch(|batch| ops.iter().for_each(|op| add(batch, op))),
        }
    }

    fn bounds(&mut self) -> Bounds {
        let (a, b) = (probe(&self.keys, &mut self.rng), probe(&self.keys, &mut self.rng));
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        Bounds {
            lower: self.rng.random_bool(0.3).then_some(low),
            upper: self.rng.random_bool(0.3).then_some(high),
        }
    }

    fn walk(&mut self, pair: &Pair, point: Option<&Point>) {
        let bounds = self.bounds();
        let targets: Vec<_> = (0..30).map(|_| probe(&self.keys, &mut self.rng)).collect();
        let mut walk = Walk::new(pair, point, &self.model, bounds);
        for target in &targets {
            let choice = self.rng.random_range(0..20);
            let step = match choice {
                0 => Step::First,
                1 => Step::Last,
                2..5 => Step::Seek(target),
                5..8 => Step::SeekForPrev(target),
                _ if !walk.valid() => Step::Seek(target),
                8..14 => Step::Next,
                _ => Step::Prev,
            };
            walk.step(step);
        }
    }

    /// Operations between opening and closing the databases.
    fn session(&mut self, pair: &Pair, steps: usize) {
        let mut points: Vec<Point> = Vec::new();
        for _ in 0..steps {
            let choice = self.rng.random_range(0..1000);
            // Mostly now, otherwise as of one of the snapshots.
            let point = match points.len() {
                0 => None,
                count => points.get(self.rng.random_range(0..2 * count)),
            };
            match choice {
                0..600 => self.write(pair),
                600..800 => {
                    let key = probe(&self.keys, &mut self.rng);
                    pair.check_get(point, &self.model, &key);
                }
                800..850 => {
                    let count = self.rng.random_range(0..40);
                    let mut keys: Vec<_> = (0..count).map(|_| probe(&self.keys, &mut self.rng)).collect();
                    if self.rng.random_bool(0.5) {
                        keys.sort();
                    }
                    pair.check_multi_get(point, &self.model, &keys);
                }
                850..940 => self.walk(pair, point),
                940..965 if points.len() < 20 => points.push(pair.snapshot(&self.model)),
                965..985 if !points.is_empty() => {
                    points.swap_remove(self.rng.random_range(0..points.len()));
                }
                985..990 => pair.flush(),
                990 => pair.compact(),
                991..993 => {
                    let bounds = self.bounds();
                    pair.both(|db| db.compact_range(bounds.lower.as_deref(), bounds.upper.as_deref()));
                }
                _ => (),
            }
        }
        let probes: Vec<_> = (0..20).map(|_| probe(&self.keys, &mut self.rng)).collect();
        for point in points.iter().map(Some).take(5).chain([None]) {
            pair.check(point, &self.model, &probes);
        }
    }
}

fn add(batch: &mut WriteBatch, op: &Op) {
    match op {
        Op::Put(key, value) => batch.put(key, value),
        Op::Delete(key) => batch.delete(key),
        Op::SingleDelete(key) => batch.single_delete(key),
        Op::Merge(key, operand) => batch.merge(key, operand),
        Op::DeleteRange(from, to) => batch.delete_range(from, to),
    }
}

fn run(kind: Kind, learned: LearnedIndex, rng: &mut Rng) {
    let mut rng: Rng = rand::SeedableRng::seed_from_u64(rng.random());
    let directory = tempfile::tempdir().unwrap();
    let ranges = rng.random_bool(0.5);
    let shape = Shape {
        write_buffer: [64 << 10, 256 << 10, 1 << 20][rng.random_range(0..3)],
        block_size: [64, 256, 1024][rng.random_range(0..3)],
        // With range deletions no user key may be cut across two files of one level: after a tombstone in the first,
        // Version::Get of RocksDB 11.8.1 does not look into the second, where newer versions than the tombstone can be.
        file_size: if ranges {
            64 << 20
        } else {
            [16 << 10, 64 << 10][rng.random_range(0..2)]
        },
        ..Shape::default()
    };
    println!(
        "{kind:?} {learned:?}, write buffer {}, blocks {}, files {}, ranges {ranges}",
        shape.write_buffer, shape.block_size, shape.file_size
    );
    let keys = universe(kind, &mut rng);
    println!(
        "{} keys from {} to {}",
        keys.len(),
        show(&keys[0]),
        show(&keys[keys.len() - 1])
    );
    let largest_value = if keys.len() < 100 { 100 } else { 250 };
    let mut run = Run {
        keys,
        model: Model::default(),
        rng,
        ranges,
        largest_value,
    };
    for _ in 0..3 {
        let pair = Pair::open(directory.path(), &shape, learned);
        run.session(&pair, 1500);
    }
    let pair = Pair::open(directory.path(), &shape, learned);
    let probes = run.keys.clone();
    pair.check(None, &run.model, &probes);
    pair.compact();
    pair.check(None, &run.model, &probes);
}

macro_rules! random_ops {
    ($($name:ident $kind:ident)*) => {$(
        #[test]
        fn $name() {
            let mut rng = seeded(stringify!($name));
            for learned in CONFIGS {
                run(Kind::$kind, learned, &mut rng);
            }
            let verified = mountdb::verify_stats();
            assert!(verified.seeks > 0 && verified.wrong_seeks == 0, "{verified:?}");
        }
    )*};
}

random_ops! {
    random_numbers Random
    sequential_numbers Sequential
    db_bench_keys DbBench
    decimal_strings Decimal
    padded_decimal_strings PaddedDecimal
    hex_strings Hex
    uuids Uuid
    urls_with_shared_prefix Url
    empty_key_and_runs_of_ff Lengths
    around_powers_of_two PowersOfTwo
    around_the_largest_number Maximum
    prefixes_of_each_other Prefixes
    skewed_gaps Skewed
    few_keys_with_many_versions Few
}
