//! The inner loops of conjugate gradients: passes over vectors of several right-hand sides, interleaved by node.
//!
//! Every sum adds its terms in the order of the nodes, whatever the vectors' width: the same bits as a plain loop.

use super::kernels::LANES;
use crate::vectorized::vectorized;

/// Adds Σ term(a, b) over the nodes to the sums of `BLOCKS` blocks of lanes from `lane` on; they stay in registers.
#[inline(always)]
fn add_lanes<const BLOCKS: usize>(
    n_nodes: usize,
    lane: usize,
    sums: &mut [f64],
    term: impl Fn(usize, usize) -> [f64; LANES],
) {
    let mut held = [[0.0; LANES]; BLOCKS];
    let (blocks, _) = sums[lane..lane + BLOCKS * LANES].as_chunks::<LANES>();
    (0..BLOCKS).for_each(|block| held[block] = blocks[block]);
    for node in 0..n_nodes {
        for (block, held) in held.iter_mut().enumerate() {
            let terms = term(node, lane + block * LANES);
            (0..LANES).for_each(|l| held[l] += terms[l]);
        }
    }
    sums[lane..lane + BLOCKS * LANES].copy_from_slice(held.as_flattened());
}

/// The same for all right-hand sides, as many blocks at once as there are registers for.
#[inline(always)]
fn add_all(
    n_nodes: usize,
    width: usize,
    sums: &mut [f64],
    term: impl Fn(usize, usize) -> [f64; LANES] + Copy,
) {
    let mut lane = 0;
    while lane < width {
        match (width - lane) / LANES {
            1 => add_lanes::<1>(n_nodes, lane, sums, term),
            2 => add_lanes::<2>(n_nodes, lane, sums, term),
            3 => add_lanes::<3>(n_nodes, lane, sums, term),
            _ => add_lanes::<4>(n_nodes, lane, sums, term),
        }
        lane += 4 * LANES;
    }
}

/// A block of lanes.
#[inline(always)]
fn block(values: &[f64], at: usize) -> [f64; LANES] {
    let mut block = [0.0; LANES];
    block.copy_from_slice(&values[at..at + LANES]);
    block
}

vectorized! {
    /// sums ← sums + Σ a·b of each right-hand side.
    pub(super) fn add_products<'a>(a: &'a [f64], b: &'a [f64], width: usize, sums: &'a mut [f64]) -> () {
        if width % LANES != 0 {
            for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            return;
        }
        add_all(a.len() / width, width, sums, |node, lane| {
            let (a, b) = (block(a, node * width + lane), block(b, node * width + lane));
            std::array::from_fn(|l| a[l] * b[l])
        });
    }
}

vectorized! {
    /// sums ← sums + Σ r²·inverse of each right-hand side.
    pub(super) fn add_squares<'a>(r: &'a [f64], inverse: &'a [f64], width: usize, sums: &'a mut [f64]) -> () {
        if width % LANES != 0 {
            for (r, inverse) in r.chunks_exact(width).zip(inverse) {
                sums.iter_mut().zip(r).for_each(|(sum, r)| *sum += (r * inverse) * r);
            }
            return;
        }
        add_all(inverse.len(), width, sums, |node, lane| {
            let (r, inverse) = (block(r, node * width + lane), inverse[node]);
            std::array::from_fn(|l| (r[l] * inverse) * r[l])
        });
    }
}

vectorized! {
    /// x ← x + steps·p, r ← r − steps·q.
    pub(super) fn advance_rows<'a>(x: &'a mut [f64], r: &'a mut [f64], p: &'a [f64], q: &'a [f64], steps: &'a [f64]) -> () {
        let width = steps.len();
        let nodes = x.chunks_exact_mut(width).zip(r.chunks_exact_mut(width));
        for ((x, r), (p, q)) in nodes.zip(p.chunks_exact(width).zip(q.chunks_exact(width))) {
            x.iter_mut().zip(p).zip(steps).for_each(|((x, p), step)| *x += step * p);
            r.iter_mut().zip(q).zip(steps).for_each(|((r, q), step)| *r -= step * q);
        }
    }
}

vectorized! {
    /// p ← z + turns·p.
    pub(super) fn turn_rows<'a>(p: &'a mut [f64], z: &'a [f64], turns: &'a [f64]) -> () {
        let width = turns.len();
        for (p, z) in p.chunks_exact_mut(width).zip(z.chunks_exact(width)) {
            p.iter_mut().zip(z).zip(turns).for_each(|((p, z), turn)| *p = z + turn * *p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    #[test]
    fn sums_have_the_bits_of_plain_loops() {
        let mut draws = Stream::new(3, Stage::Generator).at(0, 0);
        let n = 77;
        for width in [1, 3, 4, 8, 12, 16, 20, 36] {
            let mut random = |len: usize| -> Vec<f64> { (0..len).map(|_| draws.normal()).collect() };
            let (a, b, inverse, start) = (random(n * width), random(n * width), random(n), random(width));
            let (mut products, mut squares) = (start.clone(), start.clone());
            for (node, inverse) in inverse.iter().enumerate() {
                for lane in 0..width {
                    let at = node * width + lane;
                    products[lane] += a[at] * b[at];
                    squares[lane] += (a[at] * inverse) * a[at];
                }
            }
            let mut found = start.clone();
            add_products(&a, &b, width, &mut found);
            assert_eq!(found, products);
            let mut found = start;
            add_squares(&a, &inverse, width, &mut found);
            assert_eq!(found, squares);
        }
    }
}
