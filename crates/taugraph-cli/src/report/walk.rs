//! How much of the kernel a walk saw.

use serde_json::{Value, json};
use taugraph::propagate::WalkInfo;

use super::grouped;

pub(super) fn walk_json(walk: WalkInfo) -> Value {
    json!({ "pairs": walk.n_pairs, "all_pairs": walk.n_all, "truncation": walk.truncation })
}

pub(super) fn walk_text(walk: WalkInfo) -> String {
    if walk.n_pairs == walk.n_all {
        return format!("walks in all {} eigenpairs", grouped(walk.n_all));
    }
    format!(
        "walks in {} of {} eigenpairs (what is missing is at most {:.2} of the leading one)",
        grouped(walk.n_pairs),
        grouped(walk.n_all),
        walk.truncation
    )
}
