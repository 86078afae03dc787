//! Local scales: the distributions of first and robust scales, and the points whose scale changed most.

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::progress::Run;
use taugraph_figures::Scatter;

use super::{Figure, Panel, PanelKind};
use crate::frame::Frame;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Scales>("scales", include_str!("panel.js"));

/// Length of the list of points whose scale changed most.
const MOVED: usize = 15;
/// Bars of the histogram.
const BINS: usize = 30;

struct Scales {
    /// First and robust scale of each point.
    scales: Vec<(f64, f64)>,
}

impl Scales {
    /// Sorted by the ratio of the robust to the first scale, in either direction.
    fn moved(&self) -> Vec<usize> {
        let changes: Vec<f64> =
            self.scales.iter().map(|(first, robust)| (robust / first).ln().abs()).collect();
        let mut points: Vec<usize> = (0..changes.len()).filter(|&i| changes[i] > 0.0).collect();
        points.sort_by(|&a, &b| changes[b].total_cmp(&changes[a]).then(a.cmp(&b)));
        points.truncate(MOVED);
        points
    }

    fn range(&self) -> (f64, f64) {
        let all = self.scales.iter().flat_map(|&(first, robust)| [first, robust]);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    }

    /// Histogram: the number of scales in each of the equal parts of a range.
    fn histogram(&self, of: fn(&(f64, f64)) -> f64, (low, high): (f64, f64)) -> Vec<usize> {
        let mut bins = vec![0; BINS];
        for scale in self.scales.iter().map(of) {
            let share = (scale - low) / (high - low).max(f64::MIN_POSITIVE);
            bins[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        bins
    }
}

impl Panel for Scales {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        let (graph, sample) = (subject.graph(), &subject.sample);
        let both = graph.first_scales().zip(graph.local_scales()).filter(|_| !sample.rows.is_empty());
        let scales =
            both.map(|(first, robust)| sample.of(&first).into_iter().zip(sample.of(&robust)).collect());
        Ok(scales.map(|scales| Self { scales }))
    }

    fn json(&self) -> Value {
        let range = self.range();
        let moved = self.moved().into_iter().map(|point| {
            let (first, robust) = self.scales[point];
            json!({ "point": point, "first": first, "robust": robust })
        });
        json!({
            "range": range,
            "first": self.histogram(|scales| scales.0, range),
            "robust": self.histogram(|scales| scales.1, range),
            "moved": moved.collect::<Vec<_>>(),
        })
    }

    fn figures(&self) -> Vec<Figure> {
        let drawn = Scatter {
            title: "local scales".into(),
            x_label: "first scale".into(),
            y_label: "robust scale".into(),
            points: self.scales.clone(),
        };
        vec![Figure::new("scales", drawn)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_counted_and_compared() {
        let scales = Scales { scales: vec![(1.0, 1.0), (1.0, 4.0), (2.0, 1.0), (4.0, 4.0)] };
        assert_eq!(scales.moved(), [1, 2]);
        let bins = scales.histogram(|scales| scales.1, scales.range());
        assert_eq!((bins[0], bins[BINS - 1], bins.iter().sum()), (2, 2, 4));
        let alike = Scales { scales: vec![(1.0, 1.0); 3] };
        assert_eq!(alike.histogram(|scales| scales.0, alike.range())[0], 3);
    }
}
