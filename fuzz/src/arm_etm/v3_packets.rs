//! ETMv3 packets: whatever the reader reads, the writer turns into bytes that read as the same packets.
//!
//! Input: constants ([`presets::v3`]); the rest is packets, after an A-sync.

use traceproof_decoder::arm_etm::dissect;
use traceproof_encoder_model::arm_etm::v3::write_packet;
use traceproof_vectors::Program;
use traceproof_vectors::arm_etm::{Packet, Parameters};

use super::presets;

const A_SYNC: [u8; 6] = [0, 0, 0, 0, 0, 0x80];

/// A fuzz input for this target; `None` when the parameters do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, stream: &[u8]) -> Option<Vec<u8>> {
    Some([&presets::v3_constants(parameters)?[..], stream].concat())
}

/// Reads packets, writes them, and reads that.
///
/// # Panics
///
/// When the writer cannot write what the reader read, or writes something that reads otherwise.
pub fn run(data: &[u8]) {
    let Some((constants, stream)) = data.split_first_chunk::<{ presets::V3_CONSTANTS }>() else { return };
    let parameters = Parameters { bare_port: false, ..presets::v3(*constants) };
    if parameters.check().is_err() {
        return;
    }
    let read = packets(&[&A_SYNC[..], stream].concat(), &parameters);
    let mut written = Vec::new();
    for packet in &read {
        let bytes = write_packet(packet, &parameters)
            .unwrap_or_else(|error| panic!("{packet:?} was read but cannot be written: {error}"));
        written.extend(bytes);
    }
    assert_eq!(packets(&written, &parameters), read, "{written:02x?}");
}

/// The packets up to the first fault: after one there is a gap that cannot be written.
fn packets(stream: &[u8], parameters: &Parameters) -> Vec<Packet> {
    dissect(stream, parameters, &Program::new())
        .into_iter()
        .map_while(|unit| match unit.packet {
            Some(Ok(packet)) => Some(packet),
            Some(Err(_)) | None => None,
        })
        .collect()
}
