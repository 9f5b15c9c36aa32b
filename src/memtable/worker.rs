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

    fn build(&self) -> Option<Skeleton> {
        let tree = self.tree.lock();
        Skeleton::build(tree.as_ref()?, LOAD, || self.closing.load(Ordering::Relaxed))
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

    /// A memtable of the column family has become read-only. Enqueues a build if it is the first one or its turn has come.
    pub fn sealed(&self, column_family: u32, gate: &Arc<Gate<M>>) {
        if self.0.period == 0 {
            return;
        }
        let mut families = self.0.families.lock();
        let family = families.entry(column_family).or_default();
        family.sealed += 1;
        let due = family.skeleton.is_none() || family.sealed.is_multiple_of(self.0.period);
        drop(families);
        if due {
            let mut worker = self.0.worker.lock();
            let worker = worker.get_or_insert_with(|| Self::start(self.0.families.clone()));
            // A worker that has died (it cannot, short of a bug) costs skeletons, not data.
            let _ = worker.jobs.send(Job {
                column_family,
                gate: Arc::downgrade(gate),
            });
        }
    }

    fn start(families: Arc<Families>) -> Worker<M> {
        let (jobs, queue) = channel::<Job<M>>();
        let thread = std::thread::Builder::new()
            .name("mountdb-skeleton".into())
            .spawn(move || {
                for Job { column_family, gate } in queue {
                    if let Some(skeleton) = gate.upgrade().and_then(|gate| gate.build()) {
                        families.lock().entry(column_family).or_default().skeleton = Some(Arc::new(skeleton));
                    }
                }
            });
        Worker {
            jobs,
            thread: thread.expect("a thread for skeletons can be started"),
        }
    }
}
