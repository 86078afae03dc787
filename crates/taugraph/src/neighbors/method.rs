//! Which search finds the neighbors, the recall it must reach, and the recall it reached.

use crate::parameter::{choices, parameters};

/// From this many points on inverted lists are tried; fewer points are searched exactly in a few seconds.
pub(super) const MANY_POINTS: usize = 50_000;

choices! {
    /// How to search for the neighbors.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SearchMethod = "auto" {
        /// Exactly where that is fast, by inverted lists (IVF) for very many points.
        "auto" => Auto,
        /// Exactly.
        "exact" => Exact,
        /// By inverted lists, if the metric allows them and they save time.
        "approximate" => Approximate,
    }
}

parameters! {
    /// The search and its target recall.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SearchParams {
        /// How to search for the neighbors.
        method: SearchMethod = SearchMethod::Auto;
        /// Share of the true neighbors that an approximate search must find.
        recall: f64 = 0.98, "at least 0.5 and at most 1" => |recall| (0.5..=1.0).contains(recall);
    }
}

impl SearchParams {
    /// The exact search.
    pub fn exact() -> Self {
        Self { method: SearchMethod::Exact, ..Self::default() }
    }

    /// Whether to try inverted lists for `n` points.
    pub(crate) fn tries_ivf(&self, n: usize) -> bool {
        match self.method {
            SearchMethod::Auto => n >= MANY_POINTS,
            SearchMethod::Exact => false,
            SearchMethod::Approximate => true,
        }
    }
}

/// The search that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsedSearch {
    /// A k-d tree; exact.
    Tree,
    /// Every pair, filtered in single precision; exact.
    Tiles,
    /// Every pair; exact.
    Scan,
    /// Pairs of sparse points with a common column; exact.
    ByColumns,
    /// Inverted lists: only those nearest to each point.
    Ivf {
        /// Number of inverted lists.
        n_lists: usize,
        /// Lists probed for each point.
        n_probe: usize,
    },
    /// Neighbors of neighbors, starting from inverted lists.
    Descent {
        /// Number of inverted lists.
        n_lists: usize,
        /// Rounds in which neighbors were introduced to each other.
        n_rounds: usize,
    },
    /// None: the neighbors were given.
    Given,
}

/// How the neighbors were found, and with what recall.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SearchInfo {
    /// The search.
    pub used: UsedSearch,
    /// Share of the true neighbors that were found: 1 for an exact search, otherwise measured on a sample that the search
    /// was not tuned on.
    pub recall: f64,
    /// Points of that sample; 0 for an exact search.
    pub sample: usize,
}

impl SearchInfo {
    /// Everything but the recall, as whole numbers.
    pub(super) fn to_numbers(self) -> [u64; 4] {
        let (kind, n_lists, effort) = match self.used {
            UsedSearch::Tree => (0, 0, 0),
            UsedSearch::Tiles => (1, 0, 0),
            UsedSearch::Scan => (2, 0, 0),
            UsedSearch::Given => (3, 0, 0),
            UsedSearch::ByColumns => (5, 0, 0),
            UsedSearch::Ivf { n_lists, n_probe } => (4, n_lists as u64, n_probe as u64),
            UsedSearch::Descent { n_lists, n_rounds } => (6, n_lists as u64, n_rounds as u64),
        };
        [kind, n_lists, effort, self.sample as u64]
    }

    pub(super) fn from_numbers(numbers: &[u64], recall: f64) -> Option<Self> {
        let &[kind, n_lists, effort, sample] = numbers else { return None };
        let used = match kind {
            0 => UsedSearch::Tree,
            1 => UsedSearch::Tiles,
            2 => UsedSearch::Scan,
            3 => UsedSearch::Given,
            4 => UsedSearch::Ivf { n_lists: n_lists as usize, n_probe: effort as usize },
            5 => UsedSearch::ByColumns,
            6 => UsedSearch::Descent { n_lists: n_lists as usize, n_rounds: effort as usize },
            _ => return None,
        };
        Some(Self { used, recall, sample: sample as usize })
    }

    pub(super) fn exact(used: UsedSearch) -> Self {
        Self { used, recall: 1.0, sample: 0 }
    }
}
