//! OpenCSD's ETMv4 and ETE packet processor and decoder as a decoder of the contract.
//!
//! What elements carry comes from the elements, in their order. Elements do not carry Trace Info, Discard and Overflow;
//! these come from the packets, each before the first element of a later packet, or at the end if no P0 element before
//! it is uncommitted. The library has one element for several events, 0 for an UNKNOWN cycle count or timestamp, and
//! an element for each ERET of ETE; here these are several events, no value, and nothing.
//!
//! The library's packet processor does not search after a byte that it cannot read, but its decoder does: it takes
//! nothing until the next A-sync. So packets are not delivered until then, either.
//!
//! Its decoder does not resolve transactions, and says of no timestamp which element it belongs to; it refuses data
//! trace, loads and stores as P0 elements and conditional trace. So it does not claim these features.

mod events;
mod held;
mod packet;
mod parameters;

use traceproof_vectors::arm_ete::{ArmEte, Parameters};
use traceproof_vectors::{Capabilities, FaultDetail, Layer, Place, Program, Refusal, Sink};

pub use parameters::configuration;

use super::decoder::Translate;
use super::{Outcome, Packet, PacketBody, Source, etmv4};
use etmv4::Body;
use events::{Events, Read, is_bad};

const FEATURES: [&str; 9] = [
    "etmv4",
    "ete",
    "speculation",
    "cycle_counting",
    "timestamps",
    "instrumentation",
    "q_elements",
    "return_stack",
    "m_profile",
];

/// What only the packet processor takes.
const PACKET_FEATURES: [&str; 4] = ["timestamp_markers", "transactions", "load_store_p0", "data_trace"];

/// What the library's source follows, and what generated executions can depend on: where it contradicts one of these it
/// is a row of the findings, marked "open". It contradicts the other readings that bind decoders.
const READINGS: [&str; 25] = [
    "ete-texit-is-an-exception-return",
    "ete-searched-a-sync-has-11-zeros",
    "ete-packets-before-trace-info",
    "ete-reserved-bits-are-believed",
    "ete-threshold-needs-cc",
    "ete-q-walk-ends-at-uncertainty",
    "ete-kept-on-discard",
    "ete-context-over-trace-on",
    "ete-mispredict-after-other-elements",
    "ete-32-bit-addresses-keep-the-upper-half",
    "ete-source-address-needs-pop",
    "ete-etmv4-event-before-trace-info",
    "ete-continued-trace-info",
    "ete-ignored-info-bits",
    "ete-nibble-without-commit",
    "ete-long-timestamps",
    "ete-zero-q-count",
    "ete-visible-elements-first",
    "ete-cancel-keeps-older-addresses",
    "ete-trace-on-empties-return-stack",
    "ete-return-address-before-the-flow",
    "ete-implementation-defined-exceptions",
    "ete-reserved-exceptions",
    "ete-function-return-is-p0",
    "ete-return-packets-pop-nothing",
];

/// OpenCSD as a decoder of ETE and ETMv4.
pub type Decoder = super::Decoder<ArmEte>;

impl Translate for ArmEte {
    fn capabilities(packets_only: bool) -> Capabilities {
        let capabilities = if packets_only {
            Capabilities::new([Layer::Packets]).with_features(PACKET_FEATURES)
        } else {
            Capabilities::new([Layer::Packets, Layer::Events])
        };
        capabilities
            .with_features(FEATURES)
            .with_features(["r_profile"])
            .with_readings(READINGS)
            .with_faults(FaultDetail::Class)
    }

    fn source(parameters: &Parameters, packets_only: bool) -> Result<Source, Refusal> {
        let refused = [
            (parameters.data_trace, "data_trace"),
            (parameters.load_is_p0 || parameters.store_is_p0, "load_store_p0"),
        ];
        match refused.into_iter().find(|(is_on, _)| *is_on && !packets_only) {
            Some((_, feature)) => Err(Refusal::unsupported(feature)),
            None => configuration(parameters).map(Source::Etmv4),
        }
    }

    fn code(program: &Program) -> Program {
        super::code::padded(program)
    }

    fn deliver(
        parameters: &Parameters,
        _: &Program,
        packets: &Outcome,
        elements: Option<&Outcome>,
        sink: &mut dyn Sink<Self>,
    ) {
        let read: Vec<&Packet> = packets.packets().collect();
        let read = deliver_packets(parameters, &read, sink);
        match elements {
            Some(elements) => Events::new(parameters, &read).deliver(&elements.records, sink),
            None => read.iter().filter_map(events::fault).for_each(|fault| sink.fault(&fault)),
        }
    }
}

/// Delivers packets; the result is what they were, with their places, those that could not be read, too.
fn deliver_packets<'a>(
    parameters: &Parameters,
    packets: &[&'a Packet],
    sink: &mut dyn Sink<ArmEte>,
) -> Vec<Read<'a>> {
    let mut taken = Vec::new();
    let mut index = 0;
    let mut is_searching = true;
    let mut rest = packets.iter().peekable();
    while let Some(read) = rest.next() {
        let PacketBody::Etmv4(body) = &read.body else { continue };
        // Each zero too many before the first A-sync is listed as one.
        let is_zero = *body == Body::ASync && read.bytes.last() != Some(&0x80);
        is_searching &= *body != Body::ASync;
        if is_searching || is_zero {
            continue;
        }
        let place = Place { packet: index, byte: read.byte.into(), bit: 0 };
        taken.push(Read { place, body, header: read.bytes.first().copied().unwrap_or_default() });
        index += 1;
        is_searching = is_bad(body);
        if let Some(mut packet) = packet::packet(body, &read.bytes, parameters) {
            let is_whole = !matches!(body, Body::Exception { .. }) || !parameters.version.is_ete();
            let address = |read: &&&Packet| matches!(read.body, PacketBody::Etmv4(Body::Address { .. }));
            if !is_whole
                && let Some(Packet { body: PacketBody::Etmv4(after), .. }) =
                    rest.next_if(|read| address(read))
            {
                packet = packet::with_address(packet, after);
            }
            sink.packet(place, &packet);
        }
    }
    taken
}
