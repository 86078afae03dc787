//! The class or cluster of each point, as ids below the number of classes.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;

use crate::arrays::Arrays;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};

/// A label for each point: ids 0, 1, … below [`Labels::n_classes`]. Dereferences to a slice of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    ids: Vec<u32>,
    n_classes: usize,
}

impl Labels {
    /// Checks that every id is below the number of classes. A class may be empty.
    pub fn new(ids: Vec<u32>, n_classes: usize) -> Result<Self> {
        match ids.iter().position(|&id| id as usize >= n_classes) {
            Some(row) => Err(Error::BadLabel { row, label: ids[row], n_classes }),
            None => Ok(Self { ids, n_classes }),
        }
    }

    /// Numbers any names in sorted order; also returns the name of each class.
    pub fn from_names<T: Ord + Clone>(names: &[T]) -> (Self, Vec<T>) {
        let mut classes = names.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let place = |name| classes.binary_search(name).expect("every name is a class") as u32;
        let ids = names.iter().map(place).collect();
        (Self { ids, n_classes: classes.len() }, classes)
    }

    /// Numbers any names in order of first appearance; no class is empty.
    pub fn in_order_of_appearance<T: Eq + Hash>(names: impl IntoIterator<Item = T>) -> Self {
        let mut classes = HashMap::new();
        let number = |name| {
            let next = classes.len() as u32;
            *classes.entry(name).or_insert(next)
        };
        let ids = names.into_iter().map(number).collect();
        Self { ids, n_classes: classes.len() }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of points in each class.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_classes];
        self.ids.iter().for_each(|&id| sizes[id as usize] += 1);
        sizes
    }
}

impl Checkpoint for Labels {
    fn to_arrays(&self) -> Arrays<'_> {
        let mut arrays = Arrays::new();
        arrays.put("labels", None, &self.ids[..]);
        arrays.put("n_classes", None, vec![self.n_classes as u64]);
        arrays
    }

    fn from_arrays(mut arrays: Arrays<'static>) -> Result<Self> {
        let shape = arrays.shape("labels")?.to_vec();
        let n_classes = arrays.take::<u64>("n_classes", &[1])?[0] as usize;
        Labels::new(arrays.take("labels", &shape)?, n_classes)
    }
}

impl Deref for Labels {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_checked_and_counted() {
        let labels = Labels::new(vec![2, 0, 2], 4).unwrap();
        assert_eq!((labels.n_classes(), labels.sizes()), (4, vec![1, 0, 2, 0]));
        assert_eq!(Labels::new(vec![0, 3], 3), Err(Error::BadLabel { row: 1, label: 3, n_classes: 3 }));
    }

    #[test]
    fn names_are_numbered_by_value_or_by_appearance() {
        let (labels, classes) = Labels::from_names(&["b", "a", "b"]);
        assert_eq!((&labels[..], classes), (&[1, 0, 1][..], vec!["a", "b"]));
        let seen = Labels::in_order_of_appearance(["b", "a", "b", "c"]);
        assert_eq!((&seen[..], seen.n_classes()), (&[0, 1, 0, 2][..], 3));
        assert_eq!(Labels::from_names::<u8>(&[]).0.n_classes(), 0);
    }
}
