//! Encodings and their classes in ARM DDI 0406. The words are put together by hand from its encoding diagrams, or are
//! those that an assembler writes for the text beside them.

use super::*;
use Class::*;
use InstructionSet::{A32, T16, T32, ThumbEe};

/// What the tables of this file give for an instruction: its class without what the words of all families add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Straight,
    IfThen,
    SupervisorCall,
    MonitorCall,
    HypervisorCall,
    Breakpoint,
    Undefined,
    Wait,
    DataBarrier,
    InstructionBarrier,
    DirectBranch,
    IndirectBranch,
    ExceptionReturn,
}

fn class(instruction: &Instruction) -> Class {
    match instruction.class {
        InstructionClass::IfThen => IfThen,
        InstructionClass::ExceptionCall(ExceptionCall::Supervisor) => SupervisorCall,
        InstructionClass::ExceptionCall(ExceptionCall::SecureMonitor) => MonitorCall,
        InstructionClass::ExceptionCall(ExceptionCall::Hypervisor) => HypervisorCall,
        InstructionClass::ExceptionCall(ExceptionCall::Undefined) => Undefined,
        InstructionClass::ExceptionCall(_) => Breakpoint,
        InstructionClass::Wait(_) => Wait,
        InstructionClass::Barrier(Barrier::Isb) => InstructionBarrier,
        InstructionClass::Barrier(_) => DataBarrier,
        InstructionClass::IndirectBranch { .. } => IndirectBranch,
        InstructionClass::ExceptionReturn(_) => ExceptionReturn,
        _ if instruction.destination() == Destination::Target => DirectBranch,
        _ => Straight,
    }
}

/// Decodes an instruction given as one number: a word, a half-word, or two half-words with the first one on top.
fn decode(set: InstructionSet, code: u32) -> Instruction {
    let low = (code as u16).to_le_bytes();
    let high = ((code >> 16) as u16).to_le_bytes();
    match set {
        A32 => set.decode(&code.to_le_bytes(), None),
        _ if code >> 16 == 0 => set.decode(&low, None),
        _ => set.decode(&[high[0], high[1], low[0], low[1]], None),
    }
}

/// Class, link, conditional.
fn flow(set: InstructionSet, code: u32) -> (Class, bool, bool) {
    let instruction = decode(set, code);
    (class(&instruction), instruction.class.has_link(), instruction.conditional)
}

/// At 0x10000.
const HERE: u64 = 0x1_0000;

#[test]
fn direct_branches_of_arm_state() {
    for (code, target, set, link, conditional) in [
        (0xea00_0002, 0x1_0010, A32, false, false),    // b
        (0xeaff_fffe, 0x1_0000, A32, false, false),    // b .
        (0x0a00_0002, 0x1_0010, A32, false, true),     // beq
        (0xeb00_0003, 0x1_0014, A32, true, false),     // bl
        (0xebff_ffef, 0x0_ffc4, A32, true, false),     // bl backwards
        (0xdbff_fffe, 0x1_0000, A32, true, true),      // blle .
        (0xfa00_008c, 0x1_0238, T32, true, false),     // blx
        (0xfb00_008c, 0x1_023a, T32, true, false),     // blx, H = 1
        (0xfaff_fffe, 0x1_0000, T32, true, false),     // blx .
        (0xea7f_ffff, 0x201_0004, A32, false, false),  // b, furthest forwards
        (0xea80_0000, 0xfe01_0008, A32, false, false), // b, furthest backwards, below 0
    ] {
        let instruction = decode(A32, code);
        assert_eq!(flow(A32, code), (DirectBranch, link, conditional), "{code:#010x}");
        assert_eq!(instruction.target(HERE), target, "{code:#010x}");
        assert_eq!(instruction.target_set, set, "{code:#010x}");
        assert_eq!((instruction.length, instruction.transfers), (4, Transfers::NONE));
    }
}

#[test]
fn other_flow_of_arm_state() {
    #[rustfmt::skip]
    let table: &[(u32, Class, bool, bool)] = &[
        (0xe12f_ff1e, IndirectBranch, false, false),  // bx lr
        (0x112f_ff13, IndirectBranch, false, true),   // bxne r3
        (0xe12f_ff33, IndirectBranch, true, false),   // blx r3
        (0xe12f_ff23, IndirectBranch, false, false),  // bxj r3
        (0xe8bd_8010, IndirectBranch, false, false),  // pop {r4, pc}
        (0x08bd_8010, IndirectBranch, false, true),   // popeq {r4, pc}
        (0xe8fd_800f, ExceptionReturn, false, false), // ldm sp!, {r0-r3, pc}^
        (0xe8dd_600f, Straight, false, false),        // ldm sp, {r0-r3, sp, lr}^
        (0xe8bd_4010, Straight, false, false),        // pop {r4, lr}
        (0xe92d_8000, Straight, false, false),        // push {pc}
        (0xe49d_f004, IndirectBranch, false, false),  // pop {pc}
        (0xe59f_f018, IndirectBranch, false, false),  // ldr pc, [pc, #24]
        (0xe79f_f101, IndirectBranch, false, false),  // ldr pc, [pc, r1, lsl #2]
        (0xe7d1_f002, Straight, false, false),        // ldrb pc: UNPREDICTABLE
        (0xe58f_f018, Straight, false, false),        // str pc, [pc, #24]
        (0xe1a0_f00e, IndirectBranch, false, false),  // mov pc, lr
        (0xe1b0_f00e, ExceptionReturn, false, false), // movs pc, lr
        (0xe25e_f004, ExceptionReturn, false, false), // subs pc, lr, #4
        (0xe24e_f004, IndirectBranch, false, false),  // sub pc, lr, #4
        (0xe08f_f102, IndirectBranch, false, false),  // add pc, pc, r2, lsl #2
        (0xe08f_f312, IndirectBranch, false, false),  // add pc, pc, r2, lsl r3: UNPREDICTABLE
        (0xe3e0_f000, IndirectBranch, false, false),  // mvn pc, #0
        (0xe15f_0000, Straight, false, false),        // cmp pc, r0
        (0xe15f_f000, Straight, false, false),        // cmpp pc, r0 of old
        (0xe35f_f000, Straight, false, false),        // cmpp pc, #0 of old
        (0xe129_f000, Straight, false, false),        // msr cpsr_fc, r0
        (0xe328_f201, Straight, false, false),        // msr apsr_nzcvq, #0x10000000
        (0xe10f_0000, Straight, false, false),        // mrs r0, apsr
        (0xe16f_0f11, Straight, false, false),        // clz r0, r1
        (0xe300_f000, Straight, false, false),        // movw pc: UNPREDICTABLE
        (0xe004_f291, Straight, false, false),        // mul with Rn field 15
        (0xe160_006e, ExceptionReturn, false, false), // eret
        (0xf8bd_0a00, ExceptionReturn, false, false), // rfeia sp!
        (0xf991_0a00, ExceptionReturn, false, false), // rfeib r1
        (0xf96d_0513, Straight, false, false),        // srsdb sp!, #19
        (0xef00_0000, SupervisorCall, false, false),  // svc
        (0x0f00_0001, SupervisorCall, false, true),   // svceq
        (0xe160_0070, MonitorCall, false, false),     // smc #0
        (0xe140_0071, HypervisorCall, false, false),  // hvc #1
        (0xe120_0070, Breakpoint, false, false),      // bkpt #0
        (0xe7f0_00f0, Undefined, false, false),       // udf #0
        (0xe320_f002, Wait, false, false),            // wfe
        (0x1320_f003, Wait, false, true),             // wfine
        (0xe320_f000, Straight, false, false),        // nop
        (0xe320_f004, Straight, false, false),        // sev
        (0xf57f_f06f, InstructionBarrier, false, false), // isb
        (0xf57f_f05f, DataBarrier, false, false),     // dmb
        (0xf57f_f04f, DataBarrier, false, false),     // dsb
        (0xf57f_f01f, Straight, false, false),        // clrex
        (0xf57f_f070, Straight, false, false),        // sb
        (0xee07_0f95, InstructionBarrier, false, false), // mcr p15, 0, r0, c7, c5, 4
        (0x0e07_3f9a, DataBarrier, false, true),      // mcreq p15, 0, r3, c7, c10, 4
        (0xee07_0fba, DataBarrier, false, false),     // mcr p15, 0, r0, c7, c10, 5
        (0xee07_0f9b, Straight, false, false),        // mcr p15, 0, r0, c7, c11, 4
        (0xee11_ff10, Straight, false, false),        // mrc p15, 0, apsr_nzcv, c1, c0, 0
        (0xf102_0013, Straight, false, false),        // cps #19
        (0xf5d1_f000, Straight, false, false),        // pld [r1]
        (0xf200_0110, Straight, false, false),        // vand
    ];
    for &(code, class, link, conditional) in table {
        assert_eq!(flow(A32, code), (class, link, conditional), "{code:#010x}");
        assert_eq!(decode(A32, code).target_set, A32);
    }
}

const NONE: (Access, u8, u8) = (Access::None, 0, 0);
const fn load(count: u8, size: u8) -> (Access, u8, u8) {
    (Access::Load, count, size)
}
const fn store(count: u8, size: u8) -> (Access, u8, u8) {
    (Access::Store, count, size)
}
const fn to(count: u8) -> (Access, u8, u8) {
    (Access::ToCoprocessor, count, 4)
}
const fn from(count: u8) -> (Access, u8, u8) {
    (Access::FromCoprocessor, count, 4)
}

#[test]
fn data_of_arm_state() {
    #[rustfmt::skip]
    let table: &[(u32, (Access, u8, u8))] = &[
        (0xe591_0000, load(1, 4)),   // ldr r0, [r1]
        (0xe5d1_0000, load(1, 1)),   // ldrb
        (0xe581_0000, store(1, 4)),  // str
        (0xe5c1_0000, store(1, 1)),  // strb
        (0xe791_0002, load(1, 4)),   // ldr r0, [r1, r2]
        (0xe7c1_0002, store(1, 1)),  // strb r0, [r1, r2]
        (0xe4b1_0004, load(1, 4)),   // ldrt r0, [r1], #4
        (0xe6ef_0071, NONE),         // uxtb r0, r1: media
        (0xe1d1_00b0, load(1, 2)),   // ldrh
        (0xe1c1_00b0, store(1, 2)),  // strh
        (0xe1d1_00d0, load(1, 1)),   // ldrsb
        (0xe1d1_00f0, load(1, 2)),   // ldrsh
        (0xe1c2_00d0, load(2, 4)),   // ldrd r0, r1, [r2]
        (0xe1c2_00f0, store(2, 4)),  // strd r0, r1, [r2]
        (0xe191_0f9f, load(1, 4)),   // ldrex r0, [r1]
        (0xe182_0f91, store(1, 4)),  // strex r0, r1, [r2]
        (0xe1b2_0f9f, load(2, 4)),   // ldrexd r0, r1, [r2]
        (0xe1a4_0f92, store(2, 4)),  // strexd r0, r2, r3, [r4]
        (0xe1d1_0f9f, load(1, 1)),   // ldrexb
        (0xe1e2_0f91, store(1, 2)),  // strexh
        (0xe191_0c9f, load(1, 4)),   // lda
        (0xe181_fc90, store(1, 4)),  // stl
        (0xe102_0091, (Access::Swap, 2, 4)), // swp r0, r1, [r2]
        (0xe142_0091, (Access::Swap, 2, 1)), // swpb r0, r1, [r2]
        (0xe000_0291, NONE),         // mul
        (0xe080_3291, NONE),         // umull
        (0xe040_3291, NONE),         // umaal
        (0xe8bd_8010, load(2, 4)),   // pop {r4, pc}
        (0xe92d_ffff, store(16, 4)), // push {r0-pc}
        (0xe891_0001, load(1, 4)),   // ldm r1, {r0}
        (0xe8fd_800f, load(5, 4)),   // ldm sp!, {r0-r3, pc}^
        (0xf8bd_0a00, load(2, 4)),   // rfeia sp!
        (0xf96d_0513, store(2, 4)),  // srsdb sp!, #19
        (0xee10_0f10, from(1)),      // mrc p15, 0, r0, c0, c0, 0
        (0xee01_0f10, to(1)),        // mcr p15, 0, r0, c1, c0, 0
        (0xee07_0f95, to(1)),        // CP15 ISB
        (0xfe10_0f10, from(1)),      // mrc2
        (0xec51_0f00, from(2)),      // mrrc p15, 0, r0, r1, c0
        (0xec41_0f00, to(2)),        // mcrr
        (0xee00_0e00, NONE),         // cdp p14
        (0xee30_0a81, NONE),         // vadd.f32
        (0xee10_0a10, from(1)),      // vmov r0, s0
        (0xeef1_0a10, from(1)),      // vmrs r0, fpscr
        (0xec41_0b10, to(2)),        // vmov d0, r0, r1
        (0xed91_0a00, load(1, 4)),   // vldr s0, [r1]
        (0xed91_0b02, load(2, 4)),   // vldr d0, [r1, #8]
        (0xed81_0b00, store(2, 4)),  // vstr d0, [r1]
        (0xecb1_0a03, load(3, 4)),   // vldmia r1!, {s0-s2}
        (0xed2d_8b10, store(16, 4)), // vpush {d8-d15}
        (0xecbd_8b10, load(16, 4)),  // vpop {d8-d15}
        (0xecb1_0b07, load(6, 4)),   // fldmiax r1!, {d0-d2}
        (0xed91_5e01, load(0, 4)),   // ldc p14, c5, [r1, #4]
        (0xfd81_5e01, store(0, 4)),  // stc2 p14, c5, [r1, #4]
        (0xfd91_5b02, load(0, 4)),   // ldc2 p11, c5, [r1, #8]
        (0xf421_070f, load(2, 4)),   // vld1.8 {d0}, [r1]
        (0xf421_0a0f, load(4, 4)),   // vld1.8 {d0-d1}, [r1]
        (0xf421_060f, load(6, 4)),   // vld1.8 {d0-d2}, [r1]
        (0xf401_020f, store(8, 4)),  // vst1.8 {d0-d3}, [r1]
        (0xf421_000f, load(8, 4)),   // vld4.8 {d0-d3}, [r1]
        (0xf4a1_000f, load(1, 1)),   // vld1.8 {d0[0]}, [r1]
        (0xf481_071f, store(4, 2)),  // vst4.16 {d0[0]-d3[0]}, [r1]
        (0xf4a1_0d8f, load(2, 4)),   // vld2.32 {d0[], d1[]}, [r1]
        (0xe320_f000, NONE),         // nop
        (0xf5d1_f000, NONE),         // pld
        (0xea00_0000, NONE),         // b
    ];
    for &(code, (access, count, size)) in table {
        assert_eq!(decode(A32, code).transfers, Transfers { access, count, size }, "{code:#010x}");
    }
}

#[test]
fn direct_branches_of_thumb_state() {
    for (code, length, target, set, link, conditional) in [
        (0xd0fb, 2, 0x0_fffa, T32, false, true),           // beq
        (0xdd7f, 2, 0x1_0102, T32, false, true),           // ble
        (0xe7fe, 2, 0x1_0000, T32, false, false),          // b .
        (0xe001, 2, 0x1_0006, T32, false, false),          // b
        (0xb110, 2, 0x1_0008, T32, false, true),           // cbz
        (0xb9f7, 2, 0x1_0040, T32, false, true),           // cbnz
        (0xbb00, 2, 0x1_0044, T32, false, true),           // cbnz
        (0xf000_f805, 4, 0x1_000e, T32, true, false),      // bl
        (0xf7ff_fffe, 4, 0x1_0000, T32, true, false),      // bl .
        (0xf000_e802, 4, 0x1_0008, A32, true, false),      // blx
        (0xf000_b805, 4, 0x1_000e, T32, false, false),     // b.w
        (0xf7ff_bffe, 4, 0x1_0000, T32, false, false),     // b.w .
        (0xf3ff_97ff, 4, 0x101_0002, T32, false, false),   // b.w, furthest forwards
        (0xf400_9000, 4, 0xff01_0004, T32, false, false),  // b.w, furthest backwards, below 0
        (0xf000_8005, 4, 0x1_000e, T32, false, true),      // beq.w
        (0xf43f_affb, 4, 0x0_fffa, T32, false, true),      // beq.w
        (0xf3bf_8f0f, 4, 0x1_0004, T32, false, false),     // leavex
        (0xf3bf_8f1f, 4, 0x1_0004, ThumbEe, false, false), // enterx
    ] {
        let instruction = decode(T32, code);
        assert_eq!(flow(T32, code), (DirectBranch, link, conditional), "{code:#010x}");
        assert_eq!(instruction.target(HERE), target, "{code:#010x}");
        assert_eq!((instruction.target_set, instruction.length), (set, length), "{code:#010x}");
    }
    // BLX is relative to the word.
    assert_eq!(decode(T32, 0xf000_e802).target(0x1_0002), 0x1_0008);
    // Its H bit is undefined.
    assert_eq!(class(&decode(T32, 0xf000_e803)), Straight);
}

#[test]
fn loops_of_armv8_1_m() {
    // le lr, .-12; le .-6; wls lr, r0, .+12; wlstp.8 lr, r0, .+8; dls lr, r0
    for (code, offset, conditional) in
        [(0xf00f_c009, -12, true), (0xf02f_c805, -6, false), (0xf040_c005, 12, true), (0xf000_c003, 8, true)]
    {
        let instruction = decode(T32, code);
        assert_eq!(flow(T32, code), (DirectBranch, false, conditional), "{code:#010x}");
        assert_eq!(instruction.offset, offset, "{code:#010x}");
    }
    assert_eq!(class(&decode(T32, 0xf040_e001)), Straight);
    // CLRM is no load of the PC.
    assert_eq!(class(&decode(T32, 0xe89f_8001)), Straight);
}

#[test]
fn other_flow_of_thumb_state() {
    #[rustfmt::skip]
    let table: &[(u32, Class, bool)] = &[
        (0x4770, IndirectBranch, false),  // bx lr
        (0x4774, IndirectBranch, false),  // bxns lr
        (0x4798, IndirectBranch, true),   // blx r3
        (0x46f7, IndirectBranch, false),  // mov pc, lr
        (0x449f, IndirectBranch, false),  // add pc, r3
        (0x4685, Straight, false),        // mov sp, r0
        (0x4587, Straight, false),        // cmp pc, r0
        (0x4087, Straight, false),        // lsls r7, r0
        (0xbd08, IndirectBranch, false),  // pop {r3, pc}
        (0xbc08, Straight, false),        // pop {r3}
        (0xb508, Straight, false),        // push {r3, lr}
        (0xdf00, SupervisorCall, false),  // svc
        (0xde00, Undefined, false),       // udf
        (0xbe00, Breakpoint, false),      // bkpt
        (0xba80, Breakpoint, false),      // hlt
        (0xba40, Straight, false),        // rev16
        (0xbf30, Wait, false),            // wfi
        (0xbf20, Wait, false),            // wfe
        (0xbf00, Straight, false),        // nop
        (0xbf40, Straight, false),        // sev
        (0xbf08, IfThen, false),          // it eq
        (0xb672, Straight, false),        // cpsid i
        (0xf3bf_8f6f, InstructionBarrier, false), // isb
        (0xf3bf_8f5f, DataBarrier, false),        // dmb
        (0xf3bf_8f4f, DataBarrier, false),        // dsb
        (0xf3bf_8f2f, Straight, false),           // clrex
        (0xee07_0f95, InstructionBarrier, false), // CP15 ISB
        (0xee07_0f9a, DataBarrier, false),        // CP15 DSB
        (0xf3de_8f04, ExceptionReturn, false),    // subs pc, lr, #4
        (0xf3de_8f00, ExceptionReturn, false),    // eret
        (0xf3c5_8f00, IndirectBranch, false),     // bxj r5
        (0xe8df_f001, IndirectBranch, false),     // tbb
        (0xe8df_f011, IndirectBranch, false),     // tbh
        (0xf7f0_8000, MonitorCall, false),        // smc
        (0xf7e0_8001, HypervisorCall, false),     // hvc #1
        (0xf387_8100, Straight, false),           // msr
        (0xf3ef_8000, Straight, false),           // mrs
        (0xf7f0_a000, Undefined, false),          // udf.w
        (0xf3af_8002, Wait, false),               // wfe.w
        (0xf3af_8003, Wait, false),               // wfi.w
        (0xf3af_8000, Straight, false),           // nop.w
        (0xf3af_8602, Straight, false),           // cpsid
        (0xe8bd_81f0, IndirectBranch, false),     // pop.w {r4-r8, pc}
        (0xe91d_8010, IndirectBranch, false),     // ldmdb sp, {r4, pc}
        (0xe8bd_41f0, Straight, false),           // pop.w {r4-r8, lr}
        (0xe83d_c000, ExceptionReturn, false),    // rfedb sp!
        (0xe9bd_c000, ExceptionReturn, false),    // rfeia sp!
        (0xf85d_fb04, IndirectBranch, false),     // pop.w {pc}
        (0xf8d0_f010, IndirectBranch, false),     // ldr.w pc, [r0, #16]
        (0xf85f_f010, IndirectBranch, false),     // ldr.w pc, [pc, #-16]
        (0xf8df_f010, IndirectBranch, false),     // ldr.w pc, [pc, #16]
        (0xf850_f021, IndirectBranch, false),     // ldr.w pc, [r0, r1, lsl #2]
        (0xf850_f800, Straight, false),           // P = W = 0: undefined
        (0xf850_f061, Straight, false),           // bit 6 is not 0: undefined
        (0xf890_f000, Straight, false),           // pld [r0]
        (0xf990_f000, Straight, false),           // pli [r0]
        (0xf04f_0001, Straight, false),           // mov.w r0, #1
        (0xea4f_0f01, Straight, false),           // mov.w pc: UNPREDICTABLE
        (0xf1b0_0f00, Straight, false),           // cmp.w r0, #0
        (0xe97f_e97f, Straight, false),           // sg
        (0xef00_0110, Straight, false),           // vand
    ];
    for &(code, class, link) in table {
        assert_eq!(flow(T32, code), (class, link, false), "{code:#010x}");
        assert_eq!(decode(T32, code).length, if code >> 16 == 0 { 2 } else { 4 });
    }
}

#[test]
fn data_of_thumb_state() {
    #[rustfmt::skip]
    let table: &[(u32, (Access, u8, u8))] = &[
        (0x4800, load(1, 4)),         // ldr r0, [pc]
        (0x5088, store(1, 4)),        // str r0, [r1, r2]
        (0x5288, store(1, 2)),        // strh r0, [r1, r2]
        (0x5488, store(1, 1)),        // strb r0, [r1, r2]
        (0x5688, load(1, 1)),         // ldrsb r0, [r1, r2]
        (0x5888, load(1, 4)),         // ldr r0, [r1, r2]
        (0x5a88, load(1, 2)),         // ldrh r0, [r1, r2]
        (0x5c88, load(1, 1)),         // ldrb r0, [r1, r2]
        (0x5e88, load(1, 2)),         // ldrsh r0, [r1, r2]
        (0x6008, store(1, 4)),        // str r0, [r1]
        (0x6808, load(1, 4)),         // ldr r0, [r1]
        (0x7008, store(1, 1)),        // strb r0, [r1]
        (0x7808, load(1, 1)),         // ldrb r0, [r1]
        (0x8008, store(1, 2)),        // strh r0, [r1]
        (0x8808, load(1, 2)),         // ldrh r0, [r1]
        (0x9000, store(1, 4)),        // str r0, [sp]
        (0x9800, load(1, 4)),         // ldr r0, [sp]
        (0xa000, NONE),               // adr r0
        (0xb508, store(2, 4)),        // push {r3, lr}
        (0xb4ff, store(8, 4)),        // push {r0-r7}
        (0xbdff, load(9, 4)),         // pop {r0-r7, pc}
        (0xbc08, load(1, 4)),         // pop {r3}
        (0xc107, store(3, 4)),        // stmia r1!, {r0-r2}
        (0xc9fc, load(6, 4)),         // ldmia r1!, {r2-r7}
        (0xe8bd_81f0, load(6, 4)),    // pop.w {r4-r8, pc}
        (0xe92d_4ff0, store(9, 4)),   // push.w {r4-r11, lr}
        (0xe9bd_c000, load(2, 4)),    // rfeia
        (0xe80d_c013, store(2, 4)),   // srsdb
        (0xe8df_f001, load(1, 1)),    // tbb
        (0xe8df_f011, load(1, 2)),    // tbh
        (0xe852_0f00, load(1, 4)),    // ldrex r0, [r2]
        (0xe842_1000, store(1, 4)),   // strex r0, r1, [r2]
        (0xe842_f000, NONE),          // tt r0, r2
        (0xe8d2_0f4f, load(1, 1)),    // ldrexb
        (0xe8c2_1f50, store(1, 2)),   // strexh
        (0xe8d2_017f, load(2, 4)),    // ldrexd
        (0xe8d2_0faf, load(1, 4)),    // lda
        (0xe9d2_0100, load(2, 4)),    // ldrd r0, r1, [r2]
        (0xe8e2_0101, store(2, 4)),   // strd r0, r1, [r2], #4
        (0xe97f_e97f, NONE),          // sg
        (0xf8d1_0000, load(1, 4)),    // ldr.w
        (0xf881_0000, store(1, 1)),   // strb.w
        (0xf8a1_0000, store(1, 2)),   // strh.w
        (0xf8c1_0000, store(1, 4)),   // str.w
        (0xf991_0000, load(1, 1)),    // ldrsb.w
        (0xf9b1_0000, load(1, 2)),    // ldrsh.w
        (0xf851_0e04, load(1, 4)),    // ldrt
        (0xf85d_fb04, load(1, 4)),    // pop.w {pc}
        (0xf890_f000, NONE),          // pld
        (0xf921_070f, load(2, 4)),    // vld1.8 {d0}, [r1]
        (0xf9a1_000f, load(1, 1)),    // vld1.8 {d0[0]}, [r1]
        (0xee10_0f10, from(1)),       // mrc p15
        (0xec51_0f00, from(2)),       // mrrc p15
        (0xed91_0b02, load(2, 4)),    // vldr d0
        (0xed2d_8b10, store(16, 4)),  // vpush {d8-d15}
        (0xef00_0110, NONE),          // vand
        (0xff00_0110, NONE),          // veor
        (0xfb01_f002, NONE),          // mul
    ];
    for &(code, (access, count, size)) in table {
        assert_eq!(decode(T32, code).transfers, Transfers { access, count, size }, "{code:#010x}");
    }
}

#[test]
fn thumb_ee_has_other_things_in_place_of_ldm_and_stm() {
    for (code, class, link, transfers) in [
        (0xc001, IndirectBranch, false, NONE),   // hbp
        (0xc201, IndirectBranch, false, NONE),   // hb
        (0xc301, IndirectBranch, true, NONE),    // hbl
        (0xc701, IndirectBranch, true, NONE),    // hblp
        (0xca08, Straight, false, NONE),         // chka
        (0xcb01, Straight, false, load(1, 4)),   // ldr, literal pool
        (0xce01, Straight, false, store(1, 4)),  // str, frame
        (0x4770, IndirectBranch, false, NONE),   // bx lr
        (0xf000_f805, DirectBranch, true, NONE), // bl
        (0xf000_e802, Straight, false, NONE),    // blx: undefined in this state
    ] {
        let instruction = decode(ThumbEe, code);
        assert_eq!((self::class(&instruction), instruction.class.has_link()), (class, link), "{code:#06x}");
        let Transfers { access, count, size } = instruction.transfers;
        assert_eq!((access, count, size), transfers, "{code:#06x}");
        assert_eq!(instruction.target_set, ThumbEe);
    }
}

#[test]
fn thumb_before_armv6t2_has_half_words_only() {
    let decode = |half: u16, previous| T16.decode(&half.to_le_bytes(), previous);
    assert_eq!(decode(0xf000, None), Instruction::straight(T16, 2));
    // bl 0x1000e at 0x10000: the second half at 0x10002
    let branch = decode(0xf805, Some(0xf000));
    assert_eq!((class(&branch), branch.class.has_link(), branch.target_set), (DirectBranch, true, T16));
    assert_eq!(branch.target(0x1_0002), 0x1_000e);
    // blx 0x10008 at 0x10000 and at 0x10002
    let exchange = decode(0xe802, Some(0xf000));
    assert_eq!((class(&exchange), exchange.class.has_link(), exchange.target_set), (DirectBranch, true, A32));
    assert_eq!((exchange.target(0x1_0002), exchange.target(0x1_0004)), (0x1_0008, 0x1_0008));
    // Alone, the second half goes where LR says.
    assert_eq!((class(&decode(0xf805, None)), decode(0xf805, None).class.has_link()), (IndirectBranch, true));
    assert_eq!(class(&decode(0xe803, Some(0xf000))), Undefined);
    assert_eq!(class(&decode(0xbd10, None)), IndirectBranch);
}

#[test]
fn an_instruction_needs_all_its_bytes() {
    for (set, code) in [(A32, &[0, 0, 0xa0][..]), (T32, &[0x00, 0xf0, 0x05]), (T32, &[0x70]), (T16, &[])] {
        assert_eq!(set.decode(code, None), Instruction::MISSING);
    }
    assert_eq!(class(&T32.decode(&[0x70, 0x47, 0], None)), IndirectBranch);
}

/// An instruction of A64 at 0x10000: its class, whether it is conditional, its target.
fn a64(code: u32) -> (InstructionClass, bool, Option<u64>) {
    let instruction = InstructionSet::A64.decode(&code.to_le_bytes(), None);
    let words = instruction.in_words(HERE).expect("an instruction");
    (words.class, words.conditional, words.target.map(|target| target.address))
}

#[test]
fn direct_branches_of_a64() {
    let branch = |link, conditional, to| (InstructionClass::DirectBranch { link }, conditional, Some(to));
    for (code, expected) in [
        (0x1400_0002, branch(false, false, 0x1_0008)), // b
        (0x17ff_ffff, branch(false, false, 0x0_fffc)), // b backwards
        (0x1600_0000, branch(false, false, HERE.wrapping_sub(1 << 27))), // b, furthest backwards, below 0
        (0x95ff_ffff, branch(true, false, 0x800_fffc)), // bl, furthest forwards
        (0x5400_0040, branch(false, true, 0x1_0008)),  // b.eq
        (0x5400_004e, branch(false, false, 0x1_0008)), // b.al
        (0x54ff_fff1, branch(false, true, 0x0_fffc)),  // bc.ne
        (0xb500_0040, branch(false, true, 0x1_0008)),  // cbnz x0
        (0x3480_0000, branch(false, true, 0xfff1_0000_u32.cast_signed() as u64)), // cbz w0, furthest backwards
        (0xb60f_ffe1, branch(false, true, 0x0_fffc)),                             // tbz x1, #33
        (0x3703_ffe0, branch(false, true, 0x1_7ffc)), // tbnz w0, #0, furthest forwards
        (0x7401_0040, branch(false, true, 0x1_0008)), // cbgt w0, w1
        (0x7401_a000, branch(false, true, 0x0_fc00)), // cbbgt w0, w1, furthest backwards
        (0x74e1_c020, branch(false, true, 0x1_0004)), // cbhne w0, w1
        (0xf5c0_1fe0, branch(false, true, 0x1_03fc)), // cbeq x0, #0, furthest forwards
    ] {
        assert_eq!(a64(code), expected, "{code:#010x}");
    }
}

#[test]
fn other_flow_of_a64() {
    let indirect = |link, source| InstructionClass::IndirectBranch { link, source };
    let register = |link| indirect(link, TargetSource::Register);
    let (ret, eret) =
        (indirect(false, TargetSource::Return), InstructionClass::ExceptionReturn(ReturnSource::Eret));
    let (event, interrupt) =
        (InstructionClass::Wait(WaitFor::Event), InstructionClass::Wait(WaitFor::Interrupt));
    let barrier = InstructionClass::Barrier;
    let call = InstructionClass::ExceptionCall;
    let other = InstructionClass::Other;
    #[rustfmt::skip]
    let table = [
        (0xd61f_03c0, register(false)), // br x30
        (0xd63f_0020, register(true)),  // blr x1
        (0xd61f_083f, register(false)), // braaz x1
        (0xd71f_0c3f, register(false)), // brab x1, sp
        (0xd63f_0c3f, register(true)),  // blrabz x1
        (0xd73f_0822, register(true)),  // blraa x1, x2
        (0xd65f_03c0, ret),             // ret
        (0xd65f_0bff, ret),             // retaa
        (0xd65f_0fe3, ret),             // retabsppcr x3
        (0x5520_005f, ret),             // retabsppc .-8
        (0xd69f_03e0, eret),            // eret
        (0xd69f_0fff, eret),            // eretab
        (0xd6ff_07e0, InstructionClass::ExceptionReturn(ReturnSource::TierExit)), // texit
        (0xd503_3fdf, barrier(Barrier::Isb)),
        (0xd503_3b9f, barrier(Barrier::Dsb)), // dsb ish
        (0xd503_3e3f, barrier(Barrier::Dsb)), // dsb synxs
        (0xd503_39bf, barrier(Barrier::Dmb)), // dmb ishld
        (0xd503_205f, event),           // wfe
        (0xd503_207f, interrupt),       // wfi
        (0xd503_1000, event),           // wfet x0
        (0xd503_1025, interrupt),       // wfit x5
        (0xd523_3061, InstructionClass::TransactionStart),
        (0xd41f_ffe1, call(ExceptionCall::Supervisor)),
        (0xd400_0002, call(ExceptionCall::Hypervisor)),
        (0xd400_0003, call(ExceptionCall::SecureMonitor)),
        (0xd420_0000, call(ExceptionCall::Breakpoint)),
        (0xd440_0000, call(ExceptionCall::Halt)),
        (0x0000_ffff, call(ExceptionCall::Undefined)),
        (0xd503_307f, other),           // tcommit
        (0xd460_0000, other),           // tcancel #0
        (0xd523_3161, other),           // ttest x1
        (0xd6bf_03e0, other),           // drps
        (0xd503_225f, other),           // tsb csync
        (0xd50b_72e0, other),           // trcit x0
        (0xd503_30ff, other),           // sb
        (0xd503_201f, other),           // nop
        (0xd4a0_0001, other),           // dcps1
        (0xf940_0000, other),           // ldr x0, [x0]
        (0x7401_4040, other),           // unallocated beside CB<cc>
    ];
    for (code, class) in table {
        assert_eq!(a64(code), (class, false, None), "{code:#010x}");
    }
}
