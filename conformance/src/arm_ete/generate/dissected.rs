//! What `explain` shows of a packet: its fields cover every bit once, and together say what the packet says.

use traceproof_decoder::arm_ete::Dissector;
use traceproof_vectors::arm::SecurityState;
use traceproof_vectors::arm_ete::{AddressField, ArmEte, Atoms, ContextField, Packet, SubIsa, VariableField};
use traceproof_vectors::{Dissection, Field, Place};

use crate::generate::tiles;

/// A byte that is skipped, and an A-sync; a reserved header, and a byte that is skipped after it.
const BEFORE: [u8; 13] = [0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];
const AFTER: [u8; 2] = [0x84, 0x55];

/// Takes a stream apart that has this packet between an A-sync and a reserved header.
///
/// # Errors
///
/// A byte that no unit has, a bit that no field or a second one has, or a field that contradicts the packet.
pub(super) fn judge(packet: &Packet, bytes: &[u8], dissector: &Dissector) -> Result<(), String> {
    let wire = [&BEFORE, bytes, &AFTER].concat();
    let units = dissector.dissect(&wire);
    let is_whole = follow_each_other(&units, &wire)?;
    let [skipped, alignment, unit, reserved, rest] = units.as_slice() else {
        return Err(format!("{} units of {wire:02x?}", units.len()));
    };
    let is_right = is_whole
        && (&skipped.packet, &rest.packet) == (&None, &None)
        && alignment.packet == Some(Ok(Packet::AlignmentSync { zeros: 11 }))
        && matches!(reserved.packet, Some(Err(_)));
    let parts = Parts(&unit.fields);
    let says = parts.say(packet) && parts.of("C").1 == continued(packet);
    if !is_right || unit.packet != Some(Ok(*packet)) || !says {
        return Err(format!("{wire:02x?} is taken apart as {units:x?}"));
    }
    cut(bytes, dissector)
}

/// Units have their places and fields, one after the other; whether the last one ends with the stream.
fn follow_each_other(units: &[Dissection<ArmEte>], wire: &[u8]) -> Result<bool, String> {
    let mut place = Place { packet: 0, byte: 0, bit: 0 };
    for unit in units {
        if unit.place != place || unit.bytes.start != place.byte {
            return Err(format!("{unit:x?} at {place} of {wire:02x?}"));
        }
        tiles(unit, wire)?;
        place.packet += u64::from(unit.packet.is_some());
        place.byte = unit.bytes.end;
    }
    Ok(place.byte == wire.len() as u64)
}

/// A packet that the end of the stream cuts off is one unit, too.
fn cut(bytes: &[u8], dissector: &Dissector) -> Result<(), String> {
    let lengths = [1, bytes.len() / 2, bytes.len() - 1];
    for length in lengths.into_iter().filter(|length| (1..bytes.len()).contains(length)) {
        let wire = [&BEFORE, &bytes[..length]].concat();
        let units = dissector.dissect(&wire);
        let [_, _, unit] = units.as_slice() else {
            return Err(format!("{} units of {wire:02x?}", units.len()));
        };
        tiles(unit, &wire)?;
        let is_whole = unit.bytes == (BEFORE.len() as u64..wire.len() as u64);
        if !is_whole || !matches!(unit.packet, Some(Err(_))) {
            return Err(format!("{wire:02x?} is taken apart as {units:x?}"));
        }
    }
    Ok(())
}

/// An A-sync may begin with the byte at fault, which then belongs to no other unit. Without one, that byte is the last
/// one of the unit.
///
/// # Errors
///
/// As [`judge`].
pub(super) fn search(dissector: &Dissector) -> Result<(), String> {
    // Reserved: E of an exception, a Commit of 0, a header. How many of the zeros after them are no A-sync.
    for (before, zeros) in [(&[0x06][..], 0), (&[0x2d], 0), (&[0x2d], 1), (&[0x84], 0), (&[0x84], 3)] {
        let wire = [&BEFORE, before, &vec![0; zeros], &BEFORE[1..], &AFTER[..1]].concat();
        let units = dissector.dissect(&wire);
        let is_whole = follow_each_other(&units, &wire)?;
        let faults = units.iter().filter(|unit| matches!(unit.packet, Some(Err(_)))).count();
        let alignments: Vec<_> = units
            .iter()
            .filter(|unit| unit.packet == Some(Ok(Packet::AlignmentSync { zeros: 11 })))
            .map(|unit| unit.bytes.clone())
            .collect();
        let second = (wire.len() - 13) as u64..(wire.len() - 1) as u64;
        if !is_whole || faults != 2 || alignments != [1..13, second] {
            return Err(format!("{wire:02x?} is taken apart as {units:x?}"));
        }
    }
    // The unit ends with the byte at fault.
    for before in [&[0x06, 0x00][..], &[0x2d, 0x00], &[0x84]] {
        let wire = [&BEFORE, before, &AFTER[1..]].concat();
        let units = dissector.dissect(&wire);
        let [.., reserved, _] = units.as_slice() else {
            return Err(format!("{} units of {wire:02x?}", units.len()));
        };
        let is_whole = follow_each_other(&units, &wire)?;
        let ends = reserved.bytes.end == (wire.len() - 1) as u64;
        if !is_whole || !ends || !matches!(reserved.packet, Some(Err(_))) {
            return Err(format!("{wire:02x?} is taken apart as {units:x?}"));
        }
    }
    Ok(())
}

/// How many bits say that another byte follows, or that a Context ID does.
fn continued(packet: &Packet) -> usize {
    let limited = |field: VariableField, longest: u8| usize::from(field.bytes.min(longest - 1));
    let optional = |field: Option<VariableField>, longest| field.map_or(0, |field| limited(field, longest));
    let of_address = |address: AddressField| usize::from(matches!(address, AddressField::Short { .. }));
    let target = |address: Option<AddressField>, context: Option<ContextField>| {
        address.map_or(0, of_address) + usize::from(context.is_some())
    };
    match *packet {
        Packet::TraceInfo { control_bytes, info, key, speculation, cycle_threshold, .. } => {
            usize::from(control_bytes.min(3))
                + optional(info, 4)
                + optional(key, 5)
                + optional(speculation, 5)
                + optional(cycle_threshold, 2)
        }
        Packet::Timestamp { value, count } => limited(value, 9) + optional(count, 3),
        Packet::Exception { address, context, .. } => target(address, context),
        Packet::ExceptionV4 { .. } | Packet::Context(_) => 1,
        Packet::CycleCount1 { commit, count } => optional(commit, 5) + optional(count, 3),
        Packet::Commit(count) | Packet::Cancel1 { count, .. } | Packet::ConditionalInstruction1(count) => {
            limited(count, 5)
        }
        Packet::ConditionalResult1 { first, second } => {
            limited(first.key, 6) + second.map_or(0, |second| limited(second.key, 6))
        }
        Packet::TargetAddress { address, context } => target(Some(address), context),
        Packet::SourceAddress(address) => of_address(address),
        Packet::Q { address, count } => target(address, None) + optional(count, 5),
        _ => 0,
    }
}

/// The fields of a packet.
struct Parts<'a>(&'a [Field]);

impl Parts<'_> {
    /// The parts of the fields of this name, low part first, and how many they are.
    fn of(&self, name: &str) -> (u64, usize) {
        let mut parts = self.0.iter().filter(|field| field.name == name);
        let (value, _, count) = parts.by_ref().fold((0, 0, 0), |(value, width, count), field| {
            (value | field.value << width, width + field.width, count + 1)
        });
        (value, count)
    }

    fn is(&self, name: &str, value: impl Into<u64>) -> bool {
        let (found, count) = self.of(name);
        count > 0 && found == value.into()
    }

    /// A field of which so many bits have a meaning.
    fn field(&self, name: &str, field: Option<VariableField>, width: u32) -> bool {
        let Some(VariableField { bits, bytes }) = field else { return self.of(name).1 == 0 };
        self.of(name) == (bits & u64::MAX >> (64 - width), bytes.into())
    }

    /// Address bits that travel, low part first.
    fn address(&self, address: Option<AddressField>) -> bool {
        let lowest = |sub_isa| if sub_isa == SubIsa::Is0 { 2 } else { 1 };
        let expected = match address {
            None | Some(AddressField::ExactMatch(_)) => (0, 0),
            Some(AddressField::Short { sub_isa, bits, bytes }) => {
                (u64::from(bits.0) >> lowest(sub_isa), bytes.into())
            }
            Some(AddressField::Bits32 { sub_isa, bits, .. }) => (u64::from(bits.0) >> lowest(sub_isa), 4),
            Some(AddressField::Bits64 { sub_isa, bits, .. }) => (bits.0 >> lowest(sub_isa), 8),
        };
        self.of("A") == expected
    }

    fn context(&self, context: Option<ContextField>) -> bool {
        let Some(context) = context else { return self.of("NSE").1 == 0 };
        let (nse, ns) = match context.security {
            SecurityState::Secure => (false, false),
            SecurityState::NonSecure => (false, true),
            SecurityState::Root => (true, false),
            SecurityState::Realm => (true, true),
        };
        let has_id = |name, id: Option<u32>| id.is_none_or(|id| self.of(name).0 == u64::from(id));
        self.is("EL", context.exception_level.number())
            && self.is("NSE", nse)
            && self.is("NS", ns)
            && self.is("SF", context.is_64_bit)
            && self.is("V", context.vmid.is_some())
            && has_id("VMID", context.vmid)
            && has_id("CONTEXTID", context.context_id)
    }

    fn few_atoms(&self, atoms: Option<Atoms>) -> bool {
        let code = match atoms.map(|atoms| atoms.to_string()).as_deref() {
            None => 0_u8,
            Some("E") => 1,
            Some("EE") => 2,
            Some(_) => 3,
        };
        self.is("atoms", code)
    }

    fn say(&self, packet: &Packet) -> bool {
        match *packet {
            Packet::TraceInfo { info, key, speculation, cycle_threshold, .. } => {
                self.is("INFO present", info.is_some())
                    && self.is("KEY present", key.is_some())
                    && self.is("SPEC present", speculation.is_some())
                    && self.is("CYCT present", cycle_threshold.is_some())
                    && self.field("INFO", info, 29)
                    && self.field("KEY", key, 32)
                    && self.field("SPEC", speculation, 32)
                    && self.field("CYCT", cycle_threshold, 12)
            }
            Packet::Timestamp { value, count } => {
                self.is("N", count.is_some())
                    && self.field("TS", Some(value), 64)
                    && self.field("COUNT", count, 20)
            }
            Packet::Exception { number, with_target, address, context, .. } => {
                self.is("TYPE", number)
                    && self.is("E1", with_target)
                    && self.is("E0", !with_target)
                    && self.address(address)
                    && self.context(context)
            }
            Packet::ExceptionV4 { number, with_target, fault_pending, .. } => {
                self.is("TYPE", number)
                    && self.is("E1", with_target)
                    && self.is("E0", !with_target)
                    && fault_pending.is_none_or(|pending| self.is("P", pending))
            }
            Packet::Instrumentation { level, value, .. } => self.is("EL", level) && self.is("VALUE", value),
            Packet::Context(context) => self.context(Some(context)),
            Packet::TargetAddress { address, context } => {
                self.address(Some(address)) && self.context(context)
            }
            Packet::SourceAddress(address) => self.address(Some(address)),
            Packet::Q { address, count } => self.address(address) && self.field("COUNT", count, 32),
            _ => self.say_of_elements(packet),
        }
    }

    /// Packets of commits, cycles, conditional instructions; headers with fields.
    fn say_of_elements(&self, packet: &Packet) -> bool {
        match *packet {
            Packet::CycleCount1 { commit, count } => {
                self.is("U", count.is_none())
                    && self.field("COMMIT", commit, 32)
                    && self.field("COUNT", count, 20)
            }
            Packet::CycleCount2 { large, commit, count } => {
                self.is("F", large) && self.is("AAAA", commit) && self.is("BBBB", count)
            }
            Packet::CycleCount3 { commit, count } => self.is("AA", commit) && self.is("BB", count),
            Packet::Commit(count) => self.field("COMMIT", Some(count), 32),
            Packet::Cancel1 { count, .. } => self.field("CANCEL", Some(count), 32),
            Packet::Cancel2 { atoms } | Packet::Mispredict { atoms } => self.few_atoms(atoms),
            Packet::Cancel3 { atom, count } => self.is("atom", atom) && self.is("CANCEL", count - 2),
            Packet::NumberedDataSyncMarker(number) => self.is("number", number),
            Packet::UnnumberedDataSyncMarker(atoms) => self.is("atoms", atoms),
            Packet::ConditionalInstruction1(key) => self.field("KEY", Some(key), 32),
            Packet::ConditionalInstruction2(code) => self.is("CI", code),
            Packet::ConditionalInstruction3 { count, repeated, .. } => {
                self.is("NUM", count) && self.is("Z", repeated)
            }
            Packet::ConditionalResult1 { first, second } => {
                let second_implied = second.map_or(0, |second| u64::from(second.implied) << 1);
                let results = first.result | second.map_or(0, |second| second.result << 4);
                self.is("CI", u64::from(first.implied) | second_implied)
                    && self.is("RESULT", results)
                    && (second.is_some() || self.field("KEY", Some(first.key), 32))
            }
            Packet::ConditionalResult2 { by_two, token } => self.is("K", by_two) && self.is("token", token),
            Packet::ConditionalResult3(tokens) => {
                // The high part travels first.
                let high_first = u64::from(tokens >> 8) | u64::from(tokens & 0xff) << 4;
                self.is("tokens", high_first)
            }
            Packet::ConditionalResult4(token) => self.is("token", token),
            Packet::Event(events) => self.is("EVENT", events),
            Packet::Discard => self.is("extension", 3_u8),
            Packet::Overflow => self.is("extension", 5_u8),
            Packet::BranchFutureFlush => self.is("extension", 7_u8),
            Packet::AlignmentSync { .. } => self.is("end", 0x80_u8) && self.of("zeros").1 == 1,
            Packet::Atoms(_) => self.of("atoms").1 == 1 && self.0.len() == 1,
            _ => self.of("header").1 == 1 && self.0.len() == 1,
        }
    }
}
