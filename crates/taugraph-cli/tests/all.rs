//! Every test of the program in one program: it is linked once.

mod bad_input;
mod bombs;
mod checkpoints;
mod clusters;
mod commands;
mod common;
mod damage;
mod faults;
mod features;
mod kills;
mod predict;
mod propagate;
mod read_back;
mod readme;
mod report;
mod sparse;
mod stored_results;
mod streams;
