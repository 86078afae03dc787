//! Elementwise non-linearities of the networks, and their derivatives.

use rayon::prelude::*;

use crate::parameter::choices;
use crate::vectorized::{exponential, logarithm_1p, vectorized};

/// Values handed to a thread at once.
const CHUNK: usize = 8192;

choices! {
    /// Elementwise non-linearity φ.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Activation = "sigmoid" {
        /// 1/(1 + e^−z), the paper's.
        "sigmoid" => Sigmoid,
        /// tanh z.
        "tanh" => Tanh,
        /// max(0, z); its derivative at 0 is taken as 0.
        "relu" => Relu,
        /// z.
        "identity" => Identity,
        /// ln(1 + e^z), also the decrements of joint models.
        "softplus" => Softplus,
    }
}

impl Activation {
    /// φ(z).
    #[inline(always)]
    pub fn value(self, z: f64) -> f64 {
        match self {
            Activation::Sigmoid => 1.0 / (1.0 + exponential(-z)),
            Activation::Tanh => 1.0 - 2.0 / (1.0 + exponential(2.0 * z)),
            Activation::Relu => z.max(0.0),
            Activation::Identity => z,
            // Without overflow for large z.
            Activation::Softplus => z.max(0.0) + logarithm_1p(exponential(-z.abs())),
        }
    }

    /// φ′(z), written in terms of a = φ(z).
    #[inline(always)]
    pub fn derivative_from_value(self, a: f64) -> f64 {
        match self {
            Activation::Sigmoid => a * (1.0 - a),
            Activation::Tanh => 1.0 - a * a,
            Activation::Relu => f64::from(u8::from(a > 0.0)),
            Activation::Identity => 1.0,
            Activation::Softplus => 1.0 - exponential(-a),
        }
    }

    pub(super) fn apply(self, values: &mut [f64]) {
        // One loop for each kind, so that each is compiled for its own function.
        let function: fn(&mut [f64]) = match self {
            Activation::Identity => return,
            Activation::Sigmoid => apply_sigmoid,
            Activation::Tanh => apply_tanh,
            Activation::Relu => apply_relu,
            Activation::Softplus => apply_softplus,
        };
        values.par_chunks_mut(CHUNK).for_each(function);
    }
}

vectorized! {
    fn apply_sigmoid<'a>(values: &'a mut [f64]) -> () {
        values.iter_mut().for_each(|z| *z = Activation::Sigmoid.value(*z));
    }
}

vectorized! {
    fn apply_tanh<'a>(values: &'a mut [f64]) -> () {
        values.iter_mut().for_each(|z| *z = Activation::Tanh.value(*z));
    }
}

vectorized! {
    fn apply_relu<'a>(values: &'a mut [f64]) -> () {
        values.iter_mut().for_each(|z| *z = Activation::Relu.value(*z));
    }
}

vectorized! {
    fn apply_softplus<'a>(values: &'a mut [f64]) -> () {
        values.iter_mut().for_each(|z| *z = Activation::Softplus.value(*z));
    }
}

vectorized! {
    /// Turns the gradient by φ(z) into that by z.
    pub(super) fn through_activation<'a>(activation: Activation, delta: &'a mut [f64], output: &'a [f64]) -> () {
        for (d, a) in delta.iter_mut().zip(output) {
            *d *= activation.derivative_from_value(*a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_does_not_overflow() {
        for z in [-800.0, -1.0, 0.0, 1.0, 800.0] {
            let a = Activation::Softplus.value(z);
            assert!(a.is_finite() && a >= z.max(0.0));
            assert!((a - (z.max(0.0) + (-z.abs()).exp().ln_1p())).abs() <= 4.0 * f64::EPSILON * a);
            let slope = Activation::Softplus.derivative_from_value(a);
            assert!((slope - 1.0 / (1.0 + (-z).exp())).abs() < 1e-12);
        }
    }
}
