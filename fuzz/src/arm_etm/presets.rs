//! Parameters made of the first bytes of a raw fuzz input.

use traceproof_vectors::arm_etm::{Architecture, Parameters};

/// Bytes of [`v3`]'s constants.
pub const V3_CONSTANTS: usize = 3;

/// Options of ETMv3 in the order of the bits of the first two constants.
const fn options(parameters: &Parameters) -> [bool; 15] {
    [
        parameters.data_value,
        parameters.data_address,
        parameters.cycle_accurate,
        parameters.alternative_branches,
        parameters.timestamps,
        parameters.timestamp_gray,
        parameters.timestamp_bits == 64,
        parameters.vmid,
        parameters.data_only,
        parameters.m_profile,
        parameters.thumb32_single,
        parameters.virtualization,
        parameters.monitor_cprt,
        parameters.load_pc_first,
        parameters.bare_port,
    ]
}

/// ETMv3 with these options: two bytes of bits, then the minor version (low half) and the size code of Context IDs.
#[must_use]
pub fn v3([low, high, rest]: [u8; V3_CONSTANTS]) -> Parameters {
    let bits = u16::from_le_bytes([low, high]);
    let on = |bit: u8| bits >> bit & 1 == 1;
    Parameters {
        architecture: Architecture::V3,
        minor: rest & 0xf,
        context_id_bytes: context_id_bytes(rest >> 4),
        data_value: on(0),
        data_address: on(1),
        cycle_accurate: on(2),
        alternative_branches: on(3),
        timestamps: on(4),
        timestamp_gray: on(5),
        timestamp_bits: if on(6) { 64 } else { 48 },
        vmid: on(7),
        data_only: on(8),
        m_profile: on(9),
        thumb32_single: on(10),
        virtualization: on(11),
        monitor_cprt: on(12),
        load_pc_first: on(13),
        bare_port: on(14),
        ..Parameters::default()
    }
}

/// The constants that [`v3`] makes `parameters` of, if it does.
#[must_use]
pub fn v3_constants(parameters: &Parameters) -> Option<[u8; V3_CONSTANTS]> {
    let bits: u16 = options(parameters).into_iter().enumerate().map(|(bit, on)| u16::from(on) << bit).sum();
    let [low, high] = bits.to_le_bytes();
    let size = (0..4).find(|&code| context_id_bytes(code) == parameters.context_id_bytes)?;
    let constants = [low, high, parameters.minor & 0xf | size << 4];
    (v3(constants) == *parameters).then_some(constants)
}

/// ETMv2 with the options of one byte: port width, data, Context ID size, minor version, and two more of the next.
#[must_use]
pub fn v2([first, second]: [u8; 2]) -> Parameters {
    Parameters {
        port_width: [4, 8, 16, 8][usize::from(first & 3)],
        data_value: first & 4 != 0,
        data_address: first & 8 != 0,
        context_id_bytes: context_id_bytes(first >> 4 & 3),
        minor: first >> 6 & 1,
        cycle_accurate: first >> 7 == 1,
        fifo_latency: second & 1,
        monitor_cprt: second & 2 != 0,
        ..Parameters::default()
    }
}

/// The constants that [`v2`] makes `parameters` of, if it does.
#[must_use]
pub fn v2_constants(parameters: &Parameters) -> Option<[u8; 2]> {
    (0..=u8::MAX)
        .flat_map(|first| (0..4).map(move |second| [first, second]))
        .find(|&constants| v2(constants) == *parameters)
}

/// ETMv1 with the options of one byte: port width, data, Context ID size, minor version, and three more of the next.
#[must_use]
pub fn v1([first, second]: [u8; 2]) -> Parameters {
    Parameters {
        architecture: Architecture::V1,
        port_width: [4, 8, 16, 8][usize::from(first & 3)],
        data_value: first & 4 != 0,
        data_address: first & 8 != 0,
        context_id_bytes: context_id_bytes(first >> 4 & 3),
        minor: first >> 6,
        fifo_latency: second & 1,
        monitor_cprt: second & 2 != 0,
        cycle_accurate: second & 4 != 0,
        branch_broadcast: second & 8 != 0,
        ..Parameters::default()
    }
}

/// The constants that [`v1`] makes `parameters` of, if it does.
#[must_use]
pub fn v1_constants(parameters: &Parameters) -> Option<[u8; 2]> {
    (0..=u8::MAX)
        .flat_map(|first| (0..16).map(move |second| [first, second]))
        .find(|&constants| v1(constants) == *parameters)
}

const fn context_id_bytes(code: u8) -> u8 {
    match code & 3 {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_read_back() {
        for constants in [[0, 0, 0], [0x57, 0x04, 0x35], [0xff, 0x7f, 0x15]] {
            assert_eq!(v3_constants(&v3(constants)), Some(constants));
        }
        for constants in [[0, 0], [0xd5, 0x0a], [0xfe, 0x0f]] {
            assert_eq!(v1_constants(&v1(constants)), Some(constants));
        }
        assert_eq!(v2_constants(&Parameters::default()).map(v2), Some(Parameters::default()));
    }
}
