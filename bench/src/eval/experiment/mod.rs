//! The kinds of experiments.

pub(super) mod background;
pub(super) mod cold_start;
pub(super) mod fill;
pub(super) mod key_sets;
pub(super) mod mixes;
pub(super) mod phases;
pub(super) mod read_parts;
pub(super) mod read_path;
pub(super) mod sizes;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::budget::Budget;
use super::keys::Source;
use super::mix::Mix;
use super::record::Measured;
use super::scale::Sizes;
use super::stage::{Recipe, Stage};
use crate::config::{Config, IndexBytes};
use crate::values::ValueSize;

/// Counts the fewest straight segments that follow ascending numbers within an error bound.
pub type CountSegments = fn(&mut dyn Iterator<Item = u64>, u64) -> usize;

/// What an experiment does.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The fields say what their names say.
pub enum Kind {
    /// Throughput over time of a learned memtable.
    ColdStart {
        source: Source,
        systems: Vec<&'static str>,
        threads: usize,
    },
    /// Distribution and hardness.
    KeySets { source: Source },
    /// Whole fills.
    Fills {
        source: Source,
        value: ValueSize,
        systems: Vec<&'static str>,
        threads: usize,
        log: bool,
        slow: bool,
    },
    /// Slices on loaded databases.
    Mixes {
        source: Source,
        value: ValueSize,
        systems: Vec<&'static str>,
        threads: usize,
        mixes: Vec<Mix>,
        latency: bool,
    },
    /// Key sets one after the other.
    Phases {
        sources: Vec<Source>,
        systems: Vec<&'static str>,
        threads: usize,
    },
    /// Reads with less and less cache.
    ReadPath {
        source: Source,
        systems: Vec<&'static str>,
        threads: usize,
        cache: read_path::Cache,
    },
    /// Times of the parts of a read.
    ReadParts { source: Source, systems: Vec<&'static str> },
    /// Times of flush and compaction.
    Background { source: Source, systems: Vec<&'static str> },
    /// Sizes of indexes.
    Sizes {
        source: Source,
        systems: Vec<&'static str>,
        blocks: Vec<usize>,
    },
}

impl Kind {
    /// Who takes part.
    pub fn systems(&self) -> &[&'static str] {
        match self {
            Kind::KeySets { .. } => &[],
            Kind::ColdStart { systems, .. }
            | Kind::Fills { systems, .. }
            | Kind::Mixes { systems, .. }
            | Kind::Phases { systems, .. }
            | Kind::ReadPath { systems, .. }
            | Kind::ReadParts { systems, .. }
            | Kind::Background { systems, .. }
            | Kind::Sizes { systems, .. } => systems,
        }
    }

    pub(super) fn run(&self, context: &mut Context, budget: Budget) -> Result<Measured> {
        match self {
            Kind::ColdStart {
                source,
                systems,
                threads,
            } => cold_start::run(context, budget, source, systems, *threads),
            Kind::KeySets { source } => key_sets::run(context, source),
            Kind::Fills {
                source,
                value,
                systems,
                threads,
                log,
                slow,
            } => {
                let settings = fill::Settings {
                    value: *value,
                    threads: *threads,
                    log: *log,
                    slow: *slow,
                };
                fill::run(context, budget, source, systems, settings)
            }
            Kind::Mixes {
                source,
                value,
                systems,
                threads,
                mixes,
                latency,
            } => {
                let settings = mixes::Settings {
                    value: *value,
                    threads: *threads,
                    latency: *latency,
                };
                mixes::run(context, budget, source, systems, mixes, settings)
            }
            Kind::Phases {
                sources,
                systems,
                threads,
            } => phases::run(context, budget, sources, systems, *threads),
            Kind::ReadPath {
                source,
                systems,
                threads,
                cache,
            } => read_path::run(context, budget, source, systems, *threads, *cache),
            Kind::ReadParts { source, systems } => read_parts::run(context, budget, source, systems),
            Kind::Background { source, systems } => background::run(context, budget, source, systems),
            Kind::Sizes {
                source,
                systems,
                blocks,
            } => sizes::run(context, source, systems, blocks),
        }
    }
}

/// What experiments share.
pub(super) struct Context {
    pub(super) sizes: Sizes,
    pub(super) seed: u64,
    /// Folder of the databases.
    pub(super) dir: Option<PathBuf>,
    pub(super) index_bytes: Option<IndexBytes>,
    pub(super) segments: CountSegments,
    pub(super) stage: Option<Stage>,
}

impl Context {
    /// The paper's settings: two memtables of 64 MiB, a small block cache, no compression.
    pub(super) fn config(&self) -> Config {
        Config {
            num: self.sizes.entries,
            threads: self.sizes.threads,
            seconds: self.sizes.slice,
            cache_size: self.sizes.block_cache,
            background_jobs: 8,
            seed: self.seed,
            dir: self.dir.clone(),
            index_bytes: self.index_bytes,
            ..Config::default()
        }
    }

    /// The databases of a key set with values of one kind: those at hand, or new ones.
    pub(super) fn stage(&mut self, source: &Source, value: ValueSize) -> Result<&mut Stage> {
        let recipe = Recipe {
            source: source.clone(),
            // Where many sizes of values are compared, loading takes most of the time.
            entries: match value {
                ValueSize::Fixed(100) => self.sizes.entries,
                _ => self.sizes.entries.div_ceil(2),
            },
            value,
            seed: self.seed,
            block_size: 4096,
        };
        if self.stage.as_ref().is_none_or(|stage| stage.recipe != recipe) {
            // The old databases go before the new ones come.
            self.stage = None;
            self.stage = Some(Stage::new(recipe, self.config())?);
        }
        self.stage.as_mut().context("a stage was just made")
    }
}
