//! Checkpoints of finished stages, stored by the caller, so that an interrupted run can resume.
//!
//! Before a long stage the library asks for its checkpoint; after computing the stage it hands over the result. Where that is
//! stored, and whether it is undamaged and belongs to the same data and parameters, is up to the front end: shapes and ranges are
//! checked here like those of any input from outside, and what does not pass is computed again, but a changed number within its range is believed.

use crate::arrays::Arrays;
use crate::error::Result;

/// Stores the results of finished stages.
pub trait Checkpoints: Sync {
    /// The checkpoint of a stage, if there is one that is known to be what was stored, for example by a hash.
    fn load(&self, stage: &str) -> Option<Arrays<'static>>;

    /// Stores a finished stage. A failure must not end the run; the implementation reports it.
    fn save(&self, stage: &str, arrays: &Arrays<'_>);
}

/// A result that can be checkpointed.
pub(crate) trait Checkpoint: Sized {
    /// Its arrays.
    fn to_arrays(&self) -> Arrays<'_>;

    /// Restores and checks the result.
    fn from_arrays(arrays: Arrays<'static>) -> Result<Self>;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;
    use crate::cluster::{ClusterParams, spectral_clustering, stability};
    use crate::distance::Metric;
    use crate::generators::uneven_blobs;
    use crate::neighbors::Space;
    use crate::params::{CandidatePairs, GraphParams, Preset};
    use crate::progress::Run;
    use crate::quantile::{AutoEncoder, Estimator, Schedule};
    use crate::robust::robust_graph;

    /// Stores stages as bytes in memory, and records which were requested and found.
    #[derive(Default)]
    struct Memory {
        stages: Mutex<BTreeMap<String, Vec<u8>>>,
        found: Mutex<Vec<String>>,
    }

    impl Checkpoints for Memory {
        fn load(&self, stage: &str) -> Option<Arrays<'static>> {
            let known = self.stages.lock().unwrap().get(stage).cloned()?;
            self.found.lock().unwrap().push(stage.to_string());
            Some(Arrays::from_bytes(&known).unwrap().1)
        }

        fn save(&self, stage: &str, arrays: &Arrays<'_>) {
            let bytes = arrays.to_bytes("").unwrap();
            self.stages.lock().unwrap().insert(stage.to_string(), bytes);
        }
    }

    /// All results of a run as text that shows every bit of a number.
    fn results(params: &GraphParams, run: &Run<'_>) -> String {
        let space =
            Space::from_points(uneven_blobs(300, 7, 3, 2).unwrap().points, Metric::Euclidean).unwrap();
        let params = params.clone().check().unwrap();
        let robust = robust_graph(&space, &params, run).unwrap();
        let cluster_params = ClusterParams { stability: 3, ..ClusterParams::exactly(3) };
        let found = spectral_clustering(&robust.graph, &cluster_params, run).unwrap();
        let stable = stability(&robust, &found, &cluster_params, None, run).unwrap();
        format!("{robust:?} {found:?} {stable:?}")
    }

    #[test]
    fn a_run_goes_on_from_any_stage() {
        let steps = Schedule::Steps { steps: 9, min_epochs: 0, constant: 0.5, last_rate: 0.1 };
        let short = AutoEncoder::default().with(|params| params.schedule = steps);
        let trained = GraphParams {
            estimator: Estimator::AutoEncoder(short),
            candidates: CandidatePairs::All,
            ..Preset::Robust.params()
        };
        for params in [Preset::Robust.params(), trained] {
            let expected = results(&params, &Run::new(4));
            let memory = Memory::default();
            assert_eq!(results(&params, &Run::new(4).with_checkpoints(&memory)), expected);
            assert!(memory.found.lock().unwrap().is_empty());
            let all: Vec<String> = memory.stages.lock().unwrap().keys().cloned().collect();
            assert!(all.len() >= 8, "{all:?}");
            assert_eq!(results(&params, &Run::new(4).with_checkpoints(&memory)), expected);
            assert_eq!(memory.found.lock().unwrap().len(), all.len());
            // Interrupted at any moment: some stages are stored, the others are not.
            for missing in &all {
                memory.stages.lock().unwrap().remove(missing);
                assert_eq!(results(&params, &Run::new(4).with_checkpoints(&memory)), expected, "{missing}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_computed_again() {
        let params = Preset::Robust.params();
        let expected = results(&params, &Run::new(4));
        let memory = Memory::default();
        results(&params, &Run::new(4).with_checkpoints(&memory));
        let stages: Vec<String> = memory.stages.lock().unwrap().keys().cloned().collect();
        for stage in &stages {
            let mut broken = Arrays::new();
            broken.put("ids", Some(1), vec![77u32]);
            memory.save(stage, &broken);
        }
        assert_eq!(results(&params, &Run::new(4).with_checkpoints(&memory)), expected);
    }
}
