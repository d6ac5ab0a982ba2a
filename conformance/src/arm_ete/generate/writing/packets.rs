//! Packets of every kind with each field at its limits and beyond, and whether they can travel.

use traceproof_vectors::arm_ete::{
    AddressField, Atoms, ContextField, Packet, Parameters, VariableField, Version,
};

use super::fields::{addresses, contexts, counts, is_long, optional, results, variable};
use super::has_q;

/// A packet, and whether it can travel.
type Tried = (Packet, bool);

/// All of them; of Exceptions, Q and the like with one unusual field at a time.
pub(super) fn all(parameters: &Parameters) -> Vec<Tried> {
    let mut packets = single(parameters);
    packets.extend(synchronisation());
    packets.extend(timestamps());
    packets.extend(exceptions(parameters));
    packets.extend(resolution());
    packets.extend(cycle_counts(parameters));
    packets.extend(conditional(parameters));
    packets.extend(places(parameters));
    packets.extend(atoms());
    packets
}

/// Packets without fields, and those whose fields are in the header.
///
/// Spec: ETE-PKT-RSV-001, ETE-PKT-CFG-001, ETE-DEC-V4-001, ETE-PKT-TSM-001, ETE-PKT-EVT-001.
fn single(parameters: &Parameters) -> Vec<Tried> {
    let version = parameters.version;
    let (ete, v4) = (version.is_ete(), !version.is_ete());
    let mut packets = vec![
        (Packet::Discard, true),
        (Packet::Overflow, true),
        (Packet::TraceOn, true),
        (Packet::ContextSame, true),
        (Packet::FunctionReturn, v4 && version >= Version::Etmv4_2),
        (Packet::ExceptionReturn, v4),
        (Packet::Resynchronization, v4),
        (Packet::BranchFutureFlush, v4 && version >= Version::Etmv4_5),
        (Packet::TransactionStart, ete),
        (Packet::TransactionCommit, ete),
        (Packet::ConditionalFlush, v4),
        (Packet::Ignore, version >= Version::Etmv4_3),
        (Packet::TimestampMarker, parameters.timestamp_markers),
    ];
    packets.extend((0..=8).map(|number| (Packet::NumberedDataSyncMarker(number), v4 && number < 8)));
    packets.extend((0..=5).map(|atoms| (Packet::UnnumberedDataSyncMarker(atoms), v4 && atoms < 5)));
    packets.extend((0..=16).map(|events| (Packet::Event(events), (1..16).contains(&events))));
    packets.extend((0..=4).map(|level| {
        let value = 0x8877_6655_4433_2211 << level;
        (Packet::Instrumentation { level, reserved: 0, value }, parameters.instrumentation && level < 4)
    }));
    packets.extend((0..8).map(|bit| {
        let packet = Packet::Instrumentation { level: 1, reserved: 1 << bit, value: 0 };
        (packet, parameters.instrumentation && bit >= 2)
    }));
    packets
}

/// A-sync and Trace Info.
///
/// Spec: ETE-PKT-SYNC-003, ETE-PKT-TI-001, ETE-PKT-TI-005, ETE-V4-TI-001.
fn synchronisation() -> Vec<Tried> {
    let mut packets: Vec<Tried> = [(0, false), (10, false), (11, true), (12, true), (1000, true)]
        .map(|(zeros, fits)| (Packet::AlignmentSync { zeros }, fits))
        .into();
    let info = |control_bytes, reserved, sections: [Option<VariableField>; 4]| {
        let [info, key, speculation, cycle_threshold] = sections;
        Packet::TraceInfo { control_bytes, reserved, info, key, speculation, cycle_threshold }
    };
    for (bytes, width) in [(1, 7), (2, 14), (3, 21), (4, 29)] {
        let largest = (1_u32 << width) - 1;
        for (reserved, fits) in [(0, true), (largest & !0xf, true), (0x10, true), (1 << width, false)] {
            packets.push((info(bytes, reserved, [None; 4]), fits));
        }
        packets.extend((0..4).map(|bit| (info(bytes, 1 << bit, [None; 4]), false)));
    }
    packets.extend([0, 5].map(|bytes| (info(bytes, 0, [None; 4]), false)));
    for (section, longest) in [(0, 4), (1, 5), (2, 5), (3, 2)] {
        for (field, fits) in optional(longest) {
            let mut alone = [None; 4];
            alone[section] = field;
            let mut among = [Some(VariableField { bits: 1, bytes: 1 }); 4];
            among[section] = field;
            packets.extend([(info(1, 0, alone), fits), (info(1, 0, among), fits)]);
        }
    }
    packets
}

/// Spec: ETE-PKT-TS-001, ETE-PKT-TS-002.
fn timestamps() -> Vec<Tried> {
    let one = VariableField { bits: 1, bytes: 1 };
    let values =
        variable(9).into_iter().map(|(value, fits)| (Packet::Timestamp { value, count: None }, fits));
    let counts = optional(3).into_iter().map(|(count, fits)| (Packet::Timestamp { value: one, count }, fits));
    values.chain(counts).collect()
}

/// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-004, ETE-DEC-EXC-002, ETE-V4-EXC-002.
fn exceptions(parameters: &Parameters) -> Vec<Tried> {
    let ete = parameters.version.is_ete();
    let exception = |number, address, context| Packet::Exception {
        number,
        with_target: number % 2 == 1,
        reserved: number > 0x10,
        address,
        context,
    };
    let newest = Some(AddressField::ExactMatch(0));
    let mut packets = Vec::new();
    for number in [0, 1, 2, 0x17, 0x18, 0x19, 0x1f, 0x20, 0xff] {
        let fits = ete && number < 0x20;
        packets.push((exception(number, newest, None), fits && number != 0x18));
        packets.push((exception(number, None, None), fits && (number == 0x18 || number == 0)));
    }
    for (address, context, fits) in targets(parameters) {
        packets.push((exception(0xe, Some(address), context), ete && fits));
    }
    let contexts = contexts(parameters).into_iter();
    packets.extend(contexts.map(|(context, _)| (exception(0, None, Some(context)), false)));
    for (number, needs_second) in [(0, false), (0x1f, false), (0x20, true), (0x3ff, true)] {
        for fault_pending in [None, Some(false), Some(true)] {
            let packet =
                Packet::ExceptionV4 { number, with_target: needs_second, fault_pending, reserved: 0 };
            packets.push((packet, !ete && (fault_pending.is_some() || !needs_second)));
        }
    }
    for bit in 0..8 {
        for fault_pending in [None, Some(false), Some(true)] {
            let reserved = 1 << bit;
            let packet = Packet::ExceptionV4 { number: 2, with_target: false, fault_pending, reserved };
            packets.push((packet, !ete && bit >= 6 && fault_pending.is_some()));
        }
    }
    let beyond =
        Packet::ExceptionV4 { number: 0x400, with_target: false, fault_pending: Some(true), reserved: 0 };
    packets.push((beyond, false));
    packets
}

/// Addresses with and without context, and whether that is a form.
fn targets(parameters: &Parameters) -> Vec<(AddressField, Option<ContextField>, bool)> {
    let mut targets: Vec<_> = addresses().into_iter().map(|(address, fits)| (address, None, fits)).collect();
    let contexts = contexts(parameters);
    for (address, fits) in addresses() {
        let context = contexts.first().map(|(context, _)| *context);
        targets.push((address, context, fits && is_long(address)));
    }
    let right = addresses().into_iter().filter(|(address, fits)| *fits && is_long(*address));
    for (address, _) in right.take(2) {
        targets.extend(contexts.iter().map(|(context, fits)| (address, Some(*context), *fits)));
    }
    targets
}

/// Commit, Cancel, Mispredict.
///
/// Spec: ETE-PKT-CMT-001, ETE-PKT-CAN-001 to ETE-PKT-CAN-003, ETE-PKT-MIS-001.
fn resolution() -> Vec<Tried> {
    let mut packets = Vec::new();
    for (count, fits) in counts(5) {
        packets.push((Packet::Commit(count), fits));
        packets.extend([false, true].map(|mispredict| (Packet::Cancel1 { count, mispredict }, fits)));
    }
    for (text, fits) in [
        ("", true),
        ("E", true),
        ("EE", true),
        ("N", true),
        ("EN", false),
        ("NE", false),
        ("NN", false),
        ("EEE", false),
    ] {
        let atoms = text.parse().ok();
        packets.extend([(Packet::Cancel2 { atoms }, fits), (Packet::Mispredict { atoms }, fits)]);
    }
    for count in 0..=7 {
        let fits = (2..=5).contains(&count);
        packets.extend([false, true].map(|atom| (Packet::Cancel3 { atom, count }, fits)));
    }
    packets
}

/// Spec: ETE-PKT-CC1-001, ETE-PKT-CC2-001, ETE-PKT-CC2-002, ETE-PKT-CC3-001.
fn cycle_counts(parameters: &Parameters) -> Vec<Tried> {
    let Parameters { commopt, maxspec, .. } = *parameters;
    let one = VariableField { bits: 1, bytes: 1 };
    let mut packets = Vec::new();
    for (commit, fits) in optional(5) {
        packets.push((Packet::CycleCount1 { commit, count: Some(one) }, fits && commit.is_some() != commopt));
    }
    for (count, fits) in optional(3) {
        let commit = (!commopt).then_some(one);
        packets.push((Packet::CycleCount1 { commit, count }, fits));
    }
    for (commit, count) in [(0, 0), (1, 2), (15, 15), (8, 15), (15, 8), (16, 0), (0, 16)] {
        let fits = commit < 16 && count < 16;
        packets.push((Packet::CycleCount2 { large: false, commit, count }, fits && !commopt));
        // A large commit counts down from MAXSPEC; what leaves none is reserved.
        if commopt || u64::from(maxspec) + u64::from(commit) > 15 {
            packets.push((Packet::CycleCount2 { large: true, commit, count }, fits));
        }
    }
    for (commit, count) in [(0, 0), (0, 3), (3, 0), (1, 2), (3, 3), (4, 0), (0, 4)] {
        let fits = commit < 4 && count < 4 && (commit == 0 || !commopt);
        packets.push((Packet::CycleCount3 { commit, count }, fits));
    }
    packets
}

/// Spec: ETE-DEC-V4-001, ETE-V4-CND-002, ETE-V4-CND-003.
fn conditional(parameters: &Parameters) -> Vec<Tried> {
    let mut packets = Vec::new();
    packets.extend(variable(5).into_iter().map(|(key, fits)| (Packet::ConditionalInstruction1(key), fits)));
    for code in 0..=3 {
        packets.push((Packet::ConditionalInstruction2(code), code < 3));
        packets.push((Packet::ConditionalResult4(code), code < 3));
        packets.extend(
            [false, true].map(|by_two| (Packet::ConditionalResult2 { by_two, token: code }, code < 3)),
        );
    }
    for (count, repeated, reserved) in
        [(0, false, false), (0x3f, true, false), (0x15, false, true), (0x40, false, false)]
    {
        packets.push((Packet::ConditionalInstruction3 { count, repeated, reserved }, count < 0x40));
    }
    for tokens in [0, 0xfff, 0x5a3, 0x1000] {
        packets.push((Packet::ConditionalResult3(tokens), tokens < 0x1000));
    }
    let all = results();
    for (first, fits) in all.iter().copied() {
        packets.push((Packet::ConditionalResult1 { first, second: None }, fits));
    }
    let right = all.iter().find(|(_, fits)| *fits).map(|(result, _)| *result);
    for (result, fits) in right.iter().flat_map(|_| all.iter().copied()) {
        packets.push((Packet::ConditionalResult1 { first: result, second: right }, fits));
        if let Some(first) = right {
            packets.push((Packet::ConditionalResult1 { first, second: Some(result) }, fits));
        }
    }
    let v4 = !parameters.version.is_ete();
    packets.into_iter().map(|(packet, fits)| (packet, fits && v4)).collect()
}

/// Contexts, Target and Source Addresses, Q elements.
///
/// Spec: ETE-PKT-CTX-002, ETE-PKT-ADR-005, ETE-PKT-SRC-001, ETE-PKT-Q-001.
fn places(parameters: &Parameters) -> Vec<Tried> {
    let mut packets: Vec<Tried> =
        contexts(parameters).into_iter().map(|(context, fits)| (Packet::Context(context), fits)).collect();
    for (address, context, fits) in targets(parameters) {
        packets.push((Packet::TargetAddress { address, context }, fits));
    }
    let one = Some(VariableField { bits: 1, bytes: 1 });
    for (address, fits) in addresses() {
        packets.push((Packet::SourceAddress(address), fits && parameters.version.is_ete()));
        let has_form = !matches!(address, AddressField::Bits64 { .. });
        let address = Some(address);
        packets.push((Packet::Q { address, count: one }, fits && has_form && has_q(parameters)));
        packets.push((Packet::Q { address, count: None }, false));
    }
    for (count, fits) in optional(5) {
        packets.push((Packet::Q { address: None, count }, fits && has_q(parameters)));
        let address = Some(AddressField::ExactMatch(2));
        packets.push((Packet::Q { address, count }, fits && has_q(parameters) && count.is_some()));
    }
    packets
}

/// Lists that have a header, and others.
///
/// Spec: ETE-PKT-ATM-001, ETE-PKT-ATM-002.
fn atoms() -> Vec<Tried> {
    const LISTS: [&str; 8] = ["NEEE", "NNNN", "NENE", "ENEN", "NEEEE", "NNNNN", "NENEN", "ENENE"];
    let mut lists: Vec<Atoms> = (1..=5_u8)
        .flat_map(|count| (0..1_u32 << count).filter_map(move |bits| Atoms::from_bits(bits, count)))
        .collect();
    for count in 6..=Atoms::MOST {
        let all = (1_u32 << count) - 1;
        let bits = [all, all >> 1, all >> 2, all & !1, 0, all ^ 8];
        lists.extend(bits.into_iter().filter_map(|bits| Atoms::from_bits(bits, count)));
    }
    lists
        .into_iter()
        .map(|atoms| {
            let taken: Vec<bool> = atoms.taken().collect();
            let ends_a_run = taken.split_last().is_some_and(|(_, before)| before.iter().all(|taken| *taken));
            let fits = taken.len() <= 3 || ends_a_run || LISTS.contains(&atoms.to_string().as_str());
            (Packet::Atoms(atoms), fits)
        })
        .collect()
}
