//! What can be learned about memtables from outside.

use mountdb::{LearnedIndex, MemtableStats, memtable_stats, memtable_stats_cf};
use rand::RngExt;
use rocksdb::{ColumnFamilyDescriptor, DB, Options};

use crate::harness::{MEMTABLE, seeded};

fn stats(db: &DB, family: &str) -> MemtableStats {
    memtable_stats_cf(db, db.cf_handle(family).unwrap()).expect("alex is the memtable")
}

#[test]
fn statistics_and_a_line_in_the_log_for_each_flush() {
    let mut rng = seeded("stats");
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    MEMTABLE.apply(&mut options).unwrap();
    let mut reversed = options.clone();
    reversed.set_comparator("reversed", Box::new(|a, b| b.cmp(a)));
    let families = [
        ColumnFamilyDescriptor::new("default", options.clone()),
        ColumnFamilyDescriptor::new("other", options.clone()),
        ColumnFamilyDescriptor::new("reversed", reversed),
    ];
    let db = DB::open_cf_descriptors(&options, directory.path(), families).unwrap();
    assert_eq!(stats(&db, "default"), MemtableStats::default());

    let flush = |family: &str, n: usize, rng: &mut crate::harness::Rng| {
        for _ in 0..n {
            db.put_cf(
                db.cf_handle(family).unwrap(),
                rng.random::<u64>().to_be_bytes(),
                b"value",
            )
            .unwrap();
        }
        db.flush_cf(db.cf_handle(family).unwrap()).unwrap();
    };
    flush("default", 20_000, &mut rng);
    let first = stats(&db, "default");
    assert_eq!(memtable_stats(&db), Some(first));
    assert_eq!((first.memtables, first.fallbacks, first.last_entries), (1, 0, 20_000));
    assert_eq!((first.last_planned_nodes, first.last_depth), (0, 3));
    assert!(
        first.last_data_nodes > 80 && first.last_splits > 50 && first.last_expansions >= 2,
        "{first:?}"
    );
    assert!(
        first.last_index_bytes > 20_000 * 16 && first.longest_pause_nanos > 0,
        "{first:?}"
    );
    assert_eq!(stats(&db, "other"), MemtableStats::default());

    // The skeleton of the first memtable is for the second or, if the worker was late, the third.
    for _ in 0..20 {
        flush("default", 20_000, &mut rng);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let later = stats(&db, "default");
    assert_eq!((later.memtables, later.last_entries), (21, 20_000));
    assert!(
        later.last_planned_nodes > 80 && later.last_skeleton_bytes > 1000 && later.last_skeleton_build_nanos > 1000,
        "{later:?}"
    );
    assert!(later.last_moved_inserts < 20_000 / 3, "{later:?}");
    assert!(later.longest_pause_nanos >= later.last_longest_pause_nanos);

    flush("reversed", 10, &mut rng);
    let reversed = memtable_stats_cf(&db, db.cf_handle("reversed").unwrap()).unwrap();
    assert!(reversed.fallbacks >= 1 && reversed.memtables == 0, "{reversed:?}");

    let log = std::fs::read_to_string(directory.path().join("LOG")).unwrap();
    let lines = log.matches("alex memtable of column family 0: 20000 entries, ").count();
    assert_eq!(lines, 21, "a line for each flush");
    assert!(log.contains("comparator reversed is not bytewise, column family 2 uses a skip list"));
}

#[test]
fn other_memtables_have_no_statistics() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.create_if_missing(true);
    let index_only = LearnedIndex {
        memtable: false,
        ..LearnedIndex::default()
    };
    index_only.apply(&mut options).unwrap();
    let db = DB::open(&options, directory.path()).unwrap();
    assert_eq!(memtable_stats(&db), None);
}
