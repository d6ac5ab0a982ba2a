//! The trace unit as a subject of the contract: it writes the log of what happens.

use traceproof_vectors::arm_ete_unit::{ArmEteUnit, FEATURES, Parameters, Policy, READINGS, Stimulus};
use traceproof_vectors::{self as vectors, Binds, Capabilities, EncoderSink, Feature, Layer, Refusal};

use super::ImpossibleStimulus;
use super::unit::{Log, Unit};

/// A model of the trace unit. Every record is complete when its step is, so nothing is left for `finish`.
///
/// It begins as after a trace unit reset without a record of it: Idle, EN = 0; the OS Lock is unlocked, nothing
/// prohibits tracing, the trace buffer unit is disabled, and the processor is above EL0.
///
/// Where a log cannot be as [`Stimulus`] says without contradicting a requirement, the requirement wins:
///
/// * `Overflow` is written before `Operative`, so that the unit is operative only without an overflow (ETE-ZVNKV-001);
/// * `FlushAcknowledge` is written after the bytes that it acknowledges (ETE-HGYLG-001);
/// * what a TSB CSYNC in a prohibited region flushes is written before its record, which means that it has completed
///   (ETE-XLVQM-001);
/// * what the bound of time makes happen during a `Wait` is written before its record;
/// * a poll whose reads give no value is written as one such read;
/// * an external write of a register that is only read, and a read of one that is only written, has the error response
///   of its class, and otherwise the effect of an access to a reserved register (ETE-SVSNR-001, ETE-WXKDP-001);
/// * an UNDEFINED instruction is not trapped (ETE-SGPQB-001, ETE-WCXDT-001);
/// * code that a stall keeps back enters the buffers after the bytes of a step have left;
/// * a poll takes at most 4096 steps.
///
/// Resources run in Running outside of prohibited regions and low power, and pause at once when that ends. A policy
/// about speculation decides nothing: no stimulus is speculative. Barriers are written even if they are not shown.
#[derive(Debug, Default)]
pub struct Encoder {
    unit: Option<Unit>,
    refused: Option<ImpossibleStimulus>,
}

impl Encoder {
    /// Why the latest step was left out, if it was.
    #[must_use]
    pub const fn refused(&self) -> Option<ImpossibleStimulus> {
        self.refused
    }
}

impl vectors::Encoder<ArmEteUnit> for Encoder {
    fn capabilities(&self) -> Capabilities {
        let readings = READINGS.iter().filter(|reading| reading.binds != Binds::Decoders);
        Capabilities::new([Layer::Packets])
            .with_features(Feature::names(&FEATURES))
            .with_readings(readings.map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        if let Some(name) = parameters.contradiction() {
            return Err(Refusal::invalid(name, "no trace unit has this value"));
        }
        self.unit = Some(Unit::new(parameters, policy));
        self.refused = None;
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ArmEteUnit>) {
        if let Some(unit) = &mut self.unit {
            self.refused = unit.step(stimulus, &mut Log { sink }).err();
        }
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<ArmEteUnit>) {
        self.unit = None;
    }
}
