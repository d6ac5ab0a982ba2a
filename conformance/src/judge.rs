//! Compares the expectation with the results, and finds the first difference.

use traceproof_vectors::Log;

pub use traceproof_differential::judge::*;

use crate::family::FamilyRules;
use crate::verdict::Divergence;

/// Compares an encoder's packets and bytes with what was expected.
///
/// Bytes may differ where the family leaves the form of a packet to encoders ([`FamilyRules::LEGAL_FORM`]).
///
/// # Errors
///
/// The first difference.
pub fn encoding<P: FamilyRules>(
    packets: Option<&[P::Packet]>,
    wire: &[u8],
    parameters: &P::Parameters,
    policy: &P::Policy,
    got: &Log<P>,
) -> Result<(), Box<Divergence>> {
    if let Some(packets) = packets {
        compare_packets(packets, got)?;
    }
    if wire != got.wire && P::LEGAL_FORM.is_some_and(|legal| legal(wire, &got.wire, parameters, policy)) {
        return Ok(());
    }
    bytes::<P>("wire", wire, &got.wire, parameters)
}
