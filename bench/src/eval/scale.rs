//! How large the experiments are.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A size of the whole evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// Within 30 minutes on two cores.
    Small,
    /// Databases of 2 GB; some hours.
    Medium,
    /// The paper's 55 GB per key set; days. Needs 16 GB of memory and 400 GB of disk.
    Large,
}

impl Scale {
    /// The numbers behind the name.
    pub fn sizes(self) -> Sizes {
        match self {
            Scale::Small => Sizes {
                entries: 400_000,
                fill_entries: 400_000,
                value_entries: 150_000,
                phase_entries: 200_000,
                cold_entries: 800_000,
                hardness_keys: 2_000_000,
                block_cache: 32 << 20,
                threads: 16,
                slice: 0.2,
                pace_slice: 0.25,
                rounds: 30,
                minutes: 27.0,
            },
            Scale::Medium => Sizes {
                entries: 20_000_000,
                fill_entries: 10_000_000,
                value_entries: 4_000_000,
                phase_entries: 4_000_000,
                cold_entries: 10_000_000,
                hardness_keys: 20_000_000,
                block_cache: 32 << 20,
                threads: 16,
                slice: 0.25,
                pace_slice: 1.0,
                rounds: 60,
                minutes: 600.0,
            },
            Scale::Large => Sizes {
                entries: 500_000_000,
                fill_entries: 500_000_000,
                value_entries: 100_000_000,
                phase_entries: 16_700_000,
                cold_entries: 10_000_000,
                hardness_keys: 200_000_000,
                block_cache: 2 << 30,
                threads: 16,
                slice: 1.0,
                pace_slice: 5.0,
                rounds: 60,
                minutes: 10_000.0,
            },
        }
    }
}

/// Sizes and times of a scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Entries of a loaded database.
    pub entries: usize,
    /// Entries of a timed fill.
    pub fill_entries: usize,
    /// Entries of a timed fill with values of 100 bytes, where sizes of values are compared: as many bytes with other sizes.
    pub value_entries: usize,
    /// Entries of each key set where the distribution changes.
    pub phase_entries: usize,
    /// Entries of the cold start.
    pub cold_entries: usize,
    /// Keys on which hardness is counted.
    pub hardness_keys: usize,
    /// Bytes of the block cache, where an experiment does not vary it.
    pub block_cache: usize,
    /// Client threads.
    pub threads: usize,
    /// Seconds of a slice.
    pub slice: f64,
    /// Seconds of a slice in which latencies are taken.
    pub pace_slice: f64,
    /// Most rounds of slices.
    pub rounds: usize,
    /// Minutes for all figures together.
    pub minutes: f64,
}

impl Sizes {
    /// Time for all figures together.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    /// The same with fewer entries and less time, everything else in proportion: for a first try.
    pub fn shrunk(mut self, entries: Option<usize>, minutes: Option<f64>) -> Self {
        if let Some(entries) = entries {
            let share = entries as f64 / self.entries as f64;
            let part = |count: usize| ((count as f64 * share) as usize).max(1_000);
            self.fill_entries = part(self.fill_entries);
            self.value_entries = part(self.value_entries);
            self.phase_entries = part(self.phase_entries);
            self.cold_entries = part(self.cold_entries);
            self.hardness_keys = part(self.hardness_keys);
            self.entries = entries.max(1_000);
        }
        if let Some(minutes) = minutes {
            self.slice = (self.slice * (minutes / self.minutes).sqrt()).clamp(0.01, self.slice);
            self.pace_slice = (self.pace_slice * (minutes / self.minutes).sqrt()).clamp(0.02, self.pace_slice);
            self.minutes = minutes;
        }
        self
    }
}
