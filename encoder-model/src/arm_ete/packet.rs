//! Packets to bytes.

use alloc::vec::Vec;

use traceproof_vectors::arm::SecurityState;
use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ConditionalResult, ContextField, Packet, Parameters, SubIsa, VariableField,
};

use super::UnencodablePacket;
use super::atom_headers::{atom_header, few_atoms_code};
use super::check::check;
use super::field::{longest, lowest_bit};

/// The bytes of one packet.
///
/// # Errors
///
/// When the packet cannot travel unchanged under these parameters: a field does not fit, or the header is reserved.
/// Packets that the parameters' trace unit never sends, but whose headers are not reserved, are written.
///
/// Spec: ETE-PKT-RT-001, ETE-PKT-RT-002.
pub fn write_packet(packet: &Packet, parameters: &Parameters) -> Result<Vec<u8>, UnencodablePacket> {
    match check(packet, parameters) {
        Some(field) => Err(UnencodablePacket { field }),
        None => {
            let mut bytes = Vec::new();
            append(packet, parameters, &mut bytes);
            Ok(bytes)
        }
    }
}

/// Bit 7: another byte of the field follows.
const CONTINUE: u8 = 1 << 7;

const fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

/// Appends the bytes of a packet that [`check`] has nothing against.
pub(super) fn append(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::AlignmentSync { zeros } => {
            bytes.extend((0..zeros).map(|_| 0));
            bytes.push(0x80);
        }
        Packet::Discard => bytes.extend([0x00, 0x03]),
        Packet::Overflow => bytes.extend([0x00, 0x05]),
        Packet::BranchFutureFlush => bytes.extend([0x00, 0x07]),
        Packet::TraceInfo { .. } => append_trace_info(packet, bytes),
        Packet::Timestamp { value, count } => {
            bytes.push(0x02 | u8::from(count.is_some()));
            append_field(value, longest::TIMESTAMP, bytes);
            append_optional(count, longest::CYCLES, bytes);
        }
        Packet::Exception { .. } | Packet::ExceptionV4 { .. } => append_exception(packet, parameters, bytes),
        Packet::Instrumentation { level, reserved, value } => {
            bytes.extend([0x09, level | reserved]);
            bytes.extend(value.to_le_bytes());
        }
        Packet::CycleCount1 { .. } | Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. } => {
            append_cycle_count(packet, bytes);
        }
        Packet::Commit(count) => {
            bytes.push(0x2d);
            append_field(count, longest::WORD, bytes);
        }
        Packet::Cancel1 { count, mispredict } => {
            bytes.push(0x2e | u8::from(mispredict));
            append_field(count, longest::WORD, bytes);
        }
        Packet::ConditionalInstruction1(_)
        | Packet::ConditionalInstruction3 { .. }
        | Packet::ConditionalResult1 { .. }
        | Packet::ConditionalResult3(_) => append_conditional(packet, bytes),
        Packet::Context(context) => {
            bytes.push(0x81);
            append_context(context, parameters, bytes);
        }
        Packet::TargetAddress { address, context } => {
            append_address(address, context, parameters, bytes);
        }
        Packet::Q { address, count } => append_q(address, count, bytes),
        Packet::SourceAddress(address) => {
            bytes.push(source_header(address));
            append_address_bytes(address, bytes);
        }
        _ => bytes.push(single(packet)),
    }
}

/// The packets of one byte; 70 for all others. Spec: sheet 2.3, 5.1.
fn single(packet: &Packet) -> u8 {
    match *packet {
        Packet::TraceOn => 0x04,
        Packet::FunctionReturn => 0x05,
        Packet::ExceptionReturn => 0x07,
        Packet::Resynchronization => 0x08,
        Packet::TransactionStart => 0x0a,
        Packet::TransactionCommit => 0x0b,
        Packet::NumberedDataSyncMarker(number) => 0x20 | number,
        Packet::UnnumberedDataSyncMarker(atoms) => 0x28 | atoms,
        Packet::Mispredict { atoms } => 0x30 | few_atoms(atoms),
        Packet::Cancel2 { atoms } => 0x34 | few_atoms(atoms),
        Packet::Cancel3 { atom, count } => 0x38 | count.wrapping_sub(2) << 1 | u8::from(atom),
        Packet::ConditionalInstruction2(code) => 0x40 | code,
        Packet::ConditionalFlush => 0x43,
        Packet::ConditionalResult4(token) => 0x44 | token,
        Packet::ConditionalResult2 { by_two, token } => 0x48 | flag(by_two, 1 << 2) | token,
        Packet::Event(events) => 0x70 | events,
        Packet::ContextSame => 0x80,
        Packet::TimestampMarker => 0x88,
        Packet::Atoms(atoms) => atom_header(atoms).unwrap_or(IGNORE),
        _ => IGNORE,
    }
}

const IGNORE: u8 = 0x70;

/// Spec: ETE-PKT-CAN-002, ETE-PKT-MIS-001.
fn few_atoms(atoms: Option<Atoms>) -> u8 {
    few_atoms_code(atoms).unwrap_or(0)
}

/// Seven bits in each byte; the last byte that the field may have carries eight.
fn append_field(field: VariableField, longest: u8, bytes: &mut Vec<u8>) {
    let mut rest = field.bits;
    for number in 1..=field.bytes {
        bytes.push(if number == longest { rest as u8 } else { rest as u8 & !CONTINUE });
        if number < field.bytes
            && let Some(byte) = bytes.last_mut()
        {
            *byte |= CONTINUE;
        }
        rest >>= 7;
    }
}

fn append_optional(field: Option<VariableField>, longest: u8, bytes: &mut Vec<u8>) {
    if let Some(field) = field {
        append_field(field, longest, bytes);
    }
}

/// Spec: ETE-PKT-TI-001 to ETE-PKT-TI-005.
fn append_trace_info(packet: &Packet, bytes: &mut Vec<u8>) {
    let &Packet::TraceInfo { control_bytes, reserved, info, key, speculation, cycle_threshold } = packet
    else {
        return;
    };
    let sections = [
        (info, longest::CONTROL),
        (key, longest::WORD),
        (speculation, longest::WORD),
        (cycle_threshold, longest::THRESHOLD),
    ];
    let present =
        (0..).zip(sections).fold(0, |bits, (bit, (section, _))| bits | u32::from(section.is_some()) << bit);
    bytes.push(0x01);
    let control = VariableField { bits: (reserved | present).into(), bytes: control_bytes };
    append_field(control, longest::CONTROL, bytes);
    for (section, longest) in sections {
        append_optional(section, longest, bytes);
    }
}

/// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-004, ETE-PKT-EXC-007, ETE-V4-EXC-002.
fn append_exception(packet: &Packet, parameters: &Parameters, bytes: &mut Vec<u8>) {
    let information = |number: u8, with_target: bool, seventh: bool| {
        flag(seventh, 1 << 7) | flag(with_target, 1 << 6) | (number & 0x1f) << 1 | flag(!with_target, 1)
    };
    match *packet {
        Packet::Exception { number, with_target, reserved, address, context } => {
            bytes.extend([0x06, information(number, with_target, reserved)]);
            match address {
                Some(address) => append_address(address, context, parameters, bytes),
                None => bytes.push(IGNORE),
            }
        }
        Packet::ExceptionV4 { number, with_target, fault_pending, reserved } => {
            bytes.extend([0x06, information(number as u8, with_target, fault_pending.is_some())]);
            if let Some(pending) = fault_pending {
                bytes.push(reserved | flag(pending, 1 << 5) | (number >> 5) as u8 & 0x1f);
            }
        }
        _ => {}
    }
}

/// Spec: ETE-PKT-CC1-001, ETE-PKT-CC2-001, ETE-PKT-CC2-002, ETE-PKT-CC3-001.
fn append_cycle_count(packet: &Packet, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::CycleCount1 { commit, count } => {
            bytes.push(0x0e | u8::from(count.is_none()));
            append_optional(commit, longest::WORD, bytes);
            append_optional(count, longest::CYCLES, bytes);
        }
        Packet::CycleCount2 { large, commit, count } => {
            bytes.extend([0x0c | u8::from(large), commit << 4 | count]);
        }
        Packet::CycleCount3 { commit, count } => bytes.push(0x10 | commit << 2 | count),
        _ => {}
    }
}

/// Spec: sheet 2.3, ETE-V4-CND-002, ETE-V4-CND-003 (A8, D-31).
fn append_conditional(packet: &Packet, bytes: &mut Vec<u8>) {
    match *packet {
        Packet::ConditionalInstruction1(key) => {
            bytes.push(0x6c);
            append_field(key, longest::WORD, bytes);
        }
        Packet::ConditionalInstruction3 { count, repeated, reserved } => {
            bytes.extend([0x6d, flag(reserved, 1 << 7) | count << 1 | u8::from(repeated)]);
        }
        Packet::ConditionalResult1 { first, second } => {
            let implied = u8::from(first.implied);
            bytes.push(match second {
                Some(second) => 0x68 | flag(second.implied, 1 << 1) | implied,
                None => 0x6e | implied,
            });
            append_result(first, bytes);
            if let Some(second) = second {
                append_result(second, bytes);
            }
        }
        Packet::ConditionalResult3(tokens) => bytes.extend([0x50 | (tokens >> 8) as u8 & 0xf, tokens as u8]),
        _ => {}
    }
}

/// Three bits of the key beside the result, then a field of the others.
fn append_result(result: ConditionalResult, bytes: &mut Vec<u8>) {
    let VariableField { bits, bytes: count } = result.key;
    bytes.push(flag(count > 1, CONTINUE) | (bits as u8 & 0b111) << 4 | result.result);
    let rest = VariableField { bits: bits >> 3, bytes: count.saturating_sub(1) };
    append_field(rest, longest::RESULT - 1, bytes);
}

/// VMID, then Context ID, little-endian. Spec: ETE-PKT-CTX-001 to ETE-PKT-CTX-003.
fn append_context(context: ContextField, parameters: &Parameters, bytes: &mut Vec<u8>) {
    let (nse, ns) = match context.security {
        SecurityState::Secure => (false, false),
        SecurityState::NonSecure => (false, true),
        SecurityState::Root => (true, false),
        SecurityState::Realm => (true, true),
    };
    bytes.push(
        flag(context.context_id.is_some(), 1 << 7)
            | flag(context.vmid.is_some(), 1 << 6)
            | flag(ns, 1 << 5)
            | flag(context.is_64_bit, 1 << 4)
            | flag(nse, 1 << 3)
            | flag(context.reserved, 1 << 2)
            | context.exception_level.number(),
    );
    for (value, size) in
        [(context.vmid, parameters.vmid_bytes), (context.context_id, parameters.context_id_bytes)]
    {
        if let Some(value) = value {
            bytes.extend(value.to_le_bytes().into_iter().take(size.into()));
        }
    }
}

/// A target address: header, address bytes, context bytes. Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-006.
fn append_address(
    address: AddressField,
    context: Option<ContextField>,
    parameters: &Parameters,
    bytes: &mut Vec<u8>,
) {
    let (without, with) = match address {
        AddressField::ExactMatch(entry) => (0x90 | entry, 0x90 | entry),
        AddressField::Short { sub_isa, .. } => (0x95 + is1(sub_isa), 0x95 + is1(sub_isa)),
        AddressField::Bits32 { sub_isa, .. } => (0x9a + is1(sub_isa), 0x82 + is1(sub_isa)),
        AddressField::Bits64 { sub_isa, .. } => (0x9d + is1(sub_isa), 0x85 + is1(sub_isa)),
    };
    bytes.push(if context.is_some() { with } else { without });
    append_address_bytes(address, bytes);
    if let Some(context) = context {
        append_context(context, parameters, bytes);
    }
}

/// 1 for IS1.
const fn is1(sub_isa: SubIsa) -> u8 {
    match sub_isa {
        SubIsa::Is0 => 0,
        SubIsa::Is1 => 1,
    }
}

/// Spec: ETE-PKT-SRC-001.
const fn source_header(address: AddressField) -> u8 {
    match address {
        AddressField::ExactMatch(entry) => 0xb0 | entry,
        AddressField::Short { sub_isa, .. } => 0xb4 + is1(sub_isa),
        AddressField::Bits32 { sub_isa, .. } => 0xb6 + is1(sub_isa),
        AddressField::Bits64 { sub_isa, .. } => 0xb8 + is1(sub_isa),
    }
}

/// The address bytes precede the count. Spec: ETE-PKT-Q-001, ETE-PKT-Q-002.
fn append_q(address: Option<AddressField>, count: Option<VariableField>, bytes: &mut Vec<u8>) {
    bytes.push(match (address, count) {
        (Some(AddressField::ExactMatch(entry)), _) => 0xa0 | entry,
        (Some(AddressField::Short { sub_isa, .. }), _) => 0xa5 + is1(sub_isa),
        (Some(AddressField::Bits32 { sub_isa, .. } | AddressField::Bits64 { sub_isa, .. }), _) => {
            0xaa + is1(sub_isa)
        }
        (None, Some(_)) => 0xac,
        (None, None) => 0xaf,
    });
    if let Some(address) = address {
        append_address_bytes(address, bytes);
    }
    append_optional(count, longest::WORD, bytes);
}

/// Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-003, ETE-PKT-ADR-006 (sheet 5.4).
fn append_address_bytes(address: AddressField, bytes: &mut Vec<u8>) {
    match address {
        AddressField::ExactMatch(_) => {}
        AddressField::Short { sub_isa, bits, bytes: count } => {
            let field = VariableField { bits: u64::from(bits.0) >> lowest_bit(sub_isa), bytes: count };
            append_field(field, 2, bytes);
        }
        AddressField::Bits32 { sub_isa, bits, reserved } => {
            append_long(bits.0.into(), sub_isa, reserved, 4, bytes);
        }
        AddressField::Bits64 { sub_isa, bits, reserved } => {
            append_long(bits.0, sub_isa, reserved, 8, bytes);
        }
    }
}

/// Seven bits in the first byte, of IS0 also in the second, and whole bytes after them.
fn append_long(address: u64, sub_isa: SubIsa, reserved: u8, count: u32, bytes: &mut Vec<u8>) {
    let first = (address >> lowest_bit(sub_isa)) as u8 & 0x7f | reserved << 7;
    let second = match sub_isa {
        SubIsa::Is0 => (address >> 9) as u8 & 0x7f | (reserved >> 1) << 7,
        SubIsa::Is1 => (address >> 8) as u8,
    };
    bytes.extend([first, second]);
    bytes.extend((2..count).map(|byte| (address >> (8 * byte)) as u8));
}
