//! Whole fills of empty databases.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::database::{Database, write_options};
use crate::values::Values;
use crate::workload::on_threads;

use super::keys::Keys;

/// Writes that take longer count as slow.
const SLOW: Duration = Duration::from_micros(100);

/// Entries between two looks at the clock.
const STEP: usize = 64;

/// What is written, and what is looked at.
#[derive(Clone, Copy)]
pub(super) struct Fill<'a> {
    pub(super) keys: &'a Keys,
    pub(super) values: &'a Values,
    /// Key numbers in the order in which they are written.
    pub(super) order: &'a [u32],
    pub(super) threads: usize,
    pub(super) log: bool,
    pub(super) watch: Watch,
}

/// What is looked at besides the time of the whole. Looking at the clock after each write costs all sides the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Nothing.
    Total,
    /// Entries per interval of this length.
    Intervals(Duration),
    /// Writes over 100 us.
    Slow,
}

/// What was seen.
pub(super) struct Filled {
    /// Entries per second, from the common start to the last write accepted by the slowest thread.
    pub(super) rate: f64,
    /// Entries per interval, the last and partial one left out.
    pub(super) intervals: Vec<u64>,
    /// Writes over 100 us.
    pub(super) slow: u64,
}

struct Thread {
    seconds: f64,
    intervals: Vec<u64>,
    slow: u64,
}

impl Fill<'_> {
    /// Writes everything, thread `t` of `n` every n-th entry from the t-th on.
    pub(super) fn run(&self, database: &Database) -> Result<Filled> {
        let threads = on_threads(self.threads, |thread, start| {
            let options = write_options(self.log);
            let mut value = vec![0; self.values.size()];
            let mut buffer = [0; 8];
            let mut write = |index: usize| -> Result<()> {
                let value = self.values.write(&mut value, index as u64, 0);
                Ok(database
                    .db()
                    .put_opt(self.keys.bytes(index, &mut buffer), value, &options)?)
            };
            let mut seen = Thread {
                seconds: 0.0,
                intervals: Vec::new(),
                slow: 0,
            };
            let mine = self
                .order
                .iter()
                .skip(thread)
                .step_by(self.threads)
                .map(|&index| index as usize);
            start.wait();
            let begun = Instant::now();
            match self.watch {
                Watch::Slow => {
                    let mut last = begun;
                    for index in mine {
                        write(index)?;
                        let now = Instant::now();
                        seen.slow += u64::from(now - last > SLOW);
                        last = now;
                    }
                }
                Watch::Total | Watch::Intervals(_) => {
                    for (at, index) in mine.enumerate() {
                        write(index)?;
                        if let Watch::Intervals(length) = self.watch
                            && at % STEP == STEP - 1
                        {
                            let interval = (begun.elapsed().as_nanos() / length.as_nanos().max(1)) as usize;
                            if seen.intervals.len() <= interval {
                                seen.intervals.resize(interval + 1, 0);
                            }
                            seen.intervals[interval] += STEP as u64;
                        }
                    }
                }
            }
            seen.seconds = begun.elapsed().as_secs_f64();
            Ok(seen)
        })?;
        let slowest = threads.iter().map(|thread| thread.seconds).fold(0.0, f64::max);
        let longest = threads.iter().map(|thread| thread.intervals.len()).max().unwrap_or(0);
        let intervals = (0..longest.saturating_sub(1))
            .map(|at| threads.iter().filter_map(|thread| thread.intervals.get(at)).sum())
            .collect();
        Ok(Filled {
            rate: self.order.len() as f64 / slowest,
            intervals,
            slow: threads.iter().map(|thread| thread.slow).sum(),
        })
    }

    /// Gets every so-manieth key.
    ///
    /// # Errors
    /// When one is not there as it was written.
    pub(super) fn check(&self, database: &Database) -> Result<usize> {
        let step = (self.order.len() / 1_000).max(1);
        let mut expected = vec![0; self.values.size()];
        let mut asked = 0;
        for &index in self.order.iter().step_by(step) {
            let key = self.keys.owned(index as usize);
            let found = database.db().get_pinned(&key)?;
            let expected = self.values.write(&mut expected, u64::from(index), 0);
            ensure!(
                found.as_deref() == Some(expected),
                "get of key {key:02x?} is not what was written"
            );
            asked += 1;
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Side};
    use crate::eval::keys::{Source, shuffled};
    use crate::keys::KeySource;

    #[test]
    fn fills_write_everything_whatever_is_watched() {
        let keys = Keys::load(&Source::Numbers(KeySource::Ycsb), 5_000, 1).unwrap();
        let values = Values::new(100).unwrap();
        let order = shuffled(5_000, 1, 0);
        for watch in [Watch::Total, Watch::Slow, Watch::Intervals(Duration::from_micros(200))] {
            let config = Config {
                cache_size: 8 << 20,
                ..Config::default()
            };
            let database = Database::create(&config, &Side::new("test", "")).unwrap();
            let fill = Fill {
                keys: &keys,
                values: &values,
                order: &order,
                threads: 3,
                log: watch == Watch::Slow,
                watch,
            };
            let filled = fill.run(&database).unwrap();
            assert!(filled.rate > 0.0);
            assert_eq!(filled.intervals.is_empty(), !matches!(watch, Watch::Intervals(_)));
            assert!(filled.intervals.iter().sum::<u64>() <= 5_000);
            assert_eq!(fill.check(&database).unwrap(), 1_000);
            database.db().delete(keys.owned(order[0] as usize)).unwrap();
            assert!(fill.check(&database).is_err());
        }
    }
}
