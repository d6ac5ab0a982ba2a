//! What the codes of `format` mean with given parameters and options (ET 8.1.1).

use traceproof_vectors::riscv_etrace::{DataLayout, DataOptions, DataParameters};

/// What a code of `format` says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Format {
    /// No access that these parameters have.
    #[default]
    Reserved,
    /// Excluded by the options.
    Excluded,
    Transfer(Direction),
    LoadRequest(Direction),
    LoadData,
    Csr,
    /// Unified, or the request of a split one.
    Atomic,
    AtomicData,
    /// A load or store of the MMA/CAS extension: `subformat` says which.
    Memory {
        multi: bool,
    },
    /// Its atomic or CSR access: `subformat` is `dtype`.
    Register,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub(super) store: bool,
    pub(super) unaligned: bool,
    pub(super) multi: bool,
}

/// Which accesses of a split interface have responses.
#[derive(Clone, Copy)]
struct Responses {
    loads: bool,
    atomics: bool,
}

/// What each code means; rebuilt when the options change. `requests_without_address`: without address, atomics of a
/// split interface still come in two packets (RVET5-ENC-017).
pub(super) fn formats(
    parameters: &DataParameters,
    options: DataOptions,
    requests_without_address: bool,
) -> [Format; 8] {
    let reduced = options.no_address || options.no_data;
    let atomics = parameters.atomics() && requests_without_address && !options.no_data;
    // Which responses there are while packets are reduced.
    let responses = Responses { loads: !reduced, atomics: !reduced || atomics };
    let mut formats = [Format::Reserved; 8];
    for (code, format) in (0..).zip(&mut formats) {
        *format = match parameters.layout {
            DataLayout::Ratified => ratified(code, parameters, reduced, responses),
            DataLayout::MmaCas => mma_cas(code, parameters, responses),
        };
    }
    formats
}

/// What the code of a ratified packet means. Spec: RVET-DATA-003 (ET 8.1.1).
const fn ratified(code: u8, parameters: &DataParameters, reduced: bool, responses: Responses) -> Format {
    let direction = Direction { store: code & 2 != 0, unaligned: code & 1 != 0, multi: false };
    let response = parameters.split && (code == 4 || parameters.atomics());
    match code {
        0 | 1 if parameters.split && !reduced => Format::LoadRequest(direction),
        0..=3 => Format::Transfer(direction),
        4 if response && !responses.loads => Format::Excluded,
        7 if response && !responses.atomics => Format::Excluded,
        4 if response => Format::LoadData,
        7 if response => Format::AtomicData,
        5 if parameters.csrs() => Format::Csr,
        6 if parameters.atomics() => Format::Atomic,
        _ => Format::Reserved,
    }
}

/// What the code of a packet of the MMA/CAS extension means. Spec: RVET5-PKT-016 to 018.
const fn mma_cas(code: u8, parameters: &DataParameters, responses: Responses) -> Format {
    match code {
        0 => Format::Memory { multi: false },
        1 if parameters.dtype_width_p >= 2 => Format::Memory { multi: true },
        2 if parameters.csrs() => Format::Register,
        3 if parameters.split && (responses.loads || responses.atomics) => Format::LoadData,
        3 if parameters.split => Format::Excluded,
        _ => Format::Reserved,
    }
}
