//! Real programs: the executions that a family ships.

use std::fmt;

use traceproof_vectors::case::SuiteError;
use traceproof_vectors::{Decoder, Encoder, Protocol};

use crate::run::ProgramRun;

/// The part of a family that ships recorded executions of compiled programs.
#[derive(Debug)]
pub struct Programs<P: Protocol> {
    /// Sends the executions through an encoder and a decoder. The error is that the shipped programs cannot be read.
    pub run: fn(&ProgramRequest<'_, P>) -> Result<Vec<ProgramRun>, SuiteError>,
}

/// Whose encoder and decoder the executions go through, and which of them.
pub struct ProgramRequest<'a, P: Protocol> {
    /// Makes the encoder: the subject's, or that of the reference.
    pub encoder: &'a (dyn Fn() -> Box<dyn Encoder<P>> + Sync),
    /// Makes the decoder: the subject's, or that of the reference.
    pub decoder: &'a (dyn Fn() -> Box<dyn Decoder<P>> + Sync),
    /// Under these parameters and no others.
    pub parameters: Option<&'a P::Parameters>,
    /// Asked for every program and parameter set.
    pub wanted: &'a (dyn Fn(&str, &str) -> bool + Sync),
    /// Called as each ends.
    pub progress: &'a (dyn Fn() + Sync),
}

impl<P: Protocol> fmt::Debug for ProgramRequest<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramRequest").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
