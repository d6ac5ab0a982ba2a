//! The full cross of what qualifies an event, against truth tables written here from the formulas' words.
//!
//! Three readings meet: the table in this file, the model (its records) and the oracle (the decoder's events).

use traceproof_decoder::itanium_pmu::Decoder;
use traceproof_encoder_model::itanium_pmu::Encoder;
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, Contents, DataTlbLevel, Event, Instruction, InstructionTlbResolution, ItaniumPmu,
    Miss, Occurrence, Packet, Parameters, Policy, Register, Stimulus, SyllableType, Tags,
};
use traceproof_vectors::{Address, Decoder as _, Encoder as _, Log, Program};

/// One log: stimulus on the way in, what both sides made of it on the way out.
#[derive(Default)]
struct Cross {
    stimulus: Vec<Stimulus>,
    written: std::collections::BTreeMap<Register, u64>,
}

impl Cross {
    fn new() -> Self {
        Self { stimulus: vec![Stimulus::Reset], ..Self::default() }
    }

    /// Writes a register unless it holds the value.
    fn set(&mut self, register: Register, value: u64) {
        if self.written.insert(register, value) != Some(value) {
            self.stimulus.push(Stimulus::Write { register, value });
        }
    }

    fn push(&mut self, stimulus: Stimulus) {
        self.stimulus.push(stimulus);
    }

    /// The model's packets and the decoder's log of them, which must have no fault.
    fn run(&self) -> (Vec<Packet>, Vec<Event>) {
        let mut made = Log::<ItaniumPmu>::default();
        let mut encoder = Encoder::default();
        encoder.begin(&Parameters::default(), &Policy::default()).expect("defaults are taken");
        for step in &self.stimulus {
            encoder.step(step, &mut made);
        }
        encoder.finish(&mut made);
        let mut read = Log::default();
        let mut decoder = Decoder::default();
        decoder.begin(&Parameters::default(), &Program::new()).expect("defaults are taken");
        decoder.push(&made.wire, &mut read);
        decoder.finish(&mut read);
        assert_eq!(read.faults().next(), None);
        (made.packets().copied().collect(), read.events().copied().collect())
    }
}

fn combinations(count: u64) -> impl Iterator<Item = u64> + Clone {
    0..count
}

fn flag(bits: u64, bit: u32) -> bool {
    bits >> bit & 1 == 1
}

const IP: u64 = 0x2000_0000_0017_4710;
const ADDRESS: u64 = 0x6000_0000_0008_0614;
/// ld8, opcode 4, x6 = 3.
const ENCODING: u64 = 0x080_c0f0_0380;
const ALL_BITS: u64 = (1 << 56) - 1;
const CPL: u32 = 2;

/// ta, PSR.is, PSR.db, x of every pair, which pairs match and why the others do not, whether type and encoding match,
/// pt, which data pair matches, kind of the access.
#[test]
fn tags_are_those_of_the_truth_table() {
    let mut cross = Cross::new();
    let (mut tags, mut data_tags) = (Vec::new(), Vec::new());
    for state in combinations(8) {
        let (ta, is, db) = (flag(state, 0), flag(state, 1), flag(state, 2));
        cross.set(Register::PSR, u64::from(is) << 34 | u64::from(db) << 24 | u64::from(CPL) << 32);
        cross.set(Register::pmc(13), u64::from(ta));
        for (x, pairs, by_level) in combinations(16)
            .flat_map(|x| combinations(16).flat_map(move |pairs| [(x, pairs, false), (x, pairs, true)]))
        {
            for pair in 0..4u8 {
                let matches = flag(pairs, pair.into());
                let other_address = if matches || by_level { IP } else { IP ^ 1 << (7 + 13 * pair) };
                let levels = if matches || !by_level { 0xf } else { 0xf & !(1 << CPL) };
                cross.set(Register::ibr(2 * pair), other_address);
                let odd = u64::from(flag(x, pair.into())) << 63 | levels << 56 | ALL_BITS;
                cross.set(Register::ibr(2 * pair + 1), odd);
            }
            let range = ta || (!is && pairs != 0 && !db && x == 0);
            for opcode in combinations(4) {
                let (selected, same) = (flag(opcode, 0), flag(opcode, 1));
                let key = ENCODING >> 27 << 13 | ENCODING & 0x1fff;
                let pattern = if same { key } else { key ^ 1 << 19 };
                cross.set(Register::pmc(8), if selected { 1 << 63 } else { 7 << 60 } | pattern << 33);
                // PMC[9] the other way round, to see that they are independent.
                cross.set(Register::pmc(9), if selected { 7 << 60 } else { 1 << 63 } | pattern << 33);
                cross.push(Stimulus::Instruction(Instruction {
                    ip: Address(IP),
                    slot: 1,
                    itype: SyllableType::M,
                    enco: ENCODING,
                    retired: true,
                    squashed: false,
                }));
                let pmc8 = selected && same && range && !is;
                tags.push(Tags { range, pmc8, pmc9: !selected && same && range && !is });
                // Data range: none, or one of the pairs, for a part of the cross only; the tags above are all that it
                // depends on.
                let part = if x == 0 || pairs == 1 { 5 } else { 1 };
                for (data_pair, pt) in combinations(part).flat_map(|pair| [(pair, false), (pair, true)]) {
                    cross.set(Register::pmc(11), u64::from(pt) << 28);
                    for pair in 0..4u8 {
                        let matches = u64::from(pair) + 1 == data_pair;
                        let address = if matches { ADDRESS } else { ADDRESS ^ 1 << 33 };
                        cross.set(Register::dbr(2 * pair), address);
                        cross.set(Register::dbr(2 * pair + 1), ALL_BITS);
                    }
                    let matched = data_pair != 0 && !db;
                    for kind in AccessKind::ALL {
                        cross.push(Stimulus::Access(Access { kind, address: Address(ADDRESS) }));
                        let tag = match kind {
                            AccessKind::Rse | AccessKind::Vhpt if pt => pmc8,
                            AccessKind::Rse | AccessKind::Vhpt => matched,
                            _ => pmc8 && (pt || matched),
                        };
                        data_tags.push((matched, tag));
                    }
                }
            }
        }
    }
    let (packets, events) = cross.run();
    let made_tags: Vec<Tags> =
        packets.iter().filter_map(|p| if let Packet::Tags(tags) = p { Some(*tags) } else { None }).collect();
    let made_data: Vec<bool> =
        packets.iter().filter_map(|p| if let Packet::DataTag(tag) = p { Some(*tag) } else { None }).collect();
    let worked_tags: Vec<Tags> =
        events.iter().filter_map(|e| if let Event::Tags(tags) = e { Some(*tags) } else { None }).collect();
    let worked_data: Vec<(bool, bool)> = events
        .iter()
        .filter_map(|e| if let Event::DataTag { matched, tag } = e { Some((*matched, *tag)) } else { None })
        .collect();
    assert_eq!(tags.len(), 8 * 16 * 16 * 2 * 4);
    assert!(tags == made_tags, "the model's tags differ from the table");
    assert!(tags == worked_tags, "the oracle's tags differ from the table");
    assert!(
        made_data == data_tags.iter().map(|&(_, tag)| tag).collect::<Vec<_>>(),
        "the model's data tags differ from the table"
    );
    assert!(worked_data == data_tags, "the oracle's data tags differ from the table");
}

/// fr, plm, cpl, pm, up, pp, ism, is, threshold, occurrences.
#[test]
fn counts_are_those_of_the_truth_table() {
    let mut cross = Cross::new();
    let mut increments = Vec::new();
    let mut expected = Vec::new();
    let mut count = 0u32;
    for state in combinations(2 * 4 * 2 * 2 * 2) {
        let fr = flag(state, 0);
        let (up, pp, is) = (flag(state, 1), flag(state, 2), flag(state, 3));
        let cpl = state >> 4;
        cross.set(Register::PSR, cpl << 32 | u64::from(is) << 34 | u64::from(up) << 2 | u64::from(pp) << 21);
        cross.set(Register::pmc(0), u64::from(fr));
        for configuration in combinations(16 * 2 * 4) {
            let (plm, pm, ism) = (configuration & 0xf, flag(configuration, 4), configuration >> 5);
            for threshold in 0..8 {
                // MEMORY_CYCLE, which nothing qualifies.
                cross.set(
                    Register::pmc(5),
                    plm | u64::from(pm) << 6 | 0x07 << 8 | threshold << 20 | ism << 24,
                );
                for occurrences in 0..8 {
                    cross.push(Stimulus::Occurrence(Occurrence { es: 0x07, umask: 0, count: occurrences }));
                    cross.push(Stimulus::Cycle);
                    let enabled = !fr
                        && plm >> cpl & 1 == 1
                        && if pm { pp } else { up }
                        && if is { ism & 2 == 0 } else { ism & 1 == 0 };
                    let increment = match threshold {
                        _ if !enabled => 0,
                        0 => u32::from(occurrences),
                        _ => u32::from(u64::from(occurrences) > threshold),
                    };
                    count += increment;
                    if increment > 0 {
                        increments.push((5, increment, count));
                    }
                }
            }
            // What the model holds, now and then, where it may be read.
            if !pm || cpl == 0 {
                cross.push(Stimulus::Read(Register::pmd(5)));
                expected.push(count);
            }
        }
    }
    let (packets, events) = cross.run();
    let read: Vec<u32> = packets
        .iter()
        .filter_map(|packet| match packet {
            Packet::Read(Contents::Counter { count, .. }) => Some(*count),
            _ => None,
        })
        .collect();
    let worked: Vec<(u8, u32, u32)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Count { counter, increment, count } => Some((*counter, u32::from(*increment), *count)),
            _ => None,
        })
        .collect();
    assert!(count > 10_000);
    assert!(read == expected, "the model's counts differ from the table");
    assert!(worked == increments, "the oracle's counts differ from the table");
}

/// Mode, umask and latency or class of both event address registers, with tags set.
#[test]
fn captures_are_those_of_the_truth_table() {
    let latencies = (0..13).flat_map(|power| [(1u32 << power) - 1, 1 << power]).chain([4095, 5000]);
    let threshold = |umask: u64| if umask <= 10 { 4u32 << umask } else { u32::MAX };
    let mut cross = Cross::new();
    let mut expected = Vec::new();
    cross.set(Register::PSR, 1 << 2);
    cross.push(Stimulus::Instruction(Instruction {
        ip: Address(IP),
        slot: 1,
        itype: SyllableType::M,
        enco: ENCODING,
        retired: true,
        squashed: false,
    }));
    cross.push(Stimulus::Access(Access { kind: AccessKind::Load, address: Address(ADDRESS) }));
    for umask in 0..16u64 {
        for tlb in [false, true] {
            let configuration = 1 | u64::from(tlb) << 7 | umask << 16;
            cross.set(Register::pmc(10), configuration);
            cross.set(Register::pmc(11), configuration | 1 << 28);
            for latency in latencies.clone() {
                let recorded = Some(latency.min(4095) as u16);
                cross.push(Stimulus::Miss(Miss::InstructionCache { ip: Address(IP), latency }));
                cross.push(Stimulus::Cycle);
                if !tlb && latency >= threshold(umask) {
                    expected.push(format!("{:x} {recorded:?} None", IP & !0x1f));
                }
                cross.push(Stimulus::Miss(Miss::DataCache { latency }));
                cross.push(Stimulus::Cycle);
                if !tlb && latency >= threshold(umask) {
                    expected.push(format!("{ADDRESS:x} {IP:x} 1 {recorded:?} None"));
                }
            }
            for (bit, resolution) in
                [(2, InstructionTlbResolution::Vhpt), (3, InstructionTlbResolution::Software)]
            {
                cross.push(Stimulus::Miss(Miss::InstructionTlb { ip: Address(IP), resolution }));
                cross.push(Stimulus::Cycle);
                if tlb && flag(umask, bit) {
                    expected.push(format!("{:x} None {:?}", IP & !0x1f, Some(resolution)));
                }
            }
            for (bit, level) in [(1, DataTlbLevel::L2), (2, DataTlbLevel::Vhpt), (3, DataTlbLevel::Software)]
            {
                cross.push(Stimulus::Miss(Miss::DataTlb { level }));
                cross.push(Stimulus::Cycle);
                if tlb && flag(umask, bit) {
                    expected.push(format!("{ADDRESS:x} {IP:x} 1 None {:?}", Some(level)));
                }
            }
        }
    }
    // What the model holds is read back at the end; the oracle's knowledge of it is checked on the way by every
    // contradiction.
    cross.push(Stimulus::Write { register: Register::pmc(0), value: 1 });
    cross.stimulus.extend(Register::implemented().map(Stimulus::Read));
    let (_, events) = cross.run();
    let worked: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::InstructionMiss(miss) => {
                Some(format!("{:x} {:?} {:?}", miss.line, miss.latency, miss.tlb))
            }
            Event::DataMiss(miss) => Some(format!(
                "{:x} {:x} {} {:?} {:?}",
                miss.address, miss.bundle, miss.slot, miss.latency, miss.level
            )),
            _ => None,
        })
        .collect();
    assert_eq!(worked, expected);
}
