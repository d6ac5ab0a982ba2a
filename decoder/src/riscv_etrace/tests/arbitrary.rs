//! Arbitrary bytes in arbitrary chunks.

use alloc::vec::Vec;

use proptest::prelude::*;
use traceproof_vectors::riscv_etrace::{Modes, Parameters, RiscvEtrace, TrapVectors, Version, Xlen};
use traceproof_vectors::{Address, Decoder as _, DecoderLimits, Log, Program};

use super::parcels;
use crate::riscv_etrace::{Decoder, dissect};

fn begin(parameters: &Parameters, program: &Program) -> Decoder {
    let mut decoder = Decoder::default();
    decoder.set_limits(&DecoderLimits::COLLECTED);
    decoder.begin(parameters, program).expect("supported");
    decoder
}

fn feed<'a>(decoder: &mut Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Log<RiscvEtrace> {
    let mut log = Log::default();
    for chunk in chunks {
        decoder.push(chunk, &mut log);
    }
    decoder.finish(&mut log);
    log
}

prop_compose! {
    pub(super) fn parameters()(
        wide in any::<bool>(),
        lsb in 1..=2_u8,
        widths in (1..=4_u8, 1..=64_u8, 1..=64_u8, 1..=64_u8),
        flags in any::<[bool; 8]>(),
        sizes in (0..3_u8, 0..3_u8, 0..3_u8, 0..3_u8),
        (later, iret_ext, resync_disabled_keeps_state) in any::<(bool, bool, bool)>(),
    ) -> Parameters {
        let [nocontext_p, notime_p, full_address, implicit_exception, predict, index, returns, sijump] = flags;
        let (bpred_size_p, cache_size_p, return_stack_size_p, call_counter_size_p) = sizes;
        Parameters {
            version: if later { Version::V2_0_5 } else { Version::V2_0 },
            iret_ext: later && iret_ext,
            resync_disabled_keeps_state: later && resync_disabled_keeps_state,
            xlen: if wide { Xlen::Rv64 } else { Xlen::Rv32 },
            iaddress_width_p: if wide { 40 } else { 32 },
            iaddress_lsb_p: lsb,
            privilege_width_p: widths.0,
            context_width_p: widths.1,
            time_width_p: if later { 16 * widths.2.div_ceil(16) } else { widths.2 },
            ecause_width_p: widths.3,
            nocontext_p,
            notime_p,
            bpred_size_p,
            cache_size_p,
            return_stack_size_p,
            call_counter_size_p,
            f0s_width_p: 1,
            sijump_p: true,
            trap_vectors: Some(TrapVectors { base: Address(0x1000), vectored: true }),
            modes: Modes {
                full_address,
                implicit_exception,
                branch_prediction: predict && bpred_size_p > 0,
                jump_target_cache: index && cache_size_p > 0,
                implicit_return: returns && (return_stack_size_p > 0 || call_counter_size_p > 0),
                sijump,
            },
            ..Parameters::default()
        }
    }
}

/// Payloads that often are short differences and starts near the code, so that walks happen.
pub(super) fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(alloc::vec![0x73, 0x00, 0x04]),
        Just(alloc::vec![0x1f]),
        // Standard support packets that often announce `resync_disabled`.
        (any::<u8>(), any::<u8>()).prop_map(|(modes, sizes)| alloc::vec![0x1f, modes & 0xfe, sizes, 0x00]),
        (any::<u8>(), 0..8_u8).prop_map(|(low, high)| alloc::vec![low & !3 | 1, high]),
        any::<u8>().prop_map(|byte| alloc::vec![byte & !3 | 2]),
        any::<u8>().prop_map(|byte| alloc::vec![byte & 0x1f]),
        proptest::collection::vec(any::<u8>(), 1..12),
    ]
}

/// Half-words that often are short branches, jumps, returns and the two halves of a nop.
pub(super) fn code() -> impl Strategy<Value = Vec<u16>> {
    let halfword = prop_oneof![
        any::<u16>(),
        Just(0x0001),
        Just(0x8082_u16),
        (0..8_u16, 5..8_u16).prop_map(|(offset, op)| op << 13 | 1 | (offset & 3) << 3 | (offset >> 2) << 10),
        Just(0x0013),
        Just(0x0000),
    ];
    proptest::collection::vec(halfword, 1..64)
}

proptest! {
    #[test]
    fn cuts_and_resets_change_nothing(
        parameters in parameters(),
        code in code(),
        payloads in proptest::collection::vec(payload(), 0..24),
        noise in proptest::collection::vec(any::<u8>(), 0..8),
        cut in 1..9_usize,
    ) {
        let program = parcels(&[(0x1000, &code)]);
        let mut wire: Vec<u8> = Vec::new();
        for payload in &payloads {
            wire.push(payload.len() as u8);
            wire.extend(payload);
        }
        wire.extend(noise);
        let mut decoder = begin(&parameters, &program);
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(cut));
        prop_assert_eq!(&whole.entries, &pieces.entries);
        decoder.reset();
        let single = feed(&mut decoder, wire.chunks(1));
        prop_assert_eq!(&whole.entries, &single.entries);
        // The dissector reads the same packets, where the decoder was willing to.
        let read: Vec<_> = dissect(&wire, &parameters).into_iter().filter_map(|unit| unit.packet?.ok()).collect();
        prop_assert!(whole.packets().count() <= read.len());
    }

    #[test]
    fn plain_noise_is_survived(
        parameters in parameters(),
        wire in proptest::collection::vec(any::<u8>(), 0..300),
        cut in 1..40_usize,
    ) {
        let program = parcels(&[(0x1000, &[0x0001; 32])]);
        let mut decoder = begin(&parameters, &program);
        let whole = feed(&mut decoder, core::iter::once(wire.as_slice()));
        decoder.reset();
        let pieces = feed(&mut decoder, wire.chunks(cut));
        prop_assert_eq!(whole.entries, pieces.entries);
    }
}
