//! Builds skeletons in the background (paper section 4.2: every phi-th flush, off the write path).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::data_node::MAX_SLOTS;
use super::skeleton::Skeleton;
use super::tree::{Memory, Tree};

/// Entries that a skeleton plans per data node. 70% leaves room for the spread of random keys: 180 +- 13 in 256 slots.
const LOAD: usize = MAX_SLOTS * 7 / 10;

/// What the worker and a memtable's destructor share: the tree, as long as its memory lives.
pub struct Gate<M> {
    tree: Mutex<Option<Arc<Tree<M>>>>,
    closing: AtomicBool,
}

impl<M: Memory> Gate<M> {
    /// A gate that leads to `tree`.
    pub fn open(tree: &Arc<Tree<M>>) -> Arc<Self> {
        Arc::new(Gate {
            tree: Mutex::new(Some(tree.clone())),
            closing: AtomicBool::new(false),
        })
    }

    /// Returns once nobody reads the tree through this gate; the worker gives up at its next node.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        *self.tree.lock() = None;
    }

    /// What to put in place of the column family's skeleton, or `None` to keep it: it is not `due` and still fits, or the
    /// memtable is gone.
    fn build(&self, due: bool) -> Option<Option<Skeleton>> {
        let tree = self.tree.lock();
        let tree = tree.as_ref()?;
        let (entries, nodes) = tree.load();
        // Planned nodes take their memory at the first insert. A skeleton of memtables that were larger, or had other keys,
        // can fill the next ones with nearly empty nodes: such a one must not wait for its period.
        let fits = entries * 8 >= nodes * LOAD;
        if fits && !due {
            return None;
        }
        Skeleton::build(tree, LOAD, || self.closing.load(Ordering::Relaxed)).ok()
    }
}

#[derive(Default)]
struct Family {
    skeleton: Option<Arc<Skeleton>>,
    sealed: u64,
}

type Families = Mutex<HashMap<u32, Family>>;

struct Job<M> {
    column_family: u32,
    gate: Weak<Gate<M>>,
    due: bool,
}

struct Worker<M> {
    jobs: Sender<Job<M>>,
    thread: JoinHandle<()>,
}

struct Shared<M> {
    period: u64,
    families: Arc<Families>,
    worker: Mutex<Option<Worker<M>>>,
}

impl<M> Drop for Shared<M> {
    fn drop(&mut self) {
        if let Some(Worker { jobs, thread }) = self.worker.get_mut().take() {
            drop(jobs);
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
    /// `period` 0: none are built.
    pub fn new(period: u32) -> Self {
        Skeletons(Arc::new(Shared {
            period: period.into(),
            families: Arc::default(),
            worker: Mutex::new(None),
        }))
    }

    /// What a new memtable of the column family starts from.
    pub fn current(&self, column_family: u32) -> Option<Arc<Skeleton>> {
        self.0
            .families
            .lock()
            .get(&column_family)
            .and_then(|family| family.skeleton.clone())
    }

    /// A memtable of the column family has become read-only. Enqueues a build: due if there is no skeleton or its period is
    /// over, otherwise only if the skeleton turns out not to fit.
    pub fn sealed(&self, column_family: u32, gate: &Arc<Gate<M>>) {
        if self.0.period == 0 {
            return;
        }
        let mut families = self.0.families.lock();
        let family = families.entry(column_family).or_default();
        family.sealed += 1;
        let due = family.skeleton.is_none() || family.sealed.is_multiple_of(self.0.period);
        drop(families);
        let mut worker = self.0.worker.lock();
        let worker = worker.get_or_insert_with(|| Self::start(self.0.families.clone()));
        // A worker that has died (it cannot, short of a bug) costs skeletons, not data.
        let _ = worker.jobs.send(Job {
            column_family,
            gate: Arc::downgrade(gate),
            due,
        });
    }

    fn start(families: Arc<Families>) -> Worker<M> {
        let (jobs, queue) = channel::<Job<M>>();
        let thread = std::thread::Builder::new()
            .name("mountdb-skeleton".into())
            .spawn(move || {
                for Job {
                    column_family,
                    gate,
                    due,
                } in queue
                {
                    if let Some(skeleton) = gate.upgrade().and_then(|gate| gate.build(due)) {
                        families.lock().entry(column_family).or_default().skeleton = skeleton.map(Arc::new);
                    }
                }
            });
        Worker {
            jobs,
            thread: thread.expect("a thread for skeletons can be started"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::memtable::testing::{Heap, Rng, entry};
    use crate::memtable::tree::Shape;

    /// Fills a memtable with random keys, seals it, waits for the worker, and returns the memtable's bytes of index.
    fn memtable(skeletons: &Skeletons<Heap>, n: u64, rng: &mut Rng, done: impl Fn(Option<usize>) -> bool) -> usize {
        let tree = Arc::new(Tree::new(Heap::default(), Shape::default(), skeletons.current(0)));
        for i in 0..n {
            tree.insert(entry(&rng.number().to_be_bytes(), i));
        }
        let gate = Gate::open(&tree);
        skeletons.sealed(0, &gate);
        let deadline = Instant::now() + Duration::from_secs(30);
        while !done(skeletons.current(0).map(|s| s.len())) {
            assert!(Instant::now() < deadline, "the worker came to nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        gate.close();
        tree.index_bytes()
    }

    #[test]
    fn a_skeleton_that_no_longer_fits_goes_at_once() {
        let skeletons = Skeletons::new(10);
        let mut rng = Rng(11);
        memtable(&skeletons, 100_000, &mut rng, |s| s.is_some_and(|nodes| nodes > 500));
        // Memtables have become a thousand times smaller: every insert makes a planned node, once.
        let bad = memtable(&skeletons, 100, &mut rng, |s| s.is_none());
        let good = memtable(&skeletons, 100, &mut rng, |s| s.is_none());
        assert!(bad > 100_000 && good < 20_000, "{bad} and then {good} bytes");
    }

    #[test]
    fn period_zero_builds_nothing_and_a_closed_gate_is_no_harm() {
        let skeletons = Skeletons::new(0);
        memtable(&skeletons, 10_000, &mut Rng(3), |s| s.is_none());
        let skeletons = Skeletons::new(1);
        let tree = Arc::new(Tree::new(Heap::default(), Shape::default(), None));
        let gate = Gate::open(&tree);
        gate.close();
        skeletons.sealed(0, &gate);
        drop(skeletons);
        assert_eq!(Arc::strong_count(&tree), 1, "nobody holds a closed memtable");
    }
}
