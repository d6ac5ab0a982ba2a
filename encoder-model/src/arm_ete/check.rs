//! Whether a packet can travel unchanged.

use traceproof_vectors::arm_ete::{
    AddressField, ConditionalResult, ContextField, Packet, Parameters, QElements, SubIsa, VariableField,
    Version,
};

use super::atom_headers::{atom_header, few_atoms_code};
use super::field::{longest, lowest_bit};

/// No A-sync is written with more zeros: a typing error must not fill the memory.
const MOST_ZEROS: u64 = 1 << 16;

/// TYPE of a Transaction Failure.
pub(super) const TRANSACTION_FAILURE: u8 = 0x18;

/// The field or parameter for which the packet cannot travel unchanged, if there is one.
pub(super) fn check(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    reserved_header(packet, parameters).or_else(|| check_fields(packet, parameters))
}

fn blame(wrong: bool, field: &'static str) -> Option<&'static str> {
    wrong.then_some(field)
}

/// The parameter under which the header of the packet is reserved, or another packet's.
///
/// Spec: ETE-PKT-RSV-001, ETE-PKT-CFG-001, ETE-PKT-ITE-002, ETE-PKT-TSM-001, ETE-DEC-V4-001 (sheet 2.2, 2.3).
fn reserved_header(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    let Parameters { version, commopt, q_elements, .. } = *parameters;
    let (wrong, parameter) = match packet {
        Packet::Exception { .. }
        | Packet::TransactionStart
        | Packet::TransactionCommit
        | Packet::SourceAddress(_) => (!version.is_ete(), "version"),
        Packet::FunctionReturn => (version.is_ete() || version < Version::Etmv4_2, "version"),
        Packet::BranchFutureFlush => (version.is_ete() || version < Version::Etmv4_5, "version"),
        Packet::Ignore => (version < Version::Etmv4_3, "version"),
        Packet::ExceptionV4 { .. }
        | Packet::ExceptionReturn
        | Packet::Resynchronization
        | Packet::NumberedDataSyncMarker(_)
        | Packet::UnnumberedDataSyncMarker(_)
        | Packet::ConditionalInstruction1(_)
        | Packet::ConditionalInstruction2(_)
        | Packet::ConditionalInstruction3 { .. }
        | Packet::ConditionalFlush
        | Packet::ConditionalResult1 { .. }
        | Packet::ConditionalResult2 { .. }
        | Packet::ConditionalResult3(_)
        | Packet::ConditionalResult4(_) => (version.is_ete(), "version"),
        Packet::Instrumentation { .. } => (!parameters.instrumentation, "instrumentation"),
        Packet::TimestampMarker => (!parameters.timestamp_markers, "timestamp_markers"),
        Packet::Q { .. } => (q_elements == QElements::None, "q_elements"),
        Packet::CycleCount2 { large, .. } => (commopt && !large, "commopt"),
        Packet::CycleCount3 { commit, .. } => (commopt && *commit != 0, "commopt"),
        _ => return None,
    };
    blame(wrong, parameter)
}

/// The field that does not fit, or that has a reserved value.
///
/// Spec: ETE-PKT-CMT-001, ETE-PKT-CAN-001 to ETE-PKT-CAN-003, ETE-PKT-CC2-001, ETE-PKT-EVT-001, ETE-PKT-ATM-001.
fn check_fields(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    match *packet {
        Packet::AlignmentSync { zeros } => blame(!(11..=MOST_ZEROS).contains(&zeros), "zeros"),
        Packet::TraceInfo { .. } => check_trace_info(packet),
        Packet::Timestamp { value, count } => blame(!fits(value, longest::TIMESTAMP), "value")
            .or_else(|| blame(!optional_fits(count, longest::CYCLES), "count")),
        Packet::Exception { .. } | Packet::ExceptionV4 { .. } => check_exception(packet, parameters),
        Packet::Instrumentation { level, reserved, .. } => {
            blame(level > 3, "level").or_else(|| blame(reserved & 3 != 0, "reserved"))
        }
        Packet::CycleCount1 { commit, count } => {
            let commits = commit.is_some() != parameters.commopt && optional_fits(commit, longest::WORD);
            blame(!commits, "commit").or_else(|| blame(!optional_fits(count, longest::CYCLES), "count"))
        }
        Packet::CycleCount2 { commit, count, .. } => {
            blame(commit > 15, "commit").or_else(|| blame(count > 15, "count"))
        }
        Packet::CycleCount3 { commit, count } => {
            blame(commit > 3, "commit").or_else(|| blame(count > 3, "count"))
        }
        Packet::Commit(count) | Packet::Cancel1 { count, .. } => {
            blame(!fits(count, longest::WORD) || count.bits as u32 == 0, "count")
        }
        Packet::Cancel2 { atoms } | Packet::Mispredict { atoms } => {
            blame(few_atoms_code(atoms).is_none(), "atoms")
        }
        Packet::Cancel3 { count, .. } => blame(!(2..=5).contains(&count), "count"),
        Packet::NumberedDataSyncMarker(number) => blame(number > 7, "number"),
        Packet::UnnumberedDataSyncMarker(atoms) => blame(atoms > 4, "atoms"),
        Packet::Event(events) => blame(!(1..=15).contains(&events), "events"),
        Packet::Context(context) => check_context(context, parameters),
        Packet::TargetAddress { address, context } => check_address(address, context, parameters),
        Packet::Q { address, count } => check_q(address, count),
        Packet::SourceAddress(address) => blame(!address_fits(address), "address"),
        Packet::Atoms(atoms) => blame(atom_header(atoms).is_none(), "atoms"),
        _ => check_conditional(packet),
    }
}

/// Whether the bits travel in that many bytes, of at most `longest`.
fn fits(field: VariableField, longest: u8) -> bool {
    let width = 7 * u32::from(field.bytes) + u32::from(field.bytes == longest);
    (1..=longest).contains(&field.bytes) && field.bits.checked_shr(width).unwrap_or(0) == 0
}

fn optional_fits(field: Option<VariableField>, longest: u8) -> bool {
    field.is_none_or(|field| fits(field, longest))
}

/// Spec: ETE-PKT-TI-001, ETE-PKT-TI-005, ETE-V4-TI-001.
fn check_trace_info(packet: &Packet) -> Option<&'static str> {
    let &Packet::TraceInfo { control_bytes, reserved, info, key, speculation, cycle_threshold } = packet
    else {
        return None;
    };
    let control = VariableField { bits: reserved.into(), bytes: control_bytes };
    blame(!(1..=longest::CONTROL).contains(&control_bytes), "control_bytes")
        .or_else(|| blame(reserved & 0xf != 0 || !fits(control, longest::CONTROL), "reserved"))
        .or_else(|| blame(!optional_fits(info, longest::CONTROL), "info"))
        .or_else(|| blame(!optional_fits(key, longest::WORD), "key"))
        .or_else(|| blame(!optional_fits(speculation, longest::WORD), "speculation"))
        .or_else(|| blame(!optional_fits(cycle_threshold, longest::THRESHOLD), "cycle_threshold"))
}

/// Transaction Failure has no address, and only it and PE Reset may have none.
///
/// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-004, ETE-DEC-EXC-002 (A4), ETE-V4-EXC-002.
fn check_exception(packet: &Packet, parameters: &Parameters) -> Option<&'static str> {
    match *packet {
        Packet::Exception { number, address, context, .. } => {
            let addressed = match (number, address) {
                (0, _) => true,
                (TRANSACTION_FAILURE, address) => address.is_none(),
                (_, address) => address.is_some(),
            };
            blame(number > 0x1f, "number").or_else(|| blame(!addressed, "address")).or_else(
                || match address {
                    Some(address) => check_address(address, context, parameters),
                    None => blame(context.is_some(), "context"),
                },
            )
        }
        Packet::ExceptionV4 { number, fault_pending, reserved, .. } => {
            let (widest, reserved_bits) = if fault_pending.is_some() { (0x3ff, 0xc0) } else { (0x1f, 0) };
            blame(number > widest, "number").or_else(|| blame(reserved & !reserved_bits != 0, "reserved"))
        }
        _ => None,
    }
}

/// Spec: sheet 2.3.
fn check_conditional(packet: &Packet) -> Option<&'static str> {
    match *packet {
        Packet::ConditionalInstruction1(key) => blame(!fits(key, longest::WORD), "key"),
        Packet::ConditionalInstruction2(code) => blame(code > 2, "code"),
        Packet::ConditionalInstruction3 { count, .. } => blame(count > 0x3f, "count"),
        Packet::ConditionalResult1 { first, second } => {
            blame(!result_fits(first), "first").or_else(|| blame(!second.is_none_or(result_fits), "second"))
        }
        Packet::ConditionalResult2 { token, .. } | Packet::ConditionalResult4(token) => {
            blame(token > 2, "token")
        }
        Packet::ConditionalResult3(tokens) => blame(tokens > 0xfff, "tokens"),
        _ => None,
    }
}

fn result_fits(result: ConditionalResult) -> bool {
    let VariableField { bits, bytes } = result.key;
    let rest = VariableField { bits: bits >> 3, bytes: bytes.saturating_sub(1) };
    let key = if bytes == 1 { bits >> 3 == 0 } else { fits(rest, longest::RESULT - 1) };
    result.result <= 0xf && key
}

/// Spec: ETE-PKT-CTX-002.
fn check_context(context: ContextField, parameters: &Parameters) -> Option<&'static str> {
    let fits = |value: Option<u32>, bytes: u8| {
        value.is_none_or(|value| u64::from(value).checked_shr(8 * u32::from(bytes)).unwrap_or(0) == 0)
    };
    blame(!fits(context.vmid, parameters.vmid_bytes), "vmid")
        .or_else(|| blame(!fits(context.context_id, parameters.context_id_bytes), "context_id"))
}

/// Only long addresses have a context in their packet. Spec: ETE-PKT-ADR-005.
fn check_address(
    address: AddressField,
    context: Option<ContextField>,
    parameters: &Parameters,
) -> Option<&'static str> {
    let short = matches!(address, AddressField::ExactMatch(_) | AddressField::Short { .. });
    blame(!address_fits(address), "address")
        .or_else(|| blame(short && context.is_some(), "context"))
        .or_else(|| context.and_then(|context| check_context(context, parameters)))
}

/// Spec: ETE-PKT-Q-001.
fn check_q(address: Option<AddressField>, count: Option<VariableField>) -> Option<&'static str> {
    let long = matches!(address, Some(AddressField::Bits64 { .. }));
    blame(long || !address.is_none_or(address_fits), "address")
        .or_else(|| blame(address.is_some() && count.is_none(), "count"))
        .or_else(|| blame(!optional_fits(count, longest::WORD), "count"))
}

/// Whether no bits are set but those that travel. Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-004, ETE-PKT-ADR-006.
fn address_fits(address: AddressField) -> bool {
    let aligned = |bits: u64, sub_isa: SubIsa| bits & ((1 << lowest_bit(sub_isa)) - 1) == 0;
    let reserved_fits = |reserved: u8, sub_isa: SubIsa| match sub_isa {
        SubIsa::Is0 => reserved <= 3,
        SubIsa::Is1 => reserved <= 1,
    };
    match address {
        AddressField::ExactMatch(entry) => entry <= 2,
        AddressField::Short { sub_isa, bits, bytes } => {
            let bits = u64::from(bits.0);
            aligned(bits, sub_isa) && fits(VariableField { bits: bits >> lowest_bit(sub_isa), bytes }, 2)
        }
        AddressField::Bits32 { sub_isa, bits, reserved } => {
            aligned(bits.0.into(), sub_isa) && reserved_fits(reserved, sub_isa)
        }
        AddressField::Bits64 { sub_isa, bits, reserved } => {
            aligned(bits.0, sub_isa) && reserved_fits(reserved, sub_isa)
        }
    }
}
