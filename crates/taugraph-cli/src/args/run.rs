//! What belongs to a run and not to the method.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Every random number follows from it [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Repeat the run described in a JSON file written by --json; flags given beside it win
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write parameters, diagnostics and results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Memory that may be used, as 500M or 4G [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = bytes, hide_short_help = true)]
    pub memory: Option<u64>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// For commands that can go on after an interruption.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct ResumeArgs {
    /// Keep finished stages in this folder: the same command goes on from there after it was interrupted or killed
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub checkpoints: Option<PathBuf>,
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number between 1 and 1024 is needed".into()),
    }
}

/// 500M, 4G, 1.5g or plain bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.trim_end_matches('b').trim_end_matches('i');
    let (number, unit) = match lower.char_indices().last() {
        Some((last, 'k')) => (&lower[..last], 1u64 << 10),
        Some((last, 'm')) => (&lower[..last], 1 << 20),
        Some((last, 'g')) => (&lower[..last], 1 << 30),
        Some((last, 't')) => (&lower[..last], 1 << 40),
        _ => (lower, 1),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit as f64) as u64),
        _ => Err("a size like 500M or 4G is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("500M"), Ok(500 << 20));
        assert_eq!(bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(bytes("1234"), Ok(1234));
        assert!(bytes("-1G").is_err() && bytes("much").is_err() && bytes("").is_err());
    }
}
