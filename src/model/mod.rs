//! Piecewise-linear models of sorted numbers, in integer arithmetic only.
//!
//! [`Cone`] covers a sequence of ranges with as few lines as possible (the PGM-index construction: O'Rourke 1981, Ferragina
//! and Vinciguerra 2020, section 2.1). [`fit_slope`] answers the dual question: for one group of intervals, the slope that
//! leaves the smallest corrections.

mod interval;
mod segment;

pub use interval::{Interval, fit_slope};
pub use segment::{Cone, Segment, segments};
