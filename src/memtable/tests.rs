//! The tree against a sorted map: all kinds of keys, node sizes, with and without a skeleton, alone and under concurrency.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::entry::{Entry, Key};
use super::skeleton::Content::{Keys, Models};
use super::skeleton::{Skeleton, Target};
use super::testing::{Heap, KINDS, Oracle, Rng, SMALL, TINY, entry, user_key};
use super::tree::{Shape, Tree};

fn seed() -> u64 {
    let seed = std::env::var("MOUNTDB_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or_else(|| {
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(1, |d| d.as_nanos() as u64)
        });
    println!("MOUNTDB_SEED={seed}");
    seed
}

fn target(shape: Shape) -> Target {
    let (slots, content) = (shape.slots, Models);
    Target { slots, content }
}

fn fill(tree: &Tree<Heap>, oracle: &mut Oracle, kind: &str, n: u64, rng: &mut Rng) {
    for i in 0..n {
        let user = user_key(kind, i, rng);
        // Now and then a version out of order, or one that is there already.
        let seq = if rng.below(8) == 0 { rng.below(n) } else { i };
        let e = entry(&user, seq);
        assert_eq!(tree.insert(e), oracle.insert(e), "{kind} {i}");
        if i % 7 == 0 {
            oracle.agree(
                tree,
                &Key {
                    user: &user,
                    seq: rng.below(n),
                },
            );
        }
    }
}

fn probe(tree: &Tree<Heap>, oracle: &Oracle, kind: &str, rng: &mut Rng) {
    for i in 0..300 {
        let mut user = user_key(kind, rng.below(5000), rng);
        if i % 3 == 0 {
            user.pop();
        }
        if i % 5 == 0 {
            user.push(0);
        }
        oracle.agree(
            tree,
            &Key {
                user: &user,
                seq: rng.below(3000),
            },
        );
    }
    for user in [&b""[..], b"\0", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"https"] {
        oracle.agree(
            tree,
            &Key {
                user,
                seq: u64::MAX >> 8,
            },
        );
        oracle.agree(tree, &Key { user, seq: 0 });
    }
}

#[test]
fn ln_02_ln_05_every_kind_of_key_equals_a_sorted_map() {
    let mut rng = Rng(seed());
    for shape in [TINY, SMALL, Shape::default()] {
        for kind in KINDS {
            let n = 2500;
            let (tree, mut oracle) = (Tree::new(Heap::default(), shape, None), Oracle::default());
            fill(&tree, &mut oracle, kind, n, &mut rng);
            oracle.agree_scans(&tree);
            probe(&tree, &oracle, kind, &mut rng);
            // The next memtable starts from this one's skeleton and gets like and unlike keys.
            for (next, content) in [
                (kind, Models),
                (kind, Keys),
                (&"uniform", Models),
                (&"url", Keys),
                (&"one", Models),
            ] {
                let slots = shape.slots;
                let skeleton = Skeleton::build(&tree, Target { slots, content }, || false)
                    .unwrap()
                    .map(Arc::new);
                let (tree, mut oracle) = (Tree::new(Heap::default(), shape, skeleton.clone()), Oracle::default());
                oracle.agree_scans(&tree);
                fill(&tree, &mut oracle, next, n / 2, &mut rng);
                oracle.agree_scans(&tree);
                probe(&tree, &oracle, next, &mut rng);
                probe(&tree, &oracle, kind, &mut rng);
            }
        }
    }
}

#[test]
fn mc_04_grows_from_empty_one_key_at_a_time() {
    let mut rng = Rng(seed());
    for (order, shape) in (0..4).flat_map(|o| [(o, TINY), (o, SMALL)]) {
        let (tree, mut oracle) = (Tree::new(Heap::default(), shape, None), Oracle::default());
        for i in 0..2000u64 {
            let user = match order {
                0 => i.to_be_bytes(),
                1 => (5000 - i).to_be_bytes(),
                2 => rng.below(1 << 40).to_be_bytes(),
                _ => 7u64.to_be_bytes(),
            };
            let e = entry(&user, i);
            assert_eq!(tree.insert(e), oracle.insert(e));
            let key = e.key();
            oracle.agree(&tree, &key);
            assert_eq!(tree.first().entry(), oracle.0.values().next().copied());
            assert_eq!(tree.last().entry(), oracle.0.values().next_back().copied());
            if i % 97 == 0 || i < 50 {
                oracle.agree_scans(&tree);
            }
        }
    }
}

#[test]
fn mc_01_a_user_key_and_sequence_number_go_in_once() {
    let tree = Tree::new(Heap::default(), SMALL, None);
    for seq in 0..500 {
        assert!(tree.insert(entry(b"k", seq)));
    }
    for seq in 0..500 {
        assert!(!tree.insert(entry(b"k", seq)));
    }
    assert_eq!(tree.check().unwrap().entries, 500);
}

#[test]
fn mt_06_versions_arrive_in_every_order() {
    let mut order = [1u64, 2, 3, 4, 5, 6];
    // Heap's algorithm over all permutations of six.
    let mut state = [0usize; 6];
    let check = |order: &[u64; 6]| {
        let (tree, mut oracle) = (Tree::new(Heap::default(), TINY, None), Oracle::default());
        for seq in order {
            let e = entry(b"key", *seq);
            assert!(tree.insert(e) && oracle.insert(e));
        }
        for seq in 0..8 {
            oracle.agree(&tree, &Key { user: b"key", seq });
        }
        oracle.agree_scans(&tree);
    };
    check(&order);
    let mut i = 1;
    while i < 6 {
        if state[i] < i {
            order.swap(if i % 2 == 0 { 0 } else { state[i] }, i);
            check(&order);
            state[i] += 1;
            i = 1;
        } else {
            state[i] = 0;
            i += 1;
        }
    }
}

#[test]
fn mp_01_one_key_with_many_versions_stays_shallow() {
    // Alone, newest-first versions leave dense nodes behind; with other keys in between the nodes are cut less well.
    for (stray, limit) in [(u64::MAX, 18.0), (100, 26.0)] {
        let tree = Tree::new(Heap::default(), Shape::default(), None);
        for seq in 0..200_000u64 {
            assert!(tree.insert(entry(b"hot", seq)));
            if seq % stray == stray - 1 {
                assert!(tree.insert(entry(&seq.to_be_bytes(), seq)));
            }
        }
        for seq in (0..200_000).step_by(991) {
            let found = tree.lookup(&Key { user: b"hot", seq }).entry().unwrap();
            assert_eq!(found.key().seq, seq);
        }
        let entries = tree.check().unwrap().entries as u64;
        assert_eq!(entries, 200_000 + 200_000 / stray);
        let per_entry = tree.index_bytes() as f64 / entries as f64;
        assert!(per_entry <= limit, "{per_entry} bytes an entry");
    }
}

fn concurrently(
    threads: u64,
    shape: Shape,
    skeleton: Option<Arc<Skeleton>>,
    work: impl Fn(u64, &Tree<Heap>) + Sync,
) -> Tree<Heap> {
    let tree = Tree::new(Heap::default(), shape, skeleton);
    std::thread::scope(|scope| {
        for t in 0..threads {
            let (tree, work) = (&tree, &work);
            scope.spawn(move || work(t, tree));
        }
    });
    tree
}

#[test]
fn mt_03_writers_forced_into_the_same_nodes_lose_nothing() {
    let seed = seed();
    for (round, shape) in [TINY, SMALL, Shape::default()].into_iter().enumerate() {
        let n = 4000u64;
        let tree = concurrently(16, shape, None, |t, tree| {
            let mut rng = Rng(seed ^ t);
            for i in 0..n {
                let user = if round == 1 {
                    (rng.below(3000) << 8 | t).to_be_bytes()
                } else {
                    (i * 16 + t).to_be_bytes()
                };
                let e = entry(&user, i);
                assert!(tree.insert(e));
                assert_eq!(tree.lookup(&e.key()).entry(), Some(e), "a writer sees its own insert");
            }
        });
        let census = tree.check().unwrap();
        assert_eq!(census.entries as u64, 16 * n);
        let mut cursor = tree.first();
        let mut scanned = 0;
        while let Some(e) = cursor.entry() {
            assert_eq!(tree.lookup(&e.key()).entry(), Some(e));
            scanned += 1;
            tree.next(&mut cursor);
        }
        assert_eq!(scanned, 16 * n);
    }
}

#[test]
fn mt_01_mt_02_sentinels_stay_visible_and_scans_ordered_while_nodes_split() {
    let seed = seed();
    for shape in [TINY, SMALL] {
        let sentinels: Vec<Entry> = (0..64u64).map(|i| entry(&(i << 32).to_be_bytes(), 0)).collect();
        let done = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let tree = concurrently(8, shape, None, |t, tree| {
            let mut rng = Rng(seed.wrapping_add(t));
            if t == 0 {
                for s in &sentinels {
                    assert!(tree.insert(*s));
                }
                done.store(1, Ordering::Release);
            }
            while done.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            if t < 2 {
                for i in 0..20_000u64 {
                    // Close neighbours of the sentinels, smaller and larger.
                    let at = (rng.below(64) << 32).wrapping_add(rng.below(2000)).wrapping_sub(1000);
                    tree.insert(entry(&at.to_be_bytes(), i * 2 + t));
                }
                stop.store(true, Ordering::Release);
                return;
            }
            while !stop.load(Ordering::Acquire) {
                let s = sentinels[rng.below(64) as usize];
                assert_eq!(tree.lookup(&s.key()).entry(), Some(s));
                let forward = t % 2 == 0;
                let mut cursor = if forward { tree.first() } else { tree.last() };
                let (mut last, mut seen) = (None::<Key>, 0);
                while let Some(e) = cursor.entry() {
                    let key = e.key();
                    if let Some(last) = last {
                        assert!(if forward { last < key } else { last > key }, "{last:?} then {key:?}");
                    }
                    seen += usize::from(key.seq == 0 && key.user[4..] == [0; 4]);
                    last = Some(key);
                    if forward {
                        tree.next(&mut cursor)
                    } else {
                        tree.prev(&mut cursor)
                    }
                }
                assert!(seen >= 64, "a scan saw {seen} of 64 sentinels");
            }
        });
        tree.check().unwrap();
    }
}

#[test]
fn planned_nodes_are_made_once_by_racing_writers() {
    let mut rng = Rng(seed());
    let old = Tree::new(Heap::default(), SMALL, None);
    for i in 0..4000 {
        old.insert(entry(&user_key("uniform", i, &mut rng), i));
    }
    let skeleton = Arc::new(Skeleton::build(&old, target(SMALL), || false).unwrap().unwrap());
    assert!(skeleton.len() > 300 && skeleton.memory_usage() < 60_000);
    let tree = concurrently(8, SMALL, Some(skeleton), |t, tree| {
        let mut rng = Rng(t + 1);
        for i in 0..2000u64 {
            let e = entry(&rng.number().to_be_bytes(), i);
            assert!(tree.insert(e));
            assert_eq!(tree.lookup(&e.key()).entry(), Some(e));
            let mut cursor = tree.seek(&e.key());
            tree.prev(&mut cursor);
            assert!(cursor.entry().is_none_or(|p| p.key() < e.key()));
        }
    });
    assert_eq!(tree.check().unwrap().entries, 16_000);
}

#[test]
fn creation_from_a_skeleton_allocates_little() {
    let mut rng = Rng(7);
    let old = Tree::new(Heap::default(), Shape::default(), None);
    for i in 0..200_000 {
        old.insert(entry(&user_key("uniform", i, &mut rng), i));
    }
    let skeleton = Arc::new(
        Skeleton::build(&old, target(Shape::default()), || false)
            .unwrap()
            .unwrap(),
    );
    let new = Tree::new(Heap::default(), Shape::default(), Some(skeleton));
    assert!(
        new.index_bytes() < 4096,
        "{} bytes for an empty memtable",
        new.index_bytes()
    );
}

/// Large nodes, rebuilt by a thread that is woken for each.
const LARGE: Shape = Shape {
    slots: 1024,
    first_slots: 16,
    fanout: 16,
    background_from: 64,
};

fn with_rebuilder(shape: Shape, threads: u64, work: impl Fn(u64, &Tree<Heap>) + Sync) -> Tree<Heap> {
    let tree = Tree::new(Heap::default(), shape, None);
    let (wake, requests) = std::sync::mpsc::channel();
    tree.on_rebuild(Box::new({
        let wake = wake.clone();
        move || wake.send(true).unwrap()
    }));
    std::thread::scope(|scope| {
        let (tree, work) = (&tree, &work);
        let rebuilder = scope.spawn(move || {
            while requests.recv() == Ok(true) {
                tree.rebuild_pending(|| false);
            }
        });
        let writers: Vec<_> = (0..threads).map(|t| scope.spawn(move || work(t, tree))).collect();
        for writer in writers {
            writer.join().unwrap();
        }
        wake.send(false).unwrap();
        rebuilder.join().unwrap();
    });
    tree
}

#[test]
fn rebuilds_in_the_background_lose_nothing() {
    let seed = seed();
    let small = Shape {
        slots: 64,
        background_from: 16,
        ..LARGE
    };
    let mut rebuilds = 0;
    for (shape, kind) in [
        (LARGE, "uniform"),
        (small, "uniform"),
        (LARGE, "sequential"),
        (LARGE, "url"),
        (small, "one"),
    ] {
        let n = 20_000;
        let tree = with_rebuilder(shape, 4, |t, tree| {
            let mut rng = Rng(seed ^ t);
            for i in 0..n {
                let e = entry(&user_key(kind, i, &mut rng), i * 4 + t);
                assert!(tree.insert(e));
                assert_eq!(tree.lookup(&e.key()).entry(), Some(e), "a writer sees its own insert");
                if i % 64 == 0 {
                    let (mut cursor, mut last) = (tree.seek(&e.key()), None::<Key>);
                    for _ in 0..50 {
                        let Some(e) = cursor.entry() else { break };
                        assert!(last.is_none_or(|last| last < e.key()));
                        last = Some(e.key());
                        tree.next(&mut cursor);
                    }
                }
            }
        });
        rebuilds += tree.counters.rebuilds();
        assert_eq!(tree.check().unwrap().entries as u64, 4 * n, "{kind}");
    }
    assert!(rebuilds > 50, "{rebuilds} rebuilds were done in the background");
}

#[test]
fn a_rebuild_that_nobody_does_is_overtaken() {
    let mut rng = Rng(seed());
    let (tree, mut oracle) = (Tree::new(Heap::default(), LARGE, None), Oracle::default());
    fill(&tree, &mut oracle, "uniform", 20_000, &mut rng);
    oracle.agree_scans(&tree);
    assert_eq!(tree.counters.rebuilds(), 0);
    // All requests are stale by now, or their nodes are still waiting for their rebuild.
    tree.rebuild_pending(|| false);
    oracle.agree_scans(&tree);
    probe(&tree, &oracle, "uniform", &mut rng);
}
