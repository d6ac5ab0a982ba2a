//! One case at all levels.

use std::collections::BTreeMap;

use traceproof_decoder::riscv_etrace::{Content, Deframer, PacketReader, Payload};
use traceproof_vectors::riscv_etrace::{Packet, Parameters};
use traceproof_vectors::{Fault, FaultClass, Place};

use super::{CaseVerdict, Outcome, semantic};
use crate::monitor::{CaseLog, hex, to_hex};
use crate::pack::{ExpectLine, Pack, PackCase};
use crate::referee::{Ruling, referee};
use crate::{Device, Finding, Format, OutputForm, Reason, items};

/// The field of a finding about the bits that fill the last byte.
pub(super) const PADDING: &str = "padding";

/// For each row of the pack, the clocks that all rows before it take at least.
pub(super) fn row_clocks(pack: &Pack) -> Vec<u64> {
    let rows = pack.cases.iter().flat_map(|case| &case.rows);
    let mut clock = 0;
    rows.map(|row| {
        let start = clock;
        clock += row.clocks();
        start
    })
    .collect()
}

/// What came, read.
struct Came {
    /// The payloads as they were sent.
    sent: Vec<Vec<u8>>,
    /// Packets whose layout is one of `dut.toml`.
    layouts: BTreeMap<Format, usize>,
    /// The payloads with their fields as specified.
    payloads: Vec<Vec<u8>>,
    /// Packets up to the first that cannot be read.
    packets: Vec<Packet>,
    /// The same payloads without what is after the fields, where that is not filling.
    readable: Vec<Vec<u8>>,
    /// Indices of these packets.
    overlong: Vec<usize>,
    /// Why the packet after them cannot be read.
    fault: Option<String>,
}

/// The verdicts of a case, without its relation, and the payloads that came. `clocks` are those of
/// the rows of the pack.
#[must_use]
pub fn judge_case(
    pack: &Pack,
    case: &PackCase,
    log: &CaseLog,
    clocks: &[u64],
) -> (CaseVerdict, Vec<Vec<u8>>) {
    let device = &pack.device;
    let parameters = device.payload_parameters();
    let came = came(device, &parameters, log);
    let items = items(&case.rows, &case.program, &device.parameters);
    let (semantic, reported) = semantic::judge(device, &case.program, &items, &came.payloads);
    let (decodes, reported) = if came.overlong.is_empty() {
        (semantic.clone(), reported)
    } else {
        semantic::judge(device, &case.program, &items, &came.readable)
    };
    let reported = matches!(decodes, Outcome::Pass).then_some(reported.as_slice());
    let mut ruling = referee(device, &items, &came.packets, reported, &came.overlong);
    let mut legal_findings = overlong(case, &came);
    // Bits after a full map that are no filling are the address that should not be there, if its count is wrong.
    let is_count = |finding: &Finding| finding.field == "branches" && finding.clause == "RVET-PKT-032";
    legal_findings.retain(|finding| {
        finding.field != PADDING
            || !ruling.findings.iter().any(|other| other.packet == finding.packet && is_count(other))
    });
    legal_findings.append(&mut ruling.findings);
    legal_findings.sort_by_key(|finding| finding.packet);
    name_cut(case, &came, &mut legal_findings);
    if let Some(fault) = &came.fault {
        legal_findings.retain(|finding| finding.packet < came.packets.len());
        legal_findings.push(unreadable(case, came.packets.len(), fault));
    }
    legal_findings.extend(uncompressed(case, &came));
    let exact = exact(&case.expected, &came.sent);
    let fields = fields(&case.expected, &came);
    let freedoms = if exact.failed() && legal_findings.is_empty() {
        freedoms(&case.expected, &came, &ruling)
    } else {
        BTreeMap::new()
    };
    let verdict = CaseVerdict {
        id: case.entry.id.clone(),
        packets: (case.expected.len(), came.payloads.len()),
        exact,
        fields,
        legal: legal(&legal_findings),
        semantic,
        relation: Outcome::NotJudged(String::from("no variant")),
        latency: latency(device, case, log, clocks),
        findings: legal_findings,
        freedoms,
        layouts: came.layouts,
        reports: reports(log),
    };
    (verdict, came.sent)
}

fn reports(log: &CaseLog) -> Vec<String> {
    let mut reports = log.reports.clone();
    if log.restless > 0 {
        reports.push(String::from("the output was not quiet when the drain row ended"));
    }
    reports
}

fn came(device: &Device, parameters: &Parameters, log: &CaseLog) -> Came {
    let (sent, mut fault) = match device.output {
        OutputForm::Payload => (log.packets.iter().map(|beat| beat.bytes.clone()).collect(), None),
        OutputForm::Stream => payloads_of(device, log),
    };
    let (mut payloads, mut layouts) = (sent.clone(), BTreeMap::new());
    for payload in &mut payloads {
        if let Some((format, specified)) = device.layout.specified(payload, parameters) {
            *layouts.entry(format).or_default() += 1;
            *payload = specified;
        }
    }
    let mut packets = Vec::with_capacity(payloads.len());
    let (mut readable, mut overlong) = (payloads.clone(), Vec::new());
    if let Ok(mut reader) = PacketReader::new(parameters) {
        for (index, bytes) in (0..).zip(&payloads) {
            let place = Place { packet: index, byte: 0, bit: 0 };
            let packet = match Payload::new(bytes) {
                Some(payload) => reader.read(place, &payload).or_else(|fault| {
                    let at = packets.len();
                    let fields = without_excess(bytes, &fault).and_then(|bytes| {
                        let payload = Payload::new(&bytes)?;
                        *readable.get_mut(at)? = bytes;
                        overlong.push(at);
                        Some(payload)
                    });
                    fields.map_or(Err(fault.to_string()), |payload| {
                        reader.read(place, &payload).map_err(|fault| fault.to_string())
                    })
                }),
                None => Err(String::from("a payload has at most 31 bytes (RVET-ENCAP-006)")),
            };
            match packet {
                Ok(packet) => packets.push(packet),
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
    }
    Came { sent, layouts, payloads, packets, readable, overlong, fault }
}

/// The fields of a payload that goes on after them with something that does not fill it. Spec: RVET-PKT-003.
fn without_excess(bytes: &[u8], fault: &Fault) -> Option<Vec<u8>> {
    if fault.class != FaultClass::Overlong {
        return None;
    }
    let bits = u32::try_from(8 * fault.place.byte).ok()? + u32::from(fault.place.bit);
    let payload = Payload::from_bits(bytes, 0, bits)?;
    (0..bits.div_ceil(8)).map(|byte| u8::try_from(payload.bits(8 * byte, 8)).ok()).collect()
}

/// What is after the fields of a packet, and the clause that it breaks.
fn overlong(case: &PackCase, came: &Came) -> Vec<Finding> {
    let finding = |&packet: &usize| {
        let more = came.payloads.get(packet)?.len() > came.readable.get(packet)?.len();
        let (field, clause, expected) = match came.packets.get(packet)? {
            Packet::Trap { interrupt: true, .. } if !more => {
                (PADDING, "RVET-PKT-003", "copies of the sign after the fields of an interrupt")
            }
            _ if !more => (PADDING, "RVET-PKT-003", "copies of the sign after the fields"),
            Packet::Trap { interrupt: true, .. } => ("tval", "RVET-PKT-017", "no tval of an interrupt"),
            Packet::Branch { branches: 0, .. } => ("branches", "RVET-PKT-032", "nothing after 31 outcomes"),
            _ => ("length", "RVET-PKT-002", "no bytes after the fields"),
        };
        let line = case.expected.get(packet);
        Some(Finding {
            row: line.map_or(case.entry.first_row, |line| line.row),
            packet,
            reason: None,
            field: field.to_owned(),
            clause: clause.to_owned(),
            expected: expected.to_owned(),
            got: to_hex(came.payloads.get(packet)?),
            tail: line.is_some_and(|line| line.tail),
        })
    };
    came.overlong.iter().filter_map(finding).collect()
}

/// The first finding is about a payload that lacks its last byte, which is nothing but the sign: compression went too
/// far, if no other packet of format 1 or 2 has such a byte. Spec: RVET-PKT-006, RVET-PKT-007.
fn name_cut(case: &PackCase, came: &Came, findings: &mut [Finding]) {
    let Some(finding) = findings.first_mut() else { return };
    let due = case.expected.get(finding.packet).and_then(|line| hex(&line.bytes));
    let (Some(due), Some(payload)) = (due, came.payloads.get(finding.packet)) else { return };
    let ends_with_sign = |payload: &[u8]| match payload {
        [.., last, sign @ (0 | 0xff)] => (last & 0x80 == 0) != (*sign == 0),
        _ => false,
    };
    let keeps_it = case.expected.iter().any(|line| {
        matches!(line.packet, Packet::Address { .. } | Packet::Branch { .. })
            && hex(&line.bytes).is_some_and(|due| ends_with_sign(&due) && came.payloads.contains(&due))
    });
    let lacks_it = due.split_last().is_some_and(|(_, rest)| rest == payload.as_slice());
    if ends_with_sign(&due) && lacks_it && !keeps_it {
        finding.clause = String::from("RVET-PKT-006");
        finding.field = String::from("length");
        (finding.expected, finding.got) = (to_hex(&due), to_hex(payload));
    }
}

/// The payloads of a stream, and why it ends in the middle of a packet.
fn payloads_of(device: &Device, log: &CaseLog) -> (Vec<Vec<u8>>, Option<String>) {
    let mut payloads = Vec::new();
    let mut deframer = match Deframer::new(&device.parameters) {
        Ok(deframer) => deframer,
        Err(refusal) => return (payloads, Some(refusal.to_string())),
    };
    let mut fault = None;
    for beat in &log.beats {
        deframer.push(&beat.bytes, |unit| match unit.content() {
            Ok(Content::Instruction(payload)) => payloads.push(bytes_of(payload)),
            Ok(_) => {}
            Err(error) => fault = fault.take().or_else(|| Some(error.to_string())),
        });
    }
    if deframer.finish().is_some() {
        fault = fault.or_else(|| Some(String::from("the stream ends in the middle of a packet")));
    }
    (payloads, fault)
}

/// The bytes of a payload. Where a type shifts it, bits that only fill the last byte of the transport are left out.
fn bytes_of(payload: &Payload) -> Vec<u8> {
    let received = payload.received_bits();
    let whole = received / 8;
    let sign = whole > 0 && payload.bits(8 * whole - 1, 1) == 1;
    let fill = (8 * whole..received).all(|bit| (payload.bits(bit, 1) == 1) == sign);
    let count = if fill && whole > 0 { whole } else { received.div_ceil(8) };
    (0..count).map(|byte| u8::try_from(payload.bits(8 * byte, 8)).unwrap_or(0)).collect()
}

fn unreadable(case: &PackCase, packet: usize, fault: &str) -> Finding {
    let line = case.expected.get(packet);
    Finding {
        row: line.map_or(case.entry.first_row, |line| line.row),
        packet,
        reason: None,
        field: String::from("payload"),
        clause: String::from("RVET-PKT-003"),
        expected: String::from("a packet that can be read"),
        got: fault.to_owned(),
        tail: line.is_some_and(|line| line.tail),
    }
}

/// Spec: RVET-PKT-004: the last byte of a packet with address of format 1 or 2 is not redundant.
fn uncompressed(case: &PackCase, came: &Came) -> Option<Finding> {
    let redundant = |payload: &[u8]| match payload {
        [.., before, last] => *last == if before & 0x80 == 0 { 0 } else { 0xff },
        _ => false,
    };
    let found = came.packets.iter().zip(&came.payloads).enumerate().find(|(_, (packet, payload))| {
        matches!(packet, Packet::Address { .. } | Packet::Branch { address: Some(_), .. })
            && redundant(payload)
    });
    let (index, (_, payload)) = found?;
    Some(Finding {
        row: case.expected.get(index).map_or(case.entry.first_row, |line| line.row),
        packet: index,
        reason: None,
        field: String::from("length"),
        clause: String::from("RVET-PKT-004"),
        expected: String::from("a payload without redundant bytes"),
        got: to_hex(payload),
        tail: case.expected.get(index).is_some_and(|line| line.tail),
    })
}

pub(super) fn legal(findings: &[Finding]) -> Outcome {
    match findings.first() {
        None => Outcome::Pass,
        Some(finding) => Outcome::Fail {
            message: format!(
                "{}: row {:#x}, packet {}, `{}`: expected {}, got {}",
                finding.clause, finding.row, finding.packet, finding.field, finding.expected, finding.got
            ),
            tail_only: findings.iter().all(|finding| finding.tail),
        },
    }
}

fn exact(expected: &[ExpectLine], came: &[Vec<u8>]) -> Outcome {
    let same = |line: &ExpectLine, bytes: &Vec<u8>| hex(&line.bytes).as_ref() == Some(bytes);
    let at = expected.iter().zip(came).take_while(|(line, bytes)| same(line, bytes)).count();
    if at == expected.len() && at == came.len() {
        return Outcome::Pass;
    }
    let got = came.get(at).map_or_else(|| String::from("nothing"), |bytes| to_hex(bytes));
    let due = expected.get(at).map_or("nothing", |line| line.bytes.as_str());
    Outcome::Fail {
        message: format!("packet {at}: expected {due}, got {got}"),
        tail_only: is_tail(expected, at),
    }
}

fn is_tail(expected: &[ExpectLine], at: usize) -> bool {
    expected.get(at..).is_some_and(|rest| rest.iter().all(|line| line.tail))
}

fn fields(expected: &[ExpectLine], came: &Came) -> Outcome {
    let same = |line: &ExpectLine, packet: &Packet| masked(line, line.packet) == masked(line, *packet);
    let at = expected.iter().zip(&came.packets).take_while(|(line, packet)| same(line, packet)).count();
    if at == expected.len() && at == came.payloads.len() && came.fault.is_none() {
        return Outcome::Pass;
    }
    let show = |packet: Option<&Packet>| packet.map_or_else(|| String::from("nothing"), notation);
    let got = match (&came.fault, came.packets.get(at)) {
        (Some(fault), None) => fault.clone(),
        (_, packet) => show(packet),
    };
    let due = expected.get(at).map(|line| line.packet);
    let message = format!("packet {at}: expected {}, got {got}", show(due.as_ref()));
    Outcome::Fail { message, tail_only: is_tail(expected, at) }
}

fn notation(packet: &Packet) -> String {
    serde_json::to_string(packet).unwrap_or_else(|_| format!("{packet:x?}"))
}

/// A packet without what the line leaves undefined: an address, or outcomes above `branches`.
fn masked(line: &ExpectLine, mut packet: Packet) -> Packet {
    let undefined = line.mask.bytes().any(|digit| digit != b'f');
    match &mut packet {
        Packet::Trap { thaddr: false, address, .. } if undefined => *address = None,
        Packet::Branch { branches: count @ 1..=30, branch_map, .. } => *branch_map &= (1 << *count) - 1,
        _ => {}
    }
    packet
}

/// Which of its freedoms a legal device used otherwise than the policy.
fn freedoms(expected: &[ExpectLine], came: &Came, ruling: &Ruling) -> BTreeMap<String, usize> {
    let mut freedoms = BTreeMap::new();
    let mut add = |why: &str, count: usize| {
        if count > 0 {
            *freedoms.entry(why.to_owned()).or_default() += count;
        }
    };
    let resyncs =
        expected.iter().filter(|line| line.clauses.iter().any(|c| c == Reason::Resync.clause())).count();
    if resyncs != ruling.resyncs {
        add("another resynchronisation period (RVET-ENC-005)", resyncs.abs_diff(ruling.resyncs));
    }
    add(
        "interrupts at an uninferable target reported by themselves (RVET-ENC-081)",
        ruling.separate_interrupts,
    );
    let supports = |packets: &mut dyn Iterator<Item = Packet>| {
        packets.filter(|packet| matches!(packet, Packet::Support { ienable: false, .. })).count()
    };
    let sent = supports(&mut came.packets.iter().copied());
    let due = supports(&mut expected.iter().map(|line| line.packet));
    add("support packets at disable (RVET-ENC-007)", sent.abs_diff(due));
    for (line, (packet, payload)) in expected.iter().zip(came.packets.iter().zip(&came.payloads)) {
        if masked(line, line.packet) != masked(line, *packet) {
            break;
        }
        if hex(&line.bytes).as_ref() != Some(payload) {
            let undefined = line.packet != *packet;
            add(
                if undefined {
                    "values where the specification defines none (RVET-ENC-083)"
                } else {
                    "other compression of format 3 packets (RVET-PKT-005)"
                },
                1,
            );
        }
    }
    if freedoms.is_empty() {
        freedoms.insert(String::from("other packets at places where the specification leaves the choice"), 1);
    }
    freedoms
}

/// Clocks from the row that causes a packet to the packet, apart from all else: order is what levels compare.
fn latency(device: &Device, case: &PackCase, log: &CaseLog, clocks: &[u64]) -> Outcome {
    let Some(bound) = device.latency else {
        return Outcome::NotJudged(String::from("`latency` is not given"));
    };
    if log.packets.len() != case.expected.len() {
        return Outcome::NotJudged(String::from("other packets came"));
    }
    let clock = |row: u32| clocks.get(row as usize).copied().unwrap_or(0);
    let late = case
        .expected
        .iter()
        .zip(&log.packets)
        .map(|(line, beat)| clock(beat.row).saturating_sub(clock(line.row)));
    let worst = late.max().unwrap_or(0);
    if worst <= bound {
        return Outcome::Pass;
    }
    Outcome::Fail {
        message: format!("a packet came {worst} clocks after its row, the bound is {bound}"),
        tail_only: false,
    }
}
