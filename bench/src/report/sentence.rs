//! What a result means, in words.

use super::Outcome;
use crate::stats::MIN_SAMPLE;

/// Which side a result speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Side b is faster: the whole interval lies above 1.
    Win,
    /// Side b is slower: the whole interval lies below 1.
    Loss,
    /// The interval contains 1.
    NoDifference,
    /// Too few pairs for an interval, whatever their ratios: two pairs of equal sides often agree by chance.
    TooFewPairs,
}

/// Reads the verdict off the interval of the ratio.
pub fn verdict(outcome: &Outcome) -> Verdict {
    if outcome.a_ops_per_sec.len() < MIN_SAMPLE {
        Verdict::TooFewPairs
    } else if outcome.ratio.low > 1.0 {
        Verdict::Win
    } else if outcome.ratio.high < 1.0 {
        Verdict::Loss
    } else {
        Verdict::NoDifference
    }
}

/// One or two plain sentences about speed and index size.
pub fn sentence(outcome: &Outcome) -> String {
    let Outcome {
        workload,
        keys,
        against,
        b_name,
        ratio,
        ..
    } = outcome;
    let interval = format!("95% interval {:.2} to {:.2}", ratio.low, ratio.high);
    let mut text = match verdict(outcome) {
        Verdict::Win => format!(
            "{workload} on {keys}: {b_name} does {:.2} times as many operations per second as {against} ({interval}): a win.",
            ratio.median
        ),
        Verdict::Loss => format!(
            "{workload} on {keys}: {b_name} does only {:.2} times as many operations per second as {against} ({interval}): \
             a loss.",
            ratio.median
        ),
        Verdict::NoDifference => format!(
            "{workload} on {keys}: no difference between {b_name} and {against} is shown; the ratio is {:.2} and its \
             {interval} contains 1.",
            ratio.median
        ),
        Verdict::TooFewPairs => format!(
            "{workload} on {keys}: {} pairs are too few for a verdict; the ratio of {b_name} to {against} is {:.2}, seen \
             between {:.2} and {:.2}.",
            outcome.a_ops_per_sec.len(),
            ratio.median,
            ratio.low,
            ratio.high
        ),
    };
    if let (Some(a), Some(b)) = (outcome.index_bytes_per_block.a, outcome.index_bytes_per_block.b)
        && (a - b).abs() >= 0.005 * a
    {
        text += &format!(" Its index takes {:.2} times the bytes per data block.", b / a);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use super::*;
    use crate::Workload;

    #[test]
    fn words_follow_the_interval() {
        let cases = [
            ((1.2, 1.1, 1.3), Verdict::Win, "a win"),
            ((0.8, 0.7, 0.9), Verdict::Loss, "a loss"),
            ((1.05, 0.99, 1.1), Verdict::NoDifference, "contains 1"),
        ];
        for (ratio, expected, words) in cases {
            let outcome = outcome(Workload::SeekRandom, ratio);
            assert_eq!(verdict(&outcome), expected);
            assert!(sentence(&outcome).contains(words));
            assert!(
                sentence(&outcome).contains("0.25 times the bytes"),
                "{}",
                sentence(&outcome)
            );
        }
    }

    #[test]
    fn few_pairs_give_no_verdict() {
        let mut outcome = outcome(Workload::SeekRandom, (1.4, 1.3, 1.5));
        outcome.a_ops_per_sec.truncate(MIN_SAMPLE - 1);
        assert_eq!(verdict(&outcome), Verdict::TooFewPairs);
        assert!(
            sentence(&outcome).contains("5 pairs are too few"),
            "{}",
            sentence(&outcome)
        );
        assert!(!sentence(&outcome).contains("95%"));
    }
}
