//! What values of registers mean: those of a wish, and others.

use std::collections::BTreeMap;

use traceproof_encoder_model::arm_ete_unit::settings::{
    AddressRange, Inexpressible, Levels, Output, Stall, TraceRequest, Unread,
};
use traceproof_vectors::arm_ete_unit::{Parameters, Register};

use super::check;
use super::values::registers;
use crate::generate::Entropy;

/// How often values are changed.
const CHANGES: u8 = 3;

/// The values of a wish mean the wish. With bits changed and registers left out they mean what the fields say, and
/// what no wish can say is named.
pub(super) fn judge(
    entropy: &mut Entropy<'_>,
    request: &TraceRequest,
    unit: &Parameters,
) -> Result<(), String> {
    let values = registers(request, unit);
    let unread = Unread { thumb: request.thumb, output: request.output };
    let found = TraceRequest::from_values(unit, &values, unread);
    let same =
        found.as_ref().is_ok_and(|found| plain(found, unit) == plain(&without_lost(request, unit), unit));
    check(same, || format!("{request:x?} of {unit:?} is read back as {found:x?}"))?;
    (0..CHANGES).try_for_each(|_| read(unit, &values, &change(entropy, &values), unread))?;
    let size = if request.thumb { 2 } else { 4 };
    at_limits(&values, size).iter().try_for_each(|changed| read(unit, &values, changed, unread))
}

/// Values that were changed mean what their fields say.
fn read(
    unit: &Parameters,
    values: &[(Register, u64)],
    changed: &[(Register, u64)],
    unread: Unread,
) -> Result<(), String> {
    let (wish, problems) = TraceRequest::read_back(unit, changed, unread);
    let reader = Reader::of(unit, values, changed, unread);
    let (expected, wrong) = reader.read();
    let place = |problem: &Inexpressible| position(values, register(problem));
    let ordered = problems.is_sorted_by_key(place);
    let is_right = plain(&wish, unit) == plain(&expected, unit) && sorted(&problems) == sorted(&wrong);
    check(is_right && ordered, || {
        format!("{changed:x?} of {unit:?} mean {expected:x?}, {wrong:x?}, not {wish:x?}, {problems:x?}")
    })?;
    let first = TraceRequest::from_values(unit, changed, unread);
    let is_first = first == problems.first().map_or_else(|| Ok(wish), |problem| Err(*problem));
    check(is_first, || format!("{changed:x?} of {unit:?}: {first:x?}, but {problems:x?}"))?;
    problems.iter().try_for_each(words)
}

/// The values with trace that is not enabled (TRCEVENTCTL1R.OE), and with the first pair of comparators at a limit or
/// beyond it: a range of one instruction, or of none, that begins or ends inside of one, and at the end of memory.
fn at_limits(values: &[(Register, u64)], size: u64) -> Vec<Vec<(Register, u64)>> {
    const PLACE: u64 = 0x40_0000;
    let inside = PLACE + size / 2;
    let end = u64::MAX - size + 1;
    let pairs = [
        (PLACE, PLACE),
        (PLACE, PLACE - size),
        (inside, PLACE + size),
        (PLACE, inside),
        (inside, inside),
        (inside, inside + size),
        (end - size, end - size),
        (end, end),
    ];
    let compared = pairs
        .map(|(start, last)| vec![(Register(0x084), 1), (Register(0x400), start), (Register(0x408), last)]);
    let is_there = |written: &(Register, u64)| values.iter().any(|(register, _)| *register == written.0);
    [vec![(Register(0x024), 0)]]
        .into_iter()
        .chain(compared)
        .filter(|written| written.iter().all(is_there))
        .map(|written| [values, written.as_slice()].concat())
        .collect()
}

/// What no register holds becomes the default.
fn without_lost(request: &TraceRequest, unit: &Parameters) -> TraceRequest {
    let default = TraceRequest::default();
    TraceRequest {
        least_threshold: default.least_threshold,
        sync_period: if unit.fixed_sync_period { default.sync_period } else { request.sync_period },
        trace_id: if unit.trace_id { request.trace_id } else { default.trace_id },
        ..request.clone()
    }
}

/// Without what has no effect.
fn plain(request: &TraceRequest, unit: &Parameters) -> TraceRequest {
    let realm = if unit.realms { request.levels.realm } else { 0 };
    TraceRequest { levels: Levels { realm, ..request.levels }, ..request.clone() }
}

/// Up to three registers have another bit or value, or none; the last value counts.
fn change(entropy: &mut Entropy<'_>, values: &[(Register, u64)]) -> Vec<(Register, u64)> {
    let mut changed = values.to_vec();
    for _ in 0..=entropy.below(3) {
        // Those that are always there come first.
        let among = if entropy.chance(128) { 16 } else { values.len() };
        let (register, value) = values[entropy.below(among.min(values.len()))];
        match entropy.below(12) {
            0 => changed.retain(|(other, _)| *other != register),
            1 => changed.push((register, entropy.word())),
            2 => changed.insert(0, (register, entropy.word())),
            _ => changed.push((register, value ^ 1 << entropy.below(32))),
        }
    }
    changed
}

const fn register(problem: &Inexpressible) -> Register {
    match *problem {
        Inexpressible::Missing(register) | Inexpressible::Bits { register, .. } => register,
        _ => Register(0),
    }
}

/// Where the register is written; those of a pair of comparators together.
fn position(values: &[(Register, u64)], register: Register) -> usize {
    match register.offset() {
        offset @ 0x400..0x500 => 0x1000 + usize::from(offset % 0x80 / 16),
        _ => values.iter().position(|(other, _)| *other == register).unwrap_or(usize::MAX),
    }
}

fn sorted(problems: &[Inexpressible]) -> Vec<(Register, u64)> {
    let key = |problem: &Inexpressible| match *problem {
        Inexpressible::Bits { register, bits } => (register, bits),
        ref other => (register(other), 0),
    };
    let mut all: Vec<_> = problems.iter().map(key).collect();
    all.sort_unstable();
    all
}

fn words(problem: &Inexpressible) -> Result<(), String> {
    let text = problem.to_string();
    let bits = match *problem {
        Inexpressible::Bits { bits, .. } => format!("{bits:#x}"),
        _ => String::from("needed"),
    };
    let is_named = text.contains(&register(problem).to_string()) && text.contains(&bits);
    check(is_named, || format!("{problem:x?} is told as `{text}`"))
}

/// Reads values by the fields of the registers.
struct Reader<'a> {
    unit: &'a Parameters,
    /// The registers that the unit has.
    present: Vec<Register>,
    values: BTreeMap<Register, u64>,
    unread: Unread,
    problems: Vec<Inexpressible>,
}

impl<'a> Reader<'a> {
    fn of(
        unit: &'a Parameters,
        written: &[(Register, u64)],
        changed: &[(Register, u64)],
        unread: Unread,
    ) -> Self {
        let present = written.iter().map(|(register, _)| *register).collect();
        Self { unit, present, values: changed.iter().copied().collect(), unread, problems: Vec::new() }
    }

    /// The register's bits that a wish decides about. The ones must be set, and no other bit.
    fn take(&mut self, offset: u16, free: u64, ones: u64) -> u64 {
        let register = Register(offset);
        if !self.present.contains(&register) {
            return 0;
        }
        let Some(&value) = self.values.get(&register) else {
            self.problems.push(Inexpressible::Missing(register));
            let lacking = (ones != 0).then_some(Inexpressible::Bits { register, bits: ones });
            self.problems.extend(lacking);
            return 0;
        };
        for bits in [value & !(free | ones), ones & !value] {
            if bits != 0 {
                self.problems.push(Inexpressible::Bits { register, bits });
            }
        }
        value & free
    }

    fn read(mut self) -> (TraceRequest, Vec<Inexpressible>) {
        let default = TraceRequest::default();
        // BB, CCI, CID, VMID, TS, RS; VMIDOPT and bit 0 are as they are.
        let config = self.take(0x010, 0x98D9, 0);
        let is_on = |place: u32| config >> place & 1 == 1;
        self.take(0x020, 0, 0);
        let must = self.unit.output_enable && self.unread.output == Output::Interfaces;
        self.take(0x024, 0x2000, if must { 0x2000 } else { 0 });
        let stall = self.take(0x02C, 0x210F, 0);
        let stall = (stall & 0x100 != 0)
            .then_some(Stall { level: (stall % 16) as u8, no_overflow: stall & 0x2000 != 0 });
        if is_on(11) {
            self.take(0x030, 0, 0);
        }
        let period = self.take(0x034, 0x1F, 0) as u8;
        let cycle_counts = is_on(4).then(|| self.take(0x038, 0xFFF, 0) as u16);
        if is_on(3) {
            self.take(0x03C, 0, 0);
        }
        let trace_id = self.take(0x040, 0x7F, 0) as u8;
        let realms = if self.unit.realms { 0x0700_0000 } else { 0 };
        let view = self.take(0x080, 0x007F_0C00 | realms, 0x201);
        let wish = TraceRequest {
            ranges: self.ranges(),
            thumb: self.unread.thumb,
            levels: levels(view),
            cycle_counts,
            context_id: is_on(6),
            virtual_context_id: is_on(7),
            timestamps: is_on(11),
            return_stack: is_on(12),
            branch_broadcast: is_on(3),
            resets: view & 0x400 != 0,
            system_errors: view & 0x800 != 0,
            sync_period: if self.unit.fixed_sync_period { default.sync_period } else { period },
            trace_id: if self.unit.trace_id { trace_id } else { default.trace_id },
            stall,
            output: self.unread.output,
            ..default
        };
        (wish, self.problems)
    }

    /// Of the pairs that are included; a range ends after the instruction at the second address.
    fn ranges(&mut self) -> Vec<AddressRange> {
        let pairs = u16::from(self.unit.address_pairs);
        let include = self.take(0x084, (1 << pairs) - 1, 0);
        self.take(0x088, 0, 0);
        self.take(0x08C, 0, 0);
        let size = if self.unread.thumb { 2 } else { 4 };
        let mut all = Vec::new();
        for pair in (0..pairs).filter(|pair| include >> pair & 1 == 1) {
            let (low, high) = (0x400 + 16 * pair, 0x408 + 16 * pair);
            let before = self.problems.len();
            let (start, last) = (self.take(low, u64::MAX, 0), self.take(high, u64::MAX, 0));
            let is_missing = self.problems.len() > before;
            self.take(0x480 + 16 * pair, 0, 0);
            self.take(0x488 + 16 * pair, 0, 0);
            let is_range = start <= last && start % size == 0 && last % size == 0;
            if is_range && last < u64::MAX - size + 1 {
                all.extend((!is_missing).then_some(AddressRange { start, end: last + size }));
            } else if !is_missing {
                self.problems.push(Inexpressible::Bits { register: Register(high), bits: last });
            }
        }
        all
    }
}

/// A level is traced if its bit is 0, in Realm state if it is that of Non-secure state.
fn levels(view: u64) -> Levels {
    let [mut secure, mut non_secure, mut realm] = [0_u8; 3];
    for level in 0..4 {
        let bit = |first: u64| view >> (first + level) & 1;
        secure += u8::from(bit(16) == 0) << level;
        if level < 3 {
            non_secure += u8::from(bit(20) == 0) << level;
            realm += u8::from(bit(24) == bit(20)) << level;
        }
    }
    Levels { secure, non_secure, realm }
}
