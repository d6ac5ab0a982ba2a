//! The decoder with and without its fast path.

use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{Event, Modes, Parameters, RiscvEtrace, Version, Xlen};
use traceproof_vectors::{Decoder as _, DecoderLimits, Log, Place};

use super::arbitrary::{code, parameters, payload};
use super::parcels;
use crate::riscv_etrace::{Decoder, PacketReader, Payload};

proptest! {
    /// Packet by packet, in contiguous code and in code with a gap; all packets twice, so that walks are known.
    #[test]
    fn both_report_the_same(
        parameters in parameters(),
        plain in any::<bool>(),
        steps in prop_oneof![Just(DecoderLimits::DEFAULT.steps), 1..12_u64],
        code in code(),
        (gap_after, gap) in (1..64_usize, 0..3_u64),
        payloads in proptest::collection::vec(payload(), 1..40),
    ) {
        let (first, second) = code.split_at(gap_after.min(code.len()));
        let program = parcels(&[(0x1000, first), (0x1000 + 2 * (first.len() as u64 + gap), second)]);
        let parameters = if plain { Parameters { modes: Modes::default(), ..parameters } } else { parameters };
        let limits = DecoderLimits::default().with_steps(steps).with_repeats(1 << 12);
        let [mut fast, mut slow] =
            [Decoder::default(), Decoder::default().without_fast_path()].map(|mut decoder| {
                decoder.set_limits(&limits);
                decoder.begin(&parameters, &program).expect("supported");
                decoder
            });
        let once = core::iter::once(alloc::vec![0x73, 0x00, 0x04]).chain(payloads);
        for payload in once.clone().chain(once) {
            let unit: Vec<u8> = core::iter::once(payload.len() as u8).chain(payload).collect();
            let [left, right] = [&mut fast, &mut slow].map(|decoder| {
                let mut log = Log::<RiscvEtrace>::default();
                decoder.push(&unit, &mut log);
                log
            });
            prop_assert_eq!(left.canonical_events(), right.canonical_events());
            prop_assert_eq!(left.packets().collect::<Vec<_>>(), right.packets().collect::<Vec<_>>());
            prop_assert_eq!(left.faults().collect::<Vec<_>>(), right.faults().collect::<Vec<_>>());
        }
    }
}

proptest! {
    /// A branch and a return, over and over: walks begin and end at the same place and differ only in outcomes.
    #[test]
    fn known_walks_differ_by_their_outcomes(outcomes in proptest::collection::vec(any::<bool>(), 3..40)) {
        // c.beqz x8, .+4; c.nop; c.jr x1
        let program = parcels(&[(0x1000, &[0xc011, 0x0001, 0x8082])]);
        let start = [3, 0x73, 0x00, 0x04];
        // Format 1 with one outcome, that of the branch at the reported address, which is the same as before.
        let reports = outcomes.iter().flat_map(|&not_taken| [2, 0x05 | u8::from(not_taken) << 7, 0x00]);
        let wire: Vec<u8> = start.into_iter().chain(reports).collect();
        let [fast, slow] = [Decoder::default(), Decoder::default().without_fast_path()].map(|mut decoder| {
            decoder.begin(&Parameters::default(), &program).expect("supported");
            let mut log = Log::<RiscvEtrace>::default();
            decoder.push(&wire, &mut log);
            log
        });
        prop_assert_eq!(fast.faults().count(), 0);
        prop_assert_eq!(fast.canonical_events(), slow.canonical_events());
        // The branch at the start is not taken; the outcome of the last packet is of a branch that is not passed.
        let three = outcomes.iter().rev().skip(1).filter(|&&not_taken| not_taken).count() + 1;
        let two = outcomes.len() - three;
        let retired: u64 = fast.canonical_events().iter().map(|event| match event {
            Event::Retire { count, .. } => *count,
            _ => 0,
        }).sum();
        prop_assert_eq!(retired, 3 * three as u64 + 2 * two as u64 + 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Bytes are random, or few with their filling, so that whole packets of every shape come up.
    #[test]
    fn short_packets_are_read_alike(
        format in 1..=2_u8,
        word in any::<u64>(),
        kept in 3..=64_u32,
        length in 1..=8_usize,
        wide in any::<bool>(),
        lsb in 1..=2_u8,
        full_address in any::<bool>(),
        depth in 0..=4_u8,
        iret_ext in any::<bool>(),
    ) {
        let parameters = Parameters {
            version: if iret_ext { Version::V2_0_5 } else { Version::V2_0 },
            iret_ext,
            xlen: if wide { Xlen::Rv64 } else { Xlen::Rv32 },
            iaddress_width_p: if wide { 64 } else { 32 },
            iaddress_lsb_p: lsb,
            return_stack_size_p: depth,
            modes: Modes { full_address, ..Modes::default() },
            ..Parameters::default()
        };
        let reader = PacketReader::new(&parameters).expect("possible");
        let word = ((word << (64 - kept)) as i64 >> (64 - kept)) as u64 & !3 | u64::from(format);
        let payload = Payload::new(&word.to_le_bytes()[..length]).expect("1 to 8 bytes");
        let place = Place::default();
        let whole = reader.clone().read_observed(place, &payload, &mut ()).ok();
        prop_assert_eq!(reader.read_short(&payload), whole);
    }
}
