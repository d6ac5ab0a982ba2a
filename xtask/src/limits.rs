//! `--limit`: how much work and memory a decoder spends.

use clap::Args;
use traceproof_vectors::{DecoderLimits, Limit};

/// Limits of decoders.
#[derive(Debug, Args)]
pub(crate) struct Limiting {
    /// Set a limit of work or memory for the decoder: steps, repeats, work, pending, gathered or speculation (docs/cli.md).
    /// Reaching one is a fault `limit`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    limit: Vec<Limit>,
}

impl Limiting {
    /// The default limits of a verb that streams, with those that were stated.
    pub(crate) fn limits(&self) -> DecoderLimits {
        self.after(DecoderLimits::DEFAULT)
    }

    /// The default limits of a verb that keeps results in memory, with those that were stated.
    pub(crate) fn collected(&self) -> DecoderLimits {
        self.after(DecoderLimits::COLLECTED)
    }

    fn after(&self, initial: DecoderLimits) -> DecoderLimits {
        self.limit.iter().fold(initial, |limits, &limit| limits.with(limit))
    }
}
