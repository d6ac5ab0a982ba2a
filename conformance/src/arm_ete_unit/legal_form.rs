//! Which bits of identification registers do parameters and text determine?

use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{Operation, Parameters, Policy, Register};

/// Where the value of an access begins.
const VALUE: usize = 8;

/// Whether two logs differ only in bits of identification registers that a trace unit with these parameters may have
/// either way: CCITMIN, sizes and whatever else no parameter states.
pub(super) fn same_log(expected: &[u8], got: &[u8], parameters: &Parameters, _: &Policy) -> bool {
    let (wanted, came) = (expected.chunks(RECORD), got.chunks(RECORD));
    wanted.len() == came.len() && wanted.zip(came).all(|(wanted, came)| is_same(wanted, came, parameters))
}

fn is_same(wanted: &[u8], came: &[u8], parameters: &Parameters) -> bool {
    let (Some((fields, expected)), Some((others, got))) =
        (wanted.split_at_checked(VALUE), came.split_at_checked(VALUE))
    else {
        return wanted == came;
    };
    let is_read = fields[0] == Kind::Access as u8 && fields[1] >> 2 & 1 == Operation::Read as u8;
    let register = Register(u16::from_le_bytes([fields[2], fields[3]]));
    let open: u32 = if is_read { !stated(register, parameters) } else { 0 };
    let open = open.to_le_bytes();
    let differs = expected
        .iter()
        .zip(got)
        .enumerate()
        .any(|(index, (wanted, came))| (wanted ^ came) & !open.get(index).copied().unwrap_or(0) != 0);
    fields == others && expected.len() == got.len() && !differs
}

/// The bits of a register that are the same in every trace unit with these parameters: all of them, except of some
/// registers that are only read and never change.
///
/// Spec: ETE-HBBDV-001, ETE-RWPFG-001, ETE-RWPFG-002.
fn stated(register: Register, parameters: &Parameters) -> u32 {
    let ete = parameters.version.is_ete();
    match register.offset() {
        // TRCIDR0: NUMEVENT, QFILT, ITE; in ETE bits 7 to 0, too.
        0x1E0 => 0x0040_4C01 | if ete { 0xFF } else { 0 },
        // TRCIDR1: TRCARCHMAJ, TRCARCHMIN; in ETE REVISION, too.
        0x1E4 => 0xFF0 | if ete { 0xF } else { 0 },
        // TRCIDR2: VMIDOPT, where there are VMIDs in ETE.
        0x1E8 if ete && parameters.vmids > 0 => 3 << 29,
        // TRCIDR3: SYNCPR, STALLCTL, SYSSTALL, NOOVERFLOW; in ETE TRCERR, too.
        0x1EC => 0x8E00_0000 | if ete { 1 << 24 } else { 0 },
        // TRCIDR4: the numbers that are parameters.
        0x1F0 => 0xFFFF_F00F,
        // TRCIDR5: all but LPOVERRIDE and bits without a name; NUMEXTIN in ETE only.
        0x1F4 => 0xFE7F_0E00 | if ete { 0x1FF } else { 0 },
        // TRCIDR9 to TRCIDR13 are 0 in ETE.
        0x184..=0x194 if ete => u32::MAX,
        // TRCDEVARCH: of ETMv4 the revision is not stated.
        0xFBC => 0xFFF0_FFFF | if ete { 0xF_0000 } else { 0 },
        // TRCIDR2, TRCIDR6 to TRCIDR13, TRCDEVAFF, TRCDEVID, TRCPIDR, TRCCIDR.
        0x1E8 | 0x1F8 | 0x1FC | 0x180..=0x194 | 0xFA8 | 0xFAC | 0xFC0..=0xFC8 | 0xFD0..=0xFFC => 0,
        _ => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use traceproof_encoder_model::arm_ete_unit::record_of;
    use traceproof_vectors::arm_ete_unit::{Access, Agent, Outcome, Packet};

    use super::*;

    fn read(register: u16, value: u64) -> Vec<u8> {
        let access = Access {
            agent: Agent::External,
            space: None,
            operation: Operation::Read,
            register: Register(register),
            double: false,
            value: Some(value),
            outcome: Outcome::Ok,
        };
        record_of(&Packet::Access(access)).expect("a record").to_vec()
    }

    fn accepts(wanted: &[u8], came: &[u8]) -> bool {
        same_log(wanted, came, &Parameters::default(), &Policy::default())
    }

    #[test]
    fn ccitmin_is_open_and_the_stall_control_is_not() {
        assert!(accepts(&read(0x1EC, 0x8D7F_0004), &read(0x1EC, 0x8D7F_0100)));
        assert!(!accepts(&read(0x1EC, 0x8D7F_0004), &read(0x1EC, 0x897F_0004)));
    }

    #[test]
    fn other_registers_and_other_records_are_as_they_must_be() {
        assert!(!accepts(&read(0x00C, 3), &read(0x00C, 1)), "TRCSTATR");
        assert!(!accepts(&read(0x1EC, 0), &read(0x1FC, 0)), "another register");
        assert!(!accepts(&read(0x1EC, 0), &[read(0x1EC, 0), read(0x1EC, 0)].concat()), "one more");
        let mut wide = read(0x1EC, 0);
        wide[VALUE + 4] = 1;
        assert!(!accepts(&read(0x1EC, 0), &wide), "bits that no register has");
        assert!(!accepts(&read(0x1EC, 0), &read(0x1EC, 0)[..12]), "cut off");
    }
}
