//! Colors that color-blind people can tell apart (Okabe and Ito 2008; a part of viridis).

/// Text and axes.
pub const INK: &str = "#222222";
/// Edges.
pub const EDGE: &str = "#56606b";
/// Background points.
pub const ABSENT: &str = "#b8bec5";

/// Eight colors, the same lighter, and the same darker.
const CLASSES: [&str; 24] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a7f00", "#5e3c99", "#80b8d8",
    "#f2cf80", "#80ceb9", "#e6bcd3", "#eaae80", "#aadaf4", "#c4bf80", "#ae9ecc", "#003f62", "#7e5700",
    "#00573f", "#70435c", "#753400", "#2f6380", "#4c4600", "#342154",
];

/// The color of a class or cluster; they repeat after 24.
pub fn class_color(class: u32) -> &'static str {
    CLASSES[class as usize % CLASSES.len()]
}

/// From light (0) to dark (1).
pub fn probability_color(probability: f64) -> String {
    // Stops of viridis, reversed: light for unlikely, dark for likely.
    const STOPS: [[f64; 3]; 5] = [
        [214.0, 222.0, 110.0],
        [94.0, 201.0, 98.0],
        [33.0, 145.0, 140.0],
        [59.0, 82.0, 139.0],
        [68.0, 1.0, 84.0],
    ];
    let place = probability.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let (below, share) = ((place as usize).min(STOPS.len() - 2), place - place.floor());
    let share = if place as usize > below { 1.0 } else { share };
    let channel =
        |c: usize| (STOPS[below][c] + share * (STOPS[below + 1][c] - STOPS[below][c])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::probability_color;

    #[test]
    fn the_scale_runs_from_light_to_dark() {
        assert_eq!(probability_color(0.0), "#d6de6e");
        assert_eq!(probability_color(0.5), "#21918c");
        assert_eq!(probability_color(1.0), "#440154");
    }
}
