//! SVG as PNG, with a font of our own: a machine without fonts gives the same picture.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// The letters of the figures; see the licence beside it.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

/// Renders a drawing of ours.
pub fn png_of(svg: &str) -> Vec<u8> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).expect("our own drawings are valid");
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).expect("figures are larger than nothing");
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().expect("memory takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::svg::{Anchor, Svg};

    /// Text leaves dark pixels: the font is found without any on the system.
    #[test]
    fn text_is_drawn() {
        let mut svg = Svg::new(80.0, 20.0);
        svg.text(40.0, 15.0, 12.0, Anchor::Middle, "#000000", "τ = 0.3 σ");
        let png = png_of(&svg.finish());
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (160, 40));
        assert!(pixels.pixels().iter().filter(|pixel| pixel.red() < 64).count() > 100);
    }
}
