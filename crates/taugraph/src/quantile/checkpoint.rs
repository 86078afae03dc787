//! Conditional quantiles as arrays.

use super::{Quantiles, StopReason, Taus, Training};
use crate::arrays::{Arrays, bad};
use crate::checkpoint::Checkpoint;
use crate::error::Result;

const STOPS: [StopReason; 4] =
    [StopReason::Converged, StopReason::IterationLimit, StopReason::NoDescent, StopReason::Completed];

impl Checkpoint for Quantiles {
    fn to_arrays(&self) -> Arrays<'_> {
        let mut arrays = Arrays::new();
        arrays.put("taus", None, self.taus.values());
        if let Some(values) = &self.reconstructions {
            arrays.put("reconstructions", None, &values[..]);
        }
        if let Some(values) = &self.persistence {
            arrays.put("persistence", None, &values[..]);
        }
        if let Some(rate) = self.crossing_rate {
            arrays.put("crossing_rate", None, vec![rate]);
        }
        // A joint model has no τ of its own: NaN.
        let of = |training: &Training| training.tau.unwrap_or(f64::NAN);
        arrays.put("training_taus", None, self.training.iter().map(of).collect::<Vec<_>>());
        let stop = |training: &Training| {
            STOPS.iter().position(|&stop| stop == training.stop).expect("all reasons are listed") as u64
        };
        arrays.put("training_stops", None, self.training.iter().map(stop).collect::<Vec<_>>());
        let lengths = self.training.iter().map(|training| training.losses.len() as u64);
        arrays.put("training_lengths", None, lengths.collect::<Vec<_>>());
        let losses: Vec<f64> = self.training.iter().flat_map(|training| &training.losses).copied().collect();
        arrays.put("losses", None, losses);
        arrays
    }

    fn from_arrays(mut arrays: Arrays<'static>) -> Result<Self> {
        let list = |arrays: &mut Arrays<'static>, name: &str| -> Result<Vec<f64>> {
            let shape = arrays.shape(name)?.to_vec();
            arrays.take(name, &shape)
        };
        let has = |arrays: &Arrays<'static>, name: &str| arrays.shape(name).is_ok();
        let taus = Taus::new(list(&mut arrays, "taus")?)?;
        let mut optional = |name: &str| has(&arrays, name).then(|| list(&mut arrays, name)).transpose();
        let reconstructions = optional("reconstructions")?;
        let persistence = optional("persistence")?;
        let crossing_rate = optional("crossing_rate")?.and_then(|rate| rate.first().copied());
        let training_taus = list(&mut arrays, "training_taus")?;
        let count = [training_taus.len()];
        let stops = arrays.take::<u64>("training_stops", &count)?;
        let lengths = arrays.take::<u64>("training_lengths", &count)?;
        let mut losses = &list(&mut arrays, "losses")?[..];
        let mut training = Vec::new();
        for ((tau, stop), length) in training_taus.into_iter().zip(stops).zip(lengths) {
            let stop = STOPS.get(stop as usize).copied();
            let (Some(stop), Some((own, rest))) = (stop, losses.split_at_checked(length as usize)) else {
                return Err(bad("losses", "they do not fit the models".into()));
            };
            losses = rest;
            training.push(Training { tau: (!tau.is_nan()).then_some(tau), losses: own.to_vec(), stop });
        }
        Ok(Quantiles { taus, reconstructions, persistence, training, crossing_rate })
    }
}

impl Quantiles {
    /// Whether these can be the quantiles of `n_edges` edges at `taus`.
    pub(crate) fn fit(&self, n_edges: usize, taus: &Taus) -> bool {
        let lengths = self.persistence.iter().map(|values| values.len() == n_edges);
        let tables = self.reconstructions.iter().map(|values| values.len() == n_edges * taus.len());
        self.taus == *taus && lengths.chain(tables).all(|fits| fits)
    }
}
