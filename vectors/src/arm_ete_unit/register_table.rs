//! The register map: one row for each register, or for registers of one name with an index.

use super::Parameters;
use super::register::{AccessClass, Direction};
use Presence::*;

/// Registers of one name.
pub(super) struct Row {
    /// The name without the index.
    pub name: &'static str,
    /// The index of the first one; none where the name stands without one.
    pub first: Option<u8>,
    /// How many an implementation can have at most.
    pub count: u8,
    /// Offset of the first one. They are 4 bytes apart, those of 64 bits 8.
    pub offset: u16,
    /// Whether they have 64 bits.
    pub wide: bool,
    /// Which accesses they have.
    pub direction: Direction,
    /// Which errors external accesses can give.
    pub class: AccessClass,
    /// Whether MRS and MSR have encodings.
    pub system: bool,
    /// How many there are.
    pub presence: Presence,
}

/// What decides how many registers of a row a trace unit has.
#[derive(Clone, Copy)]
pub(super) enum Presence {
    Always,
    Etmv4,
    Stall,
    TraceId,
    Q,
    Instrumentation,
    AddressPairs,
    Addresses,
    PeComparators,
    Sequencer,
    ExternalInputs,
    Counters,
    ResourcePairs,
    SingleShot,
    SingleShotPe,
    ContextIds,
    ContextIdMasks(u8),
    Vmids,
    VmidMasks(u8),
}

impl Presence {
    /// How many of at most `most` registers there are.
    pub(super) fn count(self, parameters: &Parameters, most: u8) -> u8 {
        let all_if = |there: bool| if there { most } else { 0 };
        let found = match self {
            Self::Always => most,
            Self::Etmv4 => all_if(!parameters.version.is_ete()),
            Self::Stall => all_if(parameters.stall_control),
            Self::TraceId => all_if(parameters.trace_id),
            Self::Q => all_if(parameters.q_filter),
            Self::Instrumentation => all_if(parameters.instrumentation),
            Self::AddressPairs => all_if(parameters.address_pairs > 0),
            Self::Addresses => parameters.address_pairs.saturating_mul(2),
            Self::PeComparators => all_if(parameters.pe_comparators > 0),
            Self::Sequencer => all_if(parameters.sequencer),
            Self::ExternalInputs => parameters.external_inputs,
            Self::Counters => parameters.counters,
            Self::ResourcePairs => parameters.resource_pairs.saturating_mul(2).saturating_sub(2),
            Self::SingleShot => parameters.single_shot,
            Self::SingleShotPe => all_if(parameters.pe_comparators > 0).min(parameters.single_shot),
            Self::ContextIds => parameters.context_ids,
            Self::ContextIdMasks(above) => all_if(parameters.context_ids > above),
            Self::Vmids => parameters.vmids,
            Self::VmidMasks(above) => all_if(parameters.vmids > above),
        };
        found.min(most)
    }
}

const fn one(name: &'static str, offset: u16, presence: Presence) -> Row {
    Row {
        name,
        first: None,
        count: 1,
        offset,
        wide: false,
        direction: Direction::ReadWrite,
        class: AccessClass::Trace,
        system: true,
        presence,
    }
}

const fn several(name: &'static str, offset: u16, count: u8, presence: Presence) -> Row {
    Row { first: Some(0), count, ..one(name, offset, presence) }
}

const fn wide(name: &'static str, offset: u16, count: u8, presence: Presence) -> Row {
    Row { wide: true, ..several(name, offset, count, presence) }
}

/// A register that is only read.
const fn read_only(row: Row, class: AccessClass, system: bool) -> Row {
    Row { direction: Direction::ReadOnly, class, system, ..row }
}

const fn management(name: &'static str, offset: u16, count: u8) -> Row {
    let row = several(name, offset, count, Always);
    read_only(Row { first: if count > 1 { Some(0) } else { None }, ..row }, AccessClass::Management, false)
}

const fn processor(name: &'static str, number: u16) -> Row {
    Row { class: AccessClass::Processor, ..one(name, number, Always) }
}

/// A register of which an implementation can have the one with this index too.
const fn indexed(row: Row, first: u8) -> Row {
    Row { first: Some(first), ..row }
}

/// Every register, in the order of offsets; then the System registers of the processor.
pub(super) const ROWS: [Row; 84] = [
    one("TRCPRGCTLR", 0x004, Always),
    read_only(one("TRCSTATR", 0x00C, Always), AccessClass::Trace, true),
    one("TRCCONFIGR", 0x010, Always),
    one("TRCAUXCTLR", 0x018, Always),
    one("TRCEVENTCTL0R", 0x020, Always),
    one("TRCEVENTCTL1R", 0x024, Always),
    one("TRCRSR", 0x028, Always),
    one("TRCSTALLCTLR", 0x02C, Stall),
    one("TRCTSCTLR", 0x030, Always),
    one("TRCSYNCPR", 0x034, Always),
    one("TRCCCCTLR", 0x038, Always),
    one("TRCBBCTLR", 0x03C, AddressPairs),
    one("TRCTRACEIDR", 0x040, TraceId),
    one("TRCQCTLR", 0x044, Q),
    one("TRCITEEDCR", 0x048, Instrumentation),
    one("TRCVICTLR", 0x080, Always),
    one("TRCVIIECTLR", 0x084, AddressPairs),
    one("TRCVISSCTLR", 0x088, AddressPairs),
    one("TRCVIPCSSCTLR", 0x08C, PeComparators),
    several("TRCSEQEVR", 0x100, 3, Sequencer),
    one("TRCSEQRSTEVR", 0x118, Sequencer),
    one("TRCSEQSTR", 0x11C, Sequencer),
    several("TRCEXTINSELR", 0x120, 4, ExternalInputs),
    several("TRCCNTRLDVR", 0x140, 4, Counters),
    several("TRCCNTCTLR", 0x150, 4, Counters),
    several("TRCCNTVR", 0x160, 4, Counters),
    read_only(indexed(several("TRCIDR", 0x180, 6, Always), 8), AccessClass::Claim, true),
    several("TRCIMSPEC", 0x1C0, 8, Always),
    read_only(several("TRCIDR", 0x1E0, 8, Always), AccessClass::Claim, true),
    indexed(several("TRCRSCTLR", 0x208, 30, ResourcePairs), 2),
    several("TRCSSCCR", 0x280, 8, SingleShot),
    several("TRCSSCSR", 0x2A0, 8, SingleShot),
    several("TRCSSPCICR", 0x2C0, 8, SingleShotPe),
    Row { direction: Direction::WriteOnly, class: AccessClass::Management, ..one("TRCOSLAR", 0x300, Etmv4) },
    read_only(one("TRCOSLSR", 0x304, Always), AccessClass::LockStatus, true),
    Row { class: AccessClass::Management, system: false, ..one("TRCPDCR", 0x310, Always) },
    management("TRCPDSR", 0x314, 1),
    wide("TRCACVR", 0x400, 16, Addresses),
    wide("TRCACATR", 0x480, 16, Addresses),
    wide("TRCCIDCVR", 0x600, 8, ContextIds),
    wide("TRCVMIDCVR", 0x640, 8, Vmids),
    indexed(one("TRCCIDCCTLR", 0x680, ContextIdMasks(0)), 0),
    indexed(one("TRCCIDCCTLR", 0x684, ContextIdMasks(4)), 1),
    indexed(one("TRCVMIDCCTLR", 0x688, VmidMasks(0)), 0),
    indexed(one("TRCVMIDCCTLR", 0x68C, VmidMasks(4)), 1),
    Row { system: false, ..one("TRCITCTRL", 0xF00, Always) },
    Row { class: AccessClass::Claim, ..one("TRCCLAIMSET", 0xFA0, Always) },
    Row { class: AccessClass::Claim, ..one("TRCCLAIMCLR", 0xFA4, Always) },
    management("TRCDEVAFF", 0xFA8, 2),
    Row {
        direction: Direction::WriteOnly,
        class: AccessClass::Management,
        system: false,
        ..one("TRCLAR", 0xFB0, Always)
    },
    management("TRCLSR", 0xFB4, 1),
    read_only(one("TRCAUTHSTATUS", 0xFB8, Always), AccessClass::Management, true),
    read_only(one("TRCDEVARCH", 0xFBC, Always), AccessClass::Management, true),
    indexed(management("TRCDEVID", 0xFC0, 1), 2),
    indexed(management("TRCDEVID", 0xFC4, 1), 1),
    read_only(one("TRCDEVID", 0xFC8, Always), AccessClass::Management, true),
    management("TRCDEVTYPE", 0xFCC, 1),
    indexed(management("TRCPIDR", 0xFD0, 4), 4),
    management("TRCPIDR", 0xFE0, 4),
    management("TRCCIDR", 0xFF0, 4),
    processor("OSLAR_EL1", 0x1000),
    processor("OSLSR_EL1", 0x1004),
    processor("OSDLR_EL1", 0x1008),
    processor("TRFCR_EL1", 0x100C),
    processor("TRFCR_EL12", 0x1010),
    processor("TRFCR_EL2", 0x1014),
    processor("TRCITECR_EL1", 0x1018),
    processor("TRCITECR_EL2", 0x101C),
    processor("TRBLIMITR_EL1", 0x1020),
    processor("TRBPTR_EL1", 0x1024),
    processor("TRBBASER_EL1", 0x1028),
    processor("TRBSR_EL1", 0x102C),
    processor("TRBMAR_EL1", 0x1030),
    processor("TRBTRG_EL1", 0x1034),
    processor("TRBIDR_EL1", 0x1038),
    processor("TRBCR", 0x103C),
    processor("MDCR_EL2", 0x1040),
    processor("MDCR_EL3", 0x1044),
    processor("CPACR_EL1", 0x1048),
    processor("CPTR_EL2", 0x104C),
    processor("CPTR_EL3", 0x1050),
    processor("HDFGRTR_EL2", 0x1054),
    processor("HDFGWTR_EL2", 0x1058),
    processor("EDSCR", 0x105C),
];
