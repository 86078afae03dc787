//! The rules that need only a few linear systems on the graph: scores of every class at every node.

use super::conjugate::{SolveInfo, solve};
use super::examples::Examples;
use super::system::GraphSystem;
use super::{Hold, Solver};
use crate::error::Result;
use crate::graph::{Components, SparseGraph};
use crate::progress::Run;

/// Scores node by node; higher is likelier.
pub(super) struct Scores {
    pub values: Vec<f64>,
    pub info: SolveInfo,
}

/// What every rule works on.
pub(super) struct Problem<'a> {
    pub graph: &'a SparseGraph,
    pub components: &'a Components,
    pub examples: &'a Examples,
    /// Whether a label reaches a component.
    pub reached: &'a [bool],
    pub solver: &'a Solver,
    pub run: &'a Run<'a>,
}

impl Problem<'_> {
    fn is_reached(&self, node: usize) -> bool {
        self.reached[self.components.of_nodes()[node] as usize]
    }

    fn solve(&self, system: &GraphSystem<'_>, right: &[f64], width: usize) -> Result<(Vec<f64>, SolveInfo)> {
        solve(system, right, width, self.solver.tolerance, self.solver.max_iterations, self.run)
    }

    /// Harmonic functions (Zhu, Ghahramani, Lafferty 2003): every unlabelled node has the weighted mean of its
    /// neighbours. Held softly, labelled nodes are tied to their labels by springs of `strength` times their degree.
    pub fn harmonic(&self, hold: Hold) -> Result<Scores> {
        let (n, width) = (self.graph.n_nodes(), self.examples.n_classes());
        let mut diagonal = self.graph.degrees();
        let mut right = vec![0.0; n * width];
        match hold {
            Hold::Hard => {
                for (node, class) in self.examples.iter() {
                    diagonal[node as usize] = 0.0;
                    for (neighbor, weight) in self.graph.row(node as usize) {
                        right[neighbor as usize * width + class as usize] += weight;
                    }
                }
            }
            Hold::Soft { strength } => {
                for (node, class) in self.examples.iter() {
                    let spring = strength * diagonal[node as usize];
                    diagonal[node as usize] += spring;
                    right[node as usize * width + class as usize] = spring;
                }
            }
        }
        for node in 0..n {
            if !self.is_reached(node) || diagonal[node] == 0.0 {
                diagonal[node] = 0.0;
                right[node * width..(node + 1) * width].fill(0.0);
            }
        }
        let system = GraphSystem { graph: self.graph, diagonal, scale: None, factor: 1.0, null: None };
        let (mut values, info) = self.solve(&system, &right, width)?;
        if hold == Hold::Hard {
            self.examples
                .iter()
                .for_each(|(node, class)| values[node as usize * width + class as usize] = 1.0);
        }
        Ok(Scores { values, info })
    }

    /// Poisson learning (Calder, Cook, Thorpe, Slepčev 2020): L·u = Σ (y_l − ȳ)·δ_l in every component, with ȳ the mean
    /// over its labels and Σ d·u = 0.
    pub fn poisson(&self) -> Result<Scores> {
        let (n, width) = (self.graph.n_nodes(), self.examples.n_classes());
        let of_nodes = self.components.of_nodes();
        let mut means = vec![0.0; self.components.len() * width];
        let mut counts = vec![0.0f64; self.components.len()];
        for (node, class) in self.examples.iter() {
            let component = of_nodes[node as usize] as usize;
            counts[component] += 1.0;
            means[component * width + class as usize] += 1.0;
        }
        for (row, count) in means.chunks_exact_mut(width).zip(&counts) {
            row.iter_mut().for_each(|mean| *mean /= count.max(1.0));
        }
        let mut right = vec![0.0; n * width];
        for (node, class) in self.examples.iter() {
            let component = of_nodes[node as usize] as usize;
            let row = &mut right[node as usize * width..(node as usize + 1) * width];
            row.iter_mut().zip(&means[component * width..]).for_each(|(right, mean)| *right = -mean);
            row[class as usize] += 1.0;
        }
        let degrees = self.graph.degrees();
        let system = GraphSystem {
            graph: self.graph,
            diagonal: degrees.clone(),
            scale: None,
            factor: 1.0,
            null: Some((self.components, vec![1.0; n])),
        };
        let (mut values, info) = self.solve(&system, &right, width)?;
        shift_to_zero_mean(&mut values, width, self.components, &degrees);
        // A component whose labels agree has no sources: it is theirs.
        for node in 0..n {
            let component = of_nodes[node] as usize;
            let of_component = &means[component * width..(component + 1) * width];
            if let Some(class) = of_component.iter().position(|&mean| mean == 1.0) {
                values[node * width + class] = 1.0;
            }
        }
        Ok(Scores { values, info })
    }

    /// Local and global consistency (Zhou et al. 2003) in its closed form, (I − α·D^−½WD^−½)·F = Y.
    pub fn consistency(&self, alpha: f64) -> Result<Scores> {
        let (n, width) = (self.graph.n_nodes(), self.examples.n_classes());
        let mut right = vec![0.0; n * width];
        self.examples.iter().for_each(|(node, class)| right[node as usize * width + class as usize] = 1.0);
        let diagonal = (0..n).map(|node| f64::from(u8::from(self.is_reached(node)))).collect();
        let scale = Some(inverse_roots(&self.graph.degrees()));
        let system = GraphSystem { graph: self.graph, diagonal, scale, factor: alpha, null: None };
        let (values, info) = self.solve(&system, &right, width)?;
        Ok(Scores { values, info })
    }

    /// Columns of K = L_sym† at the labelled nodes, node by node, in the order of [`Examples::nodes`].
    pub fn kernel_columns(&self) -> Result<Scores> {
        let (n, width) = (self.graph.n_nodes(), self.examples.nodes().len());
        let degrees = self.graph.degrees();
        let mut right = vec![0.0; n * width];
        for (column, &node) in self.examples.nodes().iter().enumerate() {
            right[node as usize * width + column] = 1.0;
        }
        let roots: Vec<f64> = degrees.iter().map(|degree| degree.sqrt()).collect();
        let diagonal = degrees.iter().map(|&degree| f64::from(u8::from(degree > 0.0))).collect();
        let system = GraphSystem {
            graph: self.graph,
            diagonal,
            scale: Some(inverse_roots(&degrees)),
            factor: 1.0,
            null: Some((self.components, roots)),
        };
        let (mut values, info) = self.solve(&system, &right, width)?;
        system.project(&mut values, width);
        Ok(Scores { values, info })
    }

    /// For each class the best of its labelled nodes, measured by `closeness(K_jl, K_ll)`. Across components there is no
    /// closeness: the pseudo-inverse would call it 0.
    pub fn by_kernel(&self, closeness: impl Fn(f64, f64) -> f64) -> Result<Scores> {
        let columns = self.kernel_columns()?;
        let (n, m, width) = (self.graph.n_nodes(), self.examples.nodes().len(), self.examples.n_classes());
        let of_nodes = self.components.of_nodes();
        let mut values = vec![f64::NEG_INFINITY; n * width];
        for node in 0..n {
            for (column, (label, class)) in self.examples.iter().enumerate() {
                if of_nodes[label as usize] == of_nodes[node] {
                    let own = columns.values[label as usize * m + column];
                    let best = &mut values[node * width + class as usize];
                    *best = best.max(closeness(columns.values[node * m + column], own));
                }
            }
        }
        Ok(Scores { values, info: columns.info })
    }
}

/// 1/√d, 0 for isolated nodes.
fn inverse_roots(degrees: &[f64]) -> Vec<f64> {
    degrees.iter().map(|&degree| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }).collect()
}

/// Adds a constant in each component so that Σ d·x = 0 there.
fn shift_to_zero_mean(x: &mut [f64], width: usize, components: &Components, degrees: &[f64]) {
    let mut sums = vec![0.0; components.len() * width];
    let mut totals = vec![0.0; components.len()];
    for (node, row) in x.chunks_exact(width).enumerate() {
        let component = components.of_nodes()[node] as usize;
        totals[component] += degrees[node];
        let of_component = &mut sums[component * width..(component + 1) * width];
        of_component.iter_mut().zip(row).for_each(|(sum, x)| *sum += degrees[node] * x);
    }
    for (node, row) in x.chunks_exact_mut(width).enumerate() {
        let component = components.of_nodes()[node] as usize;
        if totals[component] > 0.0 {
            let of_component = &sums[component * width..(component + 1) * width];
            row.iter_mut().zip(of_component).for_each(|(x, sum)| *x -= sum / totals[component]);
        }
    }
}
