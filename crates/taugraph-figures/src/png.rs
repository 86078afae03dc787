//! A drawing as PNG, with a built-in font: a machine without fonts gives the same picture.

use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::{Face, OutlineBuilder};

use crate::drawing::{Anchor, Drawing, Place, Shape};

/// The font of the figures; see the license next to it.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// Pixels for each unit of the drawing.
const SCALE: f64 = 2.0;

/// The whole file.
pub fn png_of(drawing: &Drawing) -> Vec<u8> {
    let size = |length: f64| (length * SCALE).ceil() as u32;
    let mut pixels =
        Pixmap::new(size(drawing.width), size(drawing.height)).expect("figures are larger than nothing");
    pixels.fill(Color::WHITE);
    let face = Face::parse(FONT, 0).expect("the font is part of the program");
    for shape in &drawing.shapes {
        draw(shape, &face, &mut pixels);
    }
    pixels.encode_png().expect("memory takes everything")
}

fn draw(shape: &Shape, face: &Face<'_>, pixels: &mut Pixmap) {
    match shape {
        Shape::Circle { at, radius, fill } => {
            let (x, y) = scaled(*at);
            fill_path(PathBuilder::from_circle(x, y, (radius * SCALE) as f32), &paint(fill, 1.0), pixels);
        }
        Shape::Line { from, to, stroke, width, opacity } => {
            stroke_path(&[*from, *to], *width, &paint(stroke, *opacity), pixels);
        }
        Shape::Polyline { points, stroke, width } => stroke_path(points, *width, &paint(stroke, 1.0), pixels),
        Shape::Text { at, size, anchor, fill, text } => {
            fill_path(outline(face, *at, *size, *anchor, text), &paint(fill, 1.0), pixels);
        }
    }
}

fn scaled((x, y): Place) -> (f32, f32) {
    ((x * SCALE) as f32, (y * SCALE) as f32)
}

/// A color written as `#rrggbb`.
fn paint(color: &str, opacity: f64) -> Paint<'static> {
    let channel = |at: usize| u8::from_str_radix(&color[at..at + 2], 16).expect("colors are #rrggbb");
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(channel(1), channel(3), channel(5), (255.0 * opacity).round() as u8);
    paint
}

/// Shapes without extent are not drawn.
fn fill_path(path: Option<Path>, paint: &Paint<'_>, pixels: &mut Pixmap) {
    if let Some(path) = path {
        pixels.fill_path(&path, paint, FillRule::Winding, Transform::identity(), None);
    }
}

fn stroke_path(points: &[Place], width: f64, paint: &Paint<'_>, pixels: &mut Pixmap) {
    let mut builder = PathBuilder::new();
    for (index, &point) in points.iter().enumerate() {
        let (x, y) = scaled(point);
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    let stroke = Stroke {
        width: (width * SCALE) as f32,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        ..Stroke::default()
    };
    if let Some(path) = builder.finish() {
        pixels.stroke_path(&path, paint, &stroke, Transform::identity(), None);
    }
}

/// The outlines of a line of text, one letter after the other.
fn outline(face: &Face<'_>, at: Place, size: f64, anchor: Anchor, text: &str) -> Option<Path> {
    let unit = size / f64::from(face.units_per_em());
    let glyphs: Vec<_> = text.chars().map(|letter| face.glyph_index(letter).unwrap_or_default()).collect();
    let advance = |glyph| unit * f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    let length: f64 = glyphs.iter().map(|&glyph| advance(glyph)).sum();
    let mut x = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - 0.5 * length,
        Anchor::End => at.0 - length,
    };
    let mut letters = Letters { path: PathBuilder::new(), unit, origin: (x, at.1) };
    for glyph in glyphs {
        letters.origin.0 = x;
        face.outline_glyph(glyph, &mut letters);
        x += advance(glyph);
    }
    letters.path.finish()
}

/// Converts the font's coordinates, with y pointing up, to pixels.
struct Letters {
    path: PathBuilder,
    unit: f64,
    origin: Place,
}

impl Letters {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        scaled((self.origin.0 + self.unit * f64::from(x), self.origin.1 - self.unit * f64::from(y)))
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(png: &[u8], columns: std::ops::Range<u32>) -> usize {
        let pixels = Pixmap::decode_png(png).unwrap();
        let rows = 0..pixels.height();
        let all = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        all.filter(|&(x, y)| pixels.pixel(x, y).unwrap().red() < 64).count()
    }

    /// Text leaves dark pixels around its middle, or before its end: no font of the system is needed.
    #[test]
    fn text_is_drawn_where_it_belongs() {
        for (anchor, inside, outside) in [(Anchor::Middle, 60..100, 0..40), (Anchor::End, 20..80, 82..160)] {
            let mut drawing = Drawing::new(80.0, 20.0);
            drawing.text((40.0, 15.0), 12.0, anchor, "#000000", "τ = 0");
            let png = png_of(&drawing);
            assert!(dark_pixels(&png, inside) > 50, "{anchor:?}");
            assert_eq!(dark_pixels(&png, outside), 0, "{anchor:?}");
        }
    }

    #[test]
    fn shapes_have_their_colors() {
        let mut drawing = Drawing::new(20.0, 10.0);
        drawing.circle((5.0, 5.0), 4.0, "#0072b2");
        drawing.line((10.0, 5.0), (20.0, 5.0), "#d55e00", 6.0, 1.0);
        let pixels = Pixmap::decode_png(&png_of(&drawing)).unwrap();
        let at = |x, y| pixels.pixel(x, y).map(|p| (p.red(), p.green(), p.blue())).unwrap();
        assert_eq!((at(10, 10), at(30, 10), at(1, 1)), ((0, 0x72, 0xb2), (0xd5, 0x5e, 0), (255, 255, 255)));
    }
}
