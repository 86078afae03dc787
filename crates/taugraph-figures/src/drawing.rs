//! A drawing as a list of shapes, in the order in which they are painted, to be rendered as SVG and PNG.

/// A point of a drawing; y points down.
pub type Place = (f64, f64);

/// Where a text is placed relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Colors are `#rrggbb`.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Circle { at: Place, radius: f64, fill: String },
    Line { from: Place, to: Place, stroke: String, width: f64, opacity: f64 },
    Polyline { points: Vec<Place>, stroke: String, width: f64 },
    Text { at: Place, size: f64, anchor: Anchor, fill: String, text: String },
}

/// Shapes on a white background.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
    /// Origin of the shapes added next.
    origin: Place,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new(), origin: (0.0, 0.0) }
    }

    /// From now on shapes are placed relative to (x, y).
    pub(crate) fn move_origin(&mut self, x: f64, y: f64) {
        self.origin = (x, y);
    }

    fn placed(&self, (x, y): Place) -> Place {
        (x + self.origin.0, y + self.origin.1)
    }

    pub(crate) fn circle(&mut self, at: Place, radius: f64, fill: &str) {
        let at = self.placed(at);
        self.shapes.push(Shape::Circle { at, radius, fill: fill.into() });
    }

    pub(crate) fn line(&mut self, from: Place, to: Place, stroke: &str, width: f64, opacity: f64) {
        let (from, to) = (self.placed(from), self.placed(to));
        self.shapes.push(Shape::Line { from, to, stroke: stroke.into(), width, opacity });
    }

    pub(crate) fn polyline(&mut self, points: &[Place], stroke: &str, width: f64) {
        let points = points.iter().map(|&point| self.placed(point)).collect();
        self.shapes.push(Shape::Polyline { points, stroke: stroke.into(), width });
    }

    pub(crate) fn text(&mut self, at: Place, size: f64, anchor: Anchor, fill: &str, text: &str) {
        let at = self.placed(at);
        self.shapes.push(Shape::Text { at, size, anchor, fill: fill.into(), text: text.into() });
    }
}
