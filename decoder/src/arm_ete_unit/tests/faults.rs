//! Records that cannot be read, chunks, arbitrary bytes.

use alloc::vec::Vec;

use quickcheck::quickcheck;
use traceproof_vectors::arm_ete_unit::Parameters;
use traceproof_vectors::{Decoder as _, FaultClass, Log, Program};

use super::super::{Decoder, dissect};
use super::{bytes, results};

/// The faults of one record: class, bit.
fn faults(record: &[u8]) -> Vec<(FaultClass, u64)> {
    let log = results(&Parameters::default(), record);
    assert_eq!(log.packets().count(), 0);
    log.faults().map(|fault| (fault.class, fault.place.byte * 8 + u64::from(fault.place.bit))).collect()
}

#[test]
fn malformed_records() {
    use FaultClass::{Overlong, ReservedEncoding};
    for (start, class, bit) in [
        (&[21][..], ReservedEncoding, 0),
        (&[0, 1], Overlong, 8),
        (&[1, 3, 4], ReservedEncoding, 8),
        (&[1, 0x08, 4], Overlong, 11),
        (&[1, 0xA1, 4], ReservedEncoding, 13),
        (&[1, 1, 5], ReservedEncoding, 16),
        (&[1, 1, 0, 0x20], ReservedEncoding, 16),
        (&[1, 1, 4, 0, 5], ReservedEncoding, 32),
        (&[1, 0, 4, 0, 1], Overlong, 32),
        (&[1, 1, 4, 0, 0, 1], Overlong, 40),
        (&[1, 1, 4, 0, 0, 0, 0, 0, 2], Overlong, 65),
        (&[1, 0x11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], Overlong, 96),
        (&[2, 0x20], Overlong, 13),
        (&[3, 5], ReservedEncoding, 8),
        (&[4, 3], ReservedEncoding, 8),
        (&[5, 2], Overlong, 9),
        (&[7, 7], ReservedEncoding, 8),
        (&[7, 2, 4], ReservedEncoding, 16),
        (&[7, 2, 3, 4], ReservedEncoding, 24),
        (&[7, 0, 1], Overlong, 16),
        (&[8, 3], ReservedEncoding, 8),
        (&[10, 16, 1], ReservedEncoding, 8),
        (&[10, 1, 2], ReservedEncoding, 16),
        (&[10, 1, 3], ReservedEncoding, 16),
        (&[12, 4], Overlong, 10),
        (&[13, 4], ReservedEncoding, 8),
        (&[16, 5], ReservedEncoding, 8),
        (&[16, 4, 2], Overlong, 17),
        (&[18, 1], ReservedEncoding, 64),
        (&[19, 5], ReservedEncoding, 8),
        (&[20, 7], ReservedEncoding, 8),
        (&[20, 6, 3], ReservedEncoding, 16),
        (&[20, 5, 1], Overlong, 16),
        (&[20, 0, 2], Overlong, 17),
    ] {
        let mut record = start.to_vec();
        record.resize(16, 0);
        assert_eq!(faults(&record), [(class, bit)], "{start:?}");
    }
    assert_eq!(faults(&[0; 15]), [(FaultClass::Truncated, 0)]);
}

#[test]
fn fields_of_a_record() {
    let wire = bytes("sw TRCPRGCTLR=1; sr TRCSTATR->3; out if0 5; wait 7; pe el1 secure");
    let units = dissect(&wire, &Parameters::default(), &Program::default());
    assert_eq!(units.len(), 5);
    for unit in &units {
        let width: u32 = unit.fields.iter().map(|field| field.width).sum();
        assert_eq!(width, 128);
        assert!(matches!(unit.packet, Some(Ok(_))));
    }
    let value = |unit: usize, name| {
        let fields = units.get(unit).map(|unit| unit.fields.as_slice()).unwrap_or_default();
        fields.iter().find(|field| field.name == name).map(|field| (field.bit % 128, field.value))
    };
    assert_eq!(value(0, "EN"), Some((64, 1)));
    assert_eq!(value(0, "register"), Some((16, 4)));
    assert_eq!(value(1, "PMSTABLE"), Some((65, 1)));
    assert_eq!(value(2, "bytes"), Some((64, 5)));
    assert_eq!(value(3, "time"), Some((64, 7)));
    assert_eq!(value(4, "space"), Some((24, 1)));
}

/// Records that are mostly readable: kinds are in range, and most columns are small.
fn shaped(seeds: &[(u8, u8, u8, u8)]) -> Vec<u8> {
    let mut wire = Vec::new();
    for (kind, small, second, value) in seeds {
        let registers = [4, 12, 16, 36, 40, 128, 0x24, 0xA0];
        let kind = kind % 21;
        let at = match kind {
            1 => registers.get(usize::from(second % 8)).copied().unwrap_or(4),
            _ => second % 3,
        };
        let mut record = [0; 16];
        record[..3].copy_from_slice(&[kind, small % if kind == 1 { 32 } else { 7 }, at]);
        record[8] = if kind == 1 && small & 16 == 0 { 0 } else { value % 4 };
        wire.extend_from_slice(&record);
    }
    wire
}

quickcheck! {
    /// Any bytes in any chunks: no panic, the same results, and bounded ones.
    fn chunks_do_not_matter(seeds: Vec<(u8, u8, u8, u8)>, noise: Vec<u8>, cut: u8) -> bool {
        let wire = [shaped(&seeds), noise].concat();
        let whole = results(&Parameters::default(), &wire);
        let mut decoder = Decoder::new(&Parameters::default());
        let mut log = Log::default();
        for chunk in wire.chunks(usize::from(cut % 40) + 1) {
            decoder.push(chunk, &mut log);
        }
        decoder.finish(&mut log);
        log.entries == whole.entries && whole.entries.len() <= 130 * (wire.len() / 16 + 1)
    }
}
