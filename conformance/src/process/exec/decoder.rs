//! What does a decoder do whose results a tool prints?

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;
use traceproof_vectors::{Capabilities, Decoder, Entry, Program, Refusal, Sink};

use super::render;
use super::tool::Tool;
use crate::family::FamilyRules;
use crate::process::SubjectError;

/// A decoder that collects the stream and has the tool decode it at its end.
pub(super) struct Proxy<P> {
    tool: Arc<Tool>,
    capabilities: Capabilities,
    /// What it has begun with.
    begun: Option<(Value, Program)>,
    wire: Vec<u8>,
    family: PhantomData<P>,
}

impl<P> fmt::Debug for Proxy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl<P: FamilyRules> Proxy<P> {
    pub(super) const fn new(tool: Arc<Tool>, capabilities: Capabilities) -> Self {
        Self { tool, capabilities, begun: None, wire: Vec::new(), family: PhantomData }
    }

    /// The features that the parameters need and its file does not claim: a tool cannot refuse them itself.
    fn unclaimed_features(&self, parameters: &P::Parameters) -> Vec<String> {
        let needed = P::required_features(parameters, &[]).into_iter();
        needed.filter(|name| !self.capabilities.features.contains(*name)).map(String::from).collect()
    }

    /// The parameters whose values it does not claim.
    fn unclaimed(&self, parameters: &Value) -> Vec<String> {
        let Some(only) = self.tool.exec().only.get(P::ID.name()) else { return Vec::new() };
        only.iter()
            .map(|(name, taken)| (name, taken, render::parameter(parameters, name)))
            .filter(|(_, taken, value)| !taken.contains(value))
            .map(|(name, _, value)| format!("{name} = {value}"))
            .collect()
    }
}

impl<P: FamilyRules> Decoder<P> for Proxy<P> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.wire.clear();
        let mut features = self.unclaimed_features(parameters);
        if program.has_spaces() && !self.tool.exec().reads_spaces() {
            features.push(String::from("spaces"));
        }
        if !features.is_empty() {
            SubjectError::Unclaimed { needs: features }.unwind();
        }
        let parameters = serde_json::to_value(parameters).unwrap_or_else(|error| {
            SubjectError::protocol(format!("parameters cannot be written: {error}")).unwind()
        });
        let needs = self.unclaimed(&parameters);
        if !needs.is_empty() {
            SubjectError::Unclaimed { needs }.unwind();
        }
        self.begun = Some((parameters, program.clone()));
        Ok(())
    }

    fn push(&mut self, chunk: &[u8], _: &mut dyn Sink<P>) {
        self.wire.extend_from_slice(chunk);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        // As a decoder that is asked before it has begun.
        let Some((parameters, program)) = &self.begun else { return };
        let decoded = self.tool.decode::<P>(parameters, program, &self.wire);
        for (place, entry) in decoded.unwrap_or_else(|error| error.unwind()) {
            match &entry {
                Entry::Packet(packet) => sink.packet(place, packet),
                Entry::Event(event) => sink.event(place, event),
                Entry::Fault(fault) => sink.fault(fault),
            }
        }
        self.wire.clear();
    }

    fn reset(&mut self) {
        self.wire.clear();
    }
}
