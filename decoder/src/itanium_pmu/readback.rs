//! The record in event address registers that were read one by one.

use traceproof_vectors::Address;
use traceproof_vectors::itanium_pmu::{
    Contents, DataMiss, DataTlbLevel, Event, InstructionMiss, InstructionTlbResolution, Known,
};

/// The event address registers that were read and not yet used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readback {
    line: Option<Line>,
    instruction_latency: Option<Known<u16>>,
    address: Option<u64>,
    data_latency: Option<(Known<u16>, Known<DataTlbLevel>)>,
    bundle: Option<Bundle>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    v: bool,
    tlb: Known<InstructionTlbResolution>,
    line: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bundle {
    v: bool,
    slot: u8,
    bundle: u64,
}

impl Readback {
    /// A register was read: the record that it completes.
    ///
    /// Spec: ITA-EAR-007, ITA-EAR-008, ITA-EAR-024, ITA-DEC-008, ITA-DEC-012.
    pub(super) fn read(&mut self, contents: &Contents) -> Option<Event> {
        match *contents {
            Contents::InstructionEarLine { v, tlb, line } => self.line = Some(Line { v, tlb, line: line.0 }),
            Contents::InstructionEarLatency { latency } => self.instruction_latency = Some(latency),
            Contents::DataEarAddress { address } => self.address = Some(address.0),
            Contents::DataEarLatency { latency, level } => self.data_latency = Some((latency, level)),
            Contents::DataEarInstruction { v, slot, bundle } => {
                self.bundle = Some(Bundle { v, slot, bundle: bundle.0 });
            }
            _ => return None,
        }
        self.instruction().or_else(|| self.data())
    }

    fn instruction(&mut self) -> Option<Event> {
        let (line, latency) = (self.line?, self.instruction_latency?);
        (self.line, self.instruction_latency) = (None, None);
        Some(Event::InstructionEar(line.v.then(|| InstructionMiss {
            line: Address(line.line),
            latency: latency.value(),
            tlb: line.tlb.value(),
        })))
    }

    fn data(&mut self) -> Option<Event> {
        let (address, (latency, level), bundle) = (self.address?, self.data_latency?, self.bundle?);
        (self.address, self.data_latency, self.bundle) = (None, None, None);
        Some(Event::DataEar(bundle.v.then(|| DataMiss {
            address: Address(address),
            bundle: Address(bundle.bundle),
            slot: bundle.slot,
            latency: latency.value(),
            level: level.value(),
        })))
    }
}
