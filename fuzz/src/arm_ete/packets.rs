//! ETE packets: whatever the reader reads, the writer turns into the same bytes.
//!
//! Input: constants ([`presets::parameters`]); the rest is packets, after an A-sync.

use traceproof_decoder::arm_ete::dissect;
use traceproof_encoder_model::arm_ete::write_packet;
use traceproof_vectors::arm_ete::Parameters;

use super::presets;

const A_SYNC: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

/// The longest stream: the writer refuses an A-sync of tens of thousands of zeros.
const LONGEST: usize = 1 << 14;

/// A fuzz input for this target; `None` when the parameters do not fit into the format.
#[must_use]
pub fn input(parameters: &Parameters, stream: &[u8]) -> Option<Vec<u8>> {
    Some([&presets::constants(parameters)?[..], stream].concat())
}

/// Reads packets, writes each of them, and compares the bytes: a packet keeps its reserved bits, too.
///
/// # Panics
///
/// When the writer cannot write what the reader read, or writes other bytes.
///
/// Spec: ETE-PKT-ENC-001.
pub fn run(data: &[u8]) {
    let Some((constants, stream)) = data.split_first_chunk::<{ presets::CONSTANTS }>() else { return };
    let parameters = presets::parameters(*constants);
    if parameters.check().is_err() {
        return;
    }
    let wire = [&A_SYNC[..], stream.get(..LONGEST).unwrap_or(stream)].concat();
    for unit in dissect(&wire, &parameters) {
        let Some(Ok(packet)) = unit.packet else { continue };
        let written = write_packet(&packet, &parameters)
            .unwrap_or_else(|error| panic!("{packet:?} was read but cannot be written: {error}"));
        let end = usize::try_from(unit.bytes.end).expect("inside the stream");
        let read = &wire[usize::try_from(unit.bytes.start).expect("inside the stream")..end];
        assert_eq!(written, read, "{packet:?}: {written:02x?} instead of {read:02x?}");
    }
}
