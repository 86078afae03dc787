//! k-means on the eigenvectors of all partitions: the starts are on a sample, the rounds after them on all nodes.

use rayon::prelude::*;

use super::dense::Dense;
use crate::cluster::{KMeansParams, assign_rows, kmeans};
use crate::error::{Error, Result};
use crate::progress::Run;
use crate::random::{Stage, Stream};
use crate::spectral::{LaplacianKind, RowNormalization, unit_row};

/// Rows per chunk, whose sums are added in order.
const CHUNK: usize = 4096;
/// Draws of the sample, distinct from those of the starts.
const SAMPLE: u32 = u32::MAX - 1;

/// The own node that is farthest from its center, of those that may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Farthest {
    /// Squared distance.
    pub distance: f64,
    /// The node.
    pub id: u32,
    /// Its group.
    pub label: u32,
}

/// The eigenvectors' entries at the own nodes of a partition, and the group of each node.
#[derive(Debug, Clone)]
pub struct EmbeddedRows {
    ids: Vec<u32>,
    rows: Dense,
    labels: Vec<u32>,
    distances: Vec<f64>,
}

impl EmbeddedRows {
    /// From the vectors of the own nodes, which are ascending, the eigenvalues and the roots of the degrees.
    pub fn new(
        ids: &[u32],
        vectors: Dense,
        values: &[f64],
        roots: &[f64],
        kind: LaplacianKind,
        normalization: RowNormalization,
    ) -> Result<Self> {
        let mut rows = vectors;
        for (what, expected, received) in [
            ("rows of eigenvectors", ids.len(), rows.n_rows()),
            ("eigenvalues", rows.n_columns, values.len()),
            ("roots of degrees", ids.len(), roots.len()),
        ] {
            if expected != received {
                return Err(Error::Length { what, expected, received });
            }
        }
        if kind == LaplacianKind::Unnormalized {
            let (name, value) = ("cluster.laplacian".into(), "unnormalized".into());
            let rule = "must be symmetric or random-walk where the nodes are spread over partitions".into();
            return Err(Error::Parameter { name, value, rule });
        }
        let n_columns = rows.n_columns;
        rows.values.par_chunks_exact_mut(n_columns).with_min_len(CHUNK).zip(roots).for_each(
            |(row, &root)| {
                for (entry, value) in row.iter_mut().zip(values) {
                    if kind == LaplacianKind::RandomWalk && root > 0.0 {
                        *entry /= root;
                    }
                    if normalization == RowNormalization::Diffusion {
                        *entry *= 1.0 - value;
                    }
                }
                if normalization == RowNormalization::UnitLength {
                    unit_row(row);
                }
            },
        );
        let n = ids.len();
        Ok(Self { ids: ids.to_vec(), rows, labels: vec![0; n], distances: vec![0.0; n] })
    }

    /// The nodes and rows of a sample of about `most` of `n_nodes` nodes, by draws of their own; all if there are no more.
    pub fn sample(&self, n_nodes: usize, most: usize, seed: u64) -> (Vec<u32>, Dense) {
        let stream = Stream::new(seed, Stage::KMeans);
        let share = most as f64 / n_nodes as f64;
        let is_in = |id: u32| n_nodes <= most || stream.at(SAMPLE, id).uniform() < share;
        self.chosen((0..self.ids.len()).filter(|&place| is_in(self.ids[place])))
    }

    /// The first nodes with rows that differ from those before, at most so many: a rare group need not be in a sample.
    pub fn distinct(&self, most: usize) -> (Vec<u32>, Dense) {
        let mut seen: Vec<usize> = Vec::new();
        for place in 0..self.ids.len() {
            if seen.len() == most {
                break;
            }
            if !seen.iter().any(|&known| self.rows.row(known) == self.rows.row(place)) {
                seen.push(place);
            }
        }
        self.chosen(seen.into_iter())
    }

    fn chosen(&self, places: impl Iterator<Item = usize>) -> (Vec<u32>, Dense) {
        let (mut ids, mut values) = (Vec::new(), Vec::new());
        for place in places {
            ids.push(self.ids[place]);
            values.extend_from_slice(self.rows.row(place));
        }
        (ids, Dense { values, n_columns: self.rows.n_columns })
    }

    /// Gives every node to its nearest center.
    pub fn assign(&mut self, centers: &Dense) -> Result<()> {
        let n_columns = self.rows.n_columns;
        if centers.n_columns != n_columns {
            let (expected, received) = (n_columns, centers.n_columns);
            return Err(Error::Length { what: "columns of centers", expected, received });
        }
        let rows = self.rows.values.par_chunks(CHUNK * n_columns);
        let out = self.labels.par_chunks_mut(CHUNK).zip(self.distances.par_chunks_mut(CHUNK));
        out.zip(rows).for_each(|((labels, distances), rows)| {
            assign_rows(rows, n_columns, &centers.values, labels, distances);
        });
        Ok(())
    }

    /// A row for each of `k` groups: the sum of its rows, their number, and the sum of their squared distances.
    pub fn sums(&self, k: usize) -> Dense {
        let n_columns = self.rows.n_columns;
        let width = n_columns + 2;
        let of_chunk = |chunk: usize| {
            let mut sums = vec![0.0; k * width];
            for place in chunk * CHUNK..self.ids.len().min((chunk + 1) * CHUNK) {
                let to = &mut sums[self.labels[place] as usize * width..][..width];
                to.iter_mut().zip(self.rows.row(place)).for_each(|(to, value)| *to += value);
                to[n_columns] += 1.0;
                to[n_columns + 1] += self.distances[place];
            }
            sums
        };
        let chunks: Vec<Vec<f64>> =
            (0..self.ids.len().div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
        let mut values = vec![0.0; k * width];
        for chunk in chunks {
            values.iter_mut().zip(chunk).for_each(|(to, sum)| *to += sum);
        }
        Dense { values, n_columns: width }
    }

    /// The own node that is farthest from its center, among groups of more than one node; the lowest of several.
    pub fn farthest(&self, sizes: &[u64]) -> Option<Farthest> {
        let mut farthest: Option<Farthest> = None;
        for place in 0..self.ids.len() {
            let (label, distance) = (self.labels[place], self.distances[place]);
            if sizes[label as usize] > 1 && farthest.is_none_or(|known| distance > known.distance) {
                farthest = Some(Farthest { distance, id: self.ids[place], label });
            }
        }
        farthest
    }

    /// Gives a node to a group, if it is an own one.
    pub fn give(&mut self, id: u32, label: u32) {
        if let Ok(place) = self.ids.binary_search(&id) {
            (self.labels[place], self.distances[place]) = (label, 0.0);
        }
    }

    /// The lowest node of each of `k` groups, if there is one.
    pub fn firsts(&self, k: usize) -> Vec<Option<u32>> {
        let mut firsts = vec![None; k];
        for (&label, &id) in self.labels.iter().zip(&self.ids) {
            firsts[label as usize].get_or_insert(id);
        }
        firsts
    }

    /// The group of each own node, under these names.
    pub fn labels(&self, names: &[u32]) -> Vec<u32> {
        self.labels.iter().map(|&label| names[label as usize]).collect()
    }
}

/// The centers of `k` groups of sampled rows.
pub fn embedding_centers(sample: &Dense, k: usize, params: &KMeansParams, run: &Run<'_>) -> Result<Dense> {
    let found = kmeans(&sample.values, sample.n_columns, k, params, run)?;
    Ok(Dense { values: found.centers, n_columns: sample.n_columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;

    const N: usize = 900;
    const K: usize = 4;

    /// Rows around four centers, by node.
    fn table() -> Vec<f64> {
        let mut draws = Stream::new(2, Stage::Generator).at(0, 0);
        (0..2 * N).map(|at| 8.0 * f64::from((at / 2 % K) as u32 >> (at % 2) & 1) + draws.normal()).collect()
    }

    /// Node i is in partition i·7/3 mod `n_parts`.
    fn parts(n_parts: usize, rule: RowNormalization) -> Vec<EmbeddedRows> {
        let table = table();
        let part = |part: usize| {
            let ids: Vec<u32> = (0..N as u32).filter(|&id| (id as usize * 7 / 3) % n_parts == part).collect();
            let values = ids.iter().flat_map(|&id| table[2 * id as usize..][..2].to_vec()).collect();
            let (vectors, roots) = (Dense { values, n_columns: 2 }, vec![1.0; ids.len()]);
            EmbeddedRows::new(&ids, vectors, &[0.0, 0.25], &roots, LaplacianKind::Symmetric, rule).unwrap()
        };
        (0..n_parts).map(part).collect()
    }

    fn in_order(found: Vec<(Vec<u32>, Dense)>) -> Vec<(u32, Vec<f64>)> {
        let rows = |(ids, rows): (Vec<u32>, Dense)| -> Vec<(u32, Vec<f64>)> {
            ids.iter().enumerate().map(|(place, &id)| (id, rows.row(place).to_vec())).collect()
        };
        let mut all: Vec<(u32, Vec<f64>)> = found.into_iter().flat_map(rows).collect();
        all.sort_by_key(|row| row.0);
        all
    }

    #[test]
    fn groups_are_those_of_one_machine() {
        let run = Run::new(5);
        let params = KMeansParams::default();
        let whole = kmeans(&table(), 2, K, &params, &run).unwrap();
        for n_parts in [1, 3, 4] {
            let mut parts = parts(n_parts, RowNormalization::Plain);
            let sample = in_order(parts.iter().map(|part| part.sample(N, N, 5)).collect());
            let values = sample.into_iter().flat_map(|row| row.1).collect();
            let centers = embedding_centers(&Dense { values, n_columns: 2 }, K, &params, &run).unwrap();
            parts.iter_mut().for_each(|part| part.assign(&centers).unwrap());
            let sums = Dense::sum(&parts.iter().map(|part| part.sums(K)).collect::<Vec<_>>()).unwrap();
            let inertia: f64 = (0..K).map(|group| sums.row(group)[3]).sum();
            assert!((inertia - whole.inertia).abs() < 1e-6 * inertia, "{inertia} {}", whole.inertia);
            let mut labels = vec![0; N];
            for part in &parts {
                part.ids
                    .iter()
                    .zip(part.labels(&[3, 1, 0, 2]))
                    .for_each(|(&id, label)| labels[id as usize] = label);
            }
            assert_eq!(Labels::in_order_of_appearance(labels), whole.labels);
            let firsts: Vec<Option<u32>> =
                (0..K).map(|group| parts.iter().filter_map(|part| part.firsts(K)[group]).min()).collect();
            let expected = (0..K as u32).map(|group| whole.labels.iter().position(|&of| of == group));
            assert_eq!(firsts, expected.map(|place| place.map(|place| place as u32)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn samples_do_not_depend_on_partitions() {
        let sample = |n_parts: usize| {
            in_order(
                parts(n_parts, RowNormalization::UnitLength)
                    .iter()
                    .map(|part| part.sample(N, 100, 1))
                    .collect(),
            )
        };
        let found = sample(1);
        assert!(found.len() > 60 && found.len() < 140, "{}", found.len());
        assert!(found.iter().all(|(_, row)| (row[0].hypot(row[1]) - 1.0).abs() < 1e-14));
        assert!(found == sample(4));
    }

    #[test]
    fn an_empty_group_gets_the_farthest_node() {
        let mut parts = parts(3, RowNormalization::Diffusion);
        // The second column shrinks by 1 − 0.25.
        let rows = in_order(parts.iter().map(|part| part.distinct(N)).collect());
        assert!(rows.iter().all(|(id, row)| (row[1] - 0.75 * table()[2 * *id as usize + 1]).abs() < 1e-14));
        let centers = Dense { values: vec![0.0, 0.0, 1e9, 1e9], n_columns: 2 };
        parts.iter_mut().for_each(|part| part.assign(&centers).unwrap());
        let found = parts.iter().filter_map(|part| part.farthest(&[N as u64, 0]));
        let farthest =
            found.reduce(|best, next| if next.distance > best.distance { next } else { best }).unwrap();
        let naive = rows.iter().map(|(_, row)| row[0] * row[0] + row[1] * row[1]).fold(0.0, f64::max);
        assert!((farthest.distance - naive).abs() < 1e-9 && farthest.label == 0);
        parts.iter_mut().for_each(|part| part.give(farthest.id, 1));
        let sums = Dense::sum(&parts.iter().map(|part| part.sums(2)).collect::<Vec<_>>()).unwrap();
        assert_eq!((sums.row(0)[2], sums.row(1)[2], sums.row(1)[3]), (N as f64 - 1.0, 1.0, 0.0));
        assert!(parts.iter().all(|part| part.farthest(&[1, 1]).is_none()));
        assert!(parts[0].assign(&Dense { values: vec![0.0], n_columns: 1 }).is_err());
    }

    #[test]
    fn what_cannot_be_embedded_is_an_error() {
        let rows = || Dense { values: vec![1.0; 4], n_columns: 2 };
        let made = |kind, ids: &[u32]| {
            EmbeddedRows::new(ids, rows(), &[0.0; 2], &[2.0; 2], kind, RowNormalization::Plain)
        };
        assert!(matches!(made(LaplacianKind::Unnormalized, &[1, 5]), Err(Error::Parameter { .. })));
        assert!(matches!(made(LaplacianKind::Symmetric, &[1]), Err(Error::Length { .. })));
        assert_eq!(made(LaplacianKind::RandomWalk, &[1, 5]).unwrap().rows.values, [0.5; 4]);
    }
}
