//! Stock RocksDB and files that carry the learned index only: refused at open with a message, never read as empty. The same
//! files are read by `tests/db/golden.rs`.

use std::path::PathBuf;

use rocksdb::{DB, IngestExternalFileOptions, Options};

/// The index type property of these files, which README tells to look for.
const MESSAGE: &str = "Unrecognized index type: 85";

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../golden").join(name)
}

fn ingest(name: &str) -> Result<DB, rocksdb::Error> {
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.create_if_missing(true);
    let db = DB::open(&options, directory.path()).unwrap();
    let copy = IngestExternalFileOptions::default();
    db.ingest_external_file_opts(&copy, vec![golden(name)])?;
    Ok(db)
}

#[test]
fn a_file_with_the_learned_index_only_is_refused() {
    for name in ["learned-only.sst", "learned-only-format-5.sst"] {
        let error = ingest(name)
            .map(drop)
            .expect_err("stock RocksDB took the file")
            .to_string();
        assert!(error.contains(MESSAGE), "{name}: {error}");
    }
}

#[test]
fn a_file_with_both_indexes_is_read() {
    let db = ingest("alongside.sst").unwrap();
    for number in 0..1000u64 {
        let found = db.get((number * 3).to_be_bytes()).unwrap();
        assert_eq!(found.as_deref(), Some(number.to_string().as_bytes()));
    }
}
