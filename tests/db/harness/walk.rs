//! One iterator over each of the three voices, moved together.

use rocksdb::{DBRawIterator, ReadOptions};

use super::keys::show;
use super::{Bounds, Model, Pair, Point};

#[derive(Clone, Copy)]
pub enum Step<'a> {
    First,
    Last,
    Seek(&'a [u8]),
    SeekForPrev(&'a [u8]),
    /// Only from a valid place.
    Next,
    /// Only from a valid place.
    Prev,
}

impl Step<'_> {
    fn show(&self) -> String {
        match self {
            Step::First => "first".into(),
            Step::Last => "last".into(),
            Step::Seek(key) => format!("seek({})", show(key)),
            Step::SeekForPrev(key) => format!("seek_for_prev({})", show(key)),
            Step::Next => "next".into(),
            Step::Prev => "prev".into(),
        }
    }
}

pub struct Walk<'a> {
    learned: DBRawIterator<'a>,
    stock: DBRawIterator<'a>,
    view: Vec<(&'a [u8], &'a [u8])>,
    at: Option<usize>,
    trail: Vec<String>,
    bounds: Bounds,
}

impl<'a> Walk<'a> {
    pub fn new(pair: &'a Pair, point: Option<&Point>, model: &'a Model, bounds: Bounds) -> Self {
        Self::with(pair, point, model, bounds, |_| ())
    }

    /// A walk whose read options `change` adjusts further.
    pub fn with(
        pair: &'a Pair,
        point: Option<&Point>,
        model: &'a Model,
        bounds: Bounds,
        change: impl Fn(&mut ReadOptions),
    ) -> Self {
        let (mut learned, mut stock) = pair.read_options(point);
        for options in [&mut learned, &mut stock] {
            if let Some(lower) = &bounds.lower {
                options.set_iterate_lower_bound(lower.clone());
            }
            if let Some(upper) = &bounds.upper {
                options.set_iterate_upper_bound(upper.clone());
            }
            change(options);
        }
        Walk {
            learned: pair.learned.raw_iterator_opt(learned),
            stock: pair.stock.raw_iterator_opt(stock),
            view: model.view(point.map_or(model.now(), |point| point.time), &bounds),
            at: None,
            trail: Vec::new(),
            bounds,
        }
    }

    pub fn valid(&self) -> bool {
        self.at.is_some()
    }

    /// Moves all three, which have to arrive at the same place.
    pub fn step(&mut self, step: Step) {
        let upto = |key: &[u8]| self.view.partition_point(|entry| entry.0 < key);
        let beyond = |key: &[u8]| self.view.partition_point(|entry| entry.0 <= key);
        let at = match step {
            Step::First => 0,
            Step::Last => self.view.len().wrapping_sub(1),
            Step::Seek(key) => upto(key),
            Step::SeekForPrev(key) => beyond(key).wrapping_sub(1),
            Step::Next => self.at.unwrap() + 1,
            Step::Prev => self.at.unwrap().wrapping_sub(1),
        };
        self.at = (at < self.view.len()).then_some(at);
        for iterator in [&mut self.stock, &mut self.learned] {
            match step {
                Step::First => iterator.seek_to_first(),
                Step::Last => iterator.seek_to_last(),
                Step::Seek(key) => iterator.seek(key),
                Step::SeekForPrev(key) => iterator.seek_for_prev(key),
                Step::Next => iterator.next(),
                Step::Prev => iterator.prev(),
            }
        }
        self.trail.push(step.show());
        let expected = self.at.map(|at| self.view[at]);
        for (name, iterator) in [("stock", &self.stock), ("learned", &self.learned)] {
            if iterator.item() != expected || iterator.status().is_err() {
                let describe = |item: Option<(&[u8], &[u8])>| item.map(|(key, value)| (show(key), show(value)));
                panic!(
                    "{name} is at {:?}, status {:?}, expected {:?}\nbounds {:?}\nsteps {:?}",
                    describe(iterator.item()),
                    iterator.status(),
                    describe(expected),
                    self.bounds,
                    &self.trail[self.trail.len().saturating_sub(20)..]
                );
            }
        }
    }

    /// All of it, in both directions.
    pub fn scan(&mut self) {
        for (start, onward) in [(Step::First, Step::Next), (Step::Last, Step::Prev)] {
            self.step(start);
            while self.valid() {
                self.step(onward);
            }
        }
    }

    /// The neighbourhood of `key`: each kind of seek, followed by moves that turn around.
    pub fn probe(&mut self, key: &[u8]) {
        for (start, moves) in [
            (Step::Seek(key), [Step::Next, Step::Prev, Step::Prev]),
            (Step::Seek(key), [Step::Prev, Step::Next, Step::Next]),
            (Step::SeekForPrev(key), [Step::Prev, Step::Next, Step::Next]),
            (Step::SeekForPrev(key), [Step::Next, Step::Prev, Step::Prev]),
        ] {
            self.step(start);
            for onward in moves {
                if self.valid() {
                    self.step(onward);
                }
            }
        }
    }
}
