//! What a counter counts and what is captured, as asked for by name.

use traceproof_decoder::itanium_pmu::decode_write;
use traceproof_decoder::itanium_pmu::registers::Context;
use traceproof_encoder_model::itanium_pmu::settings::{EventRefusal, EventRequest, Setting};
use traceproof_vectors::itanium_pmu::events::{EVENTS, SelectableEvent};
use traceproof_vectors::itanium_pmu::{Contents, DataEarThresholds, Parameters, Register};

use super::check;
use crate::generate::Entropy;

/// Event select codes of what event address registers capture.
const INSTRUCTION: u8 = 0x23;
const DATA: u8 = 0x67;

/// Names that select what is captured: es, tlb, umask, and umask where the thresholds of data are shifted (ITA-EAR-010,
/// MD-8); `None` = there is no such name.
type Capture = (&'static str, u8, bool, Option<u8>, Option<u8>);
const CAPTURES: [Capture; 30] = [
    ("INSTRUCTION_EAR_CACHE_LAT4", INSTRUCTION, false, Some(0), Some(0)),
    ("INSTRUCTION_EAR_CACHE_LAT8", INSTRUCTION, false, Some(1), Some(1)),
    ("INSTRUCTION_EAR_CACHE_LAT16", INSTRUCTION, false, Some(2), Some(2)),
    ("INSTRUCTION_EAR_CACHE_LAT1024", INSTRUCTION, false, Some(8), Some(8)),
    ("INSTRUCTION_EAR_CACHE_LAT4096", INSTRUCTION, false, Some(10), Some(10)),
    ("Instruction_Ear_Cache_Lat_None", INSTRUCTION, false, Some(15), Some(15)),
    ("INSTRUCTION_EAR_TLB_VHPT", INSTRUCTION, true, Some(4), Some(4)),
    ("instruction_ear_tlb_sw", INSTRUCTION, true, Some(8), Some(8)),
    ("INSTRUCTION_EAR_TLB_L2", INSTRUCTION, true, None, None),
    ("DATA_EAR_CACHE_LAT4", DATA, false, Some(0), Some(0)),
    ("DATA_EAR_CACHE_LAT8", DATA, false, Some(1), Some(1)),
    ("DATA_EAR_CACHE_LAT16", DATA, false, Some(2), Some(2)),
    ("DATA_EAR_CACHE_LAT32", DATA, false, Some(3), Some(3)),
    ("DATA_EAR_CACHE_LAT256", DATA, false, Some(6), Some(6)),
    ("DATA_EAR_CACHE_LAT512", DATA, false, Some(7), Some(8)),
    ("DATA_EAR_CACHE_LAT1024", DATA, false, Some(8), Some(9)),
    ("DATA_EAR_CACHE_LAT2048", DATA, false, Some(9), Some(10)),
    ("DATA_EAR_CACHE_LAT4096", DATA, false, Some(10), None),
    ("DATA_EAR_CACHE_LAT_NONE", DATA, false, Some(15), Some(15)),
    ("data_ear_tlb_l2", DATA, true, Some(2), Some(2)),
    ("DATA_EAR_TLB_VHPT", DATA, true, Some(4), Some(4)),
    ("DATA_EAR_TLB_SW", DATA, true, Some(8), Some(8)),
    ("DATA_EAR_CACHE_LAT2", DATA, false, None, None),
    ("DATA_EAR_CACHE_LAT5", DATA, false, None, None),
    ("DATA_EAR_CACHE_LAT8192", DATA, false, None, None),
    ("DATA_EAR_CACHE_LAT04", DATA, false, None, None),
    ("DATA_EAR_CACHE_LAT+8", DATA, false, None, None),
    ("DATA_EAR_CACHE_LAT", DATA, false, None, None),
    ("DATA_EAR_TLB_", DATA, true, None, None),
    ("NO_SUCH_EVENT", 0, false, None, None),
];

/// What a request asks for, if there is such an event.
pub(super) struct Meaning {
    pub(super) event: &'static SelectableEvent,
    /// tlb and umask of event address registers.
    pub(super) capture: Option<(bool, u8)>,
}

/// Any event, seldom one that there is not, or that cannot be counted so.
pub(super) fn wish(entropy: &mut Entropy<'_>) -> EventRequest {
    let name =
        if entropy.chance(80) { entropy.pick(&CAPTURES).0 } else { EVENTS[entropy.below(EVENTS.len())].name };
    let shifted = entropy.chance(100);
    EventRequest {
        counter: entropy.pick(&[None, None, None, Some(4), Some(5), Some(6), Some(7), Some(3), Some(8)]),
        umask: entropy.chance(40).then(|| entropy.byte() % 5),
        threshold: entropy.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 7, 8]),
        ism: entropy.pick(&[0, 0, 1, 2, 0, 3]),
        ear_ism: entropy.pick(&[0, 0, 1, 2, 0, 3]),
        pm: entropy.chance(128),
        oi: entropy.chance(128),
        ev: entropy.chance(128),
        pt: entropy.chance(128),
        thresholds: if shifted { DataEarThresholds::Shifted } else { DataEarThresholds::Regular },
        ..EventRequest::new(name, entropy.pick(&[8, 1, 15, 2, 4, 9, 8, 0, 16]))
    }
}

/// Several requests, each by itself.
pub(super) fn judge(entropy: &mut Entropy<'_>) -> Result<(), String> {
    let plain = EventRequest::new("CPU_CYCLES", 8);
    let usual = (plain.counter, plain.umask, plain.threshold, plain.ism, plain.ear_ism, plain.plm);
    let flags = (plain.pm, plain.oi, plain.ev, plain.pt, plain.thresholds);
    check(
        usual == (None, None, 0, 0, 0, 8) && flags == (false, true, false, true, DataEarThresholds::Regular),
        || format!("{plain:?}"),
    )?;
    (0..4).try_for_each(|_| one(&wish(entropy)))
}

/// Every name of what is captured, with both kinds of thresholds; and an event of each kind on every counter, with
/// every threshold.
pub(super) fn each() -> Result<(), String> {
    for (name, ..) in CAPTURES {
        for thresholds in [DataEarThresholds::Regular, DataEarThresholds::Shifted] {
            one(&EventRequest { thresholds, ..EventRequest::new(name, 8) })?;
        }
    }
    // At most 1, 2, 3, 3 and 6 times in a cycle; the last two on PMD[4] and PMD[5] only.
    for name in ["CPU_CYCLES", "LOADS_RETIRED", "FP_OPS_RETIRED_LO", "BUS_SNOOPQ_REQ", "NOPS_RETIRED"] {
        for counter in [None, Some(3), Some(4), Some(5), Some(6), Some(7), Some(8)] {
            for threshold in 0..=8 {
                one(&EventRequest { counter, threshold, ..EventRequest::new(name, 9) })?;
            }
        }
    }
    Ok(())
}

fn one(request: &EventRequest) -> Result<(), String> {
    let reasons = reasons(request);
    let answer = match request.settings() {
        Ok(answer) if reasons.is_empty() => answer,
        Err(refusal) if reasons.contains(&refusal) => return sentence(&refusal),
        other => return Err(format!("{request:x?}: {other:x?}, not {reasons:x?}")),
    };
    let Some(Meaning { event, capture }) = meaning(request) else { return Ok(()) };
    // Between these the sources disagree: MD-8.
    let disputed = capture.is_some_and(|(tlb, umask)| event.es == DATA && !tlb && (7..=10).contains(&umask));
    let counter =
        (4..8).find(|counter| can_count(request, event, *counter)).filter(|_| request.counter.is_none());
    let counter = counter.or(request.counter).unwrap_or_default();
    check(answer.event == event && answer.counter == counter && answer.is_disputed == disputed, || {
        format!("{request:x?}: {answer:x?}")
    })?;
    let count = usize::from(capture.is_some()) + 1;
    check(answer.settings.len() == count, || format!("{request:x?}: {answer:x?}"))?;
    fields(&answer.settings, request, &Meaning { event, capture }, counter)?;
    answer.settings.iter().try_for_each(|setting| words(setting, request, event))
}

/// The words of a setting end with its privilege levels; those of a counter name the event, and a threshold.
fn words(setting: &Setting, request: &EventRequest, event: &SelectableEvent) -> Result<(), String> {
    let (what, levels) = setting.meaning.rsplit_once("privilege level").unwrap_or_default();
    let levels =
        levels.chars().filter_map(|digit| digit.to_digit(10)).fold(0_u32, |all, level| all | 1 << level);
    let counts = |threshold: u8| what.contains(&format!("more than {threshold} "));
    let is_named = matches!(setting.register.index, 10 | 11)
        || (what.contains(event.name) && counts(request.threshold) == (request.threshold > 0));
    check(is_named && levels == u32::from(request.plm), || format!("{request:x?}: {setting}"))
}

/// The sentence about a counter that cannot count an event ends with those that can.
fn sentence(refusal: &EventRefusal) -> Result<(), String> {
    let EventRefusal::WrongCounter { name, counters, .. } = *refusal else { return Ok(()) };
    let text = refusal.to_string();
    let (wrong, right) = text.split_once(';').unwrap_or_default();
    let is_right = (4..8_u8).all(|n| right.contains(&format!("PMD{n}")) == (counters >> n & 1 == 1));
    check(wrong.contains(name) && is_right, || format!("{refusal:?} reads `{text}`"))
}

/// The fields of PMC\[10\] or PMC\[11\], and of the counter's register, are what was asked for.
pub(super) fn fields(
    settings: &[Setting],
    request: &EventRequest,
    meaning: &Meaning,
    counter: u8,
) -> Result<(), String> {
    let EventRequest { plm, pm, oi, ev, threshold, ism, ear_ism, pt, .. } = *request;
    let Meaning { event, capture } = *meaning;
    let SelectableEvent { es, umask, .. } = *event;
    let register = Register::pmc(counter);
    let mut expected =
        vec![Contents::CounterConfiguration { register, plm, ev, oi, pm, es, umask, threshold, ism }];
    if let Some((tlb, umask)) = capture {
        expected.push(if es == DATA {
            Contents::DataEarConfiguration { plm, pm, tlb, umask, ism: ear_ism, pt }
        } else {
            Contents::InstructionEarConfiguration { plm, pm, tlb, umask, ism: ear_ism }
        });
    }
    let context = Context::new(&Parameters::default());
    for contents in expected {
        let written = settings.iter().find(|setting| setting.register == contents.register());
        let read = written.map(|setting| decode_write(setting.register, setting.value, &context));
        let is_right = read.is_some_and(|read| read.contents == contents && read.oddities().next().is_none());
        check(is_right, || format!("{request:x?}: {contents:x?} is written as {written:x?}"))?;
    }
    Ok(())
}

/// What a request asks for.
pub(super) fn meaning(request: &EventRequest) -> Option<Meaning> {
    let capture = CAPTURES.iter().find(|row| row.0.eq_ignore_ascii_case(&request.name));
    if let Some(&(_, es, tlb, regular, shifted)) = capture {
        let shifts = request.thresholds == DataEarThresholds::Shifted;
        let umask = if shifts { shifted? } else { regular? };
        return Some(Meaning { event: SelectableEvent::find(es, 0)?, capture: Some((tlb, umask)) });
    }
    let named = EVENTS.iter().find(|event| event.name == request.name)?;
    let umask = request.umask.unwrap_or(named.umask);
    let event = EVENTS.iter().find(|event| (event.es, event.umask) == (named.es, umask))?;
    Some(Meaning { event, capture: None })
}

/// Everything that is wrong with it.
fn reasons(request: &EventRequest) -> Vec<EventRefusal> {
    let EventRequest { threshold, plm, ism, ear_ism, counter, umask, ref name, .. } = *request;
    let capture = CAPTURES.iter().find(|row| row.0 == name.as_str() && row.3.is_some());
    if let (Some(&(_, es, ..)), Some(umask)) = (capture, umask) {
        return vec![EventRefusal::UnknownUmask { es, umask }];
    }
    let unknown = EventRefusal::UnknownEvent(name.clone());
    // A latency that these thresholds do not have is an event all the same.
    let other = capture.and_then(|&(_, es, ..)| SelectableEvent::find(es, 0));
    let meant = meaning(request).map(|meaning| meaning.event);
    let Some(event) = meant.or(other) else {
        let named = EVENTS.iter().find(|event| event.name == name.as_str());
        return match (named, umask) {
            (Some(named), Some(umask)) => vec![EventRefusal::UnknownUmask { es: named.es, umask }],
            _ => vec![unknown],
        };
    };
    let max_increment = event.max_increment;
    let mut reasons = vec![
        (meant.is_none(), unknown),
        (!(1..16).contains(&plm), EventRefusal::PrivilegeLevels(plm)),
        (ism == 3, EventRefusal::InstructionSets(ism)),
        (ear_ism == 3, EventRefusal::InstructionSets(ear_ism)),
        (
            threshold != 0 && threshold >= max_increment,
            EventRefusal::NeverCounts { threshold, max_increment },
        ),
    ];
    let widest = |counter| if counter < 6 { 7 } else { 3 };
    match counter {
        Some(counter) => {
            let SelectableEvent { name, counters, .. } = *event;
            let wrong = !event.is_countable_on(counter);
            let too_high = threshold > widest(counter);
            reasons.push((!(4..8).contains(&counter), EventRefusal::NoCounter(counter)));
            reasons.push((wrong, EventRefusal::WrongCounter { name, counter, counters }));
            reasons.push((too_high, EventRefusal::TooHigh { threshold, widest: widest(counter) }));
        }
        None => {
            let none = !(4..8).any(|counter| can_count(request, event, counter));
            reasons.push((none, EventRefusal::TooHigh { threshold, widest: 7 }));
        }
    }
    reasons.into_iter().filter_map(|(is_so, reason)| is_so.then_some(reason)).collect()
}

/// Whether PMD\[n\] counts the event with this threshold. Spec: ITA-CNT-010, ITA-REG-005, ITA-REG-006.
pub(super) fn can_count(request: &EventRequest, event: &SelectableEvent, counter: u8) -> bool {
    let widest = if counter < 6 { 7 } else { 3 };
    event.is_countable_on(counter) && request.threshold <= widest
}
