//! `taugraph plot`: a clustering in figures; labels are written only where a place for them is named.

use super::cluster::cluster_and_show;
use crate::args::ClusterCommand;
use crate::failure::Outcome;

/// Where figures are drawn if nothing else is said.
const FIGURES: &str = "taugraph-figures";

pub fn plot(args: &ClusterCommand) -> Outcome<()> {
    let mut shows = args.shows.clone();
    shows.figures.get_or_insert_with(|| FIGURES.into());
    cluster_and_show(args, &shows, args.output.is_some())
}
