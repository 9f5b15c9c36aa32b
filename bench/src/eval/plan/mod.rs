//! All experiments, in the order in which they run: those on the same key set one after the other, so that its databases are
//! loaded once.

use serde::Serialize;

use super::experiment::{Kind, read_path::Cache};
use super::figure::{Choice, Figure};
use super::keys::{Files, Source};
use super::mix::{BALANCED, READ_ONLY, ycsb};
use super::systems::{LEARNED, STOCK, System, TUNED};
use crate::keys::KeySource;
use crate::values::ValueSize;

/// One experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Experiment {
    /// Name, and name of its file.
    pub id: String,
    /// Where it is shown.
    pub figure: Figure,
    /// What it is, in a few words.
    pub title: String,
    /// Seconds that it gets of the half hour of the small scale; a share of the time at other scales.
    #[serde(skip)]
    pub seconds: f64,
    /// What is done.
    pub kind: Kind,
}

/// The paper's six key sets, from easy to hard.
pub const SETS: [(&str, KeySource); 6] = [
    ("ycsb", KeySource::Ycsb),
    ("amazon", KeySource::Amazon),
    ("covid", KeySource::Covid),
    ("facebook", KeySource::Facebook),
    ("genome", KeySource::Genome),
    ("osm", KeySource::Osm),
];

/// Mixed value sizes: name, mean, deviation.
const DEPLOYMENTS: [(&str, f64, f64); 3] = [("UDB", 126.7, 22.1), ("ZippyDB", 42.9, 26.1), ("UP2X", 46.8, 11.6)];

const VALUE: ValueSize = ValueSize::Fixed(100);

/// Threads of the small and the large end, and between.
const THREADS: [usize; 5] = [1, 2, 4, 8, 16];

/// The experiments of the chosen figures. `threads` is the number of clients where an experiment does not vary it.
pub fn plan(choice: Choice, files: &Files, threads: usize) -> Vec<Experiment> {
    let mut plan = Plan {
        experiments: Vec::new(),
        files,
        threads,
    };
    plan.key_sets();
    plan.cold_start();
    plan.phases();
    for (name, _) in SETS {
        plan.one_set(name);
    }
    plan.mixed_values();
    plan.texts();
    plan.experiments.retain(|experiment| choice.takes(experiment.figure));
    plan.experiments
}

struct Plan<'a> {
    experiments: Vec<Experiment>,
    files: &'a Files,
    threads: usize,
}

impl Plan<'_> {
    fn add(&mut self, figure: Figure, id: String, title: String, seconds: f64, kind: Kind) {
        self.experiments.push(Experiment {
            id,
            figure,
            title,
            seconds,
            kind,
        });
    }

    fn source(&self, name: &str) -> Source {
        let generated = || SETS.into_iter().find(|(set, _)| *set == name).map(|(_, source)| source);
        let source = self.files.get(name).cloned().or_else(generated);
        Source::Numbers(source.unwrap_or(KeySource::Cities))
    }

    fn sources(&self) -> Vec<Source> {
        SETS.iter().map(|(name, _)| self.source(name)).collect()
    }

    fn key_sets(&mut self) {
        for (name, _) in SETS {
            let source = self.source(name);
            let title = format!("distribution and hardness of {name}");
            self.add(
                Figure::KeySets,
                format!("fig5-{name}"),
                title,
                3.0,
                Kind::KeySets { source },
            );
        }
    }

    fn cold_start(&mut self) {
        for name in ["amazon", "osm"] {
            let kind = Kind::ColdStart {
                source: self.source(name),
                systems: vec![STOCK, "plain ALEX+, 1 GiB", "plain ALEX+", "no skeleton", LEARNED],
                threads: self.threads,
            };
            let title = format!("cold start on {name}");
            self.add(Figure::ColdStart, format!("fig2-{name}"), title, 60.0, kind);
        }
    }

    fn phases(&mut self) {
        let kind = Kind::Phases {
            sources: self.sources(),
            systems: vec![STOCK, "no skeleton", "single skeleton", LEARNED],
            threads: self.threads,
        };
        let title = "six key sets, one after the other".to_owned();
        self.add(Figure::Phases, "fig9-phases".to_owned(), title, 150.0, kind);
    }

    fn fill(
        &mut self,
        figure: Figure,
        id: String,
        source: Source,
        value: ValueSize,
        seconds: f64,
        options: FillOptions,
    ) {
        let FillOptions {
            systems,
            threads,
            log,
            slow,
        } = options;
        let title = format!("fills, {}", source.name());
        let kind = Kind::Fills {
            source,
            value,
            systems,
            threads,
            log,
            slow,
        };
        self.add(figure, id, title, seconds, kind);
    }

    fn mixes(&mut self, figure: Figure, id: String, source: Source, seconds: f64, options: MixOptions) {
        let MixOptions {
            value,
            systems,
            threads,
            mixes,
            latency,
        } = options;
        let title = format!(
            "{}, {}",
            mixes.iter().map(|mix| mix.name).collect::<Vec<_>>().join(", "),
            source.name()
        );
        let kind = Kind::Mixes {
            source,
            value,
            systems,
            threads,
            mixes,
            latency,
        };
        self.add(figure, id, title, seconds, kind);
    }

    /// Everything on the stage of one set, reads before inserts.
    fn one_set(&mut self, name: &str) {
        let source = self.source(name);
        let threads = self.threads;
        if name != "amazon" {
            let fill = FillOptions::of(threads);
            self.fill(
                Figure::Mixes,
                format!("fig6-write-{name}"),
                source.clone(),
                VALUE,
                42.0,
                fill,
            );
            let mixes = MixOptions {
                latency: true,
                ..MixOptions::of(threads)
            };
            self.mixes(Figure::Mixes, format!("fig6-mixes-{name}"), source.clone(), 45.0, mixes);
        }
        if name == "amazon" || name == "osm" {
            for cache in Cache::ALL {
                let kind = Kind::ReadPath {
                    source: source.clone(),
                    systems: System::for_reads(),
                    threads,
                    cache,
                };
                let id = format!("fig10-{}-{name}", cache.id());
                self.add(
                    Figure::ReadPath,
                    id,
                    format!("reads, {}, {name}", cache.name()),
                    12.0,
                    kind,
                );
            }
            let kind = Kind::ReadParts {
                source: source.clone(),
                systems: System::for_reads(),
            };
            let title = format!("where the time of a read goes, {name}");
            self.add(Figure::ReadPath, format!("fig10-parts-{name}"), title, 8.0, kind);
        }
        if ["ycsb", "genome", "osm"].contains(&name) {
            for zipfian in [true, false] {
                let word = if zipfian { "zipfian" } else { "uniform" };
                let mixes = MixOptions {
                    mixes: ycsb(zipfian),
                    ..MixOptions::of(threads)
                };
                self.mixes(Figure::Ycsb, format!("fig7-{word}-{name}"), source.clone(), 38.0, mixes);
            }
        }
        if name == "ycsb" || name == "osm" {
            let mixes = MixOptions {
                systems: vec![STOCK, TUNED, "memtable only", "index beside", "index only", LEARNED],
                ..MixOptions::of(threads)
            };
            self.mixes(
                Figure::Extra,
                format!("extra-ablation-{name}"),
                source.clone(),
                20.0,
                mixes,
            );
        }
        if name == "ycsb" {
            self.threads(&source);
        }
        if name == "amazon" || name == "osm" {
            self.values(name, &source);
            let kind = Kind::Background {
                source: source.clone(),
                systems: vec![STOCK, "index only", "no skeleton", LEARNED, "skeleton every flush"],
            };
            let title = format!("flush and compaction, {name}");
            self.add(Figure::Background, format!("fig11-{name}"), title, 45.0, kind);
        }
        if name != "covid" && name != "facebook" {
            let kind = Kind::Sizes {
                source: source.clone(),
                systems: System::for_sizes(),
                blocks: vec![1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10],
            };
            let title = format!("index memory over block sizes, {name}");
            self.add(Figure::Extra, format!("extra-memory-{name}"), title, 20.0, kind);
            let kind = Kind::Sizes {
                source,
                systems: System::for_sizes(),
                blocks: vec![4 << 10],
            };
            let title = format!("the index's share of the files, {name}");
            self.add(Figure::ReadPath, format!("fig10-share-{name}"), title, 5.0, kind);
        }
    }

    fn threads(&mut self, source: &Source) {
        for threads in THREADS {
            let fill = FillOptions {
                log: false,
                ..FillOptions::of(threads)
            };
            let id = format!("extra-threads-write-{threads}");
            self.fill(Figure::Extra, id, source.clone(), VALUE, 14.0, fill);
            let id = format!("extra-threads-mixes-{threads}");
            let mixes = MixOptions {
                mixes: vec![BALANCED],
                ..MixOptions::of(threads)
            };
            self.mixes(Figure::Extra, id, source.clone(), 8.0, mixes);
        }
        for threads in [1, 16] {
            let slow = FillOptions {
                systems: vec![STOCK, "plain ALEX+", LEARNED],
                log: false,
                slow: true,
                ..FillOptions::of(threads)
            };
            let id = format!("extra-slow-{threads}");
            self.fill(Figure::Extra, id, source.clone(), VALUE, 18.0, slow);
        }
    }

    fn values(&mut self, name: &str, source: &Source) {
        for size in [16, 32, 64, 128, 256, 512] {
            let value = ValueSize::Fixed(size);
            let fill = FillOptions::of(self.threads);
            let id = format!("fig8-write-{name}-{size}");
            self.fill(Figure::ValueSizes, id, source.clone(), value, 10.0, fill);
            let mixes = MixOptions {
                value,
                mixes: vec![READ_ONLY],
                ..MixOptions::of(self.threads)
            };
            self.mixes(
                Figure::ValueSizes,
                format!("fig8-read-{name}-{size}"),
                source.clone(),
                8.0,
                mixes,
            );
        }
    }

    fn mixed_values(&mut self) {
        for (name, mean, deviation) in DEPLOYMENTS {
            let mixes = MixOptions {
                value: ValueSize::Mixed { mean, deviation },
                systems: vec![STOCK, TUNED, "index only", LEARNED],
                mixes: vec![READ_ONLY],
                ..MixOptions::of(self.threads)
            };
            let id = format!("fig8-mixed-{}", name.to_lowercase());
            let source = self.source("ycsb");
            self.mixes(Figure::ValueSizes, id, source, 14.0, mixes);
        }
    }

    fn texts(&mut self) {
        for name in ["decimal", "uuid", "url"] {
            let source = Source::Text(name);
            let fill = FillOptions::of(self.threads);
            self.fill(
                Figure::Extra,
                format!("extra-text-write-{name}"),
                source.clone(),
                VALUE,
                14.0,
                fill,
            );
            let mixes = MixOptions::of(self.threads);
            self.mixes(Figure::Extra, format!("extra-text-mixes-{name}"), source, 12.0, mixes);
        }
    }
}

struct FillOptions {
    systems: Vec<&'static str>,
    threads: usize,
    log: bool,
    slow: bool,
}

impl FillOptions {
    /// The tuned side is left out: RocksDB documents nothing that would make a fill faster than its defaults.
    fn of(threads: usize) -> Self {
        FillOptions {
            systems: vec![STOCK, LEARNED],
            threads,
            log: true,
            slow: false,
        }
    }
}

struct MixOptions {
    value: ValueSize,
    systems: Vec<&'static str>,
    threads: usize,
    mixes: Vec<super::mix::Mix>,
    latency: bool,
}

impl MixOptions {
    fn of(threads: usize) -> Self {
        MixOptions {
            value: VALUE,
            systems: vec![STOCK, TUNED, LEARNED],
            threads,
            mixes: vec![READ_ONLY, BALANCED],
            latency: false,
        }
    }
}

#[cfg(test)]
mod tests;
