//! Packets that are read wrongly: fields, lengths, existence.

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{AddressField, ArmEte, Atoms, Packet, SubIsa};
use traceproof_vectors::{Address, Address32};

use super::history::{address_of, context_of};
use super::{decoder, reads};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "atoms-of-format-3-newest-first",
        || reads(|packet| atoms_of(packet, 3, |bits| (bits & 1) << 2 | bits & 2 | bits >> 2)),
        "The three atoms of format 3 are read newest first.",
        "ETE-PKT-ATM-001; bit 0 is the oldest, and tables are written from bit 2",
    ),
    decoder(
        "atoms-of-format-2-newest-first",
        || reads(|packet| atoms_of(packet, 2, |bits| (bits & 1) << 1 | bits >> 1)),
        "The two atoms of format 2 are read newest first.",
        "ETE-PKT-ATM-001; D9 and DA swapped in a table",
    ),
    decoder(
        "atoms-of-format-5-2-inverted",
        || reads(|packet| atoms_of(packet, 5, |bits| if matches!(bits, 10 | 21) { bits ^ 31 } else { bits })),
        "D6 and D7 change places.",
        "ETE-PKT-ATM-001; format 4 has NENE before ENEN, too",
    ),
    decoder(
        "atoms-of-format-6-one-less",
        || reads(one_atom_less),
        "Format 6 has COUNT+2 E atoms.",
        "ETE-PKT-ATM-001; COUNT+3, and the last atom is apart",
    ),
    decoder(
        "last-atom-of-format-6-is-first",
        || reads(last_atom_first),
        "The N atom of format 6 comes before its E atoms.",
        "ETE-PKT-ATM-001; orbuculum clears the first one",
    ),
    decoder(
        "mispredict-atom-33-taken",
        || {
            reads(|packet| match packet {
                Packet::Mispredict { atoms: Some(atoms) } | Packet::Cancel2 { atoms: Some(atoms) }
                    if atoms.len() == 1 =>
                {
                    *atoms = Atoms::one(true);
                }
                _ => {}
            })
        },
        "The atom of 33 and 37 is E.",
        "ETE-PKT-MIS-001, ETE-PKT-CAN-002; the codes 1, 2, 3 are taken for numbers of E atoms",
    ),
    decoder(
        "cancel-format-3-one-less",
        || {
            reads(|packet| {
                if let Packet::Cancel3 { count, .. } = packet {
                    *count -= u8::from(*count > 2);
                }
            })
        },
        "Cancel format 3 cancels 2, 2, 3, 4 elements.",
        "ETE-PKT-CAN-003; the count is bits 2:1 and 2",
    ),
    decoder(
        "exception-type-of-4-bits",
        || {
            reads(|packet| {
                if let Packet::Exception { number, .. } = packet {
                    *number &= 0xf;
                }
            })
        },
        "TYPE of an exception has four bits.",
        "ETE-PKT-EXC-001; the types in use up to FIQ need four",
    ),
    decoder(
        "reserved-exceptions-are-mapped",
        || {
            reads(|packet| {
                if let Packet::Exception { number: number @ (5 | 8 | 9 | 0xd | 0x19..), .. } = packet {
                    *number = 0x10;
                }
            })
        },
        "Reserved exception types are taken for an IMPLEMENTATION DEFINED one.",
        "ETE-PKT-EXC-005; the default arm of a table of names",
    ),
    decoder(
        "type-of-etmv4-without-shift",
        || {
            reads(|packet| {
                if let Packet::ExceptionV4 { number, .. } = packet {
                    *number = *number >> 5 | *number & 0x1f;
                }
            })
        },
        "The second part of an ETMv4 exception's TYPE is not shifted by 5.",
        "ETE-V4-EXC-002; ptm2human does so",
    ),
    decoder(
        "fault-pending-is-bit-6",
        || {
            reads(|packet| {
                if let Packet::ExceptionV4 { fault_pending: Some(pending), .. } = packet {
                    *pending = false;
                }
            })
        },
        "P of an ETMv4 exception is looked for in bit 6.",
        "ETE-V4-EXC-002; bit 5 stands above five bits of TYPE",
    ),
    decoder(
        "nse-ignored",
        || {
            reads(|packet| {
                security(packet, |state| match state {
                    SecurityState::Root => SecurityState::Secure,
                    SecurityState::Realm => SecurityState::NonSecure,
                    other => other,
                });
            })
        },
        "NSE is ignored, so that Root is Secure and Realm is Non-secure.",
        "ETE-PKT-CTX-003; the K10 pseudocode does so",
    ),
    decoder(
        "root-and-realm-swapped",
        || {
            reads(|packet| {
                security(packet, |state| match state {
                    SecurityState::Root => SecurityState::Realm,
                    SecurityState::Realm => SecurityState::Root,
                    other => other,
                });
            })
        },
        "NSE:NS 10 is Realm and 11 is Root.",
        "ETE-PKT-CTX-003; the order of the two bits in the byte is NS, then NSE",
    ),
    decoder(
        "context-id-before-vmid",
        || {
            reads(|packet| {
                if let Some(context) = context_of(packet)
                    && context.vmid.is_some()
                    && context.context_id.is_some()
                {
                    (context.vmid, context.context_id) = (context.context_id, context.vmid);
                }
            })
        },
        "Of VMID and Context ID the Context ID is read first.",
        "ETE-PKT-CTX-001; C is bit 7 and V is bit 6",
    ),
    decoder(
        "context-id-big-endian",
        || {
            reads(|packet| {
                if let Some(context) = context_of(packet) {
                    context.context_id = context.context_id.map(u32::swap_bytes);
                }
            })
        },
        "A Context ID is read with its highest byte first.",
        "ETE-PKT-CTX-002; the order of the bytes of A-sync and headers is no help",
    ),
    decoder(
        "el3-is-el1",
        || {
            reads(|packet| {
                if let Some(context) = context_of(packet)
                    && context.exception_level == ExceptionLevel::El3
                {
                    context.exception_level = ExceptionLevel::El1;
                }
            })
        },
        "The exception level of a context has one bit.",
        "ETE-VHQYV-001; the bit after it is reserved",
    ),
    decoder(
        "short-address-of-14-bits",
        || {
            reads(|packet| {
                short(packet, |sub_isa, bits| {
                    bits & !(if sub_isa == SubIsa::Is0 { 1 << 16 } else { 1 << 15 })
                });
            })
        },
        "The second byte of a short address gives seven bits.",
        "ETE-PKT-ADR-001; all other groups with a continuation bit have seven",
    ),
    decoder(
        "short-is1-address-shifted-by-2",
        || {
            reads(|packet| {
                short(packet, |sub_isa, bits| if sub_isa == SubIsa::Is1 { bits << 1 } else { bits });
            })
        },
        "A short IS1 address starts at bit 2.",
        "ETE-PKT-ADR-001; one shift for both instruction sets",
    ),
    decoder(
        "long-is1-address-without-bit-15",
        || {
            reads(|packet| {
                long(packet, |sub_isa, bits| if sub_isa == SubIsa::Is1 { bits & !(1 << 15) } else { bits });
            })
        },
        "The second byte of a long IS1 address gives seven bits.",
        "ETE-PKT-ADR-003; orbuculum does so, as is right for IS0",
    ),
    decoder(
        "long-is0-address-without-bit-8",
        || {
            reads(|packet| {
                long(packet, |sub_isa, bits| if sub_isa == SubIsa::Is0 { bits & !(1 << 8) } else { bits });
            })
        },
        "The first byte of a long IS0 address gives six bits.",
        "ETE-PKT-ADR-003; bits 7:2 fill a byte, and the second one starts at bit 9",
    ),
    decoder(
        "addresses-of-48-bits",
        || {
            reads(|packet| {
                if let Some(AddressField::Bits64 { bits, .. }) = address_of(packet) {
                    *bits = Address((bits.0 << 8).cast_signed().wrapping_shr(8).cast_unsigned());
                }
            })
        },
        "The highest byte of a 64-bit address is the sign of the others.",
        "ETE-PKT-ADR-003; tags are not traced, so it is taken for one",
    ),
    decoder(
        "source-addresses-are-is0",
        || {
            reads(|packet| {
                if let Packet::SourceAddress(
                    AddressField::Short { sub_isa, .. }
                    | AddressField::Bits32 { sub_isa, .. }
                    | AddressField::Bits64 { sub_isa, .. },
                ) = packet
                {
                    *sub_isa = SubIsa::Is0;
                }
            })
        },
        "Source Addresses of IS1 are taken for IS0.",
        "ETE-PKT-SRC-001; their headers are not those of Target Addresses and an offset",
    ),
    decoder(
        "q-count-of-14-bits",
        || {
            reads(|packet| {
                if let Packet::Q { count: Some(count), .. } = packet {
                    count.bits &= 0x3fff;
                }
            })
        },
        "COUNT of a Q element has two bytes at most.",
        "ETE-PKT-Q-001; ptm2human shifts it wrongly",
    ),
    decoder(
        "commits-of-28-bits",
        || {
            reads(|packet| {
                if let Packet::Commit(count) | Packet::Cancel1 { count, .. } = packet {
                    count.bits &= 0xfff_ffff;
                }
            })
        },
        "The fifth byte of COMMIT and CANCEL is ignored.",
        "ETE-PKT-CMT-001, ETE-PKT-CAN-001; four bytes are enough for any real MAXSPEC",
    ),
    decoder(
        "cycle-counts-of-14-bits",
        || {
            reads(|packet| {
                if let Packet::CycleCount1 { count: Some(count), .. } = packet {
                    count.bits &= 0x3fff;
                }
            })
        },
        "The third byte of a COUNT of cycles is ignored.",
        "ETE-PKT-CC1-001; CCSIZE is often 12 bits",
    ),
    decoder(
        "timestamp-counts-of-14-bits",
        || {
            reads(|packet| {
                if let Packet::Timestamp { count: Some(count), .. } = packet {
                    count.bits &= 0x3fff;
                }
            })
        },
        "The third byte of a timestamp's COUNT is ignored.",
        "ETE-PKT-TS-002; CCSIZE is often 12 bits",
    ),
    decoder(
        "timestamps-of-63-bits",
        || {
            reads(|packet| {
                if let Packet::Timestamp { value, .. } = packet {
                    value.bits &= u64::MAX >> 1;
                }
            })
        },
        "The ninth byte of a timestamp gives seven bits.",
        "ETE-PKT-TS-001; the other eight give seven",
    ),
    decoder(
        "threshold-of-one-byte",
        || {
            reads(|packet| {
                if let Packet::TraceInfo { cycle_threshold: Some(threshold), .. } = packet {
                    threshold.bits &= 0x7f;
                }
            })
        },
        "The second byte of CYCT is ignored.",
        "ETE-PKT-TI-005; usual thresholds fit into one",
    ),
    decoder(
        "key-is-spec",
        || {
            reads(|packet| {
                if let Packet::TraceInfo { key, speculation, .. } = packet
                    && (key.is_some() || speculation.is_some())
                {
                    core::mem::swap(key, speculation);
                }
            })
        },
        "PLCTL bit 1 announces SPEC, and bit 2 KEY.",
        "ETE-PKT-TI-001; ETE has no KEY, so that bit 1 is free",
    ),
    decoder(
        "instrumentation-big-endian",
        || {
            reads(|packet| {
                if let Packet::Instrumentation { value, .. } = packet {
                    *value = value.swap_bytes();
                }
            })
        },
        "The value of an Instrumentation packet is read with its highest byte first.",
        "ETE-PKT-ITE-001; the only packet with eight bytes that are no address",
    ),
    decoder(
        "instrumentation-of-el1-or-el0",
        || {
            reads(|packet| {
                if let Packet::Instrumentation { level, .. } = packet {
                    *level &= 1;
                }
            })
        },
        "The level of an Instrumentation packet has one bit.",
        "ETE-WYYPN-001; bits 7:2 are reserved",
    ),
    decoder(
        "event-bits-from-the-top",
        || {
            reads(|packet| {
                if let Packet::Event(events) = packet {
                    *events = events.reverse_bits() >> 4;
                }
            })
        },
        "Bit 3 of an Event header is event 0.",
        "ETE-PKT-EVT-001; the figure has the highest bit on the left",
    ),
    decoder(
        "conditional-result-key-step",
        || {
            reads(|packet| {
                if let Packet::ConditionalResult2 { by_two, .. } = packet {
                    *by_two ^= true;
                }
            })
        },
        "K of conditional results of format 2 means an increment by one.",
        "ETE-V4-CND-003; K = 0 is the plain case",
    ),
];

fn atoms_of(packet: &mut Packet, length: usize, change: fn(u32) -> u32) {
    if let Packet::Atoms(atoms) = packet
        && atoms.len() == length
    {
        *atoms = Atoms::from_bits(change(atoms.bits()), length as u8).unwrap_or(*atoms);
    }
}

/// The atoms, if they are of format 6: whether the last one is E, and how many there are.
fn format_6(packet: &mut Packet) -> Option<(&mut Atoms, bool, u8)> {
    let Packet::Atoms(atoms) = packet else { return None };
    let length = atoms.len() as u8;
    let before = (1 << (length - 1)) - 1;
    let is_format_6 = length > 3 && atoms.bits() & before == before;
    let last = atoms.bits() > before;
    is_format_6.then_some((atoms, last, length))
}

fn one_atom_less(packet: &mut Packet) {
    if let Some((atoms, _, length)) = format_6(packet) {
        *atoms = Atoms::from_bits(atoms.bits() >> 1, length - 1).unwrap_or(*atoms);
    }
}

fn last_atom_first(packet: &mut Packet) {
    if let Some((atoms, false, length)) = format_6(packet) {
        *atoms = Atoms::from_bits(!1, length).unwrap_or(*atoms);
    }
}

fn security(packet: &mut Packet, change: fn(SecurityState) -> SecurityState) {
    if let Some(context) = context_of(packet) {
        context.security = change(context.security);
    }
}

/// Bits of a short address of two bytes, or of any of IS1.
fn short(packet: &mut Packet, change: fn(SubIsa, u32) -> u32) {
    if let Some(AddressField::Short { sub_isa, bits, .. }) = address_of(packet) {
        *bits = Address32(change(*sub_isa, bits.0));
    }
}

/// Bits of an address of 32 or 64 bits.
fn long(packet: &mut Packet, change: fn(SubIsa, u64) -> u64) {
    match address_of(packet) {
        Some(AddressField::Bits32 { sub_isa, bits, .. }) => {
            *bits = Address32(change(*sub_isa, bits.0.into()) as u32);
        }
        Some(AddressField::Bits64 { sub_isa, bits, .. }) => *bits = Address(change(*sub_isa, bits.0)),
        _ => {}
    }
}
