//! Any log gives the same bounded results however it is cut; registers that are read are written as values that read as
//! the same registers.
//!
//! Input: two bytes of options, a bit each in the order of [`Parameters`]; the rest is the log.

use traceproof_decoder::itanium_pmu::Decoder;
use traceproof_encoder_model::itanium_pmu::value_of;
use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{
    Contents, DataEarQualifier, DataEarThresholds, EarReadPrivilege, EarReplacement, FreezeTiming,
    Ia32Counting, IbrLowBits, ItaniumPmu, Known, LatencyOverflow, LatencyThreshold, LongSyllable, Packet,
    Parameters, Register,
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
/// When the results differ, are out of bounds, or do not survive a round trip.
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

/// A write of the register's value is read as the same contents.
fn comes_back(contents: &Contents) {
    let register = contents.register();
    if !register.is_implemented() {
        return;
    }
    let mut decoder = Decoder::default();
    decoder.begin(&Parameters::default(), &Program::new()).expect("defaults are taken");
    let mut log = Log::<ItaniumPmu>::default();
    if let Some((configuration, value)) = mode(contents) {
        decoder.push(&write(configuration, value), &mut log);
    }
    decoder.push(&write(register, value_of(contents)), &mut log);
    assert_eq!(log.packets().last(), Some(&Packet::Write(*contents)), "{register} does not come back");
}

/// The configuration without which a defined field of an event address register is undefined: bit 7 is its mode.
fn mode(contents: &Contents) -> Option<(Register, u64)> {
    match contents {
        Contents::InstructionEarLine { tlb: Known::Value(_), .. } => Some((Register::pmc(10), 1 << 7)),
        Contents::InstructionEarLatency { latency: Known::Value(_) } => Some((Register::pmc(10), 0)),
        Contents::DataEarLatency { level: Known::Value(_), .. } => Some((Register::pmc(11), 1 << 7)),
        Contents::DataEarLatency { latency: Known::Value(_), .. } => Some((Register::pmc(11), 0)),
        _ => None,
    }
}

/// The record of a write.
fn write(register: Register, value: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..3].copy_from_slice(&[Kind::Write as u8, register.class as u8, register.index]);
    record[8..].copy_from_slice(&value.to_le_bytes());
    record
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
