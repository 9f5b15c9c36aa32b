//! MP-01: what one operation on a hot key costs, as the number of shared words it reads: exact, unlike a timing. The sources of
//! the tree are compiled once more here, with atomics that count.

#![allow(missing_docs, dead_code, reason = "the items are documented and used in the library")]

#[path = "../../../src/key.rs"]
pub mod key;
#[path = "../../../src/prefetch.rs"]
mod prefetch;

#[path = "../../../src/memtable"]
pub mod memtable {
    pub mod check;
    pub mod cursor;
    pub mod data_node;
    pub mod entry;
    pub mod model;
    pub mod model_node;
    pub mod skeleton;
    pub mod stats;
    pub mod testing;
    pub mod tree;
    pub mod version;

    #[path = "../../tests/tsan/tests/counting/mod.rs"]
    pub mod sync;
}

use memtable::cursor::Cursor;
use memtable::entry::Key;
use memtable::sync::reads;
use memtable::testing::{Heap, Rng, entry};
use memtable::tree::{Shape, Tree};

/// Shared words read by one operation, on average and at most.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    mean: f64,
    most: u64,
}

impl Cost {
    /// Of `times` calls, each with its number.
    fn of(times: u64, mut call: impl FnMut(u64)) -> Cost {
        let mut cost = Cost::default();
        for i in 0..times {
            let before = reads();
            call(i);
            let words = reads() - before;
            cost.mean += words as f64 / times as f64;
            cost.most = cost.most.max(words);
        }
        cost
    }
}

#[derive(Debug)]
struct Costs {
    insert: Cost,
    newest: Cost,
    oldest: Cost,
    middle: Cost,
    prev: Cost,
    neighbour: Cost,
}

impl Costs {
    fn all(&self) -> [(&'static str, Cost); 6] {
        [
            ("insert", self.insert),
            ("newest", self.newest),
            ("oldest", self.oldest),
            ("middle", self.middle),
            ("prev", self.prev),
            ("neighbour", self.neighbour),
        ]
    }
}

fn hot(number: u64) -> [u8; 8] {
    (number << 32 | 1 << 31).to_be_bytes()
}

/// `keys` user keys with `versions` versions each, written in turn as their sequence numbers grow, and a neighbour on either side
/// of each.
fn costs(keys: u64, versions: u64, rng: &mut Rng) -> Costs {
    let tree = Tree::new(Heap::default(), Shape::default(), None);
    for number in 0..keys {
        for neighbour in [(1 << 31) - 1, (1 << 31) + 1] {
            assert!(tree.insert(entry(&(number << 32 | neighbour).to_be_bytes(), 1)));
        }
    }
    // The last tenth counts: the tree is large by then.
    let early = versions * 9 / 10 * keys;
    let mut seq = 1;
    let mut insert = |i: u64| {
        seq += 1;
        assert!(tree.insert(entry(&hot(i % keys), seq)));
    };
    (0..early).for_each(&mut insert);
    let insert = Cost::of(versions * keys - early, insert);
    let last = versions * keys + 1;

    let times = 1000;
    let picks: Vec<u64> = (0..times).map(|_| rng.below(keys)).collect();
    let pick = |i: u64| picks[i as usize];
    let find = |i: u64, seq: u64| {
        let user = hot(pick(i));
        let found = tree.lookup(&Key { user: &user, seq }).entry().expect("a version");
        assert!(found.key().user == user && found.key().seq <= seq && found.key().seq + keys > seq);
    };
    // Key number n has the sequence numbers n + 2, n + 2 + keys, and so on.
    let newest = Cost::of(times, |i| find(i, last));
    let oldest = Cost::of(times, |i| find(i, pick(i) + 2));
    let middles: Vec<u64> = (0..times).map(|_| 2 + keys + rng.below(last - 2 - keys)).collect();
    let middle = Cost::of(times, |i| {
        let user = hot(pick(i));
        let found = tree.seek(&Key {
            user: &user,
            seq: middles[i as usize],
        });
        assert!(found.entry().expect("a version").key().seq <= middles[i as usize]);
    });
    let mut cursor: Cursor = tree.last();
    let prev = Cost::of(times, |_| {
        tree.prev(&mut cursor);
        assert!(cursor.entry().is_some());
    });
    let neighbour = Cost::of(times, |i| {
        let user = (pick(i) << 32 | ((1 << 31) + 1)).to_be_bytes();
        let found = tree
            .lookup(&Key { user: &user, seq: last })
            .entry()
            .expect("a neighbour");
        assert_eq!(found.key().seq, 1);
    });
    Costs {
        insert,
        newest,
        oldest,
        middle,
        prev,
        neighbour,
    }
}

/// As many entries, each with a user key of its own: printed beside the others. The newest of a million versions of one key is
/// found with 94 words read, one of a million keys with 38.
fn distinct(entries: u64, rng: &mut Rng) -> [(&'static str, Cost); 3] {
    let tree = Tree::new(Heap::default(), Shape::default(), None);
    let mut users: Vec<[u8; 8]> = Vec::new();
    let early = entries * 9 / 10;
    let mut insert = |i: u64, rng: &mut Rng| {
        let user = rng.number().to_be_bytes();
        assert!(tree.insert(entry(&user, i + 1)));
        users.push(user);
    };
    (0..early).for_each(|i| insert(i, rng));
    let insert = Cost::of(entries - early, |i| insert(early + i, rng));
    let find = Cost::of(1000, |i| {
        let user = users[(i * 7919 % entries) as usize];
        assert!(
            tree.lookup(&Key {
                user: &user,
                seq: entries
            })
            .entry()
            .is_some()
        );
    });
    let mut cursor = tree.last();
    let prev = Cost::of(1000, |_| tree.prev(&mut cursor));
    [("insert", insert), ("find", find), ("prev", prev)]
}

/// Versions in all. Ten times as many may cost a constant more: the structure is a tree.
const SIZES: [u64; 2] = [100_000, 1_000_000];

#[test]
fn mp_01_cost_grows_no_faster_than_the_depth() {
    let seed = std::env::var("MOUNTDB_SEED").map_or(17, |seed| seed.parse().unwrap());
    let mut rng = Rng(seed);
    println!("MOUNTDB_SEED={seed}");
    for keys in [1, 100] {
        let [small, large] = SIZES.map(|entries| costs(keys, entries / keys, &mut rng));
        println!("{keys} hot keys\n  {small:?}\n  {large:?}");
        for ((what, small), (_, large)) in small.all().into_iter().zip(large.all()) {
            // A step of a search reads a few words; 10 times the entries are 3.3 steps more.
            assert!(
                large.mean <= 1.25 * small.mean + 8.0,
                "{keys} keys: {what} grows from {small:?} to {large:?}"
            );
        }
        println!("  distinct keys {:?}", distinct(SIZES[1], &mut rng));
    }
}
