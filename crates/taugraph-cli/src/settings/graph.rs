//! Flags of the graph and its estimators on top of a preset or a config.

use taugraph::edges::Symmetrize;
use taugraph::params::{CandidatePairs, FinalAffinity, GraphParams, Preset};
use taugraph::quantile::loss::Loss;
use taugraph::quantile::{
    AutoEncoder, Community, Constant, Estimator, Factorization, Identity, Neighborhood, Optimizer, Overlap,
    Product, Taus, TrainingPairs,
};
use taugraph::scale::FirstScale;
use taugraph::stochastic::{Probability, RobustScale};

use super::Settings;
use crate::args::{
    EstimatorName, FinalName, FirstScaleName, GraphArgs, LossName, OptimizerName, PairsName, ProbabilityName,
    RobustScaleName,
};
use crate::dataset;
use crate::failure::{Failure, Outcome};

impl Settings {
    pub fn apply_graph(&mut self, args: &GraphArgs) -> Outcome<()> {
        if let Some(name) = &args.preset {
            self.preset.clone_from(name);
            self.graph = name.parse::<Preset>()?.params();
        }
        let graph = &mut self.graph;
        graph.search.method = args.search.unwrap_or(graph.search.method);
        graph.search.recall = args.recall.unwrap_or(graph.search.recall);
        apply_candidates(graph, args)?;
        apply_scales(graph, args)?;
        apply_estimator(&mut graph.estimator, args)?;
        if let Some(taus) = &args.taus {
            graph.taus = Taus::new(taus.clone())?;
        }
        graph.scale_floor = args.scale_floor.unwrap_or(graph.scale_floor);
        graph.affinity = args.affinity.unwrap_or(graph.affinity);
        graph.threshold = args.threshold.unwrap_or(graph.threshold);
        let (name, floor) = match graph.probability {
            Probability::Persistence { floor } => (ProbabilityName::Persistence, floor),
            Probability::Decay { floor } => (ProbabilityName::Decay, floor),
        };
        let floor = args.probability_floor.unwrap_or(floor);
        graph.probability = match args.probability.unwrap_or(name) {
            ProbabilityName::Persistence => Probability::Persistence { floor },
            ProbabilityName::Decay => Probability::Decay { floor },
        };
        apply_final(graph, args)?;
        graph.link_components = args.link_components.unwrap_or(graph.link_components);
        Ok(())
    }
}

fn apply_candidates(graph: &mut GraphParams, args: &GraphArgs) -> Outcome<()> {
    if args.all_pairs {
        graph.candidates = CandidatePairs::All;
    }
    graph.candidates = match (graph.candidates, args.neighbors, args.symmetrize) {
        (CandidatePairs::Neighbors { k, symmetrize }, new_k, new_symmetrize) => CandidatePairs::Neighbors {
            k: new_k.unwrap_or(k),
            symmetrize: new_symmetrize.unwrap_or(symmetrize),
        },
        (CandidatePairs::All, Some(k), symmetrize) => {
            CandidatePairs::Neighbors { k, symmetrize: symmetrize.unwrap_or(Symmetrize::Union) }
        }
        (CandidatePairs::All, None, Some(_)) => {
            return Err(Failure::Usage(
                "--symmetrize needs --neighbors where all pairs are candidates".into(),
            ));
        }
        (CandidatePairs::All, None, None) => CandidatePairs::All,
    };
    Ok(())
}

fn apply_scales(graph: &mut GraphParams, args: &GraphArgs) -> Outcome<()> {
    if let Some(path) = &args.given_scales {
        graph.first_scale = FirstScale::Given(dataset::read_numbers(path)?);
    }
    let (name, k) = match graph.first_scale {
        FirstScale::KthNeighbor(k) => (FirstScaleName::Kth, k),
        FirstScale::MeanOfNeighbors(k) => (FirstScaleName::Mean, k),
        // The default number, if a flag turns away from the given ones.
        FirstScale::Given(_) => (FirstScaleName::Kth, 7),
    };
    if args.first_scale.is_some() || args.scale_neighbors.is_some() {
        let k = args.scale_neighbors.unwrap_or(k);
        graph.first_scale = match args.first_scale.unwrap_or(name) {
            FirstScaleName::Kth => FirstScale::KthNeighbor(k),
            FirstScaleName::Mean => FirstScale::MeanOfNeighbors(k),
        };
    }
    let draws = args.realizations;
    graph.robust_scale = match (args.robust_scale, graph.robust_scale) {
        (None, RobustScale::MedianOfRealizations(before)) => {
            RobustScale::MedianOfRealizations(draws.unwrap_or(before))
        }
        (Some(RobustScaleName::Median), _) => RobustScale::MedianOfRealizations(draws.unwrap_or(25)),
        _ if draws.is_some() => {
            return Err(Failure::Usage("--realizations needs --robust-scale median".into()));
        }
        (Some(RobustScaleName::Expectation), _) => RobustScale::Expectation,
        (Some(RobustScaleName::Keep), _) => RobustScale::First,
        (None, unchanged) => unchanged,
    };
    Ok(())
}

fn apply_final(graph: &mut GraphParams, args: &GraphArgs) -> Outcome<()> {
    let (name, power, floor) = match graph.final_affinity {
        FinalAffinity::Plain => (FinalName::Plain, 1.0, 1e-6),
        FinalAffinity::Masked => (FinalName::Masked, 1.0, 1e-6),
        FinalAffinity::Weighted { power, floor } => (FinalName::Weighted, power, floor),
    };
    graph.final_affinity = match args.final_affinity.unwrap_or(name) {
        FinalName::Weighted => FinalAffinity::Weighted {
            power: args.power.unwrap_or(power),
            floor: args.weight_floor.unwrap_or(floor),
        },
        _ if args.power.is_some() || args.weight_floor.is_some() => {
            return Err(Failure::Usage("--power and --weight-floor need --final weighted".into()));
        }
        FinalName::Plain => FinalAffinity::Plain,
        FinalName::Masked => FinalAffinity::Masked,
    };
    Ok(())
}

fn name_of(estimator: &Estimator) -> Option<EstimatorName> {
    Some(match estimator {
        Estimator::Neighborhood(_) => EstimatorName::Neighborhood,
        Estimator::AutoEncoder(_) => EstimatorName::AutoEncoder,
        Estimator::Factorization(_) => EstimatorName::Factorization,
        Estimator::Overlap(_) => EstimatorName::Overlap,
        Estimator::Community(_) => EstimatorName::Community,
        Estimator::Identity(_) => EstimatorName::Identity,
        Estimator::Constant(_) => EstimatorName::Constant,
        Estimator::Product(_) => return None,
    })
}

fn usual(name: EstimatorName) -> Estimator {
    match name {
        EstimatorName::Neighborhood => Estimator::Neighborhood(Neighborhood::default()),
        EstimatorName::AutoEncoder => Estimator::AutoEncoder(AutoEncoder::default()),
        EstimatorName::Factorization => Estimator::Factorization(Factorization::default()),
        EstimatorName::Overlap => Estimator::Overlap(Overlap::default()),
        EstimatorName::Community => Estimator::Community(Community::default()),
        EstimatorName::Identity => Estimator::Identity(Identity),
        EstimatorName::Constant => Estimator::Constant(Constant),
    }
}

fn parts_of(estimator: &mut Estimator) -> &mut [Estimator] {
    match estimator {
        Estimator::Product(together) => &mut together.0,
        single => std::slice::from_mut(single),
    }
}

fn apply_estimator(estimator: &mut Estimator, args: &GraphArgs) -> Outcome<()> {
    if let Some(names) = &args.estimator {
        // What is asked for again keeps its settings.
        let before = parts_of(estimator);
        let part = |&name: &EstimatorName| {
            let same = before.iter().find(|part| name_of(part) == Some(name));
            same.cloned().unwrap_or_else(|| usual(name))
        };
        let mut parts: Vec<Estimator> = names.iter().map(part).collect();
        *estimator = if parts.len() == 1 { parts.remove(0) } else { Estimator::Product(Product(parts)) };
    }
    let parts = parts_of(estimator);
    refuse_flags_of_others(parts, args)?;
    parts.iter_mut().try_for_each(|part| apply_to_part(part, args))
}

fn apply_to_part(estimator: &mut Estimator, args: &GraphArgs) -> Outcome<()> {
    match estimator {
        Estimator::Neighborhood(neighborhood) => {
            neighborhood.pool = args.pool.unwrap_or(neighborhood.pool);
            neighborhood.statistic = args.statistic.unwrap_or(neighborhood.statistic);
        }
        Estimator::AutoEncoder(network) => apply_network(network, args)?,
        Estimator::Factorization(factorization) => {
            if let Some(rank) = &args.rank {
                let [rank] = rank[..] else {
                    return Err(Failure::Usage("--rank of a factorization is one number".into()));
                };
                factorization.rank = rank;
            }
            factorization.kappa = args.kappa.unwrap_or(factorization.kappa);
            factorization.tolerance = args.training_tolerance.unwrap_or(factorization.tolerance);
            factorization.max_iterations = args.epochs.unwrap_or(factorization.max_iterations);
            factorization.pairs = training_pairs(factorization.pairs, args)?;
        }
        Estimator::Overlap(overlap) => overlap.pool = args.pool.unwrap_or(overlap.pool),
        Estimator::Community(community) => {
            if let Some(resolutions) = &args.resolutions {
                community.resolutions.clone_from(resolutions);
            }
            community.seeds = args.partitions.unwrap_or(community.seeds);
            community.floor = args.community_floor.unwrap_or(community.floor);
        }
        Estimator::Identity(_) | Estimator::Constant(_) | Estimator::Product(_) => {}
    }
    Ok(())
}

/// A flag that would change nothing is a mistake, and better said than ignored.
fn refuse_flags_of_others(parts: &[Estimator], args: &GraphArgs) -> Outcome<()> {
    let of_pools = [("--pool", args.pool.is_some())];
    let of_neighborhood = [("--statistic", args.statistic.is_some())];
    let of_community = [
        ("--resolutions", args.resolutions.is_some()),
        ("--partitions", args.partitions.is_some()),
        ("--community-floor", args.community_floor.is_some()),
    ];
    let of_trained = [
        ("--rank", args.rank.is_some()),
        ("--epochs", args.epochs.is_some()),
        ("--training-tolerance", args.training_tolerance.is_some()),
        ("--kappa", args.kappa.is_some()),
        ("--training-pairs", args.training_pairs.is_some()),
        ("--non-edges", args.non_edges.is_some()),
    ];
    let of_network = [
        ("--loss", args.loss.is_some()),
        ("--patience", args.patience.is_some()),
        ("--activation", args.activation.is_some()),
        ("--decoder", args.decoder.is_some()),
        ("--biases", args.biases.is_some()),
        ("--optimizer", args.optimizer.is_some()),
        ("--learning-rate", args.learning_rate.is_some()),
        ("--momentum", args.momentum.is_some()),
        ("--batch", args.batch.is_some()),
        ("--lbfgs-memory", args.lbfgs_memory.is_some()),
        ("--weight-decay", args.weight_decay.is_some()),
        ("--code-sparsity", args.code_sparsity.is_some()),
        ("--initialization", args.initialization.is_some()),
        ("--start-of-tau", args.start_of_tau.is_some()),
        ("--non-crossing", args.non_crossing.is_some()),
    ];
    let has = |name: EstimatorName| parts.iter().any(|part| name_of(part) == Some(name));
    let network = has(EstimatorName::AutoEncoder);
    let trained = network || has(EstimatorName::Factorization);
    let neighborhood = has(EstimatorName::Neighborhood);
    let pools = neighborhood || has(EstimatorName::Overlap);
    let community = has(EstimatorName::Community);
    let refuse = |flags: &[(&str, bool)], allowed: bool, needs: &str| match flags.iter().find(|flag| flag.1) {
        Some((flag, _)) if !allowed => {
            Err(Failure::Usage(format!("{flag} has no effect here: it needs {needs}")))
        }
        _ => Ok(()),
    };
    refuse(&of_pools, pools, "--estimator neighborhood or overlap")?;
    refuse(&of_neighborhood, neighborhood, "--estimator neighborhood")?;
    refuse(&of_community, community, "--estimator community")?;
    refuse(&of_trained, trained, "--estimator auto-encoder or factorization")?;
    refuse(&of_network, network, "--estimator auto-encoder")
}

fn apply_network(network: &mut AutoEncoder, args: &GraphArgs) -> Outcome<()> {
    if let Some(hidden) = &args.rank {
        network.hidden.clone_from(hidden);
    }
    network.activation = args.activation.unwrap_or(network.activation);
    network.decoder = args.decoder.unwrap_or(network.decoder);
    network.biases = args.biases.unwrap_or(network.biases);
    network.max_epochs = args.epochs.unwrap_or(network.max_epochs);
    network.tolerance = args.training_tolerance.unwrap_or(network.tolerance);
    network.patience = args.patience.unwrap_or(network.patience);
    network.weight_decay = args.weight_decay.unwrap_or(network.weight_decay);
    network.code_sparsity = args.code_sparsity.unwrap_or(network.code_sparsity);
    network.initialization = args.initialization.unwrap_or(network.initialization);
    network.start_of_tau = args.start_of_tau.unwrap_or(network.start_of_tau);
    network.non_crossing = args.non_crossing.unwrap_or(network.non_crossing);
    let (name, kappa) = match network.loss {
        Loss::Check => (LossName::Check, None),
        Loss::Huber { kappa } => (LossName::Huber, Some(kappa)),
    };
    network.loss = match (args.loss.unwrap_or(name), args.kappa.or(kappa)) {
        (LossName::Check, _) if args.kappa.is_some() => {
            return Err(Failure::Usage("--kappa needs --loss huber".into()));
        }
        (LossName::Check, _) => Loss::Check,
        (LossName::Huber, Some(kappa)) => Loss::Huber { kappa },
        (LossName::Huber, None) => return Err(Failure::Usage("--loss huber needs --kappa".into())),
    };
    network.optimizer = optimizer(network.optimizer, args)?;
    network.pairs = training_pairs(network.pairs, args)?;
    Ok(())
}

fn training_pairs(before: TrainingPairs, args: &GraphArgs) -> Outcome<TrainingPairs> {
    let (name, per_edge) = match before {
        TrainingPairs::Automatic => (PairsName::Automatic, 1.0),
        TrainingPairs::All => (PairsName::All, 1.0),
        TrainingPairs::Sampled { per_edge } => (PairsName::Sampled, per_edge),
    };
    match args.training_pairs.unwrap_or(name) {
        PairsName::Sampled => Ok(TrainingPairs::Sampled { per_edge: args.non_edges.unwrap_or(per_edge) }),
        _ if args.non_edges.is_some() => {
            Err(Failure::Usage("--non-edges needs --training-pairs sampled".into()))
        }
        PairsName::Automatic => Ok(TrainingPairs::Automatic),
        PairsName::All => Ok(TrainingPairs::All),
    }
}

fn optimizer(before: Optimizer, args: &GraphArgs) -> Outcome<Optimizer> {
    // What the optimizer before had, or what is usual.
    let (name, rate, momentum, batch, memory) = match before {
        Optimizer::Sgd { learning_rate, momentum, batch } => {
            (OptimizerName::Sgd, learning_rate, momentum, batch, 10)
        }
        Optimizer::Adam { learning_rate, batch } => (OptimizerName::Adam, learning_rate, 0.9, batch, 10),
        Optimizer::Lbfgs { memory } => (OptimizerName::Lbfgs, 0.01, 0.9, 100, memory),
    };
    let name = args.optimizer.unwrap_or(name);
    let refuse = |flag: &str, is_given: bool, allowed: bool| match is_given && !allowed {
        true => Err(Failure::Usage(format!("{flag} has no effect on this --optimizer"))),
        false => Ok(()),
    };
    let steps = name != OptimizerName::Lbfgs;
    refuse("--learning-rate", args.learning_rate.is_some(), steps)?;
    refuse("--batch", args.batch.is_some(), steps)?;
    refuse("--momentum", args.momentum.is_some(), name == OptimizerName::Sgd)?;
    refuse("--lbfgs-memory", args.lbfgs_memory.is_some(), !steps)?;
    let (learning_rate, batch) = (args.learning_rate.unwrap_or(rate), args.batch.unwrap_or(batch));
    Ok(match name {
        OptimizerName::Sgd => {
            Optimizer::Sgd { learning_rate, momentum: args.momentum.unwrap_or(momentum), batch }
        }
        OptimizerName::Adam => Optimizer::Adam { learning_rate, batch },
        OptimizerName::Lbfgs => Optimizer::Lbfgs { memory: args.lbfgs_memory.unwrap_or(memory) },
    })
}
