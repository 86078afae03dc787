//! wip
use taugraph::{cluster::*, distance::Metric, generators::*, metrics::*, neighbors::Space, params::*, points::*, progress::Run, robust::*};
use std::time::Instant;
fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for preset in Preset::ALL {
        if !names.is_empty() && !names.contains(&preset.name().to_string()) { continue }
        for (what, sigma, share) in [("clean", 0.0, 0.0), ("s.2", 0.2, 1.0), ("s.4h", 0.4, 0.5), ("s.4", 0.4, 1.0), ("pin", 0.0, 0.0)] {
            let t = Instant::now();
            let mut scores = vec![];
            let mut decay = vec![];
            for seed in 0..10 {
                let data = if what == "pin" { pinwheel(500, seed).unwrap() } else { add_noise(&two_spirals(300, SpiralDensity::UniformAngle, seed).unwrap(), sigma, share, seed).unwrap() };
                let prep = prepare(data.points.values(), 2, &PreparationParams::default(), &Run::new(seed)).unwrap();
                let space = Space::from_points(prep.points, Metric::Euclidean).unwrap();
                let params = preset.params().check().unwrap();
                let g = robust_graph(&space, &params, &Run::new(seed)).unwrap();
                let d = g.stochastic.decay(); decay.push(d[8].1 as f64 / d[0].1 as f64);
                let k = if what == "pin" { 5 } else { 2 };
                let c = spectral_clustering(&g.graph, &ClusterParams::exactly(k), &Run::new(seed)).unwrap();
                let labels = g.duplicates.restore(&c.labels);
                scores.push(nmi(&data.labels, &labels).unwrap());
            }
            println!("{:18} {:6} nmi {:.3} decay {:.2} time {:.2?}", preset.name(), what, scores.iter().sum::<f64>() / 10.0, decay.iter().sum::<f64>() / 10.0, t.elapsed());
        }
    }
}
