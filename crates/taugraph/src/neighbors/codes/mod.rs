//! Points rounded to bytes, and the kernel that compares eight of them with sixteen others at once.
//!
//! A row is divided by its largest absolute value and rounded to −127 … 127. Scalar products of such rows are integers, computed without rounding:
//! every machine gets the same, by whichever instructions. Only distances between rows have the errors of the rounding to bytes; they tell
//! which pairs are worth a look.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vnni;

use rayon::prelude::*;

use super::f32_points::F32Points;
use super::panels::LANES;

/// Queries compared with a panel together.
pub(super) const QUERIES: usize = 8;
/// Bytes of a group: columns whose products one instruction adds up.
const GROUP: usize = 4;

/// Sixteen groups in one line of the cache. Vectors that straddle two are loaded half as fast.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u32; LANES]);

/// Points rounded to bytes.
pub(super) struct Codes {
    /// Groups of four signed bytes, row by row. Each row begins a line; what is behind its last column is 0.
    lines: Vec<Line>,
    /// Lines of a row.
    height: usize,
    /// Groups of a row.
    width: usize,
    squared_norms: Vec<f32>,
    /// What 1 in a code stands for.
    steps: Vec<f32>,
    /// Sum of the codes of a row.
    sums: Vec<i32>,
}

impl Codes {
    /// The points in this order.
    pub fn new(points: &F32Points<'_>, order: &[u32]) -> Self {
        let width = points.n_columns().div_ceil(GROUP);
        let height = width.div_ceil(LANES);
        let mut lines = vec![Line([0; LANES]); order.len() * height];
        let (mut steps, mut sums) = (vec![0.0; order.len()], vec![0; order.len()]);
        let rows = lines.par_chunks_exact_mut(height).zip(&mut steps).zip(&mut sums).zip(order);
        rows.with_min_len(64).for_each_init(Vec::new, |row, (((lines, step), sum), &id)| {
            row.clear();
            points.append_row(id as usize, row);
            let largest = row.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
            if largest == 0.0 {
                return;
            }
            *step = largest / 127.0;
            let groups = lines.iter_mut().flat_map(|line| &mut line.0);
            for (group, values) in groups.zip(row.chunks(GROUP)) {
                let mut bytes = [0u8; GROUP];
                for (byte, value) in bytes.iter_mut().zip(values) {
                    let code = (value * (127.0 / largest)).round() as i8;
                    *sum += i32::from(code);
                    *byte = code as u8;
                }
                *group = u32::from_le_bytes(bytes);
            }
        });
        let squared_norms = order.iter().map(|&id| points.squared_norm(id as usize)).collect();
        Self { lines, height, width, squared_norms, steps, sums }
    }

    /// Bytes that the codes of `n` points take.
    pub fn bytes(n: u64, n_columns: u64) -> u64 {
        n * (n_columns.next_multiple_of(size_of::<Line>() as u64) + 12)
    }

    fn row(&self, place: u32) -> &[Line] {
        &self.lines[place as usize * self.height..][..self.height]
    }
}

/// Exists only after the processor was found to have the instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Present(());

/// The instructions that compare codes; all give the same sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Instructions {
    /// Four products of bytes for each of sixteen sums in one instruction.
    #[cfg(target_arch = "x86_64")]
    Vnni(Present),
    /// Two products of bytes for each of sixteen sums in one instruction, which another adds up.
    #[cfg(target_arch = "x86_64")]
    Avx2(Present),
    /// In single precision, which is exact for so small numbers.
    Any,
}

impl Instructions {
    /// Those that this machine has, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let for_bytes = {
            let has_vnni = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vnni");
            let has_avx2 = is_x86_feature_detected!("avx2");
            [has_vnni.then_some(Self::Vnni(Present(()))), has_avx2.then_some(Self::Avx2(Present(())))]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let for_bytes: [Option<Self>; 0] = [];
        for_bytes.into_iter().flatten().chain([Self::Any])
    }

    /// The fastest that this machine has.
    pub fn fastest() -> Self {
        Self::available().next().expect("any machine has some")
    }
}

/// Some rows packed for comparison with others; can be filled again.
pub(super) struct CodePanels {
    instructions: Instructions,
    /// Groups of a row, and of a row in whole lines.
    width: usize,
    padded_width: usize,
    /// For each panel and group, the four bytes of sixteen members.
    groups: Vec<Line>,
    /// The same for each column, if there is no instruction for bytes.
    columns: Vec<[f32; LANES]>,
    members: Vec<Members>,
}

/// What is known of the members of a panel.
struct Members {
    /// Infinite for absent ones, whose squared distance is therefore above every bound.
    squared_norms: [f32; LANES],
    steps: [f32; LANES],
    /// Only instructions for unsigned bytes need them.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    sums: [i32; LANES],
    reach: [f32; LANES],
}

/// Pairs of up to eight queries with sixteen members.
pub(super) struct Pairs {
    /// Squared distances.
    pub squares: [[f32; LANES]; QUERIES],
    /// A bit for each member that is within the reach of the query, or has the query within its own.
    pub near: [u32; QUERIES],
}

impl CodePanels {
    pub fn new(instructions: Instructions) -> Self {
        let (groups, columns, members) = (Vec::new(), Vec::new(), Vec::new());
        Self { instructions, width: 0, padded_width: 0, groups, columns, members }
    }

    /// Bytes that `n` points take.
    pub fn bytes(n: u64, n_columns: u64) -> u64 {
        let columns = match Instructions::fastest() {
            Instructions::Any => n_columns.next_multiple_of(GROUP as u64) * 4,
            #[cfg(target_arch = "x86_64")]
            Instructions::Vnni(_) | Instructions::Avx2(_) => 0,
        };
        n * (n_columns.next_multiple_of(size_of::<Line>() as u64) + columns + 16)
    }

    /// Replaces the rows by those of these places. Squared distances below its reach are of interest to a member.
    pub fn pack(&mut self, codes: &Codes, places: &[u32], reach: impl Fn(u32) -> f32) {
        self.width = codes.width;
        self.padded_width = codes.height * LANES;
        self.members.clear();
        self.groups.resize(places.len().div_ceil(LANES) * self.padded_width, Line([0; LANES]));
        for (places, groups) in places.chunks(LANES).zip(self.groups.chunks_exact_mut(self.padded_width)) {
            let mut members = Members {
                squared_norms: [f32::INFINITY; LANES],
                steps: [0.0; LANES],
                sums: [0; LANES],
                reach: [f32::NEG_INFINITY; LANES],
            };
            for (lane, &place) in places.iter().enumerate() {
                let at = place as usize;
                members.squared_norms[lane] = codes.squared_norms[at];
                members.steps[lane] = codes.steps[at];
                members.sums[lane] = codes.sums[at];
                members.reach[lane] = reach(place);
            }
            self.members.push(members);
            // Absent members repeat the last one, so that all sixteen are always there.
            let rows = std::array::from_fn(|lane| codes.row(places[lane.min(places.len() - 1)]));
            match self.instructions {
                // SAFETY: `Present` exists only after the processor was found to have these instructions.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                Instructions::Vnni(_) => unsafe { vnni::transpose(&rows, groups) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                Instructions::Avx2(_) => unsafe { avx2::transpose(&rows, groups) },
                Instructions::Any => portable::transpose(&rows, groups),
            }
        }
        if self.instructions == Instructions::Any {
            let panels = self.groups.chunks_exact(self.padded_width);
            self.columns.clear();
            self.columns
                .extend(panels.flat_map(|groups| groups[..self.width].iter().flat_map(portable::columns_of)));
        }
    }

    /// What compares them.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Number of panels.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The reach of a member.
    pub fn reach(&mut self, member: usize) -> &mut f32 {
        &mut self.members[member / LANES].reach[member % LANES]
    }

    /// Compares eight members of other panels, or of these, with a panel.
    #[inline]
    pub fn compare(&self, panel: usize, queries: &CodePanels, eight: usize) -> Pairs {
        let (of_queries, first) = (eight * QUERIES / LANES, eight * QUERIES % LANES);
        let (members, scales) = (&self.members[panel], &queries.members[of_queries]);
        let (groups, rows) = (self.groups_of(panel), queries.groups_of(of_queries));
        match self.instructions {
            // SAFETY: `Present` exists only after the processor was found to have these instructions.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Instructions::Vnni(_) => unsafe { vnni::compare((groups, members), (rows, scales), first) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Instructions::Avx2(_) => unsafe { avx2::compare((groups, members), (rows, scales), first) },
            Instructions::Any => {
                let n_columns = self.width * GROUP;
                let columns = &self.columns[panel * n_columns..][..n_columns];
                let rows = &queries.columns[of_queries * n_columns..][..n_columns];
                portable::compare((columns, members), (rows, scales), first)
            }
        }
    }

    fn groups_of(&self, panel: usize) -> &[Line] {
        &self.groups[panel * self.padded_width..][..self.width]
    }
}

/// Squared distances from the scalar products of codes with eight queries from this one on.
#[inline(always)]
fn pairs(products: &[[i32; LANES]; QUERIES], members: &Members, scales: &Members, first: usize) -> Pairs {
    let mut pairs = Pairs { squares: [[0.0; LANES]; QUERIES], near: [0; QUERIES] };
    for (query, products) in products.iter().enumerate() {
        for (lane, &product) in products.iter().enumerate() {
            let product = scales.steps[first + query] * members.steps[lane] * product as f32;
            let square =
                scales.squared_norms[first + query] + members.squared_norms[lane] - (product + product);
            pairs.squares[query][lane] = square;
            let reach = scales.reach[first + query].max(members.reach[lane]);
            pairs.near[query] |= u32::from(square < reach) << lane;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::random::{Stage, Stream};

    /// Rows of which one is 0 and one is far larger than the others.
    fn points(n: usize, d: usize) -> Points {
        let mut draws = Stream::new(1, Stage::Generator).at(0, 0);
        let values = (0..n * d).map(|place| match place / d {
            3 => 0.0,
            5 => 1e4 * draws.normal(),
            _ => draws.normal(),
        });
        Points::new(values.collect(), d).unwrap()
    }

    /// All pairs of forty points by some instructions: squared distances, and whether they are within reach.
    fn all_pairs(codes: &Codes, instructions: Instructions) -> (Vec<Vec<f32>>, Vec<Vec<bool>>) {
        let (mut panels, mut queries) = (CodePanels::new(instructions), CodePanels::new(instructions));
        let places: Vec<u32> = (0..40).collect();
        panels.pack(codes, &places, |place| 0.01 * place as f32);
        queries.pack(codes, &places, |place| 0.3 - 0.005 * place as f32);
        let (mut squares, mut near) = (vec![vec![]; 40], vec![vec![]; 40]);
        for first in (0..40).step_by(QUERIES) {
            for panel in 0..panels.len() {
                let found = panels.compare(panel, &queries, first / QUERIES);
                for query in 0..QUERIES {
                    squares[first + query].extend(found.squares[query]);
                    near[first + query].extend((0..LANES).map(|lane| found.near[query] >> lane & 1 == 1));
                }
            }
        }
        (squares, near)
    }

    #[test]
    fn distances_are_those_of_the_codes_by_every_instruction() {
        for d in [7, 64, 130, 2100] {
            let points = points(40, d);
            let order: Vec<u32> = (0..40).rev().collect();
            let codes = Codes::new(&F32Points::new(&points), &order);
            let code = |place: usize, column: usize| {
                let (group, byte) = (column / GROUP, column % GROUP);
                i32::from(codes.row(place as u32)[group / LANES].0[group % LANES].to_le_bytes()[byte] as i8)
            };
            let (squares, near) = all_pairs(&codes, Instructions::Any);
            for instructions in Instructions::available() {
                let (squares_too, near_too) = all_pairs(&codes, instructions);
                assert_eq!((&squares, &near), (&squares_too, &near_too), "{instructions:?}");
            }
            for a in 0..40 {
                assert!(squares[a][40..].iter().all(|&square| square == f32::INFINITY));
                assert!(near[a][40..].iter().all(|near| !near));
                for b in 0..40 {
                    let product: i32 = (0..d).map(|c| code(a, c) * code(b, c)).sum();
                    let product = codes.steps[a] * codes.steps[b] * product as f32;
                    let square = codes.squared_norms[a] + codes.squared_norms[b] - (product + product);
                    assert_eq!(squares[a][b], square, "{d} columns, {a} and {b}");
                    assert_eq!(near[a][b], square < (0.3 - 0.005 * a as f32).max(0.01 * b as f32));
                }
            }
        }
    }

    #[test]
    fn distances_are_near_the_true_ones() {
        let points = points(40, 96);
        let f32_points = F32Points::new(&points);
        let order: Vec<u32> = (0..40).collect();
        let codes = Codes::new(&f32_points, &order);
        let (squares, _) = all_pairs(&codes, Instructions::fastest());
        for (a, squares) in squares.iter().enumerate() {
            for (b, &square) in squares[..40].iter().enumerate() {
                let columns = f32_points.row(a).zip(f32_points.row(b));
                let truth: f64 = columns.map(|(a, b)| f64::from(a - b).powi(2)).sum();
                let norms = f64::from(codes.squared_norms[a] + codes.squared_norms[b]);
                let error = (f64::from(square) - truth).abs();
                assert!(error < 0.02 * norms, "{a} and {b}: {square} instead of {truth}");
            }
        }
    }
}
