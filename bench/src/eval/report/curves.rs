//! Charts of curves.

use plotters::prelude::*;

use crate::eval::record::{Curve, Record};
use crate::report::html::escape;

const SIZE: (u32, u32) = (900, 380);

/// A chart for each name under which the records have curves.
pub(super) fn charts(records: &[&Record]) -> String {
    let mut charts: Vec<(&str, Vec<&Curve>)> = Vec::new();
    for curve in records.iter().flat_map(|record| &record.measured.curves) {
        match charts.iter_mut().find(|(name, _)| *name == curve.chart) {
            Some((_, curves)) => curves.push(curve),
            None => charts.push((&curve.chart, vec![curve])),
        }
    }
    let mut text = String::new();
    for (name, curves) in charts {
        let mut svg = String::new();
        text += &format!("<h3>{}</h3>\n", escape(name));
        match draw(&mut svg, &curves) {
            Ok(()) => text += &format!("<div class=\"plot\">{}{svg}</div>\n", legend(&curves)),
            Err(error) => text += &format!("<p class=\"error\">No chart: {}</p>\n", escape(&error)),
        }
    }
    text
}

/// Beside the drawing, not in it: without a font library nobody knows how wide the names get.
fn legend(curves: &[&Curve]) -> String {
    let mut text = String::from("<p class=\"legend\">");
    for (at, curve) in curves.iter().enumerate() {
        let RGBColor(red, green, blue) = color(at);
        text += &format!(
            "<span style=\"border-color: rgb({red}, {green}, {blue})\">{}</span> ",
            escape(&curve.name)
        );
    }
    text + "</p>"
}

fn color(at: usize) -> RGBColor {
    let (red, green, blue) = Palette99::pick(at).rgb();
    RGBColor(red, green, blue)
}

fn draw(svg: &mut String, curves: &[&Curve]) -> Result<(), String> {
    let points = || {
        curves
            .iter()
            .flat_map(|curve| &curve.points)
            .filter(|(x, y)| x.is_finite() && y.is_finite())
    };
    let (mut right, mut top) = (0.0f64, 0.0f64);
    for &(x, y) in points() {
        right = right.max(x);
        top = top.max(y);
    }
    if right <= 0.0 || top <= 0.0 {
        return Err("there are no points".to_owned());
    }
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..right, 0.0..top * 1.08)
        .map_err(|error| error.to_string())?;
    let (x, y) = curves
        .first()
        .map_or(("", ""), |curve| (curve.x.as_str(), curve.y.as_str()));
    chart
        .configure_mesh()
        .x_desc(x)
        .y_desc(y)
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(|error| error.to_string())?;
    for (at, curve) in curves.iter().enumerate() {
        let color = color(at);
        let points = curve
            .points
            .iter()
            .copied()
            .filter(|(x, y)| x.is_finite() && y.is_finite());
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))
            .map_err(|error| error.to_string())?;
    }
    area.present().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve {
            chart: "c".to_owned(),
            x: "seconds".to_owned(),
            y: "op/s".to_owned(),
            name: "stock".to_owned(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn a_chart_has_axes_legend_and_line() {
        let mut svg = String::new();
        draw(&mut svg, &[&curve(&[(0.0, 1.0), (1.0, 2.0)])]).unwrap();
        for part in ["<svg", "polyline", "seconds", "op/s", "</svg>"] {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn the_legend_names_every_curve() {
        let (one, two) = (curve(&[]), curve(&[]));
        assert_eq!(legend(&[&one, &two]).matches("stock").count(), 2);
    }

    #[test]
    fn nothing_to_draw_is_said() {
        assert!(draw(&mut String::new(), &[&curve(&[])]).is_err());
        assert!(draw(&mut String::new(), &[&curve(&[(f64::NAN, 1.0)])]).is_err());
    }
}
