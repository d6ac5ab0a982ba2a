//! Parameters made of the first bytes of a raw fuzz input.

use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{ConditionalTrace, Parameters, QElements, Version};

/// Bytes of the constants: version, sizes, options (2 bytes), modes, width of the cycle counter, MAXSPEC.
pub const CONSTANTS: usize = 7;

const VMID_BYTES: [u8; 4] = [0, 1, 2, 4];
const TIMESTAMP_BITS: [u8; 4] = [0, 48, 64, 64];
const PROFILES: [Profile; 4] =
    [Profile::Application, Profile::RealTime, Profile::Microcontroller, Profile::Application];
const Q_ELEMENTS: [QElements; 4] = [QElements::None, QElements::Count, QElements::Any, QElements::None];
const CONDITIONAL: [ConditionalTrace; 5] = [
    ConditionalTrace::None,
    ConditionalTrace::Loads,
    ConditionalTrace::Stores,
    ConditionalTrace::LoadsAndStores,
    ConditionalTrace::All,
];

/// Options in the order of their bits.
const fn options(parameters: &Parameters) -> [bool; 15] {
    [
        parameters.commopt,
        parameters.commtrans,
        parameters.timestamp_markers,
        parameters.instrumentation,
        parameters.transactions,
        parameters.wfx_is_p0,
        parameters.cycle_counting,
        parameters.timestamps,
        parameters.context_ids,
        parameters.vmids,
        parameters.return_stack,
        parameters.branch_broadcast,
        parameters.load_is_p0,
        parameters.store_is_p0,
        parameters.data_trace,
    ]
}

/// Parameters with these options. Not every combination exists: see [`Parameters::check`].
#[must_use]
pub fn parameters([version, sizes, low, high, modes, cycles, maxspec]: [u8; CONSTANTS]) -> Parameters {
    let bits = u16::from_le_bytes([low, high]);
    let on = |bit: u8| bits >> bit & 1 == 1;
    let code = |byte: u8, shift: u8| usize::from(byte >> shift & 3);
    Parameters {
        version: Version::ALL[usize::from(version) % Version::ALL.len()],
        profile: PROFILES[code(sizes, 6)],
        commopt: on(0),
        commtrans: on(1),
        maxspec: if maxspec == u8::MAX { u32::MAX } else { maxspec.into() },
        vmid_bytes: VMID_BYTES[code(sizes, 0)],
        context_id_bytes: if sizes & 4 == 0 { 0 } else { 4 },
        address_bytes: if sizes & 8 == 0 { 4 } else { 8 },
        cycle_count_bits: 12 + cycles % 9,
        timestamp_bits: TIMESTAMP_BITS[code(sizes, 4)],
        timestamp_markers: on(2),
        instrumentation: on(3),
        transactions: on(4),
        wfx_is_p0: on(5),
        q_elements: Q_ELEMENTS[code(modes, 0)],
        cycle_counting: on(6),
        timestamps: on(7),
        context_ids: on(8),
        vmids: on(9),
        return_stack: on(10),
        branch_broadcast: on(11),
        conditional_trace: CONDITIONAL[usize::from(modes >> 2) % CONDITIONAL.len()],
        load_is_p0: on(12),
        store_is_p0: on(13),
        data_trace: on(14),
    }
}

/// The constants that [`parameters`] makes `parameters` of, if it does.
#[must_use]
pub fn constants(wanted: &Parameters) -> Option<[u8; CONSTANTS]> {
    let place = |found: Option<usize>| u8::try_from(found?).ok();
    let version = place(Version::ALL.iter().position(|version| *version == wanted.version))?;
    let vmid = place(VMID_BYTES.iter().position(|bytes| *bytes == wanted.vmid_bytes))?;
    let timestamp = place(TIMESTAMP_BITS.iter().position(|bits| *bits == wanted.timestamp_bits))?;
    let profile = place(PROFILES.iter().position(|profile| *profile == wanted.profile))?;
    let ids = u8::from(wanted.context_id_bytes == 4) << 2 | u8::from(wanted.address_bytes == 8) << 3;
    let options: u16 = options(wanted).into_iter().enumerate().map(|(bit, on)| u16::from(on) << bit).sum();
    let [low, high] = options.to_le_bytes();
    let q = place(Q_ELEMENTS.iter().position(|q| *q == wanted.q_elements))?;
    let conditional = place(CONDITIONAL.iter().position(|trace| *trace == wanted.conditional_trace))?;
    let cycles = wanted.cycle_count_bits.checked_sub(12)?;
    let maxspec = u8::try_from(wanted.maxspec).unwrap_or(u8::MAX);
    let sizes = vmid | ids | timestamp << 4 | profile << 6;
    let constants = [version, sizes, low, high, q | conditional << 2, cycles, maxspec];
    (parameters(constants) == *wanted).then_some(constants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_read_back() {
        for bytes in [[0; 7], [10, 0x2f, 0x55, 0x2a, 0x12, 8, 16], [6, 0x9b, 0xff, 0x7f, 1, 3, 255]] {
            assert_eq!(constants(&parameters(bytes)), Some(bytes));
        }
        for wanted in [Parameters::default(), Parameters::etmv4(Version::Etmv4_3)] {
            assert_eq!(constants(&wanted).map(parameters), Some(wanted));
        }
        assert_eq!(constants(&Parameters { maxspec: 300, ..Parameters::default() }), None);
    }
}
