//! Files of `tests/golden`, written by this version and read by every later one. `tests/stock` asks stock RocksDB about the
//! same files. `MOUNTDB_WRITE_GOLDEN=tests/golden cargo test --features tools --test db golden` writes them anew, which
//! is right for a new format version only.

use std::path::{Path, PathBuf};

use mountdb::LearnedIndex;
use rocksdb::{IngestExternalFileOptions, IteratorMode, SstFileWriter};

use crate::harness::pair::open;
use crate::harness::{ALONGSIDE, PRIMARY, REPLACE, Shape, options};

const FILES: [(&str, LearnedIndex, i32); 3] = [
    ("learned-only.sst", REPLACE, 7),
    ("learned-only-format-5.sst", REPLACE, 5),
    ("alongside.sst", ALONGSIDE, 7),
];

fn entries() -> impl Iterator<Item = (Vec<u8>, String)> {
    (0..1000u64).map(|number| ((number * 3).to_be_bytes().to_vec(), number.to_string()))
}

fn write(path: &Path, learned: LearnedIndex, format: i32) {
    let mut options = options(&Shape::default(), Some(learned));
    let text = format!("block_based_table_factory={{format_version={format}}};compression=kNoCompression");
    mountdb::apply_option_string(&mut options, &text).unwrap();
    let mut writer = SstFileWriter::create(&options);
    writer.open(path).unwrap();
    for (key, value) in entries() {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap();
}

fn check(path: PathBuf) {
    // Every mode reads every file, and so do options that know of no learned index.
    for learned in [None, Some(ALONGSIDE), Some(PRIMARY), Some(REPLACE)] {
        let directory = tempfile::tempdir().unwrap();
        let db = open(&options(&Shape::default(), learned), directory.path()).unwrap();
        db.ingest_external_file_opts(&IngestExternalFileOptions::default(), vec![path.clone()])
            .unwrap();
        let found: Vec<_> = db.iterator(IteratorMode::Start).map(Result::unwrap).collect();
        let found: Vec<_> = found.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let expected: Vec<_> = entries().collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(key, value)| (&key[..], value.as_bytes()))
            .collect();
        assert!(found == expected, "{}: {learned:?}", path.display());
        for (key, value) in expected {
            assert_eq!(db.get(key).unwrap().as_deref(), Some(value));
        }
    }
}

#[test]
fn sf_03_golden_files_are_read_in_every_mode() {
    mountdb::register();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, learned, format) in FILES {
        if let Some(folder) = std::env::var_os("MOUNTDB_WRITE_GOLDEN") {
            write(&PathBuf::from(folder).join(name), learned, format);
        }
        check(folder.join(name));
        // And what is written now.
        let fresh = tempfile::tempdir().unwrap();
        write(&fresh.path().join(name), learned, format);
        check(fresh.path().join(name));
    }
}
