//! Small runs of the whole comparison, against RocksDB alone: the learned factories are not part of this crate.

use mountdb_bench::report::{self, Report, VERSION, html, text};
use mountdb_bench::{Against, Config, KeySource, Machine, Side, Workload, compare, compare_phases};

fn tiny() -> Config {
    Config {
        num: 20_000,
        pairs: 2,
        fill_pairs: 2,
        seconds: 0.02,
        cache_size: 16 << 20,
        write_buffer_size: 256 << 10,
        learned: vec!["index".to_owned()],
        ..Config::default()
    }
}

fn stock(_: Workload) -> Side {
    Side::new("stock", "")
}

fn report(config: &Config, results: Vec<report::Outcome>) -> Report<'_> {
    Report {
        version: VERSION,
        machine: Machine::detect(),
        command: "mountdb ab".to_owned(),
        settings: config,
        results,
    }
}

#[test]
fn stock_against_tuned_in_every_workload() {
    let config = Config { threads: 2, ..tiny() };
    let keys = KeySource::Uniform.load(config.num, config.seed).unwrap();
    let sides = |workload| (stock(workload), Against::Tuned.side(workload).unwrap());
    let outcomes = compare(&config, &keys, &Workload::ALL, sides).unwrap();

    assert_eq!(
        outcomes.iter().map(|outcome| outcome.workload).collect::<Vec<_>>(),
        Workload::ALL
    );
    for outcome in &outcomes {
        assert_eq!((outcome.a_ops_per_sec.len(), outcome.b_ops_per_sec.len()), (2, 2));
        assert!(
            outcome
                .a_ops_per_sec
                .iter()
                .chain(&outcome.b_ops_per_sec)
                .all(|rate| *rate > 0.0)
        );
        assert!(outcome.ratio.low <= outcome.ratio.median && outcome.ratio.median <= outcome.ratio.high);
        let index = outcome.index.a.unwrap();
        assert!(index.blocks > 400, "{outcome:?}");
        assert!((8.0..100.0).contains(&index.per_block()), "{outcome:?}");
        if outcome.workload != Workload::Balanced {
            assert!(
                outcome.flushes.a > 1 && outcome.flushes.b > 1,
                "2 MB through 256 KiB memtables: {outcome:?}"
            );
        }
    }

    let report = report(&config, outcomes);
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len(), Workload::ALL.len());
    assert_eq!(json["settings"]["block_size"], 4096);
    let page = html(&report);
    let table = text(&report);
    for workload in Workload::ALL {
        assert!(page.contains(workload.name()) && table.contains(workload.name()));
    }
    assert!(
        table.contains("kDataBlockBinaryAndHash"),
        "the opponent's settings are stated"
    );
}

#[test]
fn phases_write_one_set_after_the_other() {
    let config = tiny();
    let sets =
        [KeySource::Uniform, KeySource::Osm, KeySource::Sequential].map(|s| s.load(config.num, config.seed).unwrap());
    let fill = Workload::FillRandom;
    let outcomes = compare_phases(&config, &sets, (stock(fill), Against::Vector.side(fill).unwrap())).unwrap();
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.keys.as_str()).collect();
    assert_eq!(
        names,
        [
            "uniform (phase 1 of 3)",
            "osm (phase 2 of 3)",
            "sequential (phase 3 of 3)"
        ]
    );
    for outcome in &outcomes {
        assert_eq!((outcome.a_ops_per_sec.len(), outcome.b_ops_per_sec.len()), (2, 2));
        assert!(
            outcome.flushes.a > 3,
            "three sets of {} entries: {outcome:?}",
            config.num
        );
    }
}

#[test]
fn stock_against_trie_reports_two_index_sizes() {
    let config = tiny();
    let keys = KeySource::Cities.load(config.num, config.seed).unwrap();
    let sides = |workload| (stock(workload), Against::Trie.side(workload).unwrap());
    let outcomes = compare(&config, &keys, &[Workload::SeekRandom], sides).unwrap();
    let index = outcomes[0].index;
    assert_eq!(index.a.unwrap().blocks, index.b.unwrap().blocks);
    assert_ne!(index.a.unwrap().bytes, index.b.unwrap().bytes);
}

#[test]
fn stock_against_vector_fills() {
    let config = Config { num: 30_000, ..tiny() };
    let keys = KeySource::Cities.load(10_000, config.seed).unwrap();
    assert_eq!(keys.keys().len(), 10_000, "each key is written three times");
    let sides = |workload| (stock(workload), Against::Vector.side(workload).unwrap());
    let outcomes = compare(&config, &keys, &[Workload::FillRandom], sides).unwrap();
    assert_eq!(outcomes[0].num, 30_000);
}

#[test]
fn a_side_that_loses_entries_is_refused() {
    let config = tiny();
    let keys = KeySource::Uniform.load(config.num, config.seed).unwrap();
    let losing = "compaction_style=kCompactionStyleFIFO;compaction_options_fifo={max_table_files_size=1}";
    for workload in [Workload::FillRandom, Workload::ReadRandom] {
        let error = compare(&config, &keys, &[workload], |w| (stock(w), Side::new("losing", losing))).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("side losing gives a wrong answer"), "{error}");
    }
}

#[test]
fn unusable_settings_are_refused() {
    let keys = KeySource::Sequential.load(10, 0).unwrap();
    let sides = |workload| (stock(workload), stock(workload));
    for config in [
        Config { threads: 0, ..tiny() },
        Config { pairs: 0, ..tiny() },
        Config { seconds: 0.0, ..tiny() },
        Config {
            value_size: 8,
            ..tiny()
        },
        Config {
            dir: Some("/nowhere/at/all".into()),
            ..tiny()
        },
    ] {
        assert!(compare(&config, &keys, &[Workload::ReadRandom], sides).is_err());
    }
}
