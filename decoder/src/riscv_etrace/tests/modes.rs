//! The optional modes: what is not in the packets because both sides can derive it.

use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{Event, Modes, Parameters, TrapVectors};
use traceproof_vectors::{Address, Decoder as _, DecoderLimits, FaultClass, Log, Program};

use super::{JUMP, LOOP, NOP, RET, frame, pack, parcels, program, summary};
use crate::riscv_etrace::Decoder;

/// `jal rd, offset`
pub(super) fn jal(rd: u32, offset: i32) -> u32 {
    let bits = |first: u32, width: u32| (offset as u32 >> first) & ((1 << width) - 1);
    bits(20, 1) << 31 | bits(1, 10) << 21 | bits(11, 1) << 20 | bits(12, 8) << 12 | rd << 7 | 0x6f
}

/// The parameters of the worked examples of format 0.
fn extended(modes: Modes) -> Parameters {
    Parameters { f0s_width_p: 1, cache_size_p: 5, bpred_size_p: 4, modes, ..Parameters::default() }
}

mod implicit_exception {
    use super::*;

    fn parameters(vectored: bool) -> Parameters {
        let modes = Modes { implicit_exception: true, ..Modes::default() };
        let trap_vectors = Some(TrapVectors { base: Address(0x3000), vectored });
        Parameters { modes, trap_vectors, ..Parameters::default() }
    }

    fn code() -> Program {
        program(&[(0x1000, &[NOP, NOP, NOP, JUMP]), (0x3000, &[NOP; 16])])
    }

    #[test]
    fn the_handler_follows_from_the_cause() {
        let exception = pack(&[(3, 2), (1, 2), (1, 1), (3, 2), (2, 4), (0, 1), (1, 1), (5, 32)]);
        let interrupt = pack(&[(3, 2), (1, 2), (1, 1), (3, 2), (7, 4), (1, 1), (1, 1)]);
        // The difference after each handler refers to it.
        let payloads = ["73 00 04", "0a", &exception, "0a", &interrupt, "0a"];
        assert_eq!(
            summary(&parameters(true), &code(), &payloads),
            "P3 1000 1004 E2@1008 P3 3000 3004 I7 P3 301c 3020"
        );
        assert_eq!(
            summary(&parameters(false), &code(), &payloads),
            "P3 1000 1004 E2@1008 P3 3000 3004 I7 P3 3000 3004"
        );
    }

    #[test]
    fn an_address_that_is_no_handler_travels() {
        // Q7
        let payloads = ["73 00 04", "1a", "77 46 00 01", "73 00 0c", "0a"];
        assert_eq!(
            summary(&parameters(true), &code(), &payloads),
            "P3 1000 1004 1008 100c E12@1004 P3 3000 3004"
        );
    }
}

mod sijump {
    use super::*;

    fn parameters(itype_width_p: u8) -> Parameters {
        let modes = Modes { sijump: true, ..Modes::default() };
        Parameters { modes, sijump_p: true, itype_width_p, ..Parameters::default() }
    }

    /// A nop, the given two instructions at 0x1004, nops at 0x2000.
    fn code(upper: u32, jump: u32) -> Program {
        program(&[(0x1000, &[NOP, upper, jump]), (0x2000, &[NOP; 4])])
    }

    /// From 0x1000 to 0x200c.
    fn decoded(upper: u32, jump: u32) -> String {
        let to = pack(&[(2, 2), (0x100c >> 1, 31), (0, 3)]);
        summary(&parameters(4), &code(upper, jump), &["73 00 04", &to])
    }

    #[test]
    fn the_target_is_what_the_instruction_before_loaded() {
        // lui x10, 0x2; jalr x0, 0(x10)
        assert_eq!(decoded(0x0000_2537, JUMP), "P3 1000 1004 1008 2000 2004 2008 200c");
        // auipc x10, 0x1; jalr x0, 5(x10): bit 0 of the sum is cleared.
        assert_eq!(decoded(0x0000_1517, 0x0055_0067), "P3 1000 1004 1008 2008 200c");
        // Another register, or none: the target is the packet's.
        assert_eq!(decoded(0x0000_25b7, JUMP), "P3 1000 1004 1008 200c");
        assert_eq!(decoded(NOP, JUMP), "P3 1000 1004 1008 200c");
    }

    #[test]
    fn compressed_forms() {
        // c.lui x10, 0x2; c.jr x10
        let code = parcels(&[(0x1000, &[0x0001, 0x6509, 0x8502]), (0x2000, &[0x0001; 4])]);
        let to = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 3)]);
        assert_eq!(summary(&parameters(4), &code, &["73 00 04", &to]), "P3 1000 1002 1004 2000 2002 2004");
    }

    #[test]
    fn returns_count_only_where_itype_does_not_tell_them() {
        // lui x1, 0x2; jalr x0, 0(x1)
        let to = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 3)]);
        let code = code(0x0000_20b7, RET);
        assert_eq!(summary(&parameters(4), &code, &["73 00 04", &to]), "P3 1000 1004 1008 2004");
        assert_eq!(summary(&parameters(3), &code, &["73 00 04", &to]), "P3 1000 1004 1008 2000 2004");
    }

    #[test]
    fn inference_crosses_packets_but_no_synchronisation() {
        let code = code(0x0000_2537, JUMP);
        let on = pack(&[(2, 2), (0xffc >> 1, 31), (0, 3)]);
        // Reported (notify) at the jump, then on; the same with start packets at the jump.
        let jump = "12 00 00 00 fe";
        assert_eq!(summary(&parameters(4), &code, &["73 00 04", jump, &on]), "P3 1000 1004 1008 2000 2004");
        assert_eq!(
            summary(&parameters(4), &code, &["73 00 04", "73 02 04", &on]),
            "P3 1000 1004 P3 1008 2004"
        );
        assert_eq!(summary(&parameters(4), &code, &["73 02 04", &on]), "P3 1008 2004");
        // Reported (notify) at the lui.
        let on = pack(&[(2, 2), (0x1000 >> 1, 31), (0, 3)]);
        let upper = "0a 00 00 00 fe";
        assert_eq!(summary(&parameters(4), &code, &["73 00 04", upper, &on]), "P3 1000 1004 1008 2000 2004");
    }

    /// RVET-DEC-033: an option change is no repositioning.
    #[test]
    fn inference_crosses_an_announcement_of_other_modes() {
        let code = code(0x0000_2537, JUMP);
        // 0x1004 (the lui) is reported with notify; then support with `full_address`; then 0x2004 in full.
        let full = pack(&[(2, 2), (0x2004 >> 1, 31), (0, 3)]);
        let payloads = ["73 00 04", "0a 00 00 00 fe", "1f 04", &full];
        assert_eq!(summary(&parameters(4), &code, &payloads), "P3 1000 1004 1008 2000 2004");
    }

    #[test]
    fn an_exception_after_an_inferred_jump_has_its_target_as_epc() {
        let code = program(&[(0x1000, &[NOP, 0x0000_2537, JUMP]), (0x3000, &[NOP])]);
        assert_eq!(
            summary(&parameters(4), &code, &["73 00 04", "12", "77 11 00 03"]),
            "P3 1000 1004 1008 E2@2000 P3 3000"
        );
    }
}

mod jump_target_cache {
    use super::*;

    fn parameters() -> Parameters {
        extended(Modes { jump_target_cache: true, ..Modes::default() })
    }

    #[test]
    fn targets_come_back_by_index() {
        let code = program(&[(0x1000, &[NOP, JUMP]), (0x2008, &[NOP, JUMP]), (0x3010, &[NOP, NOP])]);
        // Q16
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", "12 20", "f2 df", "24", "12 20", "0a", "5f"]),
            "P3 1000 1004 2008 200c 1000 1004 2008 200c 3010 3014 end"
        );
        // The same without the index.
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", "12 20", "f2 df", "12 20", "12 20", "0a", "5f"]),
            "P3 1000 1004 2008 200c 1000 1004 2008 200c 3010 3014 end"
        );
    }

    #[test]
    fn an_index_carries_outcomes() {
        // beq at 0x200c
        let code = program(&[(0x1000, &[NOP, JUMP]), (0x2008, &[NOP, 0x0000_0463, JUMP])]);
        // Q17
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", "12 20", "85 fc f7", "24", "04 e1", "0a", "5f"]),
            "P3 1000 1004 2008 200c 2010 1000 1004 2008 200c 2010 1000 1004 end"
        );
    }

    #[test]
    fn synchronisation_invalidates() {
        let code = program(&[(0x1000, &[NOP, JUMP]), (0x2008, &[NOP, JUMP])]);
        // The start packet's own address (index 0) is not stored either.
        for index in ["24", "04"] {
            assert_eq!(
                summary(&parameters(), &code, &["73 00 04", "12 20", "73 00 04", index]),
                "P3 1000 1004 2008 200c P3 1000 invalid-reference@3:12.3"
            );
        }
    }

    #[test]
    fn the_second_arrival_is_walked_before_the_lookup() {
        // A nop, B nop, J at 0x1008: B is reported, and it was the second time, after J.
        let code = program(&[(0x1000, &[NOP, NOP, JUMP]), (0x2000, &[NOP])]);
        // Index of 0x1004 is 2: stored only by the walk to the second arrival.
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", "0a", "14"]),
            "P3 1000 1004 1008 1004 1008 1004"
        );
    }
}

mod branch_prediction {
    use super::*;

    fn parameters() -> Parameters {
        extended(Modes { branch_prediction: true, ..Modes::default() })
    }

    fn repeated(address: &str, times: usize) -> String {
        [" ", address].concat().repeat(times)
    }

    #[test]
    fn a_count_stands_for_right_predictions_and_a_failure() {
        let code = program(&[(0x1000, &[NOP, LOOP, NOP])]);
        // Q14
        let expected = alloc::format!("P3 1000{} 1008 end", repeated("1004", 73));
        assert_eq!(summary(&parameters(), &code, &["73 00 04", "01", "50", "12", "5f"]), expected);
    }

    /// Q15 with a program that can run: 80 branches one after the other, each to the next instruction, and a jump.
    #[test]
    fn a_count_with_an_address() {
        let code: Vec<u32> = core::iter::once(NOP).chain([0x0000_0263; 80]).chain([JUMP]).collect();
        let code = program(&[(0x1000, &code), (0x2100, &[NOP, NOP])]);
        // The first eight fail, one per predictor used; 31 are in the map; 31 + 18 more are right.
        let count = pack(&[(0, 2), (0, 1), (18, 32), (2, 2), (0x1100 >> 1, 31), (0, 3)]);
        let mut expected = String::from("P3 1000");
        for branch in 0..=80 {
            expected += &alloc::format!(" {:x}", 0x1004 + 4 * branch);
        }
        expected += " 2100 2104";
        assert_eq!(summary(&parameters(), &code, &["73 00 04", "01", &count, "0a"]), expected);
    }

    /// RVET-DEC-040: a count has 32 bits, and all of them are legal. Bounds are the caller's.
    #[test]
    fn large_counts_are_legal() {
        // The map trains the predictor; then 2^20 + 1 and 31 more right ones, and a miss.
        let count = pack(&[(0, 2), (0, 1), ((1 << 20) + 1, 32), (0, 2)]);
        let wire = frame(&["73 00 04", "01", &count, "12"]);
        let code = program(&[(0x1000, &[NOP, LOOP, NOP])]);
        let counted = |limits: DecoderLimits| {
            let mut decoder = Decoder::default();
            decoder.set_limits(&limits);
            decoder.begin(&parameters(), &code).expect("parameters are supported");
            let mut log = Log::default();
            decoder.push(&wire, &mut log);
            let retired = |event: &Event| if let Event::Retire { count, .. } = event { *count } else { 0 };
            (
                log.events().map(retired).sum::<u64>(),
                log.faults().map(|fault| fault.class).collect::<Vec<_>>(),
            )
        };
        // The first instruction, every arrival at the branch, the instruction after it.
        assert_eq!(counted(DecoderLimits::default()), (1 + 31 + (1 << 20) + 32 + 1 + 1, Vec::new()));
        let (retired, faults) = counted(DecoderLimits::COLLECTED);
        assert_eq!((retired, faults.first()), (1 + 31, Some(&FaultClass::Limit)));
        assert_eq!(DecoderLimits::DEFAULT.repeats, u64::from(u32::MAX) + 31);
    }

    /// RVET-DEC-051: counts one after the other cost no more than their bytes allow.
    #[test]
    fn work_is_bounded_for_each_byte() {
        // All of them arrive at the loop.
        let count = |delta: u64| pack(&[(0, 2), (0, 1), (1 << 10, 32), (2, 2), (delta >> 1, 31), (0, 3)]);
        let (first, more) = (count(4), count(0));
        let mut packets = alloc::vec!["73 00 04", "01", &first];
        packets.extend([more.as_str(); 40]);
        let wire = frame(&packets);
        let code = program(&[(0x1000, &[NOP, LOOP, NOP])]);
        for work in [0, 1, 50, 5000] {
            let limits = DecoderLimits::default().with_steps(1 << 10).with_repeats(1 << 12).with_work(work);
            for fast in [true, false] {
                let decoder = Decoder::default();
                let mut decoder = if fast { decoder } else { decoder.without_fast_path() };
                decoder.set_limits(&limits);
                decoder.begin(&parameters(), &code).expect("parameters are supported");
                let mut log = Log::default();
                decoder.push(&wire, &mut log);
                let passed: u64 = log
                    .events()
                    .map(|event| if let Event::Retire { count, .. } = event { *count } else { 0 })
                    .sum();
                let allowed = limits.passed(wire.len() as u64);
                let limited = log.faults().any(|fault| fault.class == FaultClass::Limit);
                // Arrivals at synchronisations and explicit outcomes come on top.
                assert!(passed <= allowed + 64 && passed > 4096, "work {work}: {passed} of {allowed}");
                assert_eq!(limited, work < 5000, "work {work}: {passed} of {allowed}");
            }
        }
    }

    #[test]
    fn the_reported_instruction_may_be_the_last_branch() {
        let code = program(&[(0x1000, &[NOP, LOOP, NOP, NOP])]);
        // 31 taken; 31 + 2 right ones, the last of which is reported; then it is walked over: it is taken.
        let right = pack(&[(0, 2), (0, 1), (2, 32), (2, 2), (4 >> 1, 31), (0, 3)]);
        let more = pack(&[(1, 2), (1, 5), (1, 1), (4 >> 1, 31), (0, 3)]);
        let expected = alloc::format!("P3 1000{} 1008", repeated("1004", 31 + 33 + 1));
        assert_eq!(summary(&parameters(), &code, &["73 00 04", "01", &right, &more]), expected);
        // 31 + 2 right ones and one that fails, which is reported: it falls through.
        let wrong = pack(&[(0, 2), (0, 1), (2, 32), (3, 2), (4 >> 1, 31), (0, 3)]);
        let expected = alloc::format!("P3 1000{} 1008 100c", repeated("1004", 31 + 33 + 1));
        assert_eq!(summary(&parameters(), &code, &["73 00 04", "01", &wrong, "12"]), expected);
    }

    #[test]
    fn synchronisation_resets_the_predictor_before_its_own_branch() {
        let code = program(&[(0x1000, &[NOP, LOOP, NOP])]);
        // Start at the branch, taken: from 01 to 11. So 31 more are right, and a failure leads on.
        let expected = alloc::format!("P3{} 1008", repeated("1004", 33));
        assert_eq!(summary(&parameters(), &code, &["63 01 04", "00", "0a"]), expected);
    }
}

mod implicit_return {
    use super::*;

    /// A stack of eight; `irdepth` has 4 bits.
    fn parameters() -> Parameters {
        let modes = Modes { implicit_return: true, ..Modes::default() };
        Parameters { modes, return_stack_size_p: 3, ..Parameters::default() }
    }

    /// Format 2 with this difference, and `irreport` at this depth.
    fn at_depth(delta: i64, depth: u64) -> String {
        let msb = u64::from(delta < 0);
        pack(&[(2, 2), (delta as u64 >> 1, 31), (msb, 1), (msb, 1), (1 - msb, 1), (depth, 4)])
    }

    /// A call at 0x1000 to 0x2000, which returns; code at 0x3000.
    fn code() -> Program {
        program(&[(0x1000, &[jal(1, 0x1000), NOP, NOP]), (0x2000, &[NOP, RET]), (0x3000, &[NOP, RET])])
    }

    #[test]
    fn a_return_goes_where_the_call_came_from() {
        assert_eq!(summary(&parameters(), &code(), &["73 00 04", "12"]), "P3 1000 2000 2004 1004 1008");
        // jal x5 and jalr x0, 0(x5) do the same.
        let alternate = program(&[(0x1000, &[jal(5, 0x1000), NOP, NOP]), (0x2000, &[NOP, 0x0002_8067])]);
        assert_eq!(summary(&parameters(), &alternate, &["73 00 04", "12"]), "P3 1000 2000 2004 1004 1008");
    }

    #[test]
    fn a_reported_return_goes_where_the_packet_says_and_leaves_the_stack() {
        let reported = at_depth(0x2000, 1);
        // To 0x3000; the return there is implicit again.
        let on = pack(&[(2, 2), ((-0x1ff8_i64) as u64 >> 1, 31), (1, 1), (1, 1), (1, 1), (15, 4)]);
        assert_eq!(
            summary(&parameters(), &code(), &["73 00 04", &reported, &on]),
            "P3 1000 2000 2004 3000 3004 1004 1008"
        );
    }

    #[test]
    fn without_a_call_a_return_is_reported() {
        // Start in the function; then resynchronisation in it.
        let to = pack(&[(2, 2), ((-0x1000_i64) as u64 >> 1, 31), (15, 4), (7, 3)]);
        assert_eq!(summary(&parameters(), &code(), &["73 00 08", &to]), "P3 2000 2004 1000");
        assert_eq!(
            summary(&parameters(), &code(), &["73 00 04", "73 00 08", &to]),
            "P3 1000 P3 2000 2004 1000"
        );
    }

    #[test]
    fn the_oldest_call_is_forgotten() {
        // Three nested calls. With a stack of two the outermost return is reported.
        let code = program(&[
            (0x1000, &[jal(1, 0x1000), NOP]),
            (0x2000, &[jal(1, 0x1000), RET]),
            (0x3000, &[jal(1, 0x1000), RET]),
            (0x4000, &[RET]),
            (0x5000, &[NOP]),
        ]);
        let to = pack(&[(2, 2), (0x4000 >> 1, 31), (0, 3)]);
        let two = Parameters { return_stack_size_p: 1, ..parameters() };
        assert_eq!(summary(&two, &code, &["73 00 04", &to]), "P3 1000 2000 3000 4000 3004 2004 5000");
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &to]),
            "P3 1000 2000 3000 4000 3004 2004 1004 no-code@1:5.0"
        );
        // A counter of size 1 ends at two, as a register of one bit at one; one of two bits holds three either way.
        let counter = |call_counter_size_p, call_counter_fits_irdepth| Parameters {
            return_stack_size_p: 0,
            call_counter_size_p,
            call_counter_fits_irdepth,
            ..parameters()
        };
        assert_eq!(
            summary(&counter(1, false), &code, &["73 00 04", &to]),
            "P3 1000 2000 3000 4000 3004 2004 5000"
        );
        assert_eq!(summary(&counter(1, true), &code, &["73 00 04", &to]), "P3 1000 2000 3000 4000 3004 5000");
        for fits in [false, true] {
            assert_eq!(
                summary(&counter(2, fits), &code, &["73 00 04", "0a"]),
                "P3 1000 2000 3000 4000 3004 2004 1004"
            );
        }
    }

    #[test]
    fn a_start_packet_directly_after_a_return_tells_its_target() {
        // The return is reached by a jump, with the updiscon flag: the start packet comes next.
        let code = program(&[(0x1000, &[jal(1, 0x1000), NOP]), (0x2000, &[JUMP, RET]), (0x3000, &[NOP])]);
        let flagged = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 1), (1, 1), (1, 1), (15, 4)]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &flagged, "73 00 0c"]),
            "P3 1000 2000 2004 P3 3000"
        );
        // It is reached by straight code, without the flag: first arrival, because only its target can follow.
        let code = program(&[(0x1000, &[jal(1, 0x1000), NOP]), (0x2000, &[NOP, RET]), (0x3000, &[NOP])]);
        let plain = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 7)]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &plain, "73 00 0c"]),
            "P3 1000 2000 2004 P3 3000"
        );
    }

    #[test]
    fn a_start_packet_directly_after_a_counted_return() {
        // The return is reached by a jump, with the updiscon flag; it goes back, and the start packet reports it.
        let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..parameters() };
        let code = program(&[(0x1000, &[jal(1, 0x1000), NOP, NOP]), (0x2000, &[JUMP, RET])]);
        let flagged = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 1), (1, 1), (1, 1), (3, 2)]);
        assert_eq!(
            summary(&counter, &code, &["73 00 04", &flagged, "73 01 04", "0a"]),
            "P3 1000 2000 2004 P3 1004 1008"
        );
    }

    /// RVET-DEC-022: the static successor of a counted return is its link.
    #[test]
    fn a_start_packet_somewhere_after_a_counted_return() {
        let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..parameters() };
        // f at 0x2000: the return at 0x2004 is reported; it goes to 0x1004, where a jump leads to it again.
        let code = program(&[(0x1000, &[jal(1, 0x1000), JUMP, NOP]), (0x2000, &[NOP, RET])]);
        let at_return = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 3)]);
        // First arrival: the start packet reports the link.
        assert_eq!(
            summary(&counter, &code, &["73 00 04", &at_return, "73 01 04"]),
            "P3 1000 2000 2004 P3 1004"
        );
        // Second arrival: it does not. Now no call is open, so the return is reported by the packet.
        assert_eq!(
            summary(&counter, &code, &["73 00 04", &at_return, "73 02 04"]),
            "P3 1000 2000 2004 1004 2004 P3 1008"
        );
    }

    #[test]
    fn the_depth_tells_two_arrivals_apart() {
        // g at 0x3000 is called from 0x1000 and from f at 0x2000.
        let code = program(&[
            (0x1000, &[jal(1, 0x2000), jal(1, 0xffc), NOP]),
            (0x2000, &[jal(1, 0x1000), RET]),
            (0x3000, &[NOP, RET]),
        ]);
        let deep = at_depth(0x2000, 2);
        assert_eq!(summary(&parameters(), &code, &["73 00 04", &deep]), "P3 1000 3000 3004 1004 2000 3000");
    }

    /// `irreport` at this depth, one outcome or two in the map.
    fn mapped_at_depth(branches: u64, map: u64, delta: u64, depth: u64) -> String {
        let width = if branches == 1 { 1 } else { 3 };
        pack(&[(1, 2), (branches, 5), (map, width), (delta >> 1, 31), (0, 2), (1, 1), (depth, 4)])
    }

    /// RVET-DEC-014: a reported return leaves no outcome over, so one before a branch is another.
    #[test]
    fn a_reported_return_stands_after_all_branches() {
        // f at 0x2000 is called twice with `beq x0, x0, .+4` in between; the second return goes to 0x3000.
        let caller = [jal(1, 0x1000), 0x0000_0263, jal(1, 0xff8)];
        let code = program(&[(0x1000, &caller), (0x2000, &[NOP, RET]), (0x3000, &[NOP])]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &mapped_at_depth(1, 1, 0x2000, 1)]),
            "P3 1000 2000 2004 1004 1008 2000 2004 3000"
        );
        // There is a branch at 0x3000; its own outcome (not taken) stays.
        let code = program(&[(0x1000, &caller), (0x2000, &[NOP, RET]), (0x3000, &[LOOP, NOP])]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &mapped_at_depth(2, 0b11, 0x2000, 1), "0a"]),
            "P3 1000 2000 2004 1004 1008 2000 2004 3000 3004"
        );
    }

    /// With a counter no return at a depth above 0 is ever reported (ET 3.2.5).
    #[test]
    fn a_counter_trusts_every_return() {
        let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..parameters() };
        // f at 0x2000 returns from depth 1; g at 0x3000 calls h at 0x4000, and 0x3004 is reported at depth 1.
        let code = program(&[
            (0x1000, &[jal(1, 0x1000), jal(1, 0x1ffc), NOP]),
            (0x2000, &[NOP, RET]),
            (0x3000, &[jal(1, 0x1000), NOP, RET]),
            (0x4000, &[RET]),
        ]);
        let deep = pack(&[(2, 2), (0x2004 >> 1, 31), (0, 2), (1, 1), (1, 2)]);
        assert_eq!(summary(&counter, &code, &["73 00 04", &deep]), "P3 1000 2000 2004 1004 3000 4000 3004");
    }

    /// Two exceptions after a return. A stack may have found it wrong, and then the address is the first one's EPC (ET
    /// 7.3.1); a counter cannot, so it is that of the second (ET 11).
    #[test]
    fn an_exception_after_a_counted_return() {
        let at_return = pack(&[(2, 2), (0x1004 >> 1, 31), (0, 3)]);
        let trap = |thaddr: u64, address: u64| {
            let head = [(3, 2), (1, 2), (1, 1), (3, 2), (2, 4), (0, 1), (thaddr, 1)];
            pack(&[&head[..], &[(address >> 1, 31), (0, 32)]].concat())
        };
        let payloads = ["73 00 04", &at_return, &trap(0, 0x3000), &trap(1, 0x3004)];
        let counter = Parameters { return_stack_size_p: 0, call_counter_size_p: 2, ..parameters() };
        assert_eq!(summary(&counter, &code(), &payloads), "P3 1000 2000 2004 E2@1004 E2@3000 P3 3004");
        assert_eq!(summary(&parameters(), &code(), &payloads), "P3 1000 2000 2004 E2@3000 E2@? P3 3004");
    }

    #[test]
    fn a_coroutine_swap_neither_calls_nor_returns() {
        // jalr x5, 0(x1) in the function: its target is the packet's, the call is still open.
        let code = program(&[
            (0x1000, &[jal(1, 0x1000), NOP]),
            (0x2000, &[NOP, 0x0000_82e7]),
            (0x3000, &[NOP, RET]),
        ]);
        let swap = pack(&[(2, 2), (0x2000 >> 1, 31), (0, 3)]);
        let back = pack(&[(2, 2), ((-0x1ffc_i64) as u64 >> 1, 31), (7, 3), (15, 4)]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &swap, &back]),
            "P3 1000 2000 2004 3000 3004 1004"
        );
    }

    #[test]
    fn calls_and_returns_in_a_circle_end() {
        // call 0x2000; jal .-4, for ever.
        let code = program(&[(0x1000, &[jal(1, 0x1000), jal(0, -4)]), (0x2000, &[RET])]);
        let to = pack(&[(2, 2), (0x800 >> 1, 31), (0, 3)]);
        assert_eq!(
            summary(&parameters(), &code, &["73 00 04", &to]),
            "P3 1000 2000 1004 1000 2000 limit@1:5.0"
        );
        // The same function called repeatedly on a longer path is no loop.
        let calls: Vec<u32> = (0..40).map(|call| jal(1, 0x1000 - 4 * call)).chain([NOP]).collect();
        let code = program(&[(0x1000, &calls), (0x2000, &[RET])]);
        let to = pack(&[(2, 2), (0xa0 >> 1, 31), (0, 3)]);
        assert!(summary(&parameters(), &code, &["73 00 04", &to]).ends_with("109c 2000 10a0"));
    }

    #[test]
    fn a_circle_of_inferred_jumps_ends() {
        let modes = Modes { sijump: true, ..Modes::default() };
        let parameters = Parameters { modes, sijump_p: true, ..Parameters::default() };
        // lui x10, 0x1; jalr x0, 0(x10) at 0x1000
        let code = program(&[(0x1000, &[0x0000_1537, JUMP])]);
        let to = pack(&[(2, 2), (0x800 >> 1, 31), (0, 3)]);
        assert_eq!(summary(&parameters, &code, &["73 00 04", &to]), "P3 1000 1004 1000 1004 limit@1:5.0");
    }
}
