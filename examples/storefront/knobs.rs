//! What can be set from the command line.

use crate::load::Load;
use crate::timetable::{Phase, Timetable};
use clap::Parser;
use std::path::PathBuf;
use std::time::Duration;

/// One bad day of an upstream, lived through twice: by bare calls and by calls that `resil` guards.
///
/// Everything is real: an HTTP server on loopback, an HTTP client, concurrent requests at a fixed rate. The end is a
/// table, and a timeline as an SVG file.
#[derive(Parser, Clone, Debug)]
#[command(name = "storefront")]
pub(crate) struct Knobs {
    /// Requests per second; they arrive whether or not earlier ones were answered
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub(crate) rate: u32,

    /// Length of each phase, in seconds
    #[arg(long, default_value_t = 2.4, value_parser = seconds)]
    pub(crate) phase_seconds: f64,

    /// The phases in order, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Phase::ALL)]
    pub(crate) timetable: Vec<Phase>,

    /// Share of requests that are checkouts, in percent; others search, ask for quotes, or read a product
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u8).range(0..=30))]
    pub(crate) checkouts: u8,

    /// Most requests under way at once; what arrives above it is not sent, and failed
    #[arg(long, default_value_t = 400)]
    pub(crate) max_in_flight: usize,

    /// Seed of the upstream's moods and of the load
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// Where the timeline goes
    #[arg(long, default_value_os_t = std::env::temp_dir().join("resil-storefront.svg"))]
    pub(crate) out: PathBuf,

    /// End with an error if guarding did not keep what it promises
    #[arg(long)]
    pub(crate) check: bool,
}

impl Knobs {
    pub(crate) fn timetable(&self) -> Timetable {
        let each = Duration::from_secs_f64(self.phase_seconds);
        Timetable { phases: self.timetable.clone(), each, seed: self.seed }
    }

    pub(crate) fn load(&self) -> Load {
        let Self { rate, checkouts, max_in_flight, seed, .. } = *self;
        Load { rate, checkouts, max_in_flight, seed }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 0.1 to 600".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Knobs::command().debug_assert();
    }

    #[test]
    fn a_phase_has_a_length() {
        assert!(seconds("0").is_err());
        assert!(seconds("NaN").is_err());
        assert_eq!(seconds("2.5"), Ok(2.5));
    }
}
