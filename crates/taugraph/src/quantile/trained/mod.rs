//! Estimators that are trained: the paper's auto-encoders, and the symmetric factorization.
//!
//! The default estimator needs none of this.

mod activation;
mod autoencoder;
mod factorization;
pub mod loss;
mod low_rank;
mod majorizer;
mod matrix;
mod nets;
mod network;
mod optimize;
mod pairs;
mod sampled_rows;
mod schedule;
mod sparse_pass;
mod targets;
mod whole_rows;

pub use activation::Activation;
pub use autoencoder::{AutoEncoder, Initialization, NonCrossing, StartOfTau};
pub use factorization::Factorization;
pub use network::{Biases, DecoderWeights};
pub use optimize::Optimizer;
pub use pairs::TrainingPairs;
pub use schedule::Schedule;

use super::{
    ConditionalQuantiles, ProblemSize, Quantiles, StopReason, Taus, Training, crossing_rate, rearrange,
};
