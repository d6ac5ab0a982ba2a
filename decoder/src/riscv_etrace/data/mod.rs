//! Data trace: payload -> packet -> accesses (ET 8).
//!
//! | purpose | place |
//! |---|---|
//! | Fields of a data packet | `reader` |
//! | Kinds of packets | `formats` |
//! | Bases of differential addresses and data | `bases` |
//! | Requests in flight | `requests` |
//! | The execution from data packets | `flow` |

mod bases;
mod flow;
mod formats;
mod reader;
mod requests;

use traceproof_vectors::riscv_etrace::{
    DataEvent, DataOption, DataOptions, DataPacket, Event, Packet, Parameters, RiscvEtrace, StandardSupport,
};
use traceproof_vectors::{Fault, FaultClass, Place, Sink};

use alloc::vec::Vec;

use super::Payload;
use super::standard_support::data_options;
use flow::DataFlow;
pub(super) use reader::DataReader;

/// Data trace of one stream: reads its packets and reports what they mean.
#[derive(Clone, Debug)]
pub(super) struct DataTrace {
    announcements: Announcements,
    reader: DataReader,
    flow: DataFlow,
    /// The latest support packet announced options that exclude each other.
    refusing: bool,
}

impl DataTrace {
    /// Data trace at the start of a stream; `None` where the parameters have none.
    pub(super) fn new(parameters: &Parameters) -> Option<Self> {
        Some(Self {
            announcements: Announcements::new(parameters)?,
            reader: DataReader::new(parameters)?,
            flow: DataFlow::new(parameters.data.as_ref()?, parameters.xlen),
            refusing: false,
        })
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self) {
        self.reader.reset();
        self.flow.reset();
        self.refusing = false;
    }

    /// Takes the payload of the next data packet. `place` is its first bit.
    pub(super) fn payload<S>(&mut self, place: Place, payload: &Payload, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        if self.refusing {
            return;
        }
        match self.reader.read(place, payload) {
            Ok(packet) => {
                sink.packet(place, &Packet::Data(packet));
                self.flow.packet(place, &packet, self.reader.marks(), sink);
            }
            Err(fault) => {
                sink.fault(&fault);
                self.lose_synchronisation();
            }
        }
    }

    /// Something is missing or unreadable: whatever is compared with an earlier access is skipped until there is one
    /// again.
    pub(super) fn lose_synchronisation(&mut self) {
        self.flow.lose_bases();
    }

    /// Takes note of a packet of instruction trace.
    ///
    /// Spec: RVET-DATA-007, RVET-DATA-014, RVET-DATA-022, RVET-DATA-024 (ET 7.5, 8).
    pub(super) fn instruction_packet<S>(&mut self, place: Place, packet: &Packet, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        match *packet {
            Packet::Start { .. } | Packet::Trap { .. } => self.flow.synchronise(),
            Packet::Support { .. } | Packet::StandardSupport(_) => {
                let Some(announced) = self.announcements.of(packet) else { return };
                let Announced { ienable, denable, dloss, options } = announced;
                self.refusing = options.no_address && options.no_data;
                if self.refusing {
                    sink.fault(&Fault::new(FaultClass::UnsupportedMode, place));
                }
                self.reader.set_options(options);
                if dloss {
                    self.reader.forget_requests();
                    self.flow.lose_packets();
                    sink.event(place, &Event::Data(DataEvent::Lost));
                }
                if denable && !ienable {
                    self.flow.synchronise();
                }
            }
            _ => {}
        }
    }
}

/// What a support packet of either version announces of data trace.
struct Announced {
    ienable: bool,
    denable: bool,
    dloss: bool,
    options: DataOptions,
}

/// Reads the `doptions` of support packets. Spec: RVET-DATA-014 (ET 7.5).
#[derive(Clone, Debug)]
pub(super) struct Announcements {
    /// Options in force before the first support packet, and those for which the layout has no bit.
    initial: DataOptions,
    meanings: Vec<DataOption>,
}

impl Announcements {
    /// `None` where the parameters have no data trace.
    pub(super) fn new(parameters: &Parameters) -> Option<Self> {
        let initial = parameters.data.as_ref()?.options;
        let layout = &parameters.support;
        let bits = if layout.data_fields { usize::from(layout.doptions_width) } else { 0 };
        Some(Self { initial, meanings: layout.doptions.iter().copied().take(bits).collect() })
    }

    /// What a packet announces; `None` if it is no support packet.
    fn of(&self, packet: &Packet) -> Option<Announced> {
        match *packet {
            Packet::Support { ienable, denable, dloss, doptions, .. } => {
                Some(Announced { ienable, denable, dloss, options: self.read(doptions) })
            }
            Packet::StandardSupport(ref packet) => {
                let &StandardSupport { ienable, denable, dloss, .. } = packet;
                Some(Announced { ienable, denable, dloss, options: data_options(packet) })
            }
            _ => None,
        }
    }

    /// The options that these bits announce.
    fn read(&self, doptions: u32) -> DataOptions {
        let mut options = self.initial;
        for (bit, option) in self.meanings.iter().enumerate() {
            let on = doptions.checked_shr(bit as u32).unwrap_or(0) & 1 != 0;
            match option {
                DataOption::NoAddress => options.no_address = on,
                DataOption::NoData => options.no_data = on,
                DataOption::FullAddress => options.full_address = on,
                DataOption::FullData => options.full_data = on,
            }
        }
        options
    }
}

/// Reads data packets for display, with every field; what a stream announces holds here too.
#[derive(Clone, Debug)]
pub(super) struct DataDissector {
    announcements: Announcements,
    reader: DataReader,
}

impl DataDissector {
    /// `None` where the parameters have no data trace.
    pub(super) fn new(parameters: &Parameters) -> Option<Self> {
        Some(Self { announcements: Announcements::new(parameters)?, reader: DataReader::new(parameters)? })
    }

    /// Reads a data packet and passes every field to `observer`.
    pub(super) fn read<O: super::bits::Observer>(
        &mut self,
        place: Place,
        payload: &Payload,
        observer: &mut O,
    ) -> Result<DataPacket, Fault> {
        self.reader.read_observed(place, payload, observer)
    }

    /// Takes note of a packet of instruction trace.
    pub(super) fn instruction_packet(&mut self, packet: &Packet) {
        if let Some(Announced { dloss, options, .. }) = self.announcements.of(packet) {
            self.reader.set_options(options);
            if dloss {
                self.reader.forget_requests();
            }
        }
    }
}
