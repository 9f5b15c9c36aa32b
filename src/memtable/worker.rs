//! Builds skeletons in the background (paper section 4.2: every phi-th flush, off the write path), and rebuilds large data nodes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::skeleton::{Skeleton, Target};
use super::tree::{Memory, Tree};

/// When skeletons are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Never.
    Off,
    /// From the first memtable, once.
    Single,
    /// From the first memtable and every so-manieth, and when the one in use no longer fits.
    Periodic(u32),
}

/// What the worker and a memtable's destructor share: the tree, as long as its memory lives.
pub struct Gate<M> {
    tree: Mutex<Option<Arc<Tree<M>>>>,
    sealed: AtomicBool,
    closing: AtomicBool,
}

/// What a sealed memtable says about the skeleton that it started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Most inserts found their node ready.
    Good,
    /// Many planned nodes had to be split: the keys have moved on.
    Split,
    /// Planned nodes stayed nearly empty. They take their memory at the first insert, so such a skeleton goes at once.
    Empty,
}

impl<M: Memory> Gate<M> {
    /// A gate that leads to `tree`.
    pub fn open(tree: &Arc<Tree<M>>) -> Arc<Self> {
        Arc::new(Gate {
            tree: Mutex::new(Some(tree.clone())),
            sealed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        })
    }

    /// Returns once nobody reads the tree through this gate; the worker gives up at its next node.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        *self.tree.lock() = None;
    }

    /// What to put in place of the column family's skeleton, or `None` to keep it.
    fn build(&self, family: &Family, due: bool, target: Target) -> Option<Built> {
        let tree = self.tree.lock();
        let tree = tree.as_ref()?;
        let out_of_turn = !due
            && match fit(tree, target) {
                Fit::Good => return None,
                Fit::Empty => false,
                // If the memtable after a refresh does not fit either, the keys are of a kind that no skeleton fits.
                Fit::Split if family.refreshed => return None,
                Fit::Split => true,
            };
        let skeleton = Skeleton::build(tree, target, || self.closing.load(Ordering::Relaxed)).ok()?;
        Some(Built {
            skeleton: skeleton.map(Arc::new),
            out_of_turn,
        })
    }

    fn rebuild(&self) {
        if let Some(tree) = &*self.tree.lock() {
            tree.rebuild_pending(|| self.sealed.load(Ordering::Relaxed) || self.closing.load(Ordering::Relaxed));
        }
    }
}

struct Built {
    skeleton: Option<Arc<Skeleton>>,
    out_of_turn: bool,
}

fn fit<M: Memory>(tree: &Tree<M>, target: Target) -> Fit {
    if tree.skeleton().is_none() {
        return Fit::Good;
    }
    let (entries, nodes) = tree.load();
    if entries * 8 < nodes * target.load() {
        Fit::Empty
    } else if tree.counters.splits() * 4 > nodes as u64 {
        Fit::Split
    } else {
        Fit::Good
    }
}

#[derive(Clone, Default)]
struct Family {
    skeleton: Option<Arc<Skeleton>>,
    /// Memtables made from the skeleton so far.
    age: u64,
    sealed: u64,
    refreshed: bool,
}

type Families = Mutex<HashMap<u32, Family>>;

enum Job<M> {
    Sealed {
        column_family: u32,
        gate: Weak<Gate<M>>,
        due: bool,
    },
    Rebuild(Weak<Gate<M>>),
    Stop,
}

struct Worker<M> {
    jobs: Sender<Job<M>>,
    thread: JoinHandle<()>,
}

struct Shared<M> {
    mode: Mode,
    target: Target,
    families: Arc<Families>,
    worker: Mutex<Option<Worker<M>>>,
}

impl<M> Drop for Shared<M> {
    fn drop(&mut self) {
        if let Some(Worker { jobs, thread }) = self.worker.get_mut().take() {
            let _ = jobs.send(Job::Stop);
            // The last owner may be the worker's own job, which must not wait for itself; it never is, since jobs hold a
            // gate, and gates hold no `Shared`.
            let _ = thread.join();
        }
    }
}

/// The skeletons of all column families of one factory; clones share them.
pub struct Skeletons<M>(Arc<Shared<M>>);

impl<M> Clone for Skeletons<M> {
    fn clone(&self) -> Self {
        Skeletons(self.0.clone())
    }
}

impl<M: Memory + Send + Sync + 'static> Skeletons<M> {
    /// No skeletons yet.
    pub fn new(mode: Mode, target: Target) -> Self {
        Skeletons(Arc::new(Shared {
            mode,
            target,
            families: Arc::default(),
            worker: Mutex::new(None),
        }))
    }

    /// What a new memtable of the column family starts from, and how many have started from it before.
    pub fn current(&self, column_family: u32) -> Option<(Arc<Skeleton>, u64)> {
        let mut families = self.0.families.lock();
        let family = families.get_mut(&column_family)?;
        let skeleton = family.skeleton.clone()?;
        family.age += 1;
        Some((skeleton, family.age - 1))
    }

    /// A memtable of the column family has become read-only. Enqueues a build: due if there is no skeleton or its period is
    /// over, otherwise only if the skeleton turns out not to fit.
    pub fn sealed(&self, column_family: u32, gate: &Arc<Gate<M>>) {
        gate.sealed.store(true, Ordering::Relaxed);
        let due = {
            let mut families = self.0.families.lock();
            let family = families.entry(column_family).or_default();
            family.sealed += 1;
            match self.0.mode {
                Mode::Off => return,
                Mode::Single if family.skeleton.is_some() => return,
                Mode::Single => true,
                Mode::Periodic(period) => {
                    family.skeleton.is_none() || family.sealed.is_multiple_of(period.max(1).into())
                }
            }
        };
        let gate = Arc::downgrade(gate);
        self.send(Job::Sealed {
            column_family,
            gate,
            due,
        });
    }

    /// Lets the worker do the rebuilds that `tree` asks for. `gate` leads to it.
    pub fn rebuild_for(&self, tree: &Tree<M>, gate: &Arc<Gate<M>>) {
        let gate = Arc::downgrade(gate);
        // Without a worker, whoever finds the node full makes room.
        if let Some(jobs) = self.jobs() {
            tree.on_rebuild(Box::new(move || {
                let _ = jobs.send(Job::Rebuild(gate.clone()));
            }));
        }
    }

    /// The way to the worker. `None` where no thread can be started, which costs skeletons, not data; the next job tries again.
    fn jobs(&self) -> Option<Sender<Job<M>>> {
        let mut worker = self.0.worker.lock();
        if worker.is_none() {
            *worker = Self::start(self.0.families.clone(), self.0.target).ok();
        }
        worker.as_ref().map(|worker| worker.jobs.clone())
    }

    fn send(&self, job: Job<M>) {
        // Nor does a worker that has died (it cannot, short of a bug) cost more.
        let _ = self.jobs().map(|jobs| jobs.send(job));
    }

    fn start(families: Arc<Families>, target: Target) -> std::io::Result<Worker<M>> {
        let (jobs, queue) = channel::<Job<M>>();
        let thread = std::thread::Builder::new()
            .name("mountdb-skeleton".into())
            .spawn(move || {
                for job in queue {
                    match job {
                        Job::Stop => break,
                        Job::Rebuild(gate) => gate.upgrade().iter().for_each(|gate| gate.rebuild()),
                        Job::Sealed {
                            column_family,
                            gate,
                            due,
                        } => {
                            let family = families.lock().get(&column_family).cloned().unwrap_or_default();
                            let built = gate.upgrade().and_then(|gate| gate.build(&family, due, target));
                            if let Some(Built { skeleton, out_of_turn }) = built {
                                let mut families = families.lock();
                                let family = families.entry(column_family).or_default();
                                family.skeleton = skeleton;
                                family.age = 0;
                                family.refreshed = out_of_turn;
                            }
                        }
                    }
                }
            })?;
        Ok(Worker { jobs, thread })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::memtable::data_node::PAGE_SLOTS;
    use crate::memtable::skeleton::Content;
    use crate::memtable::testing::{Heap, Rng, entry};
    use crate::memtable::tree::Shape;

    const TARGET: Target = Target {
        slots: PAGE_SLOTS,
        content: Content::Models,
    };

    /// Fills a memtable with random keys, seals it, waits for the worker, and returns the memtable's bytes of index.
    fn memtable(skeletons: &Skeletons<Heap>, n: u64, rng: &mut Rng, done: impl Fn(Option<usize>) -> bool) -> usize {
        let tree = Arc::new(Tree::new(
            Heap::default(),
            Shape::default(),
            skeletons.current(0).map(|s| s.0),
        ));
        for i in 0..n {
            tree.insert(entry(&rng.number().to_be_bytes(), i));
        }
        let gate = Gate::open(&tree);
        skeletons.sealed(0, &gate);
        let deadline = Instant::now() + Duration::from_secs(30);
        while !done(skeletons.current(0).map(|s| s.0.len())) {
            assert!(Instant::now() < deadline, "the worker came to nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        gate.close();
        tree.index_bytes()
    }

    #[test]
    fn a_skeleton_that_no_longer_fits_goes_at_once() {
        let skeletons = Skeletons::new(Mode::Periodic(10), TARGET);
        let mut rng = Rng(11);
        memtable(&skeletons, 100_000, &mut rng, |s| s.is_some_and(|nodes| nodes > 500));
        // Memtables have become a thousand times smaller: every insert makes a planned node, once.
        let bad = memtable(&skeletons, 100, &mut rng, |s| s.is_none());
        let good = memtable(&skeletons, 100, &mut rng, |s| s.is_none());
        assert!(bad > 100_000 && good < 20_000, "{bad} and then {good} bytes");
    }

    #[test]
    fn period_zero_builds_nothing_and_a_closed_gate_is_no_harm() {
        let skeletons = Skeletons::new(Mode::Off, TARGET);
        memtable(&skeletons, 10_000, &mut Rng(3), |s| s.is_none());
        let skeletons = Skeletons::new(Mode::Periodic(1), TARGET);
        let tree = Arc::new(Tree::new(Heap::default(), Shape::default(), None));
        let gate = Gate::open(&tree);
        gate.close();
        skeletons.sealed(0, &gate);
        drop(skeletons);
        assert_eq!(Arc::strong_count(&tree), 1, "nobody holds a closed memtable");
    }
}
