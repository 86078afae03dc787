//! A drawing as SVG; text is always text.

use std::fmt::Write;

use crate::drawing::{Anchor, Drawing, Shape};

/// The whole file.
pub fn svg_of(drawing: &Drawing) -> String {
    let mut svg = String::new();
    write_svg(drawing, &mut svg).expect("a string takes everything");
    svg
}

fn write_svg(drawing: &Drawing, svg: &mut String) -> std::fmt::Result {
    let (width, height) = (drawing.width, drawing.height);
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    for shape in &drawing.shapes {
        write_shape(shape, svg)?;
    }
    writeln!(svg, "</svg>")
}

fn write_shape(shape: &Shape, svg: &mut String) -> std::fmt::Result {
    match shape {
        Shape::Circle { at: (x, y), radius, fill } => {
            writeln!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{fill}\"/>")
        }
        Shape::Line { from: (x1, y1), to: (x2, y2), stroke, width, opacity } => writeln!(
            svg,
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{stroke}\" \
             stroke-width=\"{width:.2}\" stroke-opacity=\"{opacity:.2}\"/>"
        ),
        Shape::Polyline { points, stroke, width } => {
            let list: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
            writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
                list.join(" ")
            )
        }
        Shape::Text { at: (x, y), size, anchor, fill, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{}</text>",
                escaped(text)
            )
        }
    }
}

/// Escapes text so that it cannot be parsed as markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            // XML allows no other control characters.
            other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
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
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text((1.0, 2.0), 12.0, Anchor::End, "#000000", "<script>\"a\" & 'b'\u{1}\n</text>");
        let text = svg_of(&drawing);
        assert!(
            text.contains("&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd} &lt;/text&gt;"),
            "{text}"
        );
    }
}
