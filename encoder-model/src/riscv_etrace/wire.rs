//! Packets to bytes, without an execution.

use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Compression, DataOptions, Modes, Packet, Parameters, Policy};

use super::bits::Payload;
use super::lanes::Lanes;
use super::packet::Layout;
use super::unencodable::{Defect, UnencodablePacket};
use super::{standard_support, support};

/// The payload of one packet, without transport header.
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters and modes.
///
/// Spec: RVET-PKT-001 to 006 (ET 7).
pub fn write_payload(
    packet: &Packet,
    parameters: &Parameters,
    modes: Modes,
    compression: Compression,
) -> Result<Vec<u8>, UnencodablePacket> {
    let layout = Layout::new(parameters);
    layout.check(packet, modes).map_err(|(field, defect)| UnencodablePacket { index: 0, field, defect })?;
    Ok(payload(&layout, packet, compression).bytes().to_vec())
}

/// The framed wire of a list of packets.
///
/// The modes and options are those of `parameters` until a support packet in the list announces others. Of `policy`
/// only what concerns compression and transport matters. No packet has a timestamp, because packets alone have no time.
///
/// # Errors
///
/// The first packet that cannot travel unchanged.
///
/// Spec: RVET-PKT-001 to 006 (ET 7), RVET-ENCAP-001 to 006 (EN 2.1).
pub fn write_packets(
    packets: &[Packet],
    parameters: &Parameters,
    policy: &Policy,
) -> Result<Vec<u8>, UnencodablePacket> {
    let at = |index, field, defect| UnencodablePacket { index, field, defect };
    let mut lanes =
        Lanes::new(parameters, policy).map_err(|_| at(0, "payload", Defect::UnsupportedEncapsulation))?;
    let mut layout = Layout::new(parameters);
    let mut modes = parameters.modes;
    let mut wire = Vec::new();
    for (index, packet) in packets.iter().enumerate() {
        layout.check(packet, modes).map_err(|(field, defect)| at(index, field, defect))?;
        let payload = payload(&layout, packet, policy.compression);
        lanes
            .send(packet, &payload, None, &mut |bytes| wire.extend_from_slice(bytes))
            .map_err(|defect| at(index, "payload", defect))?;
        let mut data_options = layout.data.map_or_else(DataOptions::default, |fields| fields.options);
        match packet {
            Packet::Support { ioptions, doptions, .. } => {
                modes = support::announced(*ioptions, &parameters.support, modes);
                data_options = support::announced_data(*doptions, &parameters.support, data_options);
            }
            Packet::StandardSupport(support) => {
                modes = standard_support::modes(support);
                data_options = standard_support::data_options(support);
            }
            _ => {}
        }
        if let Some(fields) = &mut layout.data {
            fields.options = data_options;
        }
    }
    Ok(wire)
}

/// Formats 1 and 2 must be compressed, the others should. Spec: RVET-PKT-004, RVET-PKT-005 (ET 7).
pub(super) fn payload(layout: &Layout, packet: &Packet, compression: Compression) -> Payload {
    let compressed = match compression {
        Compression::Minimal => true,
        Compression::Mandatory => matches!(packet.format(), Some(1 | 2)),
    };
    layout.pack(packet).payload(compressed)
}
