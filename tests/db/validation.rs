//! Wrong parameters are refused by name, with the range where there is one.

use mountdb::{LearnedIndex, apply_option_string};
use rocksdb::{DB, Options};

#[test]
fn od_01_wrong_parameters_are_named() {
    for (text, words) in [
        (
            "memtable_factory={id=alex;skeleton_period=-1}",
            ["skeleton_period", "0 to 1000000"],
        ),
        (
            "memtable_factory={id=alex;skeleton_period=abc}",
            ["skeleton_period", "0 to 1000000"],
        ),
        (
            "memtable_factory={id=alex;skeleton_period=1000001}",
            ["skeleton_period", "0 to 1000000"],
        ),
        (
            "memtable_factory={id=alex;skelton_period=1}",
            [
                "skelton_period",
                "data_node_slots rebuild skeleton skeleton_content skeleton_period",
            ],
        ),
        (
            "memtable_factory={id=alex;skeleton=always}",
            ["skeleton", "one of off, single, periodic, is always"],
        ),
        (
            "memtable_factory={id=alex;skeleton_content=all}",
            ["skeleton_content", "one of models, keys, is all"],
        ),
        (
            "memtable_factory={id=alex;rebuild=}",
            ["rebuild", "one of inline, background, is "],
        ),
        (
            "memtable_factory={id=alex;data_node_slots=15}",
            ["data_node_slots", "16 to 32768, is 15"],
        ),
        (
            "memtable_factory={id=alex;data_node_slots=32769}",
            ["data_node_slots", "16 to 32768, is 32769"],
        ),
        ("memtable_factory={id=alexx}", ["alexx", "memtable"]),
    ] {
        let error = apply_option_string(&mut Options::default(), text)
            .expect_err(text)
            .to_string();
        let lower = error.to_lowercase();
        assert!(
            words.iter().all(|word| lower.contains(&word.to_lowercase())),
            "{text}: {error}"
        );
    }
    for text in [
        "memtable_factory={id=alex;skeleton_period=0}",
        "memtable_factory={id=alex;skeleton=single;skeleton_content=keys;rebuild=background;data_node_slots=32768}",
        "memtable_factory=alex",
        "memtable_factory=AlexMemTableFactory",
    ] {
        apply_option_string(&mut Options::default(), text).expect(text);
    }
}

#[test]
fn od_01_wrong_values_of_the_description_are_named() {
    let wrong = LearnedIndex {
        skeleton_period: 1_000_001,
        ..LearnedIndex::default()
    };
    let error = wrong
        .apply(&mut Options::default())
        .expect_err("out of range")
        .to_string();
    assert!(
        error.contains("skeleton_period") && error.contains("1000000"),
        "{error}"
    );
    let mut plain = Options::default();
    plain.set_plain_table_factory(&rocksdb::PlainTableFactoryOptions {
        user_key_length: 0,
        bloom_bits_per_key: 10,
        hash_table_ratio: 0.75,
        index_sparseness: 16,
        huge_page_tlb_size: 0,
        encoding_type: rocksdb::KeyEncodingType::Plain,
        full_scan_mode: false,
        store_index_in_file: false,
    });
    let error = LearnedIndex::default()
        .apply(&mut plain)
        .expect_err("plain tables")
        .to_string();
    assert!(error.contains("block-based"), "{error}");
}

#[test]
fn od_01_unknown_index_is_told_at_open() {
    // RocksDB drops the error of a factory inside the table options, but not that a primary index is missing then.
    let mut options = Options::default();
    options.create_if_missing(true);
    let text = "block_based_table_factory={user_defined_index_factory={id=pgmm};use_udi_as_primary_index=true}";
    let error = match apply_option_string(&mut options, text) {
        Err(error) => error.to_string(),
        Ok(()) => DB::open(&options, tempfile::tempdir().unwrap().path())
            .map(drop)
            .expect_err(text)
            .to_string(),
    };
    assert!(error.contains("user_defined_index_factory"), "{error}");
}
