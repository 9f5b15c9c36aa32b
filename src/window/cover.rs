//! Covers first keys, or the starts of records, with as few records as possible.

use super::level::{Record, Scale};
use crate::model::Cone;

/// What the value at one number has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    number: u64,
    low: u32,
    high: u32,
}

impl Demand {
    fn met_by(&self, record: &Record) -> bool {
        (u64::from(self.low)..=u64::from(self.high)).contains(&record.value(self.number))
    }
}

/// Demands of the blocks with the projected first keys `numbers`, which do not descend. See the guarantees in
/// [`super`](mod@super): raised by the reach of 1, block a is position a + 1 of a value.
///
/// At a lone first key a line may miss by one position either way; half of that is demanded, because look-ups that end
/// beside the predicted block search two. On uniform keys, 12 to a block (test `bits_per_block_and_shares_on_every_kind`):
/// within one position 59% end in the predicted block and an index takes 5.5 bits a block; within half of one, 76% and 10.8;
/// within a quarter, 84% and 22.8. The paper reports 78%.
pub(super) fn block_demands(numbers: &[u64], scale: Scale) -> Vec<Demand> {
    let mut demands = Vec::with_capacity(numbers.len());
    let mut start = 0;
    let demand = |number, (low, high)| Demand { number, low, high };
    for run in numbers.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        let (number, next) = (run.first().copied().unwrap_or(0), numbers.get(end).copied());
        demands.push(match run.len() {
            1 => demand(number, scale.around(start + 1)),
            _ => demand(number, scale.values(start + 1, 1)),
        });
        // A prediction at the start of a long run says nothing about the numbers behind it, whose home is the run's end.
        let behind = number.checked_add(1).filter(|&behind| Some(behind) != next);
        if let Some(behind) = behind.filter(|_| run.len() > 2) {
            demands.push(demand(behind, scale.values(end, 1)));
        }
        start = end;
    }
    demands
}

/// Demands of records that start at `numbers`, which ascend.
pub(super) fn record_demands(numbers: impl Iterator<Item = u64>, scale: Scale) -> Vec<Demand> {
    let demand = |(position, number)| {
        let (low, high) = scale.values(position, 2 * usize::from(scale.reach));
        Demand { number, low, high }
    };
    numbers.enumerate().map(demand).collect()
}

/// Records that meet all `demands`: each reaches as far as any line does, or as far as rounding leaves its own within them.
pub(super) fn cover(demands: &[Demand]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut cone = Cone::default();
    let mut rest = demands;
    while !rest.is_empty() {
        let mut len = rest.len();
        loop {
            cone.clear();
            len = (rest.iter().take(len))
                .take_while(|demand| cone.add(demand.number, demand.low.into(), demand.high.into()))
                .count()
                .max(1);
            let Some(record) = cone.segment().map(Record::nearest) else {
                break;
            };
            match rest.iter().take(len).position(|demand| !demand.met_by(&record)) {
                // A flat line through one demand is exact.
                Some(missed) if len > 1 => len = missed.max(1),
                _ => {
                    records.push(record);
                    break;
                }
            }
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(numbers: &[u64]) -> Vec<Record> {
        let demands = block_demands(numbers, Scale::new(0, numbers.len()));
        assert!(
            demands.is_sorted_by(|a, b| a.number < b.number && a.low <= b.low && a.high <= b.high),
            "{demands:?}"
        );
        cover(&demands)
    }

    #[test]
    fn exact_lines_need_one_record() {
        for step in [1, 35, 1 << 30, 1 << 40] {
            assert_eq!(
                blocks(&(0..100_000).map(|i| 77 + i * step).collect::<Vec<_>>()).len(),
                1
            );
        }
        assert_eq!(blocks(&[0, 0, 0, u64::MAX, u64::MAX, u64::MAX]).len(), 2);
    }

    #[test]
    fn ln_02_runs_take_two_demands_and_two_records_at_most() {
        for run in [1, 2, 3, 10, 1000] {
            let numbers: Vec<u64> = (0..3000u64).map(|i| (i / run) * 1_000_003).collect();
            let runs = numbers.chunk_by(|a, b| a == b).count();
            assert!(blocks(&numbers).len() <= 2 * runs, "runs of {run}");
        }
        // Steeper than a record can be: 2^24 blocks with one key, then others side by side.
        let numbers: Vec<u64> = (0..(1u64 << 21)).map(|i| i.saturating_sub((1 << 21) - 3)).collect();
        let records = blocks(&numbers);
        assert!(records.len() <= 4, "{records:?}");
    }

    #[test]
    fn two_neighbouring_demands_always_fit_one_record() {
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 7
        };
        for _ in 0..2000 {
            let gap = next() >> (next() % 57);
            let first = next();
            assert_eq!(blocks(&[first, first + gap + 1]).len(), 1, "{first} {gap}");
        }
    }
}
