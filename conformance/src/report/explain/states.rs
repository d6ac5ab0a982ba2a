//! The state of the reference decoder before and after each packet.

use std::ops::Range;

use traceproof_vectors::{Decoder, DecoderLimits, DecoderState, Program};

use crate::family::FamilyRules;

/// A decoder that reads the stream up to each packet.
pub(super) struct States<'a, P: FamilyRules> {
    decoder: Box<dyn Decoder<P>>,
    wire: &'a [u8],
    /// Bytes that were read.
    read: usize,
    /// The state after the latest packet that was shown.
    latest: Option<DecoderState>,
}

impl<'a, P: FamilyRules> States<'a, P> {
    /// At the start of the stream; `None` if the decoder refuses the parameters.
    pub(super) fn new(
        wire: &'a [u8],
        parameters: &P::Parameters,
        program: &Program,
        limits: &DecoderLimits,
    ) -> Option<Self> {
        let mut decoder = P::reference_decoder();
        decoder.set_limits(limits);
        decoder.begin(parameters, program).ok()?;
        Some(Self { decoder, wire, read: 0, latest: None })
    }

    /// What the packet of these bytes changes, part by part. Of the first packet that is shown, if it is not the first
    /// one of the stream, also the parts that stay.
    pub(super) fn lines(&mut self, bytes: &Range<u64>) -> Vec<String> {
        let begins_late = self.latest.is_none() && bytes.start > 0;
        let before = match self.latest.take() {
            Some(state) => state,
            None => self.state_at(bytes.start),
        };
        let after = self.state_at(bytes.end);
        let line = |(name, value): (&str, &str)| match before.get(name) {
            Some(before) if before == value => begins_late.then(|| format!("{name}: {value}")),
            before => Some(format!("{name}: {} -> {value}", before.unwrap_or("unknown"))),
        };
        let lines = after.parts().filter_map(line).collect();
        self.latest = Some(after);
        lines
    }

    /// The state after the bytes up to `end`, or after more if those of several packets overlap.
    fn state_at(&mut self, end: u64) -> DecoderState {
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(self.wire.len());
        if let Some(chunk) = self.wire.get(self.read..end) {
            self.decoder.push(chunk, &mut ());
            self.read = end;
        }
        self.decoder.state()
    }
}
