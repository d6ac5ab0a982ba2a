//! How decoders of Itanium event qualification are made wrong.

use traceproof_vectors::itanium_pmu::events::SelectableEvent;
use traceproof_vectors::itanium_pmu::{
    Contents, DataEarQualifier, DataTlbLevel, EarReplacement, Event, FreezeTiming, IbrLowBits,
    InstructionMiss, ItaniumPmu, LatencyOverflow, LatencyThreshold, LongSyllable, Notice, Packet, Parameters,
    RegisterClass, SyllableType, Tags,
};
use traceproof_vectors::{Address, Entry};

use super::layers::Belief;
use crate::saboteurs::decoders::Results;

const fn is_generic_counter(class: RegisterClass, index: u8) -> bool {
    matches!(class, RegisterClass::Pmc) && matches!(index, 4..=7)
}

const fn is_odd_ibr(class: RegisterClass, index: u8) -> bool {
    matches!(class, RegisterClass::Ibr) && index % 2 == 1
}

const fn is_breakpoint(class: RegisterClass) -> bool {
    matches!(class, RegisterClass::Ibr | RegisterClass::Dbr)
}

const fn is_status(class: RegisterClass, _: u8) -> bool {
    matches!(class, RegisterClass::Psr)
}

const fn clear(byte: u8, mask: u8) -> u8 {
    byte & !mask
}

const fn set(byte: u8, mask: u8) -> u8 {
    byte | mask
}

const fn flip(byte: u8, mask: u8) -> u8 {
    byte ^ mask
}

pub(super) const OPCODE_MASK_INVERTED: Belief = Belief {
    of: |class, index| matches!((class, index), (RegisterClass::Pmc, 8 | 9)),
    mask: 0x3fff_fff8,
    change: flip,
};

pub(super) const IBR_PLM_IGNORED: Belief = Belief { of: is_odd_ibr, mask: 0xf << 56, change: set };

pub(super) const X_BITS_IGNORED: Belief = Belief { of: is_odd_ibr, mask: 1 << 63, change: clear };

pub(super) const X_BITS_OF_OTHER_PAIRS_IGNORED: Belief =
    Belief { of: |class, index| is_odd_ibr(class, index) && index != 1, mask: 1 << 63, change: clear };

pub(super) const MASK_OF_51_BITS: Belief =
    Belief { of: |class, index| is_breakpoint(class) && index % 2 == 1, mask: 0x1f << 51, change: clear };

pub(super) const HIGH_BITS_BY_BIT_60: Belief = Belief {
    of: |class, index| is_breakpoint(class) && index % 2 == 0,
    mask: 0x1f << 56,
    change: |byte, mask| if byte & 0x10 == 0 { byte & !mask } else { byte | mask },
};

pub(super) const INSTRUCTION_SETS_SWAPPED: Belief = Belief {
    of: is_generic_counter,
    mask: 3 << 24,
    change: |byte, mask| byte & !mask | (byte & 1) << 1 | byte >> 1 & 1,
};

pub(super) const PM_IGNORED: Belief = Belief { of: is_generic_counter, mask: 1 << 6, change: clear };

pub(super) const TWO_PRIVILEGE_LEVELS: Belief = Belief {
    of: is_generic_counter,
    mask: 0b0110,
    change: |byte, mask| if byte & 0b1000 == 0 { byte & !mask } else { byte | mask },
};

pub(super) const EVERY_OVERFLOW_FREEZES: Belief =
    Belief { of: is_generic_counter, mask: 1 << 5, change: set };

pub(super) const THRESHOLD_REACHED: Belief = Belief {
    of: |class, index| matches!((class, index), (RegisterClass::Pmc, 4 | 5)),
    mask: 7 << 20,
    change: |byte, mask| if byte & mask > 0x10 { byte - 0x10 } else { byte },
};

/// No event of these counters occurs more than three times in a cycle: a threshold above 3 is as good as 3.
pub(super) const THRESHOLD_OF_THREE_BITS: Belief = Belief {
    of: |class, index| matches!((class, index), (RegisterClass::Pmc, 6 | 7)),
    mask: 7 << 20,
    change: |byte, _| if byte & 0x40 == 0 { byte } else { byte | 0x30 },
};

pub(super) const PT_INVERTED: Belief = Belief {
    of: |class, index| matches!((class, index), (RegisterClass::Pmc, 11)),
    mask: 1 << 28,
    change: flip,
};

pub(super) const DB_IGNORED: Belief = Belief { of: is_status, mask: 1 << 24, change: clear };

pub(super) const SP_IGNORED: Belief = Belief { of: is_status, mask: 1 << 20, change: clear };

pub(super) const TYPE_BITS_REVERSED: Belief = Belief {
    of: |class, index| matches!((class, index), (RegisterClass::Pmc, 8 | 9)),
    mask: 0xf << 60,
    change: |byte, mask| byte & !mask | byte.reverse_bits() << 4,
};

pub(super) const REGION_IS_SIGN: Belief = Belief {
    of: |class, index| is_breakpoint(class) && index % 2 == 0,
    mask: 7 << 61,
    change: |byte, mask| if byte & 0x10 == 0 { byte & !mask } else { byte | mask },
};

/// No event has the code 0x13: codes above 0x7f are as unknown.
pub(super) const ES_OF_EIGHT_BITS: Belief = Belief {
    of: is_generic_counter,
    mask: 0xff << 8,
    change: |byte, _| if byte & 0x80 == 0 { byte } else { 0x13 },
};

pub(super) const MASKED_INTERRUPTS: Belief =
    Belief { of: |class, _| matches!(class, RegisterClass::Pmv), mask: 1 << 16, change: clear };

/// What a register is written with or read as.
pub(super) fn contents(entry: &Entry<ItaniumPmu>) -> Option<Contents> {
    match entry {
        Entry::Packet(Packet::Write(contents) | Packet::Read(contents)) => Some(*contents),
        _ => None,
    }
}

/// Changes what is reported.
fn events(mut change: impl FnMut(&mut Event) + 'static) -> Results<ItaniumPmu> {
    Box::new(move |mut entry| {
        if let Entry::Event(event) = &mut entry {
            change(event);
        }
        Some(entry)
    })
}

pub(super) fn one_opcode_tag(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::Tags(tags) = event {
            tags.pmc9 = tags.pmc8;
        }
    })
}

pub(super) fn data_tag_is_match(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::DataTag { matched, tag } = event {
            *tag = *matched;
        }
    })
}

pub(super) fn one_overflow_in_a_cycle(_: &Parameters) -> Results<ItaniumPmu> {
    let mut overflowed = false;
    Box::new(move |entry| {
        match entry {
            Entry::Packet(Packet::Cycle) => overflowed = false,
            Entry::Event(Event::Overflow { .. }) if std::mem::replace(&mut overflowed, true) => return None,
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn lines_of_64_bytes(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::InstructionMiss(miss) | Event::InstructionEar(Some(miss)) = event {
            miss.line.0 &= !63;
        }
    })
}

pub(super) fn latency_of_11_bits(_: &Parameters) -> Results<ItaniumPmu> {
    let short = |latency: &mut Option<u16>| *latency = latency.map(|latency| latency & 0x7ff);
    events(move |event| match event {
        Event::InstructionMiss(miss) | Event::InstructionEar(Some(miss)) => short(&mut miss.latency),
        Event::DataMiss(miss) | Event::DataEar(Some(miss)) => short(&mut miss.latency),
        _ => {}
    })
}

pub(super) fn levels_swapped(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::DataMiss(miss) | Event::DataEar(Some(miss)) = event {
            miss.level = miss.level.map(|level| match level {
                DataTlbLevel::L2 => DataTlbLevel::Vhpt,
                DataTlbLevel::Vhpt => DataTlbLevel::L2,
                other => other,
            });
        }
    })
}

pub(super) fn record_that_is_none(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::InstructionEar(record) = event {
            *record = record.or(Some(InstructionMiss { line: Address(0), latency: Some(0), tlb: None }));
        }
    })
}

pub(super) fn ia32_code_has_opcode_tags(_: &Parameters) -> Results<ItaniumPmu> {
    let mut ia32 = false;
    Box::new(move |mut entry| {
        match &mut entry {
            Entry::Packet(Packet::Instruction(instruction)) => {
                ia32 = instruction.itype == SyllableType::Ia32;
            }
            Entry::Event(Event::Tags(tags)) if ia32 => (tags.pmc8, tags.pmc9) = (tags.range, tags.range),
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn debugging_overrules_ta(_: &Parameters) -> Results<ItaniumPmu> {
    let (mut debugs, mut enabled) = (false, [false; 8]);
    Box::new(move |mut entry| {
        match contents(&entry) {
            Some(Contents::ProcessorStatus { db, .. }) => debugs = db,
            Some(Contents::InstructionBreakpointMask { register, x, .. }) => {
                enabled[usize::from(register.index & 7)] = x;
            }
            _ => {}
        }
        match &mut entry {
            Entry::Packet(Packet::Reset) => (debugs, enabled) = (false, [false; 8]),
            Entry::Event(Event::Tags(tags)) if debugs || enabled.contains(&true) => *tags = Tags::default(),
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn wrapped_counters_begin_at_0(_: &Parameters) -> Results<ItaniumPmu> {
    events(|event| {
        if let Event::Count { increment, count, .. } = event
            && *count < u32::from(*increment)
        {
            *count = 0;
        }
    })
}

pub(super) fn overflows_need_oi(_: &Parameters) -> Results<ItaniumPmu> {
    let mut interrupting = [false; 8];
    Box::new(move |entry| {
        if let Some(Contents::CounterConfiguration { register, oi, .. }) = contents(&entry) {
            interrupting[usize::from(register.index & 7)] = oi;
        }
        match entry {
            Entry::Packet(Packet::Reset) => interrupting = [false; 8],
            Entry::Event(Event::Overflow { counter }) if !interrupting[usize::from(counter & 7)] => {
                return None;
            }
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn threshold_of_the_maximum_counts(_: &Parameters) -> Results<ItaniumPmu> {
    let mut at_maximum = [false; 8];
    Box::new(move |entry| {
        if let Some(Contents::CounterConfiguration { register, es, umask, threshold, .. }) = contents(&entry)
        {
            let event = SelectableEvent::find(es, umask);
            at_maximum[usize::from(register.index & 7)] =
                event.is_some_and(|event| event.max_increment == threshold);
        }
        match entry {
            Entry::Event(Event::Notice { register, notice: Notice::NeverCounts })
                if at_maximum[usize::from(register.index & 7)] =>
            {
                None
            }
            other => Some(other),
        }
    })
}

pub(super) fn targets_and_paths_swapped(_: &Parameters) -> Results<ItaniumPmu> {
    Box::new(|mut entry| {
        if let Entry::Packet(Packet::Write(contents) | Packet::Read(contents)) = &mut entry
            && let Contents::TraceBufferConfiguration { ptm, ppm, .. } = contents
        {
            std::mem::swap(ptm, ppm);
        }
        Some(entry)
    })
}

pub(super) fn first_miss_kept(parameters: &mut Parameters) {
    parameters.ear_replacement = EarReplacement::First;
}

pub(super) fn latency_wraps(parameters: &mut Parameters) {
    parameters.latency_overflow = LatencyOverflow::Wrap;
}

pub(super) fn threshold_exceeded(parameters: &mut Parameters) {
    parameters.latency_threshold = LatencyThreshold::Exceeds;
}

pub(super) fn low_address_bits_ignored(parameters: &mut Parameters) {
    parameters.ibr_low_bits = IbrLowBits::Ignored;
}

pub(super) fn long_syllable_never_matches(parameters: &mut Parameters) {
    parameters.long_syllable = LongSyllable::None;
}

pub(super) fn counts_up_to_the_overflow(parameters: &mut Parameters) {
    parameters.freeze = FreezeTiming::AtOverflow;
}

pub(super) fn data_misses_qualified_by_opcode(parameters: &mut Parameters) {
    parameters.data_ear_qualifier = DataEarQualifier::Opcode;
}
