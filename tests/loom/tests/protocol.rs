//! Every interleaving, up to a bound on preemptions, of writers, splits and readers on nodes of two to four slots.

use loom::sync::Arc;
use loom::thread;
use mountdb_model_check::memtable::entry::{Entry, Key, encode};
use mountdb_model_check::memtable::skeleton::{Content, Skeleton, Target};
use mountdb_model_check::memtable::tree::{Memory, Shape, Tree};

/// Memory that is never given back: a model run is short.
struct Leak;

// SAFETY: each allocation is a leaked box of its own, aligned to 8.
unsafe impl Memory for Leak {
    fn allocate(&self, bytes: usize) -> *mut u8 {
        vec![0u64; bytes.div_ceil(8)].leak().as_mut_ptr().cast()
    }
}

fn entry(user: u64, seq: u64) -> Entry {
    let mut bytes = Vec::new();
    encode(&mut bytes, &user.to_be_bytes(), seq << 8 | 1);
    // SAFETY: well-formed, and leaked.
    unsafe { Entry::from_raw(bytes.leak().as_ptr()) }
}

fn scan(tree: &Tree<Leak>) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut cursor = tree.first();
    while let Some(e) = cursor.entry() {
        assert!(
            found.last().is_none_or(|last: &Entry| last.key() < e.key()),
            "a scan ascends"
        );
        found.push(e);
        tree.next(&mut cursor);
    }
    found
}

fn scan_back(tree: &Tree<Leak>) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut cursor = tree.last();
    while let Some(e) = cursor.entry() {
        assert!(
            found.last().is_none_or(|last: &Entry| last.key() > e.key()),
            "a reverse scan descends"
        );
        found.push(e);
        tree.prev(&mut cursor);
    }
    found
}

/// Runs `threads` on a tree that holds `before`, in every order, and checks the result.
fn model(shape: Shape, before: &'static [(u64, u64)], threads: &'static [fn(&Tree<Leak>)], entries: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.max_duration = Some(std::time::Duration::from_secs(10));
    builder.check(move || {
        let tree = Arc::new(Tree::new(Leak, shape, None));
        for (user, seq) in before {
            assert!(tree.insert(entry(*user, *seq)));
        }
        let running: Vec<_> = threads
            .iter()
            .map(|work| {
                let tree = tree.clone();
                thread::spawn(move || work(&tree))
            })
            .collect();
        for thread in running {
            thread.join().unwrap();
        }
        assert_eq!(tree.check().unwrap().entries, entries);
        assert_eq!(scan(&tree).len(), entries);
        assert_eq!(scan_back(&tree).len(), entries);
    });
}

const TWO: Shape = Shape {
    slots: 2,
    first_slots: 2,
    fanout: 4,
    background_from: usize::MAX,
};
const FOUR: Shape = Shape {
    slots: 4,
    first_slots: 2,
    fanout: 4,
    background_from: usize::MAX,
};

fn insert_and_find(tree: &Tree<Leak>, user: u64, seq: u64) {
    let e = entry(user, seq);
    assert!(tree.insert(e));
    assert_eq!(tree.lookup(&e.key()).entry(), Some(e), "a writer sees its own insert");
}

#[test]
fn two_writers_in_one_node() {
    model(
        FOUR,
        &[],
        &[|t| insert_and_find(t, 1, 0), |t| insert_and_find(t, 2, 0)],
        2,
    );
}

#[test]
fn mt_03_two_writers_race_through_a_split() {
    model(
        TWO,
        &[(10, 0), (20, 0)],
        &[|t| insert_and_find(t, 15, 0), |t| insert_and_find(t, 25, 0)],
        4,
    );
}

#[test]
fn expansion_races_with_a_writer() {
    model(
        FOUR,
        &[(10, 0), (20, 0)],
        &[|t| insert_and_find(t, 15, 0), |t| insert_and_find(t, 5, 0)],
        4,
    );
}

#[test]
fn mc_01_of_two_equal_inserts_one_succeeds() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.check(|| {
        let tree = Arc::new(Tree::new(Leak, TWO, None));
        let other = tree.clone();
        let thread = thread::spawn(move || other.insert(entry(7, 7)));
        let here = tree.insert(entry(7, 7));
        assert!(here != thread.join().unwrap());
        assert_eq!(tree.check().unwrap().entries, 1);
    });
}

#[test]
fn mt_02_a_reader_finds_the_sentinel_while_its_node_splits() {
    fn reader(tree: &Tree<Leak>) {
        for user in [10, 20] {
            let found = tree.lookup(&Key {
                user: &u64::to_be_bytes(user),
                seq: 9,
            });
            assert!(found.entry().is_some(), "{user} is lost for a moment");
        }
    }
    model(TWO, &[(10, 0), (20, 0)], &[|t| insert_and_find(t, 15, 0), reader], 3);
}

#[test]
fn readers_see_the_only_writer_in_order() {
    fn writer(tree: &Tree<Leak>) {
        for user in [15, 25] {
            let e = entry(user, 0);
            assert!(tree.insert_alone(e));
            assert_eq!(tree.lookup(&e.key()).entry(), Some(e));
        }
    }
    fn reader(tree: &Tree<Leak>) {
        let key = 20u64.to_be_bytes();
        assert!(tree.lookup(&Key { user: &key, seq: 9 }).entry().is_some());
        assert!(scan(tree).len() >= 2);
    }
    model(TWO, &[(10, 0), (20, 0)], &[writer, reader], 4);
    model(FOUR, &[(10, 0), (20, 0), (30, 0)], &[writer, reader], 5);
}

#[test]
fn mt_01_scans_pass_a_split_in_both_directions() {
    fn forward(tree: &Tree<Leak>) {
        let found = scan(tree);
        assert!(found.len() >= 2, "a scan saw {} of 2", found.len());
    }
    fn backward(tree: &Tree<Leak>) {
        let found = scan_back(tree);
        assert!(found.len() >= 2, "a reverse scan saw {} of 2", found.len());
    }
    model(TWO, &[(10, 0), (20, 0)], &[|t| insert_and_find(t, 5, 0), forward], 3);
    model(TWO, &[(10, 0), (20, 0)], &[|t| insert_and_find(t, 15, 0), backward], 3);
}

#[test]
fn mt_06_versions_of_one_key_from_two_writers() {
    fn reader(tree: &Tree<Leak>) {
        let found = tree.lookup(&Key {
            user: &7u64.to_be_bytes(),
            seq: 3,
        });
        assert_eq!(found.entry().map(|e| e.key().seq), Some(3));
    }
    model(
        TWO,
        &[(7, 3), (7, 1)],
        &[|t| insert_and_find(t, 7, 2), |t| insert_and_find(t, 7, 4)],
        4,
    );
    model(TWO, &[(7, 3), (7, 1)], &[|t| insert_and_find(t, 7, 2), reader], 3);
}

#[test]
fn two_writers_make_one_planned_node() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.max_duration = Some(std::time::Duration::from_secs(10));
    builder.check(|| {
        let old = Tree::new(Leak, TWO, None);
        for user in 0..8 {
            old.insert(entry(user * 10, 0));
        }
        let (slots, content) = (TWO.slots, Content::Models);
        let target = Target { slots, content };
        let skeleton = std::sync::Arc::new(Skeleton::build(&old, target, || false).unwrap().unwrap());
        let tree = Arc::new(Tree::new(Leak, TWO, Some(skeleton)));
        let other = tree.clone();
        let thread = thread::spawn(move || insert_and_find(&other, 41, 0));
        insert_and_find(&tree, 42, 0);
        assert!(tree.seek(&Key { user: &[], seq: 0 }).entry().is_some());
        thread.join().unwrap();
        assert_eq!(tree.check().unwrap().entries, 2);
    });
}

/// Counts as full with six entries, and has room for two more while it is rebuilt.
const EIGHT: Shape = Shape {
    slots: 8,
    first_slots: 8,
    fanout: 4,
    background_from: 8,
};

/// The seventh asks for the rebuild.
const SEVEN: &[(u64, u64)] = &[(10, 0), (20, 0), (30, 0), (40, 0), (50, 0), (60, 0), (70, 0)];

fn rebuild(tree: &Tree<Leak>) {
    tree.rebuild_pending(|| false);
}

#[test]
fn a_writer_inserts_into_a_node_that_is_being_rebuilt() {
    model(EIGHT, SEVEN, &[rebuild, |t| insert_and_find(t, 25, 0)], 8);
}

#[test]
fn a_writer_overtakes_a_rebuild() {
    fn two(tree: &Tree<Leak>) {
        insert_and_find(tree, 25, 0);
        insert_and_find(tree, 65, 0);
    }
    model(EIGHT, SEVEN, &[rebuild, two], 9);
}

#[test]
fn readers_pass_a_rebuild_in_both_directions() {
    fn reader(tree: &Tree<Leak>) {
        let key = 40u64.to_be_bytes();
        let found = tree.lookup(&Key { user: &key, seq: 9 });
        assert!(found.entry().is_some(), "lost for a moment");
        let mut cursor = tree.seek(&Key { user: &key, seq: 0 });
        let mut steps = 0;
        while cursor.entry().is_some() && steps < 10 {
            tree.next(&mut cursor);
            steps += 1;
        }
        assert_eq!(steps, 4);
        tree.prev(&mut tree.seek(&Key { user: &key, seq: 0 }));
    }
    model(EIGHT, SEVEN, &[rebuild, reader], 7);
}

#[test]
fn writer_reader_and_rebuild() {
    fn reader(tree: &Tree<Leak>) {
        let key = 50u64.to_be_bytes();
        assert!(tree.lookup(&Key { user: &key, seq: 9 }).entry().is_some());
    }
    model(EIGHT, SEVEN, &[rebuild, |t| insert_and_find(t, 55, 0), reader], 8);
}
