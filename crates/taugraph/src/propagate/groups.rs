//! A group for every class: where the graph itself falls into as many groups as there are classes, each class has one of them.
//!
//! One labeled point may lie in the group of another class (a 9 among the sevens) or at the edge of its own. The group of the nines then
//! goes to whatever class is nearest to it, and the sevens are divided. Groups and classes are therefore matched one to one, by how many
//! of the random walks from the labeled points of each class end in each group; weak springs tie the nodes of a group to its class, and a
//! labeled point whose class has its group elsewhere does not spread its label. All this only if the boundaries of the graph tell
//! that there are as many groups as classes, and no class has several labeled points together in another group than its own:
//! then classes are not groups.

use super::refuse_share;
use super::rules::Problem;
use crate::cluster::{ClusterInput, ClusterMethod, ClusterParams, Evidence, agglomeration_bytes, cluster};
use crate::error::Result;
use crate::labels::Labels;
use crate::metrics::assignment;
use crate::progress::Run;

/// A walk goes on with this probability at every step.
const CONTINUES: f64 = 0.9;
/// With more classes the matching would take longer than all the rest.
const MAX_CLASSES: usize = 300;

/// The groups of a graph that has as many as there are classes.
#[derive(Debug, Clone)]
pub(super) struct ClassGroups {
    groups: Labels,
}

impl ClassGroups {
    /// Agglomerates the graph; `None` unless it is connected and its boundaries tell that there are `n_classes` groups.
    pub fn find(input: ClusterInput<'_>, n_classes: usize, run: &Run<'_>) -> Result<Option<Self>> {
        if input.graph.components().len() > 1 || n_classes > MAX_CLASSES {
            return Ok(None);
        }
        let (n, n_edges) = (input.graph.n_nodes(), input.graph.n_edges() as u64);
        let bytes = agglomeration_bytes(n as u64, n_edges);
        refuse_share("groups", bytes, n, run, "set propagate.groups=no and propagate.ladder=no")?;
        let params = ClusterParams { method: ClusterMethod::Agglomerate, ..ClusterParams::default() };
        let found = cluster(input, &params, &run.without_checkpoints())?;
        let is_sure = found.count.is_some_and(|count| count.evidence >= Evidence::Moderate);
        let fits = is_sure && found.labels.n_classes() == n_classes;
        Ok(fits.then_some(Self { groups: found.labels }))
    }

    /// Matches classes and groups; `None` if the labeled points tell that classes are not groups.
    pub fn matched(&self, problem: &Problem<'_>) -> Result<Option<MatchedGroups<'_>>> {
        let n_classes = problem.labeled.n_classes();
        let class_of_group = self.best_matching(problem)?;
        // Labeled points of each class in each group.
        let mut counts = vec![vec![0; n_classes]; n_classes];
        for (node, class) in problem.labeled.iter() {
            counts[class as usize][self.groups[node as usize] as usize] += 1;
        }
        let mut has_moved = vec![false; n_classes];
        for (group, &class) in class_of_group.iter().enumerate() {
            let most = counts[class].iter().copied().max().unwrap_or(0);
            if most > 1 && most > counts[class][group] {
                return Ok(None);
            }
            has_moved[class] = counts[class][group] == 0;
        }
        Ok(Some(MatchedGroups { groups: &self.groups, class_of_group, has_moved }))
    }

    /// The class of each group in the matching that most walks agree with.
    fn best_matching(&self, problem: &Problem<'_>) -> Result<Vec<usize>> {
        let n_classes = problem.labeled.n_classes();
        let walks = problem.consistency(CONTINUES)?.values;
        let mut ends = vec![0.0; n_classes * n_classes];
        for (node, row) in walks.chunks_exact(n_classes).enumerate() {
            let group = self.groups[node] as usize;
            let root = problem.of.degrees[node].sqrt();
            let sums = &mut ends[group * n_classes..(group + 1) * n_classes];
            sums.iter_mut().zip(row).for_each(|(sum, score)| *sum += root * score.max(0.0));
        }
        let costs: Vec<f64> = ends.iter().map(|end| -end.max(f64::MIN_POSITIVE).ln()).collect();
        Ok(assignment(&costs, n_classes, n_classes))
    }
}

/// Groups with their classes.
#[derive(Debug, Clone)]
pub(super) struct MatchedGroups<'a> {
    groups: &'a Labels,
    class_of_group: Vec<usize>,
    has_moved: Vec<bool>,
}

impl MatchedGroups<'_> {
    /// Whether no labeled point of a class lies in its group, so that they do not spread their label.
    pub fn has_moved(&self, class: usize) -> bool {
        self.has_moved[class]
    }

    /// Every node with the class of its group.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.groups.iter().enumerate().map(|(node, &group)| (node, self.class_of_group[group as usize]))
    }
}
