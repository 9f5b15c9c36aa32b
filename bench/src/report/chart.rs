//! A chart of ratios: a handful of rectangles, written here, because those of a plotting crate would not follow the reader's
//! light or dark setting.

use std::fmt::Write;

use super::html::escape;
use crate::stats::Interval;

const WIDTH: f64 = 900.0;
const LABELS: f64 = 190.0;
const NUMBERS: f64 = 150.0;
const ROW: f64 = 26.0;
const TOP: f64 = 24.0;

/// One ratio.
pub(crate) struct Bar {
    /// Left of the bar.
    pub(crate) label: String,
    /// Shown when the pointer rests on it.
    pub(crate) title: String,
    pub(crate) ratio: Interval,
    /// Style class: `win`, `loss` or `none`.
    pub(crate) class: &'static str,
}

/// Bars from 1 to the median ratio, so that direction shows win or loss, with a whisker for the interval. The scale is
/// logarithmic: twice as fast and half as fast are equally long.
pub(crate) fn ratio_chart(bars: &[Bar], about: &str) -> String {
    let ends = bars.iter().flat_map(|bar| [bar.ratio.low, bar.ratio.high]);
    let reach = ends
        .map(|end| end.log2().abs())
        .filter(|reach| reach.is_finite())
        .fold(0.26_f64, f64::max)
        * 1.08;
    let span = WIDTH - LABELS - NUMBERS;
    let x = |ratio: f64| LABELS + span * (ratio.log2().clamp(-reach, reach) + reach) / (2.0 * reach);
    let bottom = TOP + ROW * bars.len() as f64;

    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n",
        bottom + 24.0,
        escape(about)
    );
    for tick in ticks(reach) {
        let at = x(tick);
        let class = if tick == 1.0 { "axis" } else { "grid" };
        svg += &format!(
            "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\"/>\n",
            TOP - 4.0
        );
        svg += &format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
            bottom + 16.0
        );
    }
    for (index, bar) in bars.iter().enumerate() {
        let _ = draw(&mut svg, bar, TOP + ROW * index as f64, x);
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, bar: &Bar, top: f64, x: impl Fn(f64) -> f64) -> std::fmt::Result {
    let Bar { ratio, class, .. } = bar;
    let middle = top + ROW / 2.0;
    let (one, end) = (x(1.0), x(ratio.median));
    let (left, width) = (one.min(end), (end - one).abs());
    writeln!(svg, "<g><title>{}</title>", escape(&bar.title))?;
    writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LABELS - 10.0,
        middle + 4.5,
        escape(&bar.label)
    )?;
    writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\"/>",
        top + 5.0,
        ROW - 10.0
    )?;
    let (low, high) = (x(ratio.low), x(ratio.high));
    writeln!(svg, "<path class=\"whisker\" d=\"M{low:.1} {middle:.1}H{high:.1}\"/>")?;
    for end in [low, high] {
        writeln!(svg, "<path class=\"whisker\" d=\"M{end:.1} {:.1}v8\"/>", middle - 4.0)?;
    }
    writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\">{:.2} ({:.2} to {:.2})</text></g>",
        WIDTH - NUMBERS + 12.0,
        middle + 4.5,
        ratio.median,
        ratio.low,
        ratio.high
    )
}

/// Round ratios on both sides of 1 that fit the scale.
fn ticks(reach: f64) -> Vec<f64> {
    let candidates: &[f64] = if reach > 1.2 {
        &[0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    } else {
        &[0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0]
    };
    candidates
        .iter()
        .copied()
        .filter(|tick| tick.log2().abs() <= reach)
        .collect()
}
