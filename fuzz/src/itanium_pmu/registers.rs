//! Any log gives the same bounded results however it is cut; registers that are read are written as values that read as the same registers.
//!
//! Input: two bytes of options, a bit each in the order of [`Parameters`]; the rest is the log.

use traceproof_decoder::itanium_pmu::Decoder;
use traceproof_encoder_model::itanium_pmu::value_of;
use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{
    Contents, DataEarQualifier, DataEarThresholds, EarReadPrivilege, EarReplacement, FreezeTiming,
    Ia32Counting, IbrLowBits, ItaniumPmu, LatencyOverflow, LatencyThreshold, LongSyllable, Packet,
    Parameters,
};
use traceproof_vectors::{Decoder as _, Log, Program};

use crate::pieces::is_the_same_in_pieces;

/// A fuzz input for this target; only default options but `strict`.
#[must_use]
pub fn input(parameters: &Parameters, wire: &[u8]) -> Option<Vec<u8>> {
    let options = u8::from(!parameters.strict);
    let chosen = self::parameters([options, 0]);
    (chosen == *parameters).then(|| [&[options, 0], wire].concat())
}

/// Decodes the log whole, byte by byte and after a reset, and compares; writes back what was read of registers.
///
/// # Panics
///
/// When the results differ, are out of bounds, or do not come back.
pub fn run(data: &[u8]) {
    let Some((options, log)) = data.split_first_chunk::<2>() else { return };
    let parameters = parameters(*options);
    let mut decoder = Decoder::default();
    decoder.begin(&parameters, &Program::new()).expect("every option is taken");
    let results = is_the_same_in_pieces::<ItaniumPmu>(&mut decoder, log);
    for packet in results.packets() {
        if let Packet::Write(contents) = packet {
            comes_back(contents);
        }
    }
}

/// A write of the register's value is read as the same contents, without a fault about them.
fn comes_back(contents: &Contents) {
    let register = contents.register();
    if !register.is_implemented() {
        return;
    }
    let mut record = [0; RECORD];
    record[..3].copy_from_slice(&[Kind::Write as u8, register.class as u8, register.index]);
    record[8..].copy_from_slice(&value_of(contents).to_le_bytes());
    let mut decoder = Decoder::default();
    decoder.begin(&Parameters::default(), &Program::new()).expect("defaults are taken");
    let mut log = Log::<ItaniumPmu>::default();
    decoder.push(&record, &mut log);
    let read: Vec<&Packet> = log.packets().collect();
    assert_eq!(read, [&Packet::Write(*contents)], "{register} does not come back");
}

fn parameters([first, second]: [u8; 2]) -> Parameters {
    let options = usize::from(first) | usize::from(second) << 8;
    let bit = |index: usize| options >> index & 1;
    Parameters {
        strict: bit(0) == 0,
        ia32_counting: Ia32Counting::ALL[bit(1)],
        latency_overflow: LatencyOverflow::ALL[bit(2)],
        ear_replacement: EarReplacement::ALL[bit(3)],
        long_syllable: LongSyllable::ALL[bit(4)],
        freeze: FreezeTiming::ALL[bit(5)],
        ibr_low_bits: IbrLowBits::ALL[bit(6)],
        data_ear_thresholds: DataEarThresholds::ALL[bit(7)],
        data_ear_qualifier: DataEarQualifier::ALL[bit(8)],
        latency_threshold: LatencyThreshold::ALL[bit(9)],
        ear_read_privilege: EarReadPrivilege::ALL[bit(10)],
    }
}
