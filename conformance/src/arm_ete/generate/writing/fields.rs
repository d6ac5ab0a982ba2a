//! Fields with values at their limits and beyond, and whether they fit.

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, ConditionalResult, ContextField, Parameters, SubIsa, VariableField,
};
use traceproof_vectors::{Address, Address32};

/// The largest value of so many bits.
const fn most(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Fields with each number of bytes: 7 bits in each, 8 in the last one that the field may have.
///
/// Spec: ETE-PKT-ENC-001, ETE-PKT-ENC-002.
pub(super) fn variable(longest: u8) -> Vec<(VariableField, bool)> {
    let mut fields = vec![(VariableField { bits: 0, bytes: 0 }, false)];
    for bytes in 1..=longest + 1 {
        let width = 7 * u32::from(bytes) + u32::from(bytes == longest);
        let is_right = bytes <= longest;
        for bits in [0, 1, most(width.min(64))] {
            fields.push((VariableField { bits, bytes }, is_right));
        }
        if width < 64 {
            fields.push((VariableField { bits: 1 << width, bytes }, false));
        }
    }
    fields
}

/// Counts of which 0 is reserved.
pub(super) fn counts(longest: u8) -> Vec<(VariableField, bool)> {
    let is_right = |(field, fits): (VariableField, bool)| (field, fits && field.bits & 0xffff_ffff != 0);
    let only_reserved = (VariableField { bits: 1 << 32, bytes: longest }, false);
    variable(longest).into_iter().map(is_right).chain([only_reserved]).collect()
}

/// Nothing, and fields.
pub(super) fn optional(longest: u8) -> Vec<(Option<VariableField>, bool)> {
    let fields = variable(longest).into_iter().map(|(field, fits)| (Some(field), fits));
    [(None, true)].into_iter().chain(fields).collect()
}

/// Bits that do not travel, with each instruction set.
const SETS: [(SubIsa, u32); 2] = [(SubIsa::Is0, 2), (SubIsa::Is1, 1)];

/// Addresses of each form.
///
/// Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-004, ETE-PKT-ADR-006.
pub(super) fn addresses() -> Vec<(AddressField, bool)> {
    let mut fields: Vec<_> = (0..=3).map(|entry| (AddressField::ExactMatch(entry), entry <= 2)).collect();
    for (sub_isa, lowest) in SETS {
        let short = |bits: u64, bytes| {
            let bits = Address32((bits << lowest) as u32);
            AddressField::Short { sub_isa, bits, bytes }
        };
        fields.extend([(short(1, 0), false), (short(1, 3), false)]);
        for (bytes, width) in [(1, 7), (2, 15)] {
            fields.extend([0, 1, most(width)].map(|bits| (short(bits, bytes), true)));
            fields.push((short(1 << width, bytes), false));
            let bits = Address32(1 << (lowest - 1));
            fields.push((AddressField::Short { sub_isa, bits, bytes }, false));
        }
        let aligned = !most(lowest);
        for (bits, fits) in [(aligned, true), (1 << lowest, true), (0, true), (1 << (lowest - 1), false)] {
            for reserved in 0..=4_u8 {
                let fits = fits && u32::from(reserved) < 1 << lowest;
                let low = Address32(bits as u32);
                fields.push((AddressField::Bits32 { sub_isa, bits: low, reserved }, fits));
                fields.push((AddressField::Bits64 { sub_isa, bits: Address(bits), reserved }, fits));
            }
        }
        let patterned = 0xfedc_ba98_7654_3210;
        fields.push((AddressField::Bits64 { sub_isa, bits: Address(patterned), reserved: 0 }, true));
    }
    fields
}

/// Whether a packet with this address may have a context.
pub(super) const fn is_long(address: AddressField) -> bool {
    matches!(address, AddressField::Bits32 { .. } | AddressField::Bits64 { .. })
}

/// Contexts with each level, state and size of the ids.
///
/// Spec: ETE-PKT-CTX-002, ETE-PKT-CTX-003.
pub(super) fn contexts(parameters: &Parameters) -> Vec<(ContextField, bool)> {
    let plain = ContextField {
        exception_level: ExceptionLevel::El2,
        security: SecurityState::NonSecure,
        is_64_bit: true,
        vmid: None,
        context_id: None,
        reserved: false,
    };
    let levels = ExceptionLevel::ALL.map(|exception_level| ContextField { exception_level, ..plain });
    let states = [SecurityState::Secure, SecurityState::NonSecure, SecurityState::Root, SecurityState::Realm]
        .map(|security| ContextField { security, ..plain });
    let others = [ContextField { is_64_bit: false, ..plain }, ContextField { reserved: true, ..plain }];
    let mut fields: Vec<_> =
        levels.into_iter().chain(states).chain(others).map(|context| (context, true)).collect();
    let zero = ContextField {
        exception_level: ExceptionLevel::El0,
        security: SecurityState::Secure,
        is_64_bit: false,
        ..plain
    };
    for (vmid, first) in ids(parameters.vmid_bytes) {
        for (context_id, second) in ids(parameters.context_id_bytes) {
            let ids = ContextField { vmid, context_id, ..plain };
            fields.extend([ids, ContextField { vmid, context_id, ..zero }].map(|ids| (ids, first && second)));
        }
    }
    fields
}

/// Ids of so many bytes.
fn ids(bytes: u8) -> Vec<(Option<u32>, bool)> {
    let widest = 1_u64 << (8 * u32::from(bytes));
    let values = [0, widest - 1, widest, 0x0403_0201 & (widest - 1)];
    let values = values.into_iter().filter_map(|value| u32::try_from(value).ok());
    [(None, true)].into_iter().chain(values.map(|value| (Some(value), u64::from(value) < widest))).collect()
}

/// Conditional results: 3 bits of the key beside the result, 7 in each other byte, 8 in the sixth.
///
/// Spec: ETE-DEC-V4-001.
pub(super) fn results() -> Vec<(ConditionalResult, bool)> {
    let of = |bits, bytes, result| ConditionalResult {
        implied: bytes == 2,
        result,
        key: VariableField { bits, bytes },
    };
    let mut results =
        vec![(of(1, 0, 1), false), (of(1, 7, 1), false), (of(5, 1, 15), true), (of(5, 1, 16), false)];
    for (bytes, width) in [(1, 3), (2, 10), (3, 17), (4, 24), (5, 31), (6, 39)] {
        results.extend([0, most(width)].map(|bits| (of(bits, bytes, 9), true)));
        results.push((of(1 << width, bytes, 9), false));
    }
    results
}
