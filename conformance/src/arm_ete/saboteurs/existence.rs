//! Packets that are read with another length, or that do not exist.

use traceproof_decoder::arm_ete::Analyzer;
use traceproof_vectors::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Packet, Parameters, QElements, Version};

use super::history::context_of;
use super::layers::{self, Bug};
use super::{decoder, lengthens};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "sixth-byte-of-a-number",
        || {
            lengthens(|packet| match packet {
                Packet::Commit(count) | Packet::Cancel1 { count, .. } => {
                    usize::from(count.bytes == 5 && count.bits >> 35 != 0)
                }
                _ => 0,
            })
        },
        "COMMIT and CANCEL go on while bit 7 is set.",
        "ETE-PKT-ENC-002; OpenCSD does so",
    ),
    decoder(
        "tenth-byte-of-a-timestamp",
        || {
            lengthens(|packet| match packet {
                Packet::Timestamp { value, count: None } => {
                    usize::from(value.bytes == 9 && value.bits >> 63 != 0)
                }
                _ => 0,
            })
        },
        "Bit 7 of the ninth byte of a timestamp announces a tenth.",
        "ETE-PKT-TS-001, ETE-PKT-ENC-002; 64 bits need ten groups of seven",
    ),
    decoder(
        "reserved-bit-of-an-exception-continues",
        || lengthens(|packet| usize::from(matches!(packet, Packet::Exception { reserved: true, .. }))),
        "Bit 7 of an exception's information byte announces another byte in ETE.",
        "ETE-PKT-EXC-001, ETE-PKT-EXC-007; OpenCSD does so, as is right for ETMv4",
    ),
    decoder(
        "q-without-count-has-one",
        || lengthens(|packet| usize::from(*packet == Packet::Q { address: None, count: None })),
        "AF has a COUNT of one byte.",
        "ETE-PKT-Q-001; every other Q header has one",
    ),
    decoder(
        "flags-announce-a-byte",
        || {
            layers::with(|parameters, _| {
                let (vmid, context_id) = (parameters.vmid_bytes == 0, parameters.context_id_bytes == 0);
                Box::new(layers::Reading(move |packet: &mut Packet| match context_of(packet) {
                    Some(context) => usize::from(
                        vmid && context.vmid.is_some() || context_id && context.context_id.is_some(),
                    ),
                    None => 0,
                }))
            })
        },
        "C or V of a context announces a byte although the size is 0.",
        "ETE-PKT-CTX-002; OpenCSD tests the flags and not the sizes",
    ),
    decoder(
        "markers-always-exist",
        || reader(|parameters| parameters.timestamp_markers = true),
        "88 is a Timestamp Marker whatever TRCIDR0.TSMARK reads.",
        "ETE-PKT-TSM-001; OpenCSD does so",
    ),
    decoder(
        "instrumentation-always-exists",
        || reader(|parameters| parameters.instrumentation = true),
        "09 is an Instrumentation packet whatever TRCIDR0.ITE reads.",
        "ETE-PKT-ITE-002; a header table without configuration",
    ),
    decoder(
        "q-always-exists",
        || reader(|parameters| parameters.q_elements = QElements::Any),
        "A0 to AF are Q packets although QSUPP is 0.",
        "ETE-PKT-CFG-001; a header table without configuration",
    ),
    decoder(
        "ignore-from-etmv4-2",
        || reader(|parameters| later(parameters, Version::Etmv4_2, Version::Etmv4_3)),
        "70 is an Ignore packet of ETMv4.2.",
        "ETE-DEC-V4-001, ETE-PKT-IGN-001; one table for all minor versions",
    ),
    decoder(
        "function-return-from-etmv4-1",
        || reader(|parameters| later(parameters, Version::Etmv4_1, Version::Etmv4_2)),
        "05 is a Function Return of ETMv4.1.",
        "ETE-DEC-V4-001; one table for all minor versions",
    ),
    decoder(
        "branch-future-flush-from-etmv4-4",
        || reader(|parameters| later(parameters, Version::Etmv4_4, Version::Etmv4_5)),
        "00 07 is a Branch Future Flush of ETMv4.4.",
        "ETE-DEC-V4-001, ETE-PKT-EXT-001; one table for all minor versions",
    ),
    decoder(
        "goes-on-after-reserved-headers",
        || layers::with(|_, _| Box::new(GoesOn)),
        "A reserved encoding costs nothing but itself.",
        "ETE-DEC-ERR-001; OpenCSD's packet layer does so",
    ),
];

/// Packets are read with other parameters.
fn reader(change: fn(&mut Parameters)) -> Box<dyn Decoder<ArmEte>> {
    layers::with_parameters(change, |_| {}, |_, _| Box::new(()))
}

/// Packets of one version are those of another.
fn later(parameters: &mut Parameters, from: Version, to: Version) {
    if parameters.version == from {
        parameters.version = to;
    }
}

/// What cannot be read costs nothing but itself.
struct GoesOn;

impl Bug for GoesOn {
    fn lose(&mut self, _: &mut Analyzer) -> bool {
        true
    }
}
