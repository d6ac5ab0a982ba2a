//! Any log gives the same bounded results however it is cut; records that are read are written as the same bytes.
//!
//! Input: two bytes of options, a bit each in the order of `parameters`; the rest is the log.

use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_encoder_model::arm_ete_unit::record_of;
use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::wire::RECORD;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Errata, Interpretation, Parameters, Shown};
use traceproof_vectors::{Decoder as _, Entry, Program};

use crate::pieces::is_the_same_in_pieces;

/// A fuzz input for this target, if options give these parameters.
#[must_use]
pub fn input(wanted: &Parameters, wire: &[u8]) -> Option<Vec<u8>> {
    let chosen =
        [[0, 0], [1, 0], [2, 0], [4, 0]].into_iter().find(|options| parameters(*options) == *wanted)?;
    Some([&chosen[..], wire].concat())
}

/// Checks the log whole, byte by byte and after a reset, and compares; writes what was read.
///
/// # Panics
///
/// When the results differ, are out of bounds, or do not survive a round trip.
pub fn run(data: &[u8]) {
    let Some((options, log)) = data.split_first_chunk::<2>() else { return };
    let mut decoder = Decoder::default();
    decoder.begin(&parameters(*options), &Program::new()).expect("parameters of a trace unit");
    let results = is_the_same_in_pieces::<ArmEteUnit>(&mut decoder, log);
    for (place, entry) in &results.entries {
        let Entry::Packet(packet) = entry else { continue };
        let begin = usize::try_from(place.byte).expect("a place in the log");
        let record = record_of(packet).expect("what was read can be written");
        assert_eq!(log.get(begin..begin + RECORD), Some(&record[..]), "{packet:?}");
    }
}

fn parameters([first, second]: [u8; 2]) -> Parameters {
    let options = u16::from(first) | u16::from(second) << 8;
    let bit = |index: u16| options >> index & 1 == 1;
    let default = Parameters::default();
    Parameters {
        version: if bit(1) { Version::Etmv4_6 } else { default.version },
        trace_buffer: !bit(3),
        realms: bit(4),
        self_hosted: !bit(5),
        bound: bit(6).then_some(100),
        shown: Shown {
            barriers: !bit(0),
            states: bit(2),
            system: !bit(7),
            external: !bit(8),
            events: bit(9),
        },
        errata: Errata {
            tsb_may_not_flush: bit(10),
            trace_buffer_ignores_writes: bit(11),
            trace_buffer_needs_two_events: bit(12),
            early_flush_acknowledge: bit(13),
        },
        interpretation: Interpretation {
            accept_context_switch: !bit(14),
            disabled_interfaces_are_silent: bit(15),
        },
        ..default
    }
}
