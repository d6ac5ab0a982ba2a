//! Which packet a header byte begins, for one configuration.

use core::fmt;

use traceproof_vectors::arm_etm::Parameters;

/// What a header byte begins (Table 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Header {
    /// A P-header.
    Atoms,
    /// A branch address of one byte.
    WholeBranch,
    /// The first byte of a longer branch address.
    Branch,
    AlignmentSync,
    CycleCount,
    InstructionSync,
    InstructionSyncWithCycles,
    Trigger,
    NormalData,
    Placeholder,
    OutOfOrderData,
    ValueNotTraced,
    DataSuppressed,
    StoreFailed,
    ContextId,
    Vmid,
    Timestamp,
    Ignore,
    ExceptionExit,
    ExceptionEntry,
    /// No packet of this version.
    Reserved,
    /// A packet that this configuration does not have.
    Illegal,
}

/// The meaning of all 256 header bytes.
#[derive(Clone)]
pub(super) struct Headers([Header; 256]);

impl Headers {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let mut table = [Header::Reserved; 256];
        for (byte, header) in (0..=u8::MAX).zip(&mut table) {
            *header = meaning(byte, parameters);
        }
        Self(table)
    }

    #[inline]
    pub(super) fn of(&self, byte: u8) -> Header {
        let Self(table) = self;
        table[usize::from(byte)]
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Headers").finish_non_exhaustive()
    }
}

/// Spec: ETM3-HDR-001 to 006, ETM3-OOO-001, ETM3-OOO-007 (7.2), ETM3-DO-001 (7.4.10), ETM3-MISC-003 (7.6).
fn meaning(byte: u8, parameters: &Parameters) -> Header {
    let with = |enabled, header| if enabled { header } else { Header::Illegal };
    let (data, values) = (parameters.traces_data(), parameters.data_value);
    let minor = parameters.minor;
    // ETM3-DO-001 (7.4.10)
    let flow = !parameters.data_only;
    match byte {
        _ if byte & 0x81 == 0x81 => with(flow, Header::Branch),
        _ if byte & 1 == 1 => with(flow, Header::WholeBranch),
        0x80.. if is_p_header(byte, parameters.cycle_accurate) => with(flow, Header::Atoms),
        0x00 => Header::AlignmentSync,
        0x04 => with(parameters.cycle_accurate, Header::CycleCount),
        0x08 => Header::InstructionSync,
        0x70 => with(parameters.cycle_accurate, Header::InstructionSyncWithCycles),
        0x0c => Header::Trigger,
        0x20 | 0x24 | 0x28 | 0x2c | 0x40 | 0x44 | 0x48 | 0x4c | 0x60 | 0x64 | 0x68 | 0x6c => {
            with(values, Header::OutOfOrderData)
        }
        0x50 => with(values, Header::StoreFailed),
        0x54 | 0x58 | 0x5c | 0x74 | 0x78 | 0x7c => with(data, Header::Placeholder),
        0x02 | 0x06 | 0x0a | 0x0e | 0x22 | 0x26 | 0x2a | 0x2e => with(data, Header::NormalData),
        0x62 => with(data && flow, Header::DataSuppressed),
        0x6a | 0x7a => with(data, Header::ValueNotTraced),
        0x66 => Header::Ignore,
        0x6e => with(parameters.context_id_bytes != 0, Header::ContextId),
        0x3c if minor >= 5 => with(parameters.vmid, Header::Vmid),
        0x42 | 0x46 if minor >= 5 => with(parameters.timestamps, Header::Timestamp),
        // 7.6: of the M profile from v3.4 on, of the others from v3.5 on.
        0x76 if minor >= 4 => with(minor >= 5 || parameters.m_profile, Header::ExceptionExit),
        0x7e if minor >= 4 => with(data && parameters.m_profile, Header::ExceptionEntry),
        _ => Header::Reserved,
    }
}

/// Spec: ETM3-PH-001 to 010 (7.3.1).
const fn is_p_header(byte: u8, cycle_accurate: bool) -> bool {
    match byte & 3 {
        // Formats 1, of cycle-accurate mode also 0 and 3: every code.
        0 => byte >= 0x80,
        // Format 2, and format 4 of cycle-accurate mode.
        2 => byte & 0xf0 == 0x80 || (cycle_accurate && byte & 0xf8 == 0x90),
        _ => false,
    }
}
