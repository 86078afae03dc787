//! Every test of the library in one program: it is linked once.

mod architecture;
mod cancel;
mod clusters;
mod eigen;
mod estimators;
mod model;
mod neighbor_targets;
mod pipeline;
mod precision;
mod propagate;
mod reference;
mod scratch;
mod threads;
