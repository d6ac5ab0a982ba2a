//! Formatters and deformatters with one bug each.

mod frames;

use traceproof_vectors::arm::{FormatterPolicy, Framing};
use traceproof_vectors::arm_etm_formatter::{ArmEtmFormatter, Event, Parameters, Stimulus};
use traceproof_vectors::{Entry, Fault, FaultClass};

use crate::family::{Saboteur, Saboteurs, Side};
use crate::saboteurs::decoders::{parameters, results};
use crate::saboteurs::encoders::{configuration, steps};
use frames::frames;

type Result = Option<Entry<ArmEtmFormatter>>;

pub(super) const SABOTEURS: Saboteurs<ArmEtmFormatter> =
    Saboteurs { table: TABLE, harmless: &[Side::Decoder(|| frames!(|_, byte, _| byte))] };

const TABLE: &[Saboteur<ArmEtmFormatter>] = &[
    Saboteur {
        name: "even-bytes-are-even",
        side: Side::Decoder(|| frames!(|at, byte, frame| if at == 15 { byte & frame.ids() } else { byte })),
        bug: "Bit 0 of data at an even place is always 0.",
        source: "ARM-FMT-001; the auxiliary byte read for changes of the ID only",
    },
    Saboteur {
        name: "auxiliary-bits-from-the-top",
        side: Side::Decoder(|| frames!(|at, byte, _| if at == 15 { byte.reverse_bits() } else { byte })),
        bug: "Bit 7 of the auxiliary byte belongs to byte 0.",
        source: "ARM-FMT-001; the order of bits in a shift register",
    },
    Saboteur {
        name: "every-change-is-immediate",
        side: Side::Decoder(|| frames!(|at, byte, frame| if at == 15 { byte & !frame.ids() } else { byte })),
        bug: "The byte after an ID belongs to the new ID.",
        source: "ARM-FMT-004; the common bug of formatters and deformatters",
    },
    Saboteur {
        name: "every-change-is-delayed",
        side: Side::Decoder(|| {
            frames!(|at, byte, frame| if at == 15 { byte | frame.ids() & !0x80 } else { byte })
        }),
        bug: "The byte after an ID belongs to the previous ID.",
        source: "ARM-FMT-003; the meaning of the auxiliary bit turned round",
    },
    Saboteur {
        name: "byte-14-is-data",
        side: Side::Decoder(|| frames!(|at, byte, _| if at == 14 { byte & !1 } else { byte })),
        bug: "Byte 14 is always data.",
        source: "ARM-FMT-005; a loop over seven pairs",
    },
    Saboteur {
        name: "id-of-six-bits",
        side: Side::Decoder(|| {
            frames!(|at, byte, _| if at < 15 && at % 2 == 0 && byte & 1 == 1 { byte & 0x7f } else { byte })
        }),
        bug: "Bit 6 of an ID is dropped.",
        source: "ARM-FMT-001; the mask of the wrong byte",
    },
    Saboteur {
        name: "frame-forgets-the-id",
        side: Side::Decoder(|| frames!(frames::forgets_the_id)),
        bug: "Data before the first ID of each frame are dropped.",
        source: "ARM-FMT-006; the state of the source kept in the frame",
    },
    Saboteur {
        name: "filling-goes-to-a-source",
        side: Side::Decoder(|| frames!(frames::ignores_null)),
        bug: "ID 0 is skipped, and the filling after it belongs to the previous ID.",
        source: "ARM-FMT-007; `if id != 0` around the change",
    },
    Saboteur {
        name: "triggers-are-dropped",
        side: Side::Decoder(|| results(|_| Box::new(|entry| without_ids(entry, 0x7d..=0x7d)))),
        bug: "Data of ID 0x7D are dropped.",
        source: "ARM-FMT-013; all of 0x70 to 0x7F taken for reserved",
    },
    Saboteur {
        name: "reserved-ids-are-dropped",
        side: Side::Decoder(|| results(|_| Box::new(|entry| without_ids(entry, 0x70..=0x7c)))),
        bug: "Data of reserved IDs are dropped.",
        source: "ARM-FMT-013; a table of sources with 112 places",
    },
    Saboteur {
        name: "reserved-ids-are-silent",
        side: Side::Decoder(|| results(|_| Box::new(|entry| without(entry, FaultClass::ReservedEncoding)))),
        bug: "Reserved IDs are not reported.",
        source: "ARM-FMT-013; IDs that nobody checks",
    },
    Saboteur {
        name: "cut-frames-are-silent",
        side: Side::Decoder(|| results(|_| Box::new(|entry| without(entry, FaultClass::Truncated)))),
        bug: "A frame that is cut off is not reported.",
        source: "ARM-FMT-010; a loop over whole frames",
    },
    Saboteur {
        name: "synchronisation-anywhere",
        side: Side::Decoder(|| results(|_| Box::new(|entry| without(entry, FaultClass::IllegalInState)))),
        bug: "Half-word synchronisation packets in normal mode are not reported.",
        source: "ARM-FMT-009; one reader for both modes",
    },
    Saboteur {
        name: "captures-have-synchronisation",
        side: Side::Decoder(|| {
            parameters(|parameters| swap(parameters, Framing::Memory, Framing::Continuous))
        }),
        bug: "A capture in memory is read like a trace port.",
        source: "ARM-FMT-008, ARM-FMT-009; one reader for both",
    },
    Saboteur {
        name: "no-half-words",
        side: Side::Decoder(|| {
            parameters(|parameters| swap(parameters, Framing::Continuous, Framing::Normal))
        }),
        bug: "Continuous mode is read like normal mode.",
        source: "ARM-FMT-008; one reader for both modes",
    },
    Saboteur {
        name: "ports-begin-with-a-frame",
        side: Side::Decoder(|| parameters(|parameters| swap(parameters, Framing::Normal, Framing::Memory))),
        bug: "Normal mode is read like a capture in memory.",
        source: "ARM-FMT-008; frames counted from the first byte",
    },
    Saboteur {
        name: "gaps-are-silent",
        side: Side::Decoder(|| {
            results(|_| Box::new(|entry| (entry != Entry::Event(Event::Gap)).then_some(entry)))
        }),
        bug: "What does not follow on is delivered as if it did.",
        source: "ARM-FMT-006; data before and after a barrier joined",
    },
    Saboteur {
        name: "id-sent-once",
        side: Side::Encoder(|| configuration(sends_an_id_once)),
        bug: "An unchanged ID is never sent again.",
        source: "ARM-FMT-011; an ID sent when it changes",
    },
    Saboteur {
        name: "no-triggers",
        side: Side::Encoder(|| steps(|_| Box::new(|step| (step != Stimulus::Trigger).then_some(step)))),
        bug: "Triggers are not sent.",
        source: "ARM-FMT-013; triggers at the pins only",
    },
    Saboteur {
        name: "no-idle-time",
        side: Side::Encoder(|| {
            steps(|_| Box::new(|step| (!matches!(step, Stimulus::Idle(_))).then_some(step)))
        }),
        bug: "Nothing is sent when there is nothing to send, in continuous mode.",
        source: "ARM-FMT-008; the port mode ignored",
    },
    Saboteur {
        name: "any-id-is-a-source",
        side: Side::Encoder(|| steps(|_| Box::new(|step| Some(any_source(step))))),
        bug: "Bytes of reserved IDs are sent under the low bits of the ID.",
        source: "ARM-FMT-013; an ID cut to the width of the table",
    },
    Saboteur {
        name: "sources-in-order-of-ids",
        side: Side::Encoder(|| steps(|_| Box::new(|step| Some(one_source(step))))),
        bug: "Bytes of ID 0x12 are sent as those of 0x11.",
        source: "ARM-FMT-012; an arbiter that looks at one bit too few",
    },
];

fn swap(parameters: &mut Parameters, from: Framing, to: Framing) {
    if parameters.framing == from {
        parameters.framing = to;
    }
}

fn without(entry: Entry<ArmEtmFormatter>, class: FaultClass) -> Result {
    match entry {
        Entry::Fault(Fault { class: found, .. }) if found == class => None,
        entry => Some(entry),
    }
}

fn without_ids(entry: Entry<ArmEtmFormatter>, ids: std::ops::RangeInclusive<u8>) -> Result {
    match entry {
        Entry::Event(Event::Data { id, .. }) if ids.contains(&id) => None,
        entry => Some(entry),
    }
}

fn sends_an_id_once(_: &mut Parameters, policy: &mut FormatterPolicy) {
    policy.id_repeat_frames = 0;
}

fn any_source(step: Stimulus) -> Stimulus {
    match step {
        Stimulus::Data { id, bytes } if id >= 0x70 => Stimulus::Data { id: id & 0x0f | 0x10, bytes },
        step => step,
    }
}

fn one_source(step: Stimulus) -> Stimulus {
    match step {
        Stimulus::Data { id: 0x12, bytes } => Stimulus::Data { id: 0x11, bytes },
        step => step,
    }
}
