//! Which bytes may an encoder send for the packets of a case?

use traceproof_decoder::riscv_etrace::dissect;
use traceproof_vectors::Dissection;
use traceproof_vectors::riscv_etrace::{Packet, Parameters, Policy, RiscvEtrace};

/// Whether two wires have the same packets in the same transport units, and differ only in compression and filling.
///
/// The specification demands compression for the addresses of formats 1 and 2 only (RVET-PKT-004) and recommends it for
/// the rest (RVET-PKT-005), so other payloads may have any length. That they are not too long and filled with copies of
/// their top bit (RVET-PKT-003) is checked by reading them. A policy with another compression than the default is the
/// subject of its case, whose bytes must come exactly.
pub(super) fn same_packets(expected: &[u8], got: &[u8], parameters: &Parameters, policy: &Policy) -> bool {
    if policy.compression != Policy::default().compression {
        return false;
    }
    let (wanted, came) = (dissect(expected, parameters), dissect(got, parameters));
    wanted.len() == came.len()
        && wanted.iter().zip(&came).all(|(wanted, came)| {
            bytes(expected, wanted) == bytes(got, came)
                || (transport(wanted).eq(transport(came))
                    && matches!((&wanted.packet, &came.packet), (Some(Ok(wanted)), Some(Ok(came)))
                        if wanted == came && !has_compressed_address(wanted)))
        })
}

fn bytes<'a>(wire: &'a [u8], unit: &Dissection<RiscvEtrace>) -> Option<&'a [u8]> {
    wire.get(usize::try_from(unit.bytes.start).ok()?..usize::try_from(unit.bytes.end).ok()?)
}

/// The fields before the payload, without the one that follows from its length.
fn transport(unit: &Dissection<RiscvEtrace>) -> impl Iterator<Item = (&'static str, u64)> {
    let payload = unit.place.byte * 8 + u64::from(unit.place.bit);
    let fields = unit.fields.iter().filter(move |field| field.bit < payload && field.name != "length");
    fields.map(|field| (field.name, field.value))
}

const fn has_compressed_address(packet: &Packet) -> bool {
    matches!(packet, Packet::Address { .. } | Packet::Branch { address: Some(_), .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::Compression;

    /// A start packet at 0x1000, then an address packet of +4.
    const MINIMAL: [u8; 6] = [0x43, 0x73, 0x00, 0x04, 0x41, 0x0a];

    fn accepts(got: &[u8]) -> bool {
        same_packets(&MINIMAL, got, &Parameters::default(), &Policy::default())
    }

    #[test]
    fn start_packets_may_have_any_length() {
        assert!(accepts(&[0x44, 0x73, 0x00, 0x04, 0x00, 0x41, 0x0a]));
        assert!(accepts(&[0x45, 0x73, 0x00, 0x04, 0x00, 0x00, 0x41, 0x0a]));
    }

    #[test]
    fn what_is_demanded_is_checked() {
        // Filling that is no copy of the sign, one byte too many, and another `flow`.
        assert!(!accepts(&[0x45, 0x73, 0x00, 0x04, 0x00, 0xc0, 0x41, 0x0a]));
        assert!(!accepts(&[0x46, 0x73, 0x00, 0x04, 0x00, 0x00, 0x00, 0x41, 0x0a]));
        assert!(!accepts(&[0x24, 0x73, 0x00, 0x04, 0x00, 0x41, 0x0a]));
        // An address of format 2 that is not compressed; another one; a packet that is missing.
        assert!(!accepts(&[0x43, 0x73, 0x00, 0x04, 0x42, 0x0a, 0x00]));
        assert!(!accepts(&[0x43, 0x73, 0x00, 0x04, 0x41, 0x12]));
        assert!(!accepts(&[0x43, 0x73, 0x00, 0x04]));
    }

    #[test]
    fn a_stated_compression_is_exact() {
        let policy = Policy { compression: Compression::Mandatory, ..Policy::default() };
        let longer = [0x44, 0x73, 0x00, 0x04, 0x00, 0x41, 0x0a];
        assert!(!same_packets(&MINIMAL, &longer, &Parameters::default(), &policy));
    }
}
