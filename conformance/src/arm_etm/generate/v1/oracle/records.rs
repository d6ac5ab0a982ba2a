//! The wire, record by record.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v1::{Cycle, Pipestat};

use super::differs;
use crate::arm_etm::generate::oracle::Mismatch;

/// What a record shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The status, be it replaced or not.
    pub(super) status: Pipestat,
    /// A trigger replaces it.
    pub(super) trigger: bool,
    /// A branch address begins.
    pub(super) mark: bool,
    /// TRACEPKT.
    pub(super) tracepkt: u16,
}

pub(super) fn read(wire: &[u8], parameters: &Parameters) -> Result<Vec<Record>, Mismatch> {
    let chunks = wire.chunks(Cycle::size(parameters)).enumerate();
    chunks
        .map(|(index, bytes)| {
            let malformed = || differs(index, "a record", format!("{bytes:x?}"));
            let cycle = Cycle::from_bytes(bytes, parameters).map_err(|_| malformed())?;
            let trigger = cycle.pipestat == Pipestat::Tr;
            let status = if trigger {
                u8::try_from(cycle.tracepkt).ok().and_then(Pipestat::from_code).ok_or_else(malformed)?
            } else {
                cycle.pipestat
            };
            let replaced = trigger && matches!(status, Pipestat::Tr | Pipestat::Td);
            // Nothing is output with TR and TD (ETM1-PS-010, 011).
            let silent = cycle.tracesync && (trigger || status == Pipestat::Td);
            if replaced || silent {
                return Err(malformed());
            }
            Ok(Record { status, trigger, mark: cycle.tracesync, tracepkt: cycle.tracepkt })
        })
        .collect()
}
