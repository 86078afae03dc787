//! The fuzz targets as libFuzzer runs them.

mod targets;

pub use targets::*;

/// Makes the thread that calls it the only one of rayon's pool: handing work to another thread takes longer than a small input does.
pub fn on_this_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nobody used the pool before");
}
