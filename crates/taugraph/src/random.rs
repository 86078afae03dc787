//! One seed, independent counter-based streams.
//!
//! A draw is a function of `(seed, stage, i, j, position)` and of nothing else, so results do not depend on
//! the number of threads, on the order of the work or on retries. The generator is Philox4x32-10
//! (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).

use std::f64::consts::TAU;

const MULTIPLIER_0: u32 = 0xD251_1F53;
const MULTIPLIER_1: u32 = 0xCD9E_8D57;
const WEYL_0: u32 = 0x9E37_79B9;
const WEYL_1: u32 = 0xBB67_AE85;

/// Philox4x32-10: 128 random bits for a 128-bit counter and a 64-bit key.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL_0), key[1].wrapping_add(WEYL_1)];
        }
        let product_0 = u64::from(MULTIPLIER_0) * u64::from(counter[0]);
        let product_1 = u64::from(MULTIPLIER_1) * u64::from(counter[2]);
        counter = [
            (product_1 >> 32) as u32 ^ counter[1] ^ key[0],
            product_1 as u32,
            (product_0 >> 32) as u32 ^ counter[3] ^ key[1],
            product_0 as u32,
        ];
    }
    counter
}

/// What the numbers are for. Two stages with the same seed never share a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// Synthetic points.
    Generator = 1,
    /// Which points the generators perturb, and by how much.
    Noise = 2,
    /// Starting subspace of the principal components.
    Pca = 3,
    /// Random initial weights of networks and factorizations.
    Weights = 4,
    /// Order of the mini-batches.
    Batches = 5,
    /// Pairs taken as non-edges by sparse training.
    NonEdges = 6,
    /// Realizations of the stochastic graph behind the local scales.
    Realizations = 7,
    /// Realizations behind the stability of a clustering.
    Stability = 8,
    /// Start vectors of the eigensolvers.
    Eigen = 9,
    /// Seeding of k-means.
    KMeans = 10,
    /// Labeled points drawn for the evaluation of propagation.
    Trials = 11,
    /// Order in which nodes are moved between communities.
    Communities = 12,
    /// The inverted lists of the approximate neighbor search, and the samples on which its recall is measured.
    Ivf = 13,
    /// Points that represent their component in the search for other components.
    Representatives = 14,
    /// Points shown in a report.
    Shown = 15,
    /// Which row of W the trained estimators see as the target of another.
    Targets = 16,
    /// Labeled points that are left out to calibrate probabilities.
    Calibration = 17,
    /// Which neighbors of a point are introduced to each other in the approximate search by descent.
    Descent = 18,
}

/// The stream of one stage of one run.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    key: [u32; 2],
    stage: u32,
}

impl Stream {
    /// The stream of `stage` under `seed`.
    pub fn new(seed: u64, stage: Stage) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], stage: stage as u32 }
    }

    /// The endless sequence of draws that belongs to the cell `(i, j)`.
    pub fn at(&self, i: u32, j: u32) -> Draws {
        Draws { stream: *self, i, j, block: 0, buffer: [0; 4], used: 4 }
    }
}

/// A sequence of draws; see [`Stream::at`].
#[derive(Debug, Clone)]
pub struct Draws {
    stream: Stream,
    i: u32,
    j: u32,
    block: u32,
    buffer: [u32; 4],
    used: usize,
}

impl Draws {
    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.buffer = philox([self.i, self.j, self.block, self.stream.stage], self.stream.key);
            self.block = self.block.wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.buffer[self.used - 1]
    }

    /// Uniform in [0, 1) with 32 random bits: enough for a coin with a given probability.
    pub fn coarse_uniform(&mut self) -> f64 {
        f64::from(self.bits()) / 4_294_967_296.0
    }

    /// Uniform in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        let bits = (u64::from(self.bits()) << 32) | u64::from(self.bits());
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller (only one of the two values, so that draws are independent of each other).
    pub fn normal(&mut self) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Uniform integer below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "below(0) is undefined");
        // The bias of a multiply-shift with 64 bits is below 2⁻³² for every bound that fits in 32 bits.
        let bits = (u64::from(self.bits()) << 32) | u64::from(self.bits());
        ((u128::from(bits) * bound as u128) >> 64) as usize
    }

    /// A uniformly random order of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the reference implementation (Random123, kat_vectors).
    #[test]
    fn philox_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn moments_of_uniform_and_normal() {
        let stream = Stream::new(7, Stage::Generator);
        let n = 40_000;
        let (mut mean, mut normal_mean, mut normal_square) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let mut draws = stream.at(i, 0);
            let u = draws.uniform();
            assert!((0.0..1.0).contains(&u));
            let z = draws.normal();
            mean += u;
            normal_mean += z;
            normal_square += z * z;
        }
        let n = f64::from(n);
        // Six standard errors.
        assert!((mean / n - 0.5).abs() < 6.0 * (1.0 / 12.0f64).sqrt() / n.sqrt());
        assert!((normal_mean / n).abs() < 6.0 / n.sqrt());
        assert!((normal_square / n - 1.0).abs() < 6.0 * 2f64.sqrt() / n.sqrt());
    }

    #[test]
    fn permutation_is_a_permutation_and_stages_differ() {
        let mut order = Stream::new(1, Stage::Batches).at(3, 4).permutation(100);
        let other = Stream::new(1, Stage::KMeans).at(3, 4).permutation(100);
        assert_ne!(order, other);
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(i, &v)| i as u32 == v));
    }
}
