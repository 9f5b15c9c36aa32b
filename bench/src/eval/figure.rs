//! The figures of the paper's evaluation.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A figure of the paper, or what goes beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Cold start of a learned memtable.
    ColdStart,
    /// Distributions of the key sets and how hard they are.
    KeySets,
    /// Writes, reads and both, with latencies.
    Mixes,
    /// YCSB A to F.
    Ycsb,
    /// Sizes of values.
    ValueSizes,
    /// Key distributions that change.
    Phases,
    /// The read path.
    ReadPath,
    /// Flush and compaction.
    Background,
    /// Index memory, slow inserts, strings, threads, ablations.
    Extra,
}

impl Figure {
    /// All, in the order of the report.
    pub const ALL: [Figure; 9] = [
        Figure::ColdStart,
        Figure::KeySets,
        Figure::Mixes,
        Figure::Ycsb,
        Figure::ValueSizes,
        Figure::Phases,
        Figure::ReadPath,
        Figure::Background,
        Figure::Extra,
    ];

    /// Its number in the paper, or `extra`: the word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Figure::ColdStart => "2",
            Figure::KeySets => "5",
            Figure::Mixes => "6",
            Figure::Ycsb => "7",
            Figure::ValueSizes => "8",
            Figure::Phases => "9",
            Figure::ReadPath => "10",
            Figure::Background => "11",
            Figure::Extra => "extra",
        }
    }

    /// Heading in the report.
    pub fn title(self) -> &'static str {
        match self {
            Figure::ColdStart => "Figure 2: cold start of a learned memtable",
            Figure::KeySets => "Figure 5: the key sets, generated beside published",
            Figure::Mixes => "Figure 6: writes, reads and both",
            Figure::Ycsb => "Figure 7: YCSB A to F",
            Figure::ValueSizes => "Figure 8: sizes of values",
            Figure::Phases => "Figure 9: key distributions that change",
            Figure::ReadPath => "Figure 10: the read path",
            Figure::Background => "Figure 11: flush and compaction",
            Figure::Extra => "Beyond the paper",
        }
    }

    /// What is done, and what to look for.
    pub fn about(self) -> &'static str {
        match self {
            Figure::ColdStart => {
                "Inserts into one database, without the log, throughput per interval: a learned memtable with room for everything, \
                 learned memtables of 64 MiB that start from nothing or from a skeleton, and the skip list, on an easy and a hard \
                 key set."
            }
            Figure::KeySets => {
                "Cumulative distributions of the generated key sets, and the fewest straight segments that follow them within an error \
                 bound, per million keys, beside what is published for the real sets."
            }
            Figure::Mixes => {
                "Write-only: whole fills of empty databases. Balanced (half gets, half overwrites) and read-only: slices on loaded \
                 databases, keys drawn uniformly. Latencies are those of operations that start on a schedule, counted from when \
                 they were due."
            }
            Figure::Ycsb => {
                "A: half reads, half updates. B: 5% updates. C: reads. D: reads of what was inserted last, 5% inserts. E: scans of 1 \
                 to 100 entries, 5% inserts. F: half reads, half read-modify-writes. Zipfian with exponent 0.99, scattered over \
                 the keys, and uniform."
            }
            Figure::ValueSizes => {
                "Whole fills and uniform reads with values of 16 to 512 bytes, and reads with the mixed sizes of three deployments (mean \
                 and deviation: UDB 126.7 and 22.1, ZippyDB 42.9 and 26.1, UP2X 46.8 and 11.6 bytes)."
            }
            Figure::Phases => {
                "One fill that goes through six key sets, one after the other: skeletons renewed periodically, the first one kept, none, \
                 and the skip list."
            }
            Figure::ReadPath => {
                "Uniform reads with everything in the block cache, with a block cache of a tenth of the data and nothing behind it (direct \
                 reads), and with hardly any cache at all; the index's share of the files; and where the time of a read goes."
            }
            Figure::Background => {
                "Time of flushing a memtable and of compacting several files, with and without skeletons and learned block indexes."
            }
            Figure::Extra => {
                "Index memory over block sizes, inserts slower than 100 us, keys that are text, numbers of threads, and each learned part \
                 alone."
            }
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What `--figure` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice(Option<Figure>);

impl Choice {
    /// Every figure.
    pub const ALL: Choice = Choice(None);

    /// Whether the figure is chosen.
    pub fn takes(self, figure: Figure) -> bool {
        self.0.is_none_or(|chosen| chosen == figure)
    }
}

impl std::str::FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Choice::ALL);
        }
        let found = Figure::ALL.into_iter().find(|figure| figure.name() == text);
        found.map(|figure| Choice(Some(figure))).ok_or_else(|| {
            let names = Figure::ALL.map(Figure::name).join(", ");
            format!("unknown figure {text:?}: expected {names} or all")
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.map_or("all", Figure::name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse() {
        for figure in Figure::ALL {
            let choice: Choice = figure.name().parse().unwrap();
            assert_eq!(
                Figure::ALL
                    .into_iter()
                    .filter(|&other| choice.takes(other))
                    .collect::<Vec<_>>(),
                [figure]
            );
        }
        assert_eq!("all".parse(), Ok(Choice::ALL));
        assert!("4".parse::<Choice>().unwrap_err().contains("11, extra or all"));
    }
}
