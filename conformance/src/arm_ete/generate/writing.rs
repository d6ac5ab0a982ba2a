//! Packets with fields at their limits and beyond: what fits is written and read back, and what would be read as
//! another packet is refused.

use std::ops::ControlFlow;

use traceproof_decoder::arm_ete::{Dissector, Listener, PacketReader};
use traceproof_encoder_model::arm_ete::write_packet;
use traceproof_vectors::arm_ete::{Packet, Parameters, QElements, Version};
use traceproof_vectors::{Fault, Place};

use super::dissected;

mod fields;
mod packets;

/// An A-sync, after which a packet can be read.
const ALIGNMENT: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

/// What follows in the same chunk: Trace On.
const AFTER: [u8; 8] = [0x04; 8];

/// Writes packets with every limit of their fields, and reads what was written, whole and byte by byte.
///
/// Spec: ETE-PKT-RT-001, ETE-PKT-RT-002.
///
/// # Errors
///
/// The first packet that fits and is refused, or is read as another one, as none or several.
pub(super) fn read_back(parameters: &Parameters) -> Result<(), String> {
    for version in [parameters.version, other_version(parameters)] {
        let parameters = &Parameters { version, ..parameters.clone() };
        if parameters.check().is_err() {
            continue;
        }
        let dissector = Dissector::new(parameters).map_err(|refusal| refusal.to_string())?;
        dissected::search(&dissector)?;
        let mut reader = PacketReader::new(parameters).map_err(|refusal| refusal.to_string())?;
        for (packet, fits) in packets::all(parameters) {
            match write_packet(&packet, parameters) {
                Ok(bytes) if fits => {
                    judge(&mut reader, &packet, &bytes)?;
                    dissected::judge(&packet, &bytes, &dissector)?;
                }
                Ok(bytes) => return Err(format!("{packet:x?} is written as {bytes:02x?}")),
                Err(error) if fits => return Err(format!("{packet:x?} is refused: {error}")),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// A version that no scenario has, beside the one that this scenario has.
const fn other_version(parameters: &Parameters) -> Version {
    match parameters.version {
        Version::Etmv4_0 | Version::Etmv4_2 => Version::Etmv4_1,
        version if version.is_ete() => Version::Ete1_1,
        _ => Version::Etmv4_5,
    }
}

/// Whether headers of Q elements are read.
const fn has_q(parameters: &Parameters) -> bool {
    !matches!(parameters.q_elements, QElements::None)
}

fn judge(reader: &mut PacketReader, packet: &Packet, bytes: &[u8]) -> Result<(), String> {
    let mut read = |chunks: &[&[u8]]| {
        reader.reset();
        let mut heard = Heard::default();
        chunks.iter().for_each(|chunk| reader.push(chunk, &mut heard));
        reader.finish(&mut heard);
        heard
    };
    let whole = [&ALIGNMENT, bytes, &AFTER].concat();
    let single: Vec<&[u8]> = whole.chunks(1).take(ALIGNMENT.len() + bytes.len()).collect();
    let mut expected = vec![Packet::AlignmentSync { zeros: 11 }, *packet];
    let alone = read(&single);
    if alone.packets != expected || alone.faults > 0 {
        return Err(format!("{packet:x?} is written as {bytes:02x?}, and read as {alone:x?}"));
    }
    expected.extend([Packet::TraceOn; AFTER.len()]);
    let together = read(&[&whole]);
    if together.packets != expected || together.faults > 0 {
        return Err(format!(
            "{packet:x?} is written as {bytes:02x?}, and read in one chunk as {together:x?}"
        ));
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Heard {
    packets: Vec<Packet>,
    faults: usize,
}

impl Listener for Heard {
    fn packet(&mut self, _: Place, packet: &Packet) -> ControlFlow<()> {
        self.packets.push(*packet);
        ControlFlow::Continue(())
    }

    fn lost(&mut self, _: &Fault) {
        self.faults += 1;
    }

    fn cut(&mut self, _: &Fault) {
        self.faults += 1;
    }
}
