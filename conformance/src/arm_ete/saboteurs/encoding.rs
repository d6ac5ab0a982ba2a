//! How trace units are made wrong.

use traceproof_vectors::arm::SecurityState;
use traceproof_vectors::arm_ete::{AddressField, ArmEte, P0Kind, Packet, Signal, VariableField};
use traceproof_vectors::{Address, Address32};

use super::encoder;
use super::history::{Deviation, History, NONE, address_of, context_of};
use super::sending::{addressing, sending, sends};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    encoder(
        "unit-does-not-push-exact-matches",
        || addressing(Deviation { after: |now, before, packet| keep(now, before, exact(packet)), ..NONE }),
        "The trace unit does not push an exact match.",
        "ETE-LMHFW-001, ETE-ENC-AHB-001; the address is there already",
    ),
    encoder(
        "unit-does-not-push-exceptions",
        || {
            addressing(Deviation {
                after: |now, before, packet| keep(now, before, matches!(packet, Packet::Exception { .. })),
                ..NONE
            })
        },
        "The trace unit does not push the return address of an exception.",
        "ETE-CMCRT-001, ETE-FPDFJ-001, ETE-ENC-AHB-001; it is no target",
    ),
    encoder(
        "unit-does-not-push-source-addresses",
        || {
            addressing(Deviation {
                after: |now, before, packet| keep(now, before, matches!(packet, Packet::SourceAddress(_))),
                ..NONE
            })
        },
        "The trace unit does not push a Source Address.",
        "ETE-LMHFW-001, ETE-ENC-AHB-001; it is no target",
    ),
    encoder(
        "unit-keeps-addresses-over-trace-info",
        || {
            addressing(Deviation {
                after: |now, before, packet| keep(now, before, matches!(packet, Packet::TraceInfo { .. })),
                ..NONE
            })
        },
        "The trace unit does not reset its address history at Trace Info.",
        "ETE-BTWGD-001, ETE-ENC-AHB-001; a decoder that starts there has none",
    ),
    encoder(
        "unit-ignores-set-in-matches",
        || {
            sending(|parameters| {
                let mut history = History::new(parameters);
                Box::new(move |_, packets| {
                    for packet in packets {
                        let before = history.addresses[0].0;
                        let point = address_of(packet).map(|address| history.point(*address).0);
                        history.take(packet, NONE);
                        if let Some(field @ AddressField::Short { .. }) = address_of(packet)
                            && point == Some(before)
                        {
                            *field = AddressField::ExactMatch(0);
                        }
                    }
                })
            })
        },
        "An exact match compares addresses and not sub_isa.",
        "ETE-PKT-ADR-004, ETE-ENC-ADR-001; two instruction sets at one address are rare",
    ),
    encoder(
        "one-byte-too-few-in-short-addresses",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Some(AddressField::Short { bits, bytes: bytes @ 2, .. }) = address_of(packet)
                        && bits.0 >> 10 == 0
                    {
                        (*bits, *bytes) = (Address32(bits.0 & 0x1fc), 1);
                    }
                });
            })
        },
        "A short address has one byte although bit 9 differs, too.",
        "ETE-ENC-ADR-002; IS0 has bits 8:2 in the first byte",
    ),
    encoder(
        "unit-does-not-send-nse",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Some(context) = context_of(packet) {
                        context.security = match context.security {
                            SecurityState::Root => SecurityState::Secure,
                            SecurityState::Realm => SecurityState::NonSecure,
                            other => other,
                        };
                    }
                });
            })
        },
        "NSE is never sent.",
        "ETE-PKT-CTX-003; the bit was reserved before FEAT_RME",
    ),
    encoder(
        "periodic-sync-without-trace-info",
        || {
            sending(|_| {
                let mut came = false;
                Box::new(move |_, packets| {
                    let gap = packets.contains(&Packet::Overflow);
                    packets.retain(|packet| {
                        let is_info = matches!(packet, Packet::TraceInfo { .. });
                        let dropped = is_info && came && !gap;
                        came |= is_info;
                        !dropped
                    });
                })
            })
        },
        "A later A-sync has no Trace Info.",
        "ETE-VMPYW-001, ETE-TFQRM-001; an A-sync is enough for alignment",
    ),
    encoder(
        "no-a-sync-after-overflow",
        || {
            sending(|_| {
                let mut overflowed = false;
                Box::new(move |_, packets| {
                    packets.retain(|packet| {
                        overflowed |= *packet == Packet::Overflow;
                        let dropped = overflowed && matches!(packet, Packet::AlignmentSync { .. });
                        overflowed &= !matches!(packet, Packet::AlignmentSync { .. });
                        !dropped
                    });
                })
            })
        },
        "After an overflow Trace Info comes without A-sync.",
        "ETE-DQBDH-002, ETE-ENC-OVF-001; the decoder is aligned",
    ),
    encoder(
        "trace-on-only-once",
        || {
            sending(|_| {
                let mut came = false;
                Box::new(move |_, packets| {
                    packets.retain(|packet| {
                        let is_on = *packet == Packet::TraceOn;
                        let dropped = is_on && came;
                        came |= is_on;
                        !dropped
                    });
                })
            })
        },
        "Only the first gap of a session has a Trace On.",
        "ETE-LMLSN-001, ETE-RXMJF-001, ETE-HBNFJ-001; an address follows anyway",
    ),
    encoder(
        "spec-not-sent",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::TraceInfo { speculation, .. } = packet {
                        *speculation = None;
                    }
                });
            })
        },
        "Trace Info has no SPEC.",
        "ETE-PKT-TI-001, ETE-DEC-TI-001; it is 0 at the start",
    ),
    encoder(
        "t-bit-not-sent",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::TraceInfo { info: Some(info), .. } = packet {
                        info.bits &= !0x40;
                    }
                });
            })
        },
        "T of Trace Info is always 0.",
        "ETE-WJJNK-001; it is 0 at the start",
    ),
    encoder(
        "pe-reset-with-return-address",
        || {
            sending(|_| {
                Box::new(|signal, packets| {
                    if let Signal::Exception(exception) = signal {
                        each(packets, |packet| {
                            if let Packet::Exception { number: 0, address: address @ None, .. } = packet {
                                let bits = Address(exception.returns_to.address.0 & !3);
                                *address = Some(AddressField::Bits64 {
                                    sub_isa: Default::default(),
                                    bits,
                                    reserved: 0,
                                });
                            }
                        });
                    }
                })
            })
        },
        "A PE Reset is sent with a return address.",
        "ETE-NRJGC-001; one function for all types",
    ),
    encoder(
        "source-address-is-the-next-instruction",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::SourceAddress(
                        AddressField::Short { bits, .. } | AddressField::Bits32 { bits, .. },
                    ) = packet
                    {
                        bits.0 ^= 4;
                    }
                });
            })
        },
        "A Source Address is four bytes off.",
        "ETE-WVBQW-001; the return address of a call",
    ),
    encoder(
        "overflow-unreported",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if *packet == Packet::Overflow {
                        *packet = Packet::Discard;
                    }
                });
            })
        },
        "An overflow is sent as Discard.",
        "ETE-HRYKY-001, ETE-ENC-OVF-001; it implies one",
    ),
    encoder(
        "exceptions-request-no-timestamp",
        || sends(|signal, packets| drop_timestamp(packets, matches!(signal, Signal::Exception(_)))),
        "Exceptions request no timestamp.",
        "ETE-YYWTR-001; of ISB only is it well known",
    ),
    encoder(
        "isb-requests-no-timestamp",
        || {
            sends(|signal, packets| {
                drop_timestamp(packets, matches!(signal, Signal::P0(p0) if p0.kind == P0Kind::Isb));
            })
        },
        "ISB requests no timestamp.",
        "ETE-YYWTR-001; it is no branch",
    ),
    encoder(
        "flush-requests-no-timestamp",
        || sends(|signal, packets| drop_timestamp(packets, matches!(signal, Signal::Flush))),
        "A flush requests no timestamp.",
        "ETE-YYWTR-001; ETMv4 does not",
    ),
    encoder(
        "timestamps-without-reset",
        || {
            sending(|_| {
                let mut latest = 0;
                Box::new(move |_, packets| {
                    each(packets, |packet| {
                        if let Packet::Timestamp { value, .. } = packet {
                            let time = value.bits & full(value.bytes) | latest & !full(value.bytes);
                            let bytes =
                                (1..=9).find(|bytes| (time ^ latest) & !full(*bytes) == 0).unwrap_or(9);
                            *value = VariableField { bits: time & full(bytes), bytes };
                            latest = time;
                        }
                    });
                })
            })
        },
        "The first timestamp after Trace Info has only the bits that changed.",
        "ETE-ENC-TS-001, ETE-GPGQQ-001; a register that Trace Info does not clear",
    ),
    encoder(
        "zero-timestamp-counts-not-sent",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::Timestamp { count, .. } = packet {
                        *count = count.filter(|count| count.bits != 0);
                    }
                });
            })
        },
        "A timestamp whose count is 0 has none.",
        "ETE-ZMQLT-001; a cycle count of 0 is UNKNOWN",
    ),
    encoder(
        "markers-only-at-first",
        || {
            sending(|_| {
                let mut came = false;
                Box::new(move |_, packets| {
                    packets.retain(|packet| {
                        let is_marker = *packet == Packet::TimestampMarker;
                        let dropped = is_marker && came;
                        came |= is_marker;
                        !dropped
                    });
                })
            })
        },
        "Only the first timestamp has a marker.",
        "ETE-LWZXK-001; a request that is not raised again",
    ),
    encoder(
        "first-count-is-known",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::CycleCount1 { count: count @ None, .. } = packet {
                        *count = Some(VariableField { bits: 1, bytes: 1 });
                    }
                });
            })
        },
        "The first cycle count, after enabling and after an overflow, is a number.",
        "ETE-YFMWB-001, ETE-HQKWH-001, ETE-YVWJW-001; the counter has a value",
    ),
    encoder(
        "threshold-not-subtracted",
        || {
            sending(|_| {
                let mut threshold = 0;
                Box::new(move |_, packets| {
                    each(packets, |packet| match packet {
                        Packet::TraceInfo { cycle_threshold, .. } => {
                            threshold = cycle_threshold.map_or(0, |field| field.bits);
                        }
                        Packet::CycleCount1 { count: Some(count), .. } => {
                            *count = VariableField { bits: (count.bits + threshold) & 0xf_ffff, bytes: 3 };
                        }
                        Packet::CycleCount2 { count, .. } => {
                            *count = u8::try_from((u64::from(*count) + threshold).min(15)).unwrap_or(15);
                        }
                        Packet::CycleCount3 { count, .. } => {
                            *count = u8::try_from((u64::from(*count) + threshold).min(3)).unwrap_or(3);
                        }
                        _ => {}
                    });
                })
            })
        },
        "Counts are sent with the threshold in them.",
        "ETE-PKT-CC4-001; the receiver adds it",
    ),
    encoder(
        "transaction-left-open-at-disable",
        || {
            sends(|signal, packets| {
                let ends = matches!(signal, Signal::Disable | Signal::ProhibitedEntry);
                packets.retain(|packet| !(ends && matches!(packet, Packet::Exception { number: 0x18, .. })));
            })
        },
        "Disable and entry to a prohibited region do not close a transaction.",
        "ETE-XQSPC-001, ETE-ENC-END-001; it may still succeed",
    ),
    encoder(
        "no-discard-at-disable",
        || {
            sends(|signal, packets| {
                let ends = matches!(signal, Signal::Disable);
                packets.retain(|packet| !(ends && *packet == Packet::Discard));
            })
        },
        "Uncommitted elements are left at the end of a session.",
        "ETE-WDWGV-001, ETE-ENC-END-001; nothing follows them",
    ),
    encoder(
        "transaction-start-only-once",
        || {
            sending(|_| {
                let mut open = false;
                Box::new(move |signal, packets| {
                    let ends = matches!(signal, Signal::TransactionCommit | Signal::TransactionFailure(_));
                    open &= !ends && !matches!(signal, Signal::Enable(_));
                    packets.retain(|packet| {
                        let is_start = *packet == Packet::TransactionStart;
                        let dropped = is_start && open;
                        open |= is_start;
                        !dropped
                    });
                })
            })
        },
        "After an overflow within a transaction there is no new Start.",
        "ETE-WXTQS-001, ETE-MMCQD-001; it was sent",
    ),
    encoder(
        "q-counts-one-more",
        || {
            sends(|_, packets| {
                each(packets, |packet| {
                    if let Packet::Q { count: Some(count), .. } = packet {
                        count.bits = (count.bits + 1) & 0x7f;
                    }
                });
            })
        },
        "A Q element counts the instruction after it.",
        "ETE-DEC-Q-001, ETE-FZTZP-001; the block that ends it",
    ),
    encoder(
        "commit-before-its-atoms",
        || {
            sends(|_, packets| {
                for at in 1..packets.len() {
                    if let [Packet::Atoms(_), Packet::Commit(_)] = packets[at - 1..=at] {
                        packets.swap(at - 1, at);
                    }
                }
            })
        },
        "A Commit overtakes the atoms that it commits.",
        "ETE-QNLYJ-001, ETE-ENC-CMT-002; atoms are held",
    ),
    encoder(
        "instrumentation-with-the-level-of-the-latest-context",
        || {
            sending(|_| {
                let mut level = 0;
                Box::new(move |_, packets| {
                    each(packets, |packet| {
                        if let Some(context) = context_of(packet) {
                            level = context.exception_level.number();
                        }
                        if let Packet::Instrumentation { level: sent, .. } = packet {
                            *sent = level;
                        }
                    });
                })
            })
        },
        "An Instrumentation packet has the level of the latest context that was sent.",
        "ETE-WYYPN-001; the level at TRCIT is another one while nothing is traced",
    ),
];

fn each(packets: &mut [Packet], change: impl FnMut(&mut Packet)) {
    packets.iter_mut().for_each(change);
}

fn keep(now: &mut History, before: &History, keeps: bool) {
    if keeps {
        now.addresses = before.addresses;
    }
}

fn exact(packet: &Packet) -> bool {
    matches!(address_of(&mut { *packet }), Some(AddressField::ExactMatch(_)))
}

/// The bits that travel in so many bytes of a timestamp.
const fn full(bytes: u8) -> u64 {
    if bytes >= 9 { u64::MAX } else { (1 << (7 * bytes as u32)) - 1 }
}

fn drop_timestamp(packets: &mut Vec<Packet>, drops: bool) {
    packets.retain(|packet| !(drops && matches!(packet, Packet::Timestamp { .. } | Packet::TimestampMarker)));
}
