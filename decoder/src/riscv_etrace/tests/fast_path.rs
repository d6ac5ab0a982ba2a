//! The decoder with and without its fast path.

use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{Modes, Parameters, RiscvEtrace, Xlen};
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
    ) {
        let parameters = Parameters {
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
