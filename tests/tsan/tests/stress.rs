//! MT-05: writers, readers, scans in both directions, a thread that polls every counter, and the skeleton worker, all at once.
//! An ordinary test of consistency here; what it is for is ThreadSanitizer (`tests/tsan/run`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mountdb_tree_tests::memtable::cursor::Cursor;
use mountdb_tree_tests::memtable::entry::{Entry, Key};
use mountdb_tree_tests::memtable::skeleton::{Content, Target};
use mountdb_tree_tests::memtable::testing::{Rng, SMALL, TINY, entry};
use mountdb_tree_tests::memtable::tree::{Memory, Shape, Tree};
use mountdb_tree_tests::memtable::worker::{Gate, Mode, Skeletons};
use parking_lot::Mutex;

/// Periods of skeletons: none, one from every memtable.
const PERIODS: &[u32] = &[0, 1];

const WRITERS: u64 = 3;
/// Inserts of one writer into one memtable.
const EACH: u64 = if cfg!(debug_assertions) { 2000 } else { 12_000 };
const MEMTABLES: usize = 3;

/// Counts what it hands out. Locks of `parking_lot`, unlike those of the standard library, are compiled for the sanitizer.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<Blocks>>);

/// What was handed out, and how many bytes were asked for.
#[derive(Default)]
struct Blocks {
    all: Vec<Box<[u64]>>,
    bytes: usize,
}

// SAFETY: each allocation is a box of its own, aligned to 8, kept until the last clone is dropped: after the tree's.
unsafe impl Memory for Counted {
    fn allocate(&self, bytes: usize) -> *mut u8 {
        let mut block = vec![u64::MAX; bytes.div_ceil(8)].into_boxed_slice();
        let address = block.as_mut_ptr().cast();
        let mut heap = self.0.lock();
        heap.all.push(block);
        heap.bytes += bytes;
        address
    }
}

/// `testing::entry` puts the sequence number behind the key, as the value. Reads it, as a reader of RocksDB would: the bytes
/// have to be there when the entry is.
fn value(e: Entry) -> u64 {
    let user = e.key().user.len();
    assert!(user + 8 < 0x80, "the length takes one byte");
    // SAFETY: `entry` made these bytes and leaked them.
    unsafe { e.as_ptr().add(1 + user + 8).cast::<u64>().read_unaligned().to_le() }
}

struct Test {
    tree: Arc<Tree<Counted>>,
    /// Highest sequence number of the hot key that is certainly in.
    hot: AtomicU64,
    /// Readers and pollers at work: writers wait for all.
    started: AtomicU64,
    stop: AtomicBool,
    seed: u64,
}

const READERS: u64 = 5;

impl Test {
    fn running(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Clustered keys, so that writers meet in one node, and now and then a new version of one hot key.
    fn write(&self, writer: u64) {
        while self.started.load(Ordering::Relaxed) < READERS {
            thread::yield_now();
        }
        let mut rng = Rng(self.seed ^ (writer + 1));
        for i in 0..EACH {
            let seq = i * WRITERS + writer + 1;
            let hot = i % 8 == 0;
            let number = if hot {
                1 << 40
            } else {
                (rng.below(8) << 38) + rng.below(3000)
            };
            let e = entry(&number.to_be_bytes(), seq);
            assert!(self.tree.insert(e), "sequence numbers are unique");
            assert_eq!(self.tree.lookup(&e.key()).entry(), Some(e));
            if hot {
                self.hot.fetch_max(seq, Ordering::Relaxed);
            }
        }
    }

    fn look_up(&self, reader: u64) {
        self.started.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng(!self.seed ^ reader);
        let hot = (1u64 << 40).to_be_bytes();
        while self.running() {
            let at_least = self.hot.load(Ordering::Relaxed);
            let key = Key {
                user: &hot,
                seq: u64::MAX >> 8,
            };
            if at_least > 0 {
                let e = self.tree.lookup(&key).entry().expect("the hot key is in");
                assert!(e.key().seq >= at_least && value(e) == e.key().seq);
            }
            let user = ((rng.below(8) << 38) + rng.below(3000)).to_be_bytes();
            let key = Key {
                user: &user,
                seq: rng.below(EACH * WRITERS),
            };
            self.tree.prefetch(&[key]);
            for cursor in [self.tree.seek(&key), self.tree.seek_for_prev(&key)] {
                if let Some(e) = cursor.entry() {
                    assert_eq!(value(e), e.key().seq);
                }
            }
        }
    }

    fn scan(&self, forward: bool) {
        self.started.fetch_add(1, Ordering::Relaxed);
        while self.running() {
            let mut cursor = if forward { self.tree.first() } else { self.tree.last() };
            let mut last: Option<Key> = None;
            while let Some(e) = cursor.entry() {
                let key = e.key();
                assert!(
                    last.is_none_or(|last| if forward { last < key } else { last > key }),
                    "{last:?}, {key:?}"
                );
                assert_eq!(value(e), key.seq);
                last = Some(key);
                self.step(&mut cursor, forward);
                if !self.running() {
                    return;
                }
            }
        }
    }

    fn step(&self, cursor: &mut Cursor, forward: bool) {
        if forward {
            self.tree.next(cursor)
        } else {
            self.tree.prev(cursor)
        }
    }

    fn counters(&self) -> [u64; 5] {
        let c = &self.tree.counters;
        [
            c.data_nodes(),
            c.splits(),
            c.expansions(),
            c.moved(),
            self.tree.index_bytes() as u64,
        ]
    }

    /// No counter ever falls, and estimates stay below what is written in all.
    fn poll(&self) {
        let mut before = self.counters();
        self.started.fetch_add(1, Ordering::Relaxed);
        while self.running() {
            let now = self.counters();
            assert!(before.iter().zip(&now).all(|(b, n)| b <= n), "{before:?}, {now:?}");
            before = now;
            let (entries, nodes) = self.tree.load();
            // A node that moves to the next place under the walk counts twice.
            assert!(entries.max(nodes) as u64 <= 2 * EACH * WRITERS, "{entries}, {nodes}");
            let end = Key {
                user: &[0xff; 9],
                seq: 0,
            };
            assert!(self.tree.rank(&end) <= 2 * EACH * WRITERS);
        }
    }

    /// Everybody at once; readers go on while the sealed memtable's skeleton is built.
    fn run(&self, seal: impl Fn()) {
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|w| scope.spawn(move || self.write(w))).collect();
            let readers = [
                scope.spawn(Box::new(|| self.poll()) as Box<dyn FnOnce() + Send>),
                scope.spawn(Box::new(|| self.look_up(1))),
                scope.spawn(Box::new(|| self.look_up(2))),
                scope.spawn(Box::new(|| self.scan(true))),
                scope.spawn(Box::new(|| self.scan(false))),
            ];
            // Stopped also if a writer failed, or the scope would wait for ever.
            let written: Vec<_> = writers.into_iter().map(|w| w.join()).collect();
            if written.iter().all(Result::is_ok) {
                seal();
            }
            self.stop.store(true, Ordering::Relaxed);
            written.into_iter().for_each(|w| w.expect("a writer failed"));
            // Joined here: how a scope waits for its threads is precompiled, and looks like no synchronisation.
            readers.into_iter().for_each(|r| r.join().expect("a reader failed"));
        });
    }

    /// At rest every counter is exact.
    fn check(&self, allocated: usize) {
        let census = self.tree.check().unwrap();
        assert_eq!(census.entries as u64, EACH * WRITERS);
        let [nodes, splits, _, moved, bytes] = self.counters();
        assert_eq!(nodes, census.data_nodes as u64);
        assert_eq!(bytes, allocated as u64);
        assert!(splits < nodes, "a split adds a node to those that an insert made");
        assert!(moved <= EACH * WRITERS);
        assert_eq!(self.tree.load(), (census.entries, census.data_nodes));
    }
}

fn stress(shape: Shape, period: u32, seed: u64) {
    let (slots, content) = (
        shape.slots,
        if seed.is_multiple_of(2) {
            Content::Models
        } else {
            Content::Keys
        },
    );
    let mode = if period == 0 { Mode::Off } else { Mode::Periodic(period) };
    let skeletons = Skeletons::<Counted>::new(mode, Target { slots, content });
    for memtable in 0..MEMTABLES {
        let memory = Counted::default();
        let tree = Arc::new(Tree::new(memory.clone(), shape, skeletons.current(7).map(|s| s.0)));
        let gate = Gate::open(&tree);
        if shape.background_from <= shape.slots {
            skeletons.rebuild_for(&tree, &gate);
        }
        let test = Test {
            tree,
            hot: AtomicU64::new(0),
            started: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            seed: seed.wrapping_add(memtable as u64),
        };
        test.run(|| {
            skeletons.sealed(7, &gate);
            let deadline = Instant::now() + Duration::from_secs(60);
            while period > 0 && memtable == 0 && skeletons.current(7).is_none() && Instant::now() < deadline {
                thread::yield_now();
            }
        });
        // A rebuild that sealing did not stop in time may still allocate.
        gate.close();
        test.check(memory.0.lock().bytes);
    }
    assert_eq!(skeletons.current(7).is_some(), period > 0);
}

/// A late write to an entry that is in already: what the sanitizer has to find.
fn planted_race() {
    let (tree, told) = (Tree::new(Counted::default(), TINY, None), AtomicBool::new(false));
    let e = entry(b"key", 1);
    thread::scope(|scope| {
        scope.spawn(|| {
            tree.insert(e);
            told.store(true, Ordering::Relaxed);
            // SAFETY: none, that is the point; the bytes are there.
            unsafe { e.as_ptr().cast_mut().add(1 + 3 + 8).cast::<u64>().write_unaligned(2) };
        });
        scope.spawn(|| {
            while !told.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            println!("value {}", value(tree.lookup(&e.key()).entry().unwrap()));
        });
    });
}

/// Without the test harness, whose precompiled channels look like races.
fn main() {
    if std::env::var_os("MOUNTDB_PLANT_RACE").is_some() {
        return planted_race();
    }
    let seed = std::env::var("MOUNTDB_SEED").map_or_else(
        |_| std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64,
        |seed| seed.parse().unwrap(),
    );
    for period in PERIODS {
        let background = Shape {
            slots: 64,
            background_from: 16,
            ..SMALL
        };
        for shape in [TINY, SMALL, Shape::default(), background] {
            println!("mt_05: {shape:?}, period {period}, MOUNTDB_SEED={seed}");
            stress(shape, *period, seed);
        }
    }
}
