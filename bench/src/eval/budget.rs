//! How long an experiment may take.

use std::time::{Duration, Instant};

/// Fewest rounds of whole fills, however long they take: below that a median is no more than a guess.
pub(super) const FEW: usize = 3;

/// The time of one experiment.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begun: Instant,
    time: Duration,
    most: usize,
    pressed: bool,
}

impl Budget {
    /// A budget that starts now, for at most `most` rounds.
    pub fn new(time: Duration, most: usize) -> Self {
        Budget {
            begun: Instant::now(),
            time,
            most,
            pressed: false,
        }
    }

    /// The same for an experiment that has lost much of its time to earlier ones: it runs the fewest rounds, even if they are too few
    /// for a verdict.
    pub fn pressed(self, pressed: bool) -> Self {
        Budget { pressed, ..self }
    }

    /// The part of the time that is left, `share` of it, as a budget that starts now.
    pub fn part(&self, share: f64) -> Budget {
        Budget::new(self.left().mul_f64(share.clamp(0.0, 1.0)), self.most).pressed(self.pressed)
    }

    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }

    /// Numbers of the rounds to run: as many as fit, and no fewer than `fewest`.
    pub fn rounds(self, fewest: usize) -> Rounds {
        Rounds {
            budget: self,
            fewest: if self.pressed { fewest.min(FEW) } else { fewest },
            begun: Instant::now(),
            done: 0,
        }
    }
}

/// Iterates over rounds until the time is used up.
#[derive(Debug)]
pub struct Rounds {
    budget: Budget,
    fewest: usize,
    begun: Instant,
    done: usize,
}

impl Iterator for Rounds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mean = self.begun.elapsed() / self.done.max(1) as u32;
        let fits = self.done == 0 || self.budget.left() > mean;
        if self.done >= self.budget.most.max(self.fewest) || (self.done >= self.fewest && !fits) {
            return None;
        }
        self.done += 1;
        Some(self.done as u64 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_gives_the_fewest_rounds_and_much_time_the_most() {
        assert_eq!(Budget::new(Duration::ZERO, 10).rounds(FEW).count(), FEW);
        assert_eq!(Budget::new(Duration::from_secs(100), 10).rounds(FEW).count(), 10);
    }

    #[test]
    fn a_pressed_experiment_runs_the_fewest_rounds() {
        let none = Budget::new(Duration::ZERO, 10);
        assert_eq!(none.rounds(6).count(), 6);
        assert_eq!(none.pressed(true).part(1.0).rounds(6).count(), FEW);
    }

    #[test]
    fn rounds_stop_when_the_next_one_would_not_fit() {
        let budget = Budget::new(Duration::from_millis(100), 1_000);
        let begun = Instant::now();
        let rounds = budget
            .rounds(FEW)
            .inspect(|_| std::thread::sleep(Duration::from_millis(10)))
            .count();
        assert!((FEW..=10).contains(&rounds), "{rounds}");
        assert!(begun.elapsed() < Duration::from_millis(500));
    }
}
