//! Drawing as SVG: a few shapes, and text that is always text.

use std::fmt::Write;

/// A drawing that grows by appending shapes.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Middle,
    End,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// The shapes below are moved by (x, y) until [`Svg::end`].
    pub fn begin_at(&mut self, x: f64, y: f64) {
        self.push(format_args!("<g transform=\"translate({x:.1} {y:.1})\">\n"));
    }

    pub fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, fill: &str) {
        self.push(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{fill}\"/>\n"));
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64, opacity: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(format_args!(
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\" stroke-opacity=\"{opacity:.2}\"/>\n"
        ));
    }

    pub fn polyline(&mut self, points: &[(f64, f64)], stroke: &str, width: f64) {
        let list: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>\n",
            list.join(" ")
        ));
    }

    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, fill: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{}</text>\n",
            escaped(text)
        ));
    }

    pub fn finish(self) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        self.body.write_fmt(shape).expect("a string takes everything");
    }
}

/// Text that cannot be taken for markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML knows no other control characters.
            '\t' | '\n' | '\r' => safe.push(' '),
            control if control.is_control() || control == '\u{fffe}' || control == '\u{ffff}' => {
                safe.push('\u{fffd}')
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text(1.0, 2.0, 12.0, Anchor::Middle, "black", "<script>\"a\" & 'b'\u{1}\n</text>");
        let text = svg.finish();
        assert!(
            text.contains("&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd} &lt;/text&gt;"),
            "{text}"
        );
    }
}
