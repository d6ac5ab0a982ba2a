//! The state that packets are relative to: kept, lost or used wrongly.

use traceproof_vectors::arm_ete::{AddressField, ArmEte, Packet, SubIsa, VariableField};

use super::decoder;
use super::history::{History, address_of, bits_64, context_of};
use super::spelled::{after, spelling};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "exact-match-not-pushed",
        || after(|now, before, packet| restore(now, before, is_exact(packet))),
        "An exact match does not change the address history.",
        "ETE-LMHFW-001, ETE-PKT-ADR-004; the address is there already",
    ),
    decoder(
        "exact-match-moves-to-front",
        || {
            after(|now, before, packet| {
                if let Some(AddressField::ExactMatch(index)) = address_of(&mut { *packet }) {
                    now.addresses = before.addresses;
                    if let Some(addresses) = now.addresses.get_mut(..=usize::from(*index)) {
                        addresses.rotate_right(1);
                    }
                }
            })
        },
        "An exact match moves its entry to the front of the address history.",
        "ETE-LMHFW-001; caches that drop the least recently used entry do so",
    ),
    decoder(
        "exception-address-not-pushed",
        || {
            after(|now, before, packet| {
                restore(now, before, matches!(packet, Packet::Exception { address: Some(_), .. }));
            })
        },
        "The return address of an exception does not enter the address history.",
        "ETE-CMCRT-001; it is no target",
    ),
    decoder(
        "source-address-not-pushed",
        || after(|now, before, packet| restore(now, before, matches!(packet, Packet::SourceAddress(_)))),
        "A Source Address does not enter the address history.",
        "ETE-LMHFW-001; it is no target, and ETMv4 has none",
    ),
    decoder(
        "q-address-not-pushed",
        || after(|now, before, packet| restore(now, before, matches!(packet, Packet::Q { .. }))),
        "The address of a Q packet does not enter the address history.",
        "ETE-LMHFW-001; the packet belongs to another class",
    ),
    decoder(
        "unknown-address-not-pushed",
        || {
            after(|now, before, packet| {
                restore(now, before, matches!(packet, Packet::Exception { address: None, .. }));
            })
        },
        "70 in an exception packet does not enter the address history.",
        "ETE-FPDFJ-001; it is no address",
    ),
    decoder(
        "address-history-of-two",
        || after(|now, _, _| now.addresses[2] = now.addresses[1]),
        "The address history has two entries.",
        "ETE-SJPYH-001; the index has two bits and the third value is rare",
    ),
    decoder(
        "exact-match-in-the-newest-set",
        || {
            spelling(|before, packet, spelled| {
                if is_exact(packet)
                    && let Some(AddressField::Bits64 { sub_isa, .. }) = address_of(spelled)
                {
                    *sub_isa = before.addresses[0].1;
                }
            })
        },
        "An exact match has the sub_isa of the newest entry.",
        "ETE-PKT-ADR-004; the history keeps addresses only",
    ),
    decoder(
        "short-address-keeps-low-bits",
        || {
            spelling(|before, packet, spelled| {
                if let Some(AddressField::Short { sub_isa: SubIsa::Is0, .. }) = address_of(&mut { *packet })
                    && let Some(AddressField::Bits64 { bits, .. }) = address_of(spelled)
                {
                    bits.0 |= before.addresses[0].0 & 3;
                }
            })
        },
        "A short IS0 address after an IS1 address keeps bit 1.",
        "ETE-PKT-ADR-001, ETE-FSWRC-001; only the bits that travel are replaced",
    ),
    decoder(
        "short-address-clears-upper-half",
        || {
            spelling(|_, packet, spelled| {
                clear_upper(
                    spelled,
                    matches!(address_of(&mut { *packet }), Some(AddressField::Short { .. })),
                );
            })
        },
        "A short address clears bits 63:32.",
        "ETE-PKT-ADR-001; a base of 32 bits",
    ),
    decoder(
        "32-bit-address-clears-upper-half",
        || {
            spelling(|_, packet, spelled| {
                clear_upper(
                    spelled,
                    matches!(address_of(&mut { *packet }), Some(AddressField::Bits32 { .. })),
                );
            })
        },
        "A 32-bit address clears bits 63:32.",
        "ETE-PKT-ADR-002; OpenCSD does so unless the context is 64-bit",
    ),
    decoder(
        "trace-info-keeps-address-history",
        || after(|now, before, packet| restore(now, before, is_info(packet))),
        "Trace Info does not reset the address history.",
        "ETE-BTWGD-001, ETE-PKZKZ-001; units seldom use it before an address in full",
    ),
    decoder(
        "trace-info-keeps-context",
        || {
            after(|now, before, packet| {
                if is_info(packet) {
                    now.context = before.context;
                }
            })
        },
        "Trace Info does not reset VMID, Context ID and what 80 repeats.",
        "ETE-DEC-TI-003; OpenCSD does so",
    ),
    decoder(
        "trace-info-keeps-timestamp",
        || {
            after(|now, before, packet| {
                if is_info(packet) {
                    now.timestamp = before.timestamp;
                }
            })
        },
        "Trace Info does not reset the timestamp.",
        "ETE-GPGQQ-001, ETE-PKT-TI-004; time does not go back",
    ),
    decoder(
        "a-sync-resets-address-history",
        || {
            after(|now, _, packet| {
                if matches!(packet, Packet::AlignmentSync { .. }) {
                    now.addresses = Default::default();
                }
            })
        },
        "A-sync resets the address history.",
        "ETE-DEC-SYNC-005; a Trace Info follows most of them",
    ),
    decoder(
        "discard-resets-address-history",
        || {
            after(|now, _, packet| {
                if *packet == Packet::Discard {
                    now.addresses = Default::default();
                }
            })
        },
        "Discard resets the address history.",
        "ETE-LMHFW-001, ETE-CTYFK-001; only Trace Info does",
    ),
    decoder(
        "trace-on-resets-address-history",
        || {
            after(|now, _, packet| {
                if *packet == Packet::TraceOn {
                    now.addresses = Default::default();
                }
            })
        },
        "Trace On resets the address history.",
        "ETE-LMHFW-001, ETE-BTWGD-001; an address follows it",
    ),
    decoder(
        "absent-ids-are-zero",
        || {
            spelling(|_, packet, spelled| {
                if let (Some(sent), Some(context)) = (context_of(&mut { *packet }), context_of(spelled)) {
                    context.vmid = context.vmid.map(|_| sent.vmid.unwrap_or(0));
                    context.context_id = context.context_id.map(|_| sent.context_id.unwrap_or(0));
                }
            })
        },
        "A context without VMID or Context ID has 0 for them.",
        "ETE-PKT-CTX-002, ETE-ZPNYS-001; a record that is built anew for each packet",
    ),
    decoder(
        "same-context-without-ids",
        || {
            spelling(|_, packet, spelled| {
                if let (Packet::ContextSame, Packet::Context(context)) = (packet, spelled) {
                    context.vmid = context.vmid.map(|_| 0);
                    context.context_id = context.context_id.map(|_| 0);
                }
            })
        },
        "80 repeats security state and exception level, and no ids.",
        "ETE-PKT-CTX-001; only the information byte is kept",
    ),
    decoder(
        "exception-context-not-kept",
        || {
            after(|now, before, packet| {
                if matches!(packet, Packet::Exception { context: Some(_), .. }) {
                    now.context = before.context;
                }
            })
        },
        "80 after an exception with context repeats the one before it.",
        "ETE-PKT-CTX-001, ETE-DEC-EXC-001; the handler's context comes next anyway",
    ),
    decoder(
        "address-context-not-kept",
        || {
            after(|now, before, packet| {
                if matches!(packet, Packet::TargetAddress { context: Some(_), .. }) {
                    (now.context.vmid, now.context.context_id) =
                        (before.context.vmid, before.context.context_id);
                }
            })
        },
        "VMID and Context ID of an address packet hold for that packet only.",
        "ETE-PKT-CTX-002, ETE-PKT-ADR-005; two parsers for one field",
    ),
    decoder(
        "timestamps-replace-all-bits",
        || spelling(|_, packet, spelled| timestamp(packet, spelled, |_, sent| sent.bits)),
        "The bits of a timestamp that do not travel are 0.",
        "ETE-PKT-TS-001, ETE-RZNPD-001; all other fields work so",
    ),
    decoder(
        "zero-timestamp-bits-not-stored",
        || {
            spelling(|before, packet, spelled| {
                timestamp(packet, spelled, |right, sent| if sent.bits == 0 { u64::MAX } else { right });
                if let Packet::Timestamp { value, .. } = spelled
                    && value.bits == u64::MAX
                {
                    value.bits = before.timestamp;
                }
            })
        },
        "A timestamp whose bits are 0 leaves the one before unchanged.",
        "ETE-PKT-TS-001; ptm2human does so",
    ),
    decoder(
        "timestamps-cut-to-48-bits",
        || spelling(|_, packet, spelled| timestamp(packet, spelled, |right, _| right & 0xffff_ffff_ffff)),
        "Timestamps have 48 bits.",
        "ETE-PKT-TS-001; ETMv4 units have a TSSIZE of 48",
    ),
];

fn restore(now: &mut History, before: &History, restores: bool) {
    if restores {
        now.addresses = before.addresses;
    }
}

fn is_exact(packet: &Packet) -> bool {
    matches!(address_of(&mut { *packet }), Some(AddressField::ExactMatch(_)))
}

const fn is_info(packet: &Packet) -> bool {
    matches!(packet, Packet::TraceInfo { .. })
}

fn clear_upper(spelled: &mut Packet, clears: bool) {
    if let Some(address) = address_of(spelled)
        && let AddressField::Bits64 { sub_isa, bits, .. } = *address
        && clears
    {
        *address = bits_64((bits.0 & 0xffff_ffff, sub_isa));
    }
}

/// Changes the value of a timestamp, given the right one and what travelled.
fn timestamp(packet: &Packet, spelled: &mut Packet, change: fn(u64, VariableField) -> u64) {
    if let (Packet::Timestamp { value: sent, .. }, Packet::Timestamp { value, .. }) = (packet, spelled) {
        *value = VariableField { bits: change(value.bits, *sent), bytes: 9 };
    }
}
