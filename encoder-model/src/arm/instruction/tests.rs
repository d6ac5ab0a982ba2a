//! Worked vectors of the sheets (PFT 4.7, ETE 6.4 to 6.6; checked there with LLVM) and boundaries between encodings.

extern crate std;

use std::vec::Vec;

use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass as Class, InstructionSet, Profile,
    ReturnSource, TargetSource, WaitFor,
};

use super::{classify, instruction_size};

const OTHER: Class = Class::Other;
const DIRECT: Class = Class::DirectBranch { link: false };
const LINK: Class = Class::DirectBranch { link: true };
const ISB: Class = Class::Barrier(Barrier::Isb);
const DSB: Class = Class::Barrier(Barrier::Dsb);
const DMB: Class = Class::Barrier(Barrier::Dmb);
const WFE: Class = Class::Wait(WaitFor::Event);
const WFI: Class = Class::Wait(WaitFor::Interrupt);
const LOAD: Class = Class::IndirectBranch { link: false, source: TargetSource::Load };
const DATA: Class = Class::IndirectBranch { link: false, source: TargetSource::DataProcessing };
const REGISTER: Class = Class::IndirectBranch { link: false, source: TargetSource::Register };
const REGISTER_LINK: Class = Class::IndirectBranch { link: true, source: TargetSource::Register };
const JAZELLE: Class = Class::IndirectBranch { link: false, source: TargetSource::JazelleRegister };
const TABLE: Class = Class::IndirectBranch { link: false, source: TargetSource::Table };
const RETURN: Class = Class::IndirectBranch { link: false, source: TargetSource::Return };
const SUBS: Class = Class::ExceptionReturn(ReturnSource::DataProcessing);
const ERET: Class = Class::ExceptionReturn(ReturnSource::Eret);
const RFE: Class = Class::ExceptionReturn(ReturnSource::Rfe);
const LDM: Class = Class::ExceptionReturn(ReturnSource::LoadMultiple);

const fn call(call: ExceptionCall) -> Class {
    Class::ExceptionCall(call)
}

const AT: u64 = 0x0001_0000;

fn at(set: InstructionSet, opcode: u32) -> FlowInstruction {
    classify(CodeAddress::new(set, AT), opcode, Profile::Application)
}

fn classes(set: InstructionSet, rows: &[(u32, Class)]) {
    for &(opcode, class) in rows {
        let instruction = at(set, opcode);
        assert_eq!(instruction.class, class, "{set} {opcode:#010x}");
        let size = if set.is_thumb() && opcode >> 16 == 0 { 2 } else { 4 };
        assert_eq!(instruction.size, size, "{set} {opcode:#010x}");
    }
}

fn targets(set: InstructionSet, rows: &[(u32, Class, bool, InstructionSet, u64)]) {
    for &(opcode, class, conditional, to, address) in rows {
        let instruction = at(set, opcode);
        assert_eq!(
            (instruction.class, instruction.conditional, instruction.target),
            (class, conditional, Some(CodeAddress::new(to, address))),
            "{set} {opcode:#010x}"
        );
    }
}

#[test]
fn a32_branches_have_targets() {
    use InstructionSet::{A32, T32};
    targets(
        A32,
        &[
            (0xea00_0002, DIRECT, false, A32, 0x10010),
            (0xeaff_fffe, DIRECT, false, A32, 0x10000),
            (0x0a00_0002, DIRECT, true, A32, 0x10010),
            (0xeb00_0003, LINK, false, A32, 0x10014),
            (0xebff_ffef, LINK, false, A32, 0xffc4),
            (0xea80_0000, DIRECT, false, A32, 0xfe01_0008),
            (0xfa00_008c, LINK, false, T32, 0x10238),
            (0xfb00_008c, LINK, false, T32, 0x1023a),
        ],
    );
}

#[test]
fn a32_classes() {
    classes(
        InstructionSet::A32,
        &[
            (0xe8bd_8010, LOAD),
            (0xe8fd_800f, LDM),
            (0xe8bd_4010, OTHER),
            (0xe8ad_8010, OTHER), // STM
            (0xe49d_f004, LOAD),
            (0xe59f_f018, LOAD),
            (0xe79f_f101, LOAD),
            (0xe7df_f101, OTHER), // LDRB
            (0xe7d1_f002, OTHER),
            (0xe12f_ff1e, REGISTER),
            (0x112f_ff13, REGISTER),
            (0xe12f_ff33, REGISTER_LINK),
            (0xe12f_ff23, JAZELLE),
            (0xe1a0_f00e, DATA),
            (0xe1b0_f00e, SUBS),
            (0xe25e_f004, SUBS),
            (0xe08f_f102, DATA),
            (0xe3a0_f000, DATA),
            (0xe15f_0000, OTHER), // CMP
            (0xe15f_f000, OTHER), // CMP, [15:12] = 1111
            (0xe129_f000, OTHER), // MSR
            (0xe328_f201, OTHER), // MSR immediate
            (0xe300_f001, OTHER), // MOVW
            (0xe00f_0f9f, OTHER), // MUL
            (0xe1df_f0b0, OTHER), // LDRH
            (0xf8bd_0a00, RFE),
            (0xf991_0a00, RFE),
            (0xf96d_0513, OTHER), // SRS
            (0xe160_006e, ERET),
            (0xe160_0070, call(ExceptionCall::SecureMonitor)),
            (0xe140_0070, call(ExceptionCall::Hypervisor)),
            (0xe120_0070, call(ExceptionCall::Breakpoint)),
            (0xe100_0070, call(ExceptionCall::Halt)),
            (0xef00_0000, call(ExceptionCall::Supervisor)),
            (0xe7f0_00f0, call(ExceptionCall::Undefined)),
            (0xe320_f002, WFE),
            (0xe320_f003, WFI),
            (0xe320_f004, OTHER), // SEV
            (0xf57f_f06f, ISB),
            (0xf57f_f04f, DSB),
            (0xf57f_f05f, DMB),
            (0xf57f_f01f, OTHER), // CLREX
            (0xee07_0f95, ISB),
            (0xee07_0f9a, DSB),
            (0xee07_0fba, DMB),
            (0xee17_0f95, OTHER), // MRC
            (0xfe07_0f95, OTHER), // MCR2
            (0xee11_ff10, OTHER), // MRC to APSR
        ],
    );
}

#[test]
fn t16_branches_have_targets() {
    use InstructionSet::T32;
    targets(
        T32,
        &[
            (0xd0fb, DIRECT, true, T32, 0xfffa),
            (0xdd7f, DIRECT, true, T32, 0x10102),
            (0xe7fe, DIRECT, false, T32, 0x10000),
            (0xe001, DIRECT, false, T32, 0x10006),
            (0xb110, DIRECT, true, T32, 0x10008),
            (0xb9f7, DIRECT, true, T32, 0x10040),
            (0xbb00, DIRECT, true, T32, 0x10044),
        ],
    );
}

#[test]
fn t16_classes() {
    let rows = [
        (0x4770, REGISTER),
        (0x4774, REGISTER), // BXNS
        (0x4798, REGISTER_LINK),
        (0x46f7, DATA),
        (0x449f, DATA),
        (0x4697, DATA),
        (0x4587, OTHER), // CMP
        (0x4685, OTHER),
        (0x4647, OTHER),
        (0xbd08, LOAD),
        (0xbc08, OTHER),
        (0xb500, OTHER),
        (0xdf00, call(ExceptionCall::Supervisor)),
        (0xde00, call(ExceptionCall::Undefined)),
        (0xbe00, call(ExceptionCall::Breakpoint)),
        (0xba80, call(ExceptionCall::Halt)),
        (0xba40, OTHER), // REV16
        (0xbf20, WFE),
        (0xbf30, WFI),
        (0xbf28, Class::IfThen), // IT CS
        (0xb200, OTHER),         // SXTH
        (0xba00, OTHER),         // REV
    ];
    classes(InstructionSet::T32, &rows);
    classes(InstructionSet::T32Ee, &rows);
}

#[test]
fn handlers_exist_in_t32ee_only() {
    let handler = |link| Class::IndirectBranch { link, source: TargetSource::Handler };
    let rows = [
        (0xc001, handler(false)),
        (0xc102, OTHER),
        (0xc202, handler(false)),
        (0xc302, handler(true)),
        (0xc402, handler(true)),
        (0xc7ff, handler(true)),
        (0xc802, OTHER),
        (0xca02, OTHER), // CHKA
    ];
    classes(InstructionSet::T32Ee, &rows);
    classes(InstructionSet::T32, &rows.map(|(opcode, _)| (opcode, OTHER)));
}

#[test]
fn t32_branches_have_targets() {
    use InstructionSet::{A32, T32, T32Ee};
    targets(
        T32,
        &[
            (0xf000_f805, LINK, false, T32, 0x1000e),
            (0xf7ff_fffe, LINK, false, T32, 0x10000),
            (0xf000_e802, LINK, false, A32, 0x10008),
            (0xf000_b805, DIRECT, false, T32, 0x1000e),
            (0xf7ff_bffe, DIRECT, false, T32, 0x10000),
            (0xf000_8005, DIRECT, true, T32, 0x1000e),
            (0xf43f_affb, DIRECT, true, T32, 0xfffa),
            (0xf400_d000, LINK, false, T32, 0xff01_0004),
            (0xf3bf_8f0f, Class::StateChange, false, T32, 0x10004),
            (0xf3bf_8f1f, Class::StateChange, false, T32Ee, 0x10004),
        ],
    );
    // The base of BLX is aligned, its H bit must be 0.
    let odd = classify(CodeAddress::new(T32, AT + 2), 0xf000_e802, Profile::Application);
    assert_eq!(odd.target, Some(CodeAddress::new(A32, 0x10008)));
    assert_eq!(at(T32, 0xf000_e803).class, OTHER);
    assert_eq!(at(T32Ee, 0xf000_e802).class, OTHER);
}

#[test]
fn t32_classes() {
    classes(
        InstructionSet::T32,
        &[
            (0xf3bf_8f6f, ISB),
            (0xf3bf_8f5f, DMB),
            (0xf3bf_8f4f, DSB),
            (0xf3bf_8f2f, OTHER), // CLREX
            (0xf3af_8002, WFE),
            (0xf3af_8003, WFI),
            (0xf3af_8004, OTHER),
            (0xf3af_8403, OTHER), // CPS
            (0xf3de_8f04, SUBS),
            (0xf3de_8f00, ERET),
            (0xf3c5_8f00, JAZELLE),
            (0xe8df_f001, TABLE),
            (0xe8df_f011, TABLE),
            (0xe8d1_0f4f, OTHER), // LDREXB
            (0xe8bd_81f0, LOAD),
            (0xe91d_8010, LOAD),
            (0xe8bd_41f0, OTHER),
            (0xe8ad_81f0, OTHER), // STM
            (0xf85d_fb04, LOAD),
            (0xf8d0_f010, LOAD),
            (0xf85f_f010, LOAD),
            (0xf8df_f010, LOAD),
            (0xf850_f021, LOAD),
            (0xf850_f800, OTHER), // P = W = 0
            (0xf850_f041, OTHER),
            (0xf8d0_e010, OTHER),
            (0xf890_f010, OTHER), // PLD
            (0xf9d0_f010, OTHER),
            (0xf840_f021, OTHER), // STR
            (0xf7f0_8000, call(ExceptionCall::SecureMonitor)),
            (0xf7e0_8000, call(ExceptionCall::Hypervisor)),
            (0xf7f0_a000, call(ExceptionCall::Undefined)),
            (0xf387_8100, OTHER), // MSR
            (0xe83d_c000, RFE),
            (0xe9bd_c000, RFE),
            (0xee07_0f95, ISB),
            (0xee07_0f9a, DSB),
            (0xee07_0fba, DMB),
            (0xfe07_0f95, OTHER),
        ],
    );
}

/// Targets as LLVM's assembler encodes them for `ARMv8.1`-M.
#[test]
fn the_m_profile_has_loops_and_no_modes() {
    let m = |opcode| {
        let instruction =
            classify(CodeAddress::new(InstructionSet::T32, AT), opcode, Profile::Microcontroller);
        (instruction.class, instruction.target.map(|target| target.address))
    };
    let branch = |address| (Class::LowOverheadLoop, Some(address));
    assert_eq!(m(0xf040_c003), branch(0x10008)); // WLS lr, r0, .+8
    assert_eq!(m(0xf040_c803), branch(0x1000a)); // WLS lr, r0, .+10
    assert_eq!(m(0xf020_c003), branch(0x10008)); // WLSTP.32 lr, r0, .+8
    assert_eq!(m(0xf00f_c009), branch(0xfff4)); // LE lr, .-12
    assert_eq!(m(0xf02f_c009), branch(0xfff4)); // LE .-12
    assert_eq!(m(0xf01f_c009), branch(0xfff4)); // LETP lr, .-12
    for opcode in [0xf040_e001, 0xf00f_e001, 0xf000_c002, 0xe83d_c000, 0xf3bf_8f1f, 0xf3de_8f04, 0xe89f_8001]
    {
        assert_eq!(m(opcode), (OTHER, None), "{opcode:#x}");
    }
    assert_eq!(m(0xe8bd_8010).0, LOAD);
}

#[test]
fn a64_branches_have_targets() {
    use InstructionSet::A64;
    targets(
        A64,
        &[
            (0x1400_0002, DIRECT, false, A64, 0x10008),
            (0x17ff_ffff, DIRECT, false, A64, 0xfffc),
            (0x9400_0002, LINK, false, A64, 0x10008),
            (0x5400_0040, DIRECT, true, A64, 0x10008),
            (0x5400_004e, DIRECT, false, A64, 0x10008),
            (0x54ff_fff0, DIRECT, true, A64, 0xfffc), // BC.EQ
            (0x3400_0040, DIRECT, true, A64, 0x10008),
            (0xb5ff_ffe0, DIRECT, true, A64, 0xfffc),
            (0x3700_0041, DIRECT, true, A64, 0x10008),
            (0xb60f_ffe1, DIRECT, true, A64, 0xfffc),
            (0x7401_0040, DIRECT, true, A64, 0x10008), // CBGT
            (0xf4c2_3fe1, DIRECT, true, A64, 0xfffc),  // CBEQ
            (0x7401_8040, DIRECT, true, A64, 0x10008), // CBB
            (0x7401_c040, DIRECT, true, A64, 0x10008), // CBH
            (0xf501_0040, DIRECT, true, A64, 0x10008), // CBGT immediate
        ],
    );
    assert_eq!(at(A64, 0x7401_4040).class, OTHER);
    assert_eq!(at(A64, 0xf401_8040).class, OTHER);
    assert_eq!(at(A64, 0x7501_4040).class, OTHER);
}

#[test]
fn a64_registers_and_system() {
    classes(
        InstructionSet::A64,
        &[
            (0xd61f_0020, REGISTER),
            (0xd63f_0020, REGISTER_LINK),
            (0xd65f_03c0, RETURN),
            (0xd61f_083f, REGISTER),
            (0xd63f_0c3f, REGISTER_LINK),
            (0xd71f_0822, REGISTER),
            (0xd73f_0c22, REGISTER_LINK),
            (0xd65f_0bff, RETURN),
            (0xd65f_0fff, RETURN),
            (0xd65f_0be3, RETURN), // RETAASPPCR
            (0x5500_005f, RETURN), // RETAASPPC
            (0x5520_005f, RETURN),
            (0x5540_005f, OTHER),
            (0xd69f_03e0, ERET),
            (0xd69f_0bff, ERET),
            (0xd69f_0fff, ERET),
            (0xd6bf_03e0, OTHER), // DRPS
            (0xd6ff_03e0, Class::ExceptionReturn(ReturnSource::TierExit)),
            (0xd6ff_07e0, Class::ExceptionReturn(ReturnSource::TierExit)),
            (0xd61f_0021, OTHER),
            (0xd61f_0820, OTHER),
            (0xd503_3fdf, ISB),
            (0xd503_3f9f, DSB),
            (0xd503_323f, DSB),
            (0xd503_3fbf, DMB),
            (0xd503_30ff, OTHER), // SB
            (0xd503_305f, OTHER), // CLREX
            (0xd503_205f, WFE),
            (0xd503_207f, WFI),
            (0xd503_201f, OTHER), // NOP
            (0xd503_225f, OTHER), // TSB CSYNC
            (0xd503_1003, WFE),
            (0xd503_1023, WFI),
            (0xd523_3061, Class::TransactionStart),
            (0xd523_3161, OTHER), // TTEST
            (0xd503_307f, OTHER), // TCOMMIT
            (0xd460_0000, OTHER), // TCANCEL
            (0xd400_0001, call(ExceptionCall::Supervisor)),
            (0xd400_0022, call(ExceptionCall::Hypervisor)),
            (0xd400_0003, call(ExceptionCall::SecureMonitor)),
            (0xd420_0000, call(ExceptionCall::Breakpoint)),
            (0xd440_0000, call(ExceptionCall::Halt)),
            (0x0000_0001, call(ExceptionCall::Undefined)),
            (0xd50b_72e0, OTHER), // TRCIT
            (0x9100_0000, OTHER),
            (0xf940_0000, OTHER),
        ],
    );
}

#[test]
fn sizes_follow_from_the_first_half_word() {
    let long: Vec<u16> =
        (0..=0x1f).filter(|top| instruction_size(InstructionSet::T32, top << 11) == 4).collect();
    assert_eq!(long, [0b11101, 0b11110, 0b11111]);
    for (set, size) in InstructionSet::ALL.into_iter().zip([4, 2, 2, 1, 4]) {
        assert_eq!(instruction_size(set, 0), size, "{set}");
    }
}

#[test]
fn a32_conditions_are_those_of_the_condition_field() {
    for condition in 0..15_u32 {
        for opcode in [0x0a00_0000, 0x012f_ff1e, 0x01a0_0000, 0x0320_f003] {
            let instruction = at(InstructionSet::A32, condition << 28 | opcode);
            assert_eq!(instruction.conditional, condition != 14, "{condition} {opcode:#x}");
        }
    }
}

#[test]
fn addresses_wrap() {
    let end = |set, opcode, address| {
        classify(CodeAddress::new(set, address), opcode, Profile::Application).target.map(|to| to.address)
    };
    assert_eq!(end(InstructionSet::A32, 0xea00_0000, 0xffff_fffc), Some(4));
    assert_eq!(end(InstructionSet::T32, 0xe000, 0xffff_fffe), Some(2));
    assert_eq!(end(InstructionSet::A64, 0x1400_0002, 0xffff_fffc), Some(0x1_0000_0004));
}

proptest::proptest! {
    /// Every opcode has a class; a target exactly where the class has one.
    #[test]
    fn targets_go_with_classes(opcode: u32, address: u64, m: bool) {
        let profile = if m { Profile::Microcontroller } else { Profile::RealTime };
        for set in InstructionSet::ALL {
            let instruction = classify(CodeAddress::new(set, address), opcode, profile);
            let direct = matches!(
                instruction.class,
                Class::DirectBranch { .. } | Class::StateChange | Class::LowOverheadLoop
            );
            proptest::prop_assert_eq!(direct, instruction.target.is_some());
        }
    }
}
