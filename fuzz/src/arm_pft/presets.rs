//! Parameters made of the first bytes of a raw fuzz input.

use traceproof_vectors::arm_pft::Parameters;

/// Bytes of the constants.
pub const CONSTANTS: usize = 3;

/// Options in the order of the bits of the first two constants; the code of the Context ID size follows.
const fn options(parameters: &Parameters) -> [bool; 12] {
    [
        parameters.minor == 1,
        parameters.cycle_accurate,
        parameters.branch_broadcast,
        parameters.timestamps,
        parameters.timestamp_bits == 64,
        parameters.timestamp_binary,
        parameters.return_stack,
        parameters.vmid,
        parameters.virtualization,
        parameters.barrier_waypoints,
        parameters.barrier_timestamps,
        parameters.m_profile,
    ]
}

/// The bit after the code of the Context ID size.
const THUMBEE: u8 = 14;

/// Parameters with these options: two bytes of bits, then the depth of the return stack.
#[must_use]
pub fn parameters([low, high, return_stack_depth]: [u8; CONSTANTS]) -> Parameters {
    let bits = u16::from_le_bytes([low, high]);
    let on = |bit: u8| bits >> bit & 1 == 1;
    Parameters {
        minor: on(0).into(),
        cycle_accurate: on(1),
        context_id_bytes: context_id_bytes(bits >> 12 & 3),
        branch_broadcast: on(2),
        timestamps: on(3),
        timestamp_bits: if on(4) { 64 } else { 48 },
        timestamp_binary: on(5),
        return_stack: on(6),
        return_stack_depth,
        vmid: on(7),
        virtualization: on(8),
        barrier_waypoints: on(9),
        barrier_timestamps: on(10),
        m_profile: on(11),
        thumbee: on(THUMBEE),
    }
}

/// The constants that [`parameters`] makes `parameters` of, if it does.
#[must_use]
pub fn constants(parameters: &Parameters) -> Option<[u8; CONSTANTS]> {
    let options: u16 =
        options(parameters).into_iter().enumerate().map(|(bit, on)| u16::from(on) << bit).sum();
    let options = options | u16::from(parameters.thumbee) << THUMBEE;
    let size = (0..4).find(|&code| context_id_bytes(code) == parameters.context_id_bytes)?;
    let [low, high] = (options | size << 12).to_le_bytes();
    let constants = [low, high, parameters.return_stack_depth];
    (self::parameters(constants) == *parameters).then_some(constants)
}

const fn context_id_bytes(code: u16) -> u8 {
    match code {
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
        for bytes in [[0, 0, 0], [0x55, 0x2a, 16], [0xff, 0x3f, 1], [0x55, 0x6a, 16]] {
            assert_eq!(constants(&parameters(bytes)), Some(bytes));
        }
        for wanted in [Parameters::default(), Parameters::v1_0()] {
            assert_eq!(constants(&wanted).map(parameters), Some(wanted));
        }
    }
}
