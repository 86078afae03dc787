//! The most memory that graph and clustering together may need.

use serde_json::json;
use taugraph::cluster::{self, ClusterParams};
use taugraph::error::human_bytes;
use taugraph::memory;
use taugraph::params::CandidatePairs;
use taugraph::robust::{RowSize, memory_estimate};

use super::Description;
use crate::settings::Settings;

pub(super) fn memory_needed(n: usize, row: RowSize, settings: &Settings) -> Description {
    let params = &settings.params.graph;
    let (stage, graph_bytes) = memory_estimate(n, row, params).peak();
    let candidates = match params.candidates {
        CandidatePairs::All => n * n.saturating_sub(1) / 2,
        CandidatePairs::Neighbors { k, .. } => n * k.min(n),
    };
    let (_, cluster_bytes) = cluster::memory_estimate(n, candidates as u64, &ClusterParams::default()).peak();
    let (needed, available) = (graph_bytes + cluster_bytes, memory::available());
    // Only dense points can be on disk.
    let on_disk = match row {
        RowSize::Columns(d, _) => {
            Some(memory_estimate(n, RowSize::OutOfCore(d), params).peak().1 + cluster_bytes)
        }
        _ => None,
    };
    let text = format!(
        "memory: at most {} with preset {}{}{}\n",
        human_bytes(needed),
        settings.params.preset.name(),
        on_disk.map_or(String::new(), |bytes| format!(", {} with the features on disk", human_bytes(bytes))),
        available.map_or(String::new(), |bytes| format!(", {} are available", human_bytes(bytes)))
    );
    let mut json = json!({ "preset": settings.params.preset.name(), "bytes": needed, "stage": stage, "available": available });
    if let Some(bytes) = on_disk {
        json["bytes_with_features_on_disk"] = json!(bytes);
    }
    Description { text, json }
}
