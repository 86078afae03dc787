//! Points of the plane in nested squares: distant groups count as one point (Barnes and Hut 1986).

/// A square counts as one point if its side is below this fraction of its distance. Below 1/√2, that never happens to the square
/// that contains the point itself.
const FAR: f64 = 0.7;
/// Points that are still together at this depth count as coincident.
const DEEPEST: u32 = 40;

/// A square.
struct Square {
    side: f64,
    center: [f64; 2],
    n_points: f64,
    /// The next square that is not inside this one.
    after: u32,
}

/// All squares, each before those inside it.
pub(super) struct Quadtree {
    squares: Vec<Square>,
}

impl Quadtree {
    /// Builds the tree of points given as x, y, x, y, …
    pub fn new(y: &[f64]) -> Self {
        let mut points: Vec<[f64; 2]> = y.as_chunks::<2>().0.to_vec();
        let range = |axis: usize| {
            let values = points.iter().map(|point| point[axis]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (x, y) = (range(0), range(1));
        let side = (x.1 - x.0).max(y.1 - y.0).max(f64::MIN_POSITIVE);
        let mut tree = Self { squares: Vec::with_capacity(2 * points.len()) };
        tree.add(&mut points, [x.0, y.0], side, 0);
        tree
    }

    fn add(&mut self, points: &mut [[f64; 2]], corner: [f64; 2], side: f64, depth: u32) {
        let place = self.squares.len();
        let n_points = points.len() as f64;
        let mean = |axis: usize| points.iter().map(|point| point[axis]).sum::<f64>() / n_points;
        self.squares.push(Square { side, center: [mean(0), mean(1)], n_points, after: 0 });
        if points.len() > 1 && depth < DEEPEST {
            let half = 0.5 * side;
            let middle = [corner[0] + half, corner[1] + half];
            let (left, right) = split(points, |point| point[0] < middle[0]);
            for (part, x) in [(left, corner[0]), (right, middle[0])] {
                let (below, above) = split(part, |point| point[1] < middle[1]);
                for (part, y) in [(below, corner[1]), (above, middle[1])] {
                    if !part.is_empty() {
                        self.add(part, [x, y], half, depth + 1);
                    }
                }
            }
        } else {
            // A traversal that reaches this square descends into it.
            self.squares[place].side = 0.0;
        }
        self.squares[place].after = self.squares.len() as u32;
    }

    /// The repulsive force of the other points on one of them: Σ c²·(at − other) and Σ c, where c = 1/(1 + distance²).
    pub fn repulsion(&self, at: [f64; 2]) -> ([f64; 2], f64) {
        // The point itself is among the others, at distance 0.
        let (mut force, mut sum) = ([0.0; 2], -1.0);
        let mut place = 0;
        while let Some(square) = self.squares.get(place) {
            let away = [at[0] - square.center[0], at[1] - square.center[1]];
            let squared = away[0] * away[0] + away[1] * away[1];
            if square.side * square.side < FAR * FAR * squared || square.side == 0.0 {
                let close = 1.0 / (1.0 + squared);
                sum += square.n_points * close;
                let strength = square.n_points * close * close;
                force[0] += strength * away[0];
                force[1] += strength * away[1];
                place = square.after as usize;
            } else {
                place += 1;
            }
        }
        (force, sum)
    }
}

/// Moves the points that satisfy a condition to the front; the order is the same for the same points.
fn split<T: Copy>(items: &mut [T], holds: impl Fn(&T) -> bool) -> (&mut [T], &mut [T]) {
    let mut n_first = 0;
    for place in 0..items.len() {
        if holds(&items[place]) {
            items.swap(n_first, place);
            n_first += 1;
        }
    }
    items.split_at_mut(n_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    fn naive(points: &[[f64; 2]], i: usize) -> ([f64; 2], f64) {
        let (mut force, mut sum) = ([0.0; 2], 0.0);
        for (_, other) in points.iter().enumerate().filter(|(j, _)| *j != i) {
            let away = [points[i][0] - other[0], points[i][1] - other[1]];
            let close = 1.0 / (1.0 + away[0] * away[0] + away[1] * away[1]);
            sum += close;
            force[0] += close * close * away[0];
            force[1] += close * close * away[1];
        }
        (force, sum)
    }

    #[test]
    fn repulsions_are_close_to_the_exact_ones() {
        let mut draws = Stream::new(2, Stage::Generator).at(0, 0);
        let y: Vec<f64> = (0..2000).map(|_| 20.0 * draws.normal()).collect();
        let points = y.as_chunks::<2>().0;
        let tree = Quadtree::new(&y);
        let (mut error, mut length) = (0.0, 0.0);
        for (i, &point) in points.iter().enumerate() {
            let ((found, sum), (exact, exact_sum)) = (tree.repulsion(point), naive(points, i));
            assert!((sum / exact_sum - 1.0).abs() < 0.1, "{sum} {exact_sum}");
            error += (found[0] - exact[0]).powi(2) + (found[1] - exact[1]).powi(2);
            length += exact[0].powi(2) + exact[1].powi(2);
        }
        assert!(error < 1e-2 * length, "{error} of {length}");
    }

    #[test]
    fn points_at_one_place() {
        let y = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 5.0];
        let points = y.as_chunks::<2>().0;
        let tree = Quadtree::new(&y);
        for (i, &point) in points.iter().enumerate() {
            let ((found, sum), (exact, exact_sum)) = (tree.repulsion(point), naive(points, i));
            assert!((sum - exact_sum).abs() < 1e-12 && (found[0] - exact[0]).abs() < 1e-12);
        }
        assert_eq!(Quadtree::new(&[3.0, 3.0]).repulsion([3.0, 3.0]), ([0.0, 0.0], 0.0));
    }
}
