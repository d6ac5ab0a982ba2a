//! Synchronisation, exceptions, Source Addresses, Q elements, return stack.

use std::collections::BTreeSet;

use traceproof_decoder::arm_ete::Analyzer;
use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{ArmEte, Atoms, ContextField, Event, Outcome, Packet, SubIsa};
use traceproof_vectors::{Address, Decoder, Entry, FaultClass};

use super::history::address_of;
use super::layers::{self, Bug, Followed, Following};
use super::spelled::spelling;
use super::{decoder, events, following, follows};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "exception-includes-its-return-address",
        || layers::with(|_, _| Box::new(Following(include_return_address))),
        "The instruction at the return address of an exception is reported as executed.",
        "ETE-DEC-AN-002; the walk of an atom includes the instruction that ends it",
    ),
    decoder(
        "exception-goes-on-at-return-address",
        || {
            following(|packet, followed| {
                let point = followed.point_of(packet);
                followed.packet(packet);
                if let (Packet::Exception { number: 1..=0xf, .. }, Some(point)) = (packet, point) {
                    followed.insert(point);
                }
            })
        },
        "After an exception without address the flow goes on at its return address.",
        "ETE-DEC-AN-002, ETE-DEC-AN-006; right for IMPLEMENTATION DEFINED types only",
    ),
    decoder(
        "e-10-is-e-01",
        || {
            follows(|packet| {
                if let Packet::Exception { with_target, .. } = packet {
                    *with_target = false;
                }
            })
        },
        "An exception with E = 10 has no Target Address element.",
        "ETE-PKT-EXC-002, ETE-DEC-RS-007; the address is in the packet either way",
    ),
    decoder(
        "e-01-is-e-10",
        || {
            follows(|packet| {
                if let Packet::Exception { with_target, address: Some(_), .. } = packet {
                    *with_target = true;
                }
            })
        },
        "An exception with E = 01 has a Target Address element, too.",
        "ETE-PKT-EXC-002; the address is in the packet either way",
    ),
    decoder(
        "exception-context-without-element",
        || {
            following(|packet, followed| {
                let mut without = *packet;
                if let Packet::Exception { with_target: false, context: context @ Some(_), .. } = &mut without
                {
                    *context = None;
                    followed.spell_out();
                }
                followed.packet(&without);
            })
        },
        "The context of an exception with E = 01 has no Context element.",
        "ETE-DEC-EXC-001; the K10 pseudocode does so",
    ),
    decoder(
        "exception-context-after-it",
        || {
            following(|packet, followed| {
                let mut without = *packet;
                let mut taken = None;
                if let Packet::Exception { context, .. } = &mut without {
                    taken = context.take();
                }
                followed.packet(&without);
                if let Some(context) = taken {
                    followed.packet(&Packet::Context(context));
                }
            })
        },
        "The context of an exception packet is that of the handler.",
        "ETE-DEC-EXC-001; the packet after an exception has the handler's",
    ),
    decoder(
        "pe-reset-is-an-exception",
        || {
            carried(
                |packet| matches!(packet, Packet::Exception { number: 0, address: Some(_), .. }),
                |packet| {
                    if let Packet::Exception { number: number @ 0, address: Some(_), .. } = packet {
                        *number = 0xe;
                    }
                },
                |event| {
                    if let Event::Exception { number, .. } = event {
                        *number = 0;
                    }
                },
            )
        },
        "The address of a PE Reset is its return address, and the instructions up to it were executed.",
        "ETE-NRJGC-001, ETE-DEC-EXC-002, ETE-DEC-EXC-003; one function for all types",
    ),
    decoder(
        "pe-reset-packet-is-bad",
        || {
            following(|packet, followed| match packet {
                Packet::Exception { number: 0, address: None, .. } => {
                    followed.lose(FaultClass::ReservedEncoding);
                }
                _ => followed.packet(packet),
            })
        },
        "06 01 70 costs synchronisation.",
        "ETE-PKT-EXC-004; OpenCSD does so",
    ),
    decoder(
        "source-address-excluded",
        || {
            carried(
                is_source,
                |_| {},
                |event| {
                    if let Event::Instructions { end, count, last, .. } = event
                        && *count > 1
                    {
                        (*end, *count, *last) = (Address(end.0.wrapping_sub(4)), *count - 1, Outcome::Passed);
                    }
                },
            )
        },
        "The instruction at a Source Address is not reported as executed.",
        "ETE-DEC-AN-003; the walk of an exception ends before its address",
    ),
    decoder(
        "source-address-not-taken",
        || {
            carried(
                is_source,
                |_| {},
                |event| {
                    if let Event::Instructions { last, .. } = event {
                        *last = Outcome::NotTaken;
                    }
                },
            )
        },
        "The instruction at a Source Address is reported as not taken.",
        "ETE-DEC-AN-003; those before it are not",
    ),
    decoder(
        "source-address-is-a-target",
        || {
            follows(|packet| {
                if let Packet::SourceAddress(address) = *packet {
                    *packet = Packet::TargetAddress { address, context: None };
                }
            })
        },
        "A Source Address is followed as a Target Address.",
        "ETE-DEC-AN-003; one table for all address packets",
    ),
    decoder(
        "q-counts-from-zero",
        || {
            follows(|packet| {
                if let Packet::Q { count: Some(count), .. } = packet
                    && count.bits & 0xffff_ffff != 0
                {
                    count.bits += 1;
                }
            })
        },
        "A Q element stands for COUNT+1 instructions.",
        "ETE-DEC-AN-004, ETE-DEC-Q-001; COMMIT of cycle counts is one less than meant",
    ),
    decoder(
        "q-count-ignored",
        || {
            follows(|packet| {
                if let Packet::Q { count, .. } = packet {
                    *count = None;
                }
            })
        },
        "No instructions are followed in a Q element.",
        "ETE-DEC-AN-004; its path is not known in general",
    ),
    decoder(
        "q-after-its-address",
        || {
            following(|packet, followed| match *packet {
                Packet::Q { address: Some(address), count } => {
                    followed.packet(&Packet::TargetAddress { address, context: None });
                    followed.packet(&Packet::Q { address: None, count });
                }
                _ => followed.packet(packet),
            })
        },
        "The Target Address of a Q packet comes before its Q element.",
        "ETE-PKT-Q-002; so it is in the bytes",
    ),
    decoder(
        "q-goes-on-where-it-ends",
        || layers::with(|_, _| Box::new(Following(q_goes_on))),
        "After a Q element without address the flow goes on after its last instruction.",
        "ETE-DEC-AN-006, ETE-DEC-AN-004; its count says how far it goes",
    ),
    decoder(
        "first-address-wins",
        || {
            layers::with(|_, _| {
                let mut first = None;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    let point = followed.point_of(packet);
                    followed.packet(packet);
                    match packet {
                        Packet::TargetAddress { .. } if first.is_none() => first = point,
                        Packet::TargetAddress { .. } => {
                            first.into_iter().for_each(|point| followed.insert(point));
                        }
                        Packet::Context(_)
                        | Packet::ContextSame
                        | Packet::Timestamp { .. }
                        | Packet::Event(_) => {}
                        _ => first = None,
                    }
                }))
            })
        },
        "Of two Target Addresses before a P0 element the first one counts.",
        "ETE-XCKNM-001; the address is no longer missing",
    ),
    decoder(
        "events-before-trace-info-dropped",
        || before_trace_info(|packet| matches!(packet, Packet::Event(_))),
        "Events before the first Trace Info are not reported.",
        "ETE-DEC-SYNC-003; ETMv4 does not allow them",
    ),
    decoder(
        "instrumentation-before-trace-info-dropped",
        || before_trace_info(|packet| matches!(packet, Packet::Instrumentation { .. })),
        "Instrumentation before the first Trace Info is not reported.",
        "ETE-DEC-SYNC-003; only Event is known to come early",
    ),
    decoder(
        "context-of-trace-info-believed",
        || {
            following(|packet, followed| {
                followed.packet(packet);
                if matches!(packet, Packet::TraceInfo { .. }) {
                    followed.spell_out();
                    let context = ContextField { is_64_bit: true, ..ContextField::default() };
                    followed.silent(&Packet::Context(context));
                }
            })
        },
        "After Trace Info an address is enough to follow instructions.",
        "ETE-DEC-SYNC-002, ETE-DEC-AN-006; a default context",
    ),
    decoder(
        "trace-on-goes-on",
        || {
            following(|packet, followed| match packet {
                Packet::TraceOn => followed.event(Event::TraceOn),
                _ => followed.packet(packet),
            })
        },
        "Trace On is a remark, and the flow goes on where it was.",
        "ETE-DEC-AN-006; an address follows it anyway",
    ),
    decoder(
        "long-a-sync-rejected",
        || {
            following(|packet, followed| match packet {
                Packet::AlignmentSync { zeros: 12.. } => followed.lose(FaultClass::ReservedEncoding),
                _ => followed.packet(packet),
            })
        },
        "An A-sync of more than 12 bytes costs synchronisation.",
        "ETE-PKT-SYNC-003; OpenCSD does so where it is in sync",
    ),
    decoder(
        "a-sync-discards",
        || {
            following(|packet, followed| {
                if matches!(packet, Packet::AlignmentSync { .. }) {
                    followed.silent(&Packet::Discard);
                }
                followed.packet(packet);
            })
        },
        "A-sync drops what is uncommitted.",
        "ETE-DEC-SYNC-005; one function for the first and later ones",
    ),
    decoder(
        "overflow-is-a-discard",
        || events(|event| Some(if event == Event::Overflow { Event::Discard } else { event })),
        "Overflow is reported as Discard.",
        "ETE-PKT-EXT-002; it implies one",
    ),
    decoder(
        "discard-is-an-overflow",
        || events(|event| Some(if event == Event::Discard { Event::Overflow } else { event })),
        "Discard is reported as Overflow.",
        "ETE-PKT-EXT-001; ptm2human does so the other way round",
    ),
    decoder(
        "is1-is-a64",
        || {
            spelling(|before, _, spelled| {
                if let Some(address) = address_of(spelled)
                    && before.context.is_64_bit
                {
                    *address = super::history::bits_64((before.point(*address).0, SubIsa::Is0));
                }
            })
        },
        "IS1 with SF = 1 is A64.",
        "ETE-DEC-ISA-001; SF alone decides",
    ),
    decoder(
        "final-n-unreported",
        || {
            following(|packet, followed| {
                followed.packet(packet);
                followed.retain(|place, entry| match entry {
                    Entry::Fault(fault) => fault.class != FaultClass::IllegalInState || place.bit != 0,
                    _ => true,
                });
            })
        },
        "An N atom of an unconditional instruction is not reported.",
        "ETE-DEC-ISA-007; it may be corrected, and nobody looks later",
    ),
    decoder(
        "data-markers-before-their-atoms",
        || {
            following(|packet, followed| match *packet {
                Packet::UnnumberedDataSyncMarker(count @ 1..) => {
                    followed.packet(&Packet::UnnumberedDataSyncMarker(0));
                    if let Some(atoms) = Atoms::from_bits(u32::MAX, count) {
                        followed.packet(&Packet::Atoms(atoms));
                    }
                }
                _ => followed.packet(packet),
            })
        },
        "The E atoms of an unnumbered data synchronization marker come after it.",
        "ETE-V4-DSM-001; the header says marker first",
    ),
    decoder(
        "data-markers-have-no-atoms",
        || {
            follows(|packet| {
                if let Packet::UnnumberedDataSyncMarker(count) = packet {
                    *count = 0;
                }
            })
        },
        "The E atoms of an unnumbered data synchronization marker are dropped.",
        "ETE-V4-DSM-001; OpenCSD does so",
    ),
    decoder(
        "resynchronization-ignored",
        || {
            following(|packet, followed| {
                if *packet != Packet::Resynchronization {
                    followed.packet(packet);
                }
            })
        },
        "Header 08 of ETMv4 means nothing.",
        "ETE-V4-RSY-001; no silicon is known to send it",
    ),
    decoder(
        "tail-chained-return-address",
        || {
            layers::with(|parameters, _| {
                let is_m = parameters.profile == Profile::Microcontroller;
                Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
                    followed.packet(packet);
                    for event in followed.events() {
                        if let Event::Exception { number, returns_to: returns_to @ None, .. } = event
                            && is_m
                            && *number != 1
                        {
                            *returns_to = Some(Address(0xffff_fffe));
                        }
                    }
                }))
            })
        },
        "FFFFFFFE is the return address of a tail-chained exception.",
        "ETE-V4-EXC-001; it travels as an address",
    ),
    decoder(
        "reset-resets-the-reader",
        || layers::with(|_, _| Box::new(ResetsTheReader)),
        "A reset keeps what the analyser knows.",
        "contract of `Decoder::reset`; ETE-DEC-SYNC-002; layers with a reset of their own",
    ),
    decoder(
        "fault-keeps-the-flow",
        || layers::with(|_, _| Box::new(KeepsTheFlow)),
        "After what cannot be read the flow is where it was at the next A-sync.",
        "ETE-DEC-ERR-001, ETE-DEC-SYNC-002; only the reader loses synchronisation",
    ),
];

const fn is_source(packet: &Packet) -> bool {
    matches!(packet, Packet::SourceAddress(_))
}

/// Packets of a kind are followed otherwise, and their events are changed, whenever they come.
fn carried(
    is: fn(&Packet) -> bool,
    change: fn(&mut Packet),
    patch: fn(&mut Event),
) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| {
        let mut marked = BTreeSet::new();
        Box::new(Following(move |packet: &Packet, followed: &mut Followed<'_>| {
            let mut packet = *packet;
            if is(&packet) {
                marked.insert(followed.place.packet);
            }
            change(&mut packet);
            followed.packet(&packet);
            followed.patch(|place, event| {
                if marked.contains(&place.packet) {
                    patch(event);
                }
            });
        }))
    })
}

fn include_return_address(packet: &Packet, followed: &mut Followed<'_>) {
    followed.packet(packet);
    let mut before: Option<&mut Event> = None;
    for event in followed.events() {
        if let (
            Event::Exception { .. },
            Some(Event::Instructions { end, count, last: Outcome::Passed, .. }),
        ) = (&*event, before)
        {
            (*end, *count) = (Address(end.0.wrapping_add(4)), *count + 1);
        }
        before = Some(event);
    }
}

fn q_goes_on(packet: &Packet, followed: &mut Followed<'_>) {
    followed.packet(packet);
    if !matches!(packet, Packet::Q { address: None, count: Some(_) }) {
        return;
    }
    let last = followed.events().last().copied();
    if let Some(Event::Instructions { end, isa, .. }) = last {
        followed.insert((end.0, if isa.is_thumb() { SubIsa::Is1 } else { SubIsa::Is0 }));
    }
}

/// Such packets are followed only after a Trace Info.
fn before_trace_info(is: fn(&Packet) -> bool) -> Box<dyn Decoder<ArmEte>> {
    layers::with(move |_, _| Box::new(BeforeTraceInfo { is, started: false }))
}

struct BeforeTraceInfo {
    is: fn(&Packet) -> bool,
    started: bool,
}

impl Bug for BeforeTraceInfo {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        self.started |= matches!(packet, Packet::TraceInfo { .. });
        if self.started || !(self.is)(packet) {
            followed.packet(packet);
        }
    }

    fn lose(&mut self, analyzer: &mut Analyzer) -> bool {
        analyzer.lose_synchronisation();
        self.started = false;
        false
    }
}

/// A reset forgets nothing that the analyser knows.
struct ResetsTheReader;

impl Bug for ResetsTheReader {
    fn reset(&mut self, _: &mut Analyzer) {}
}

/// After the search the flow is where it was.
struct KeepsTheFlow;

impl Bug for KeepsTheFlow {
    fn lose(&mut self, _: &mut Analyzer) -> bool {
        false
    }
}
