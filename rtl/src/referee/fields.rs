//! The fields of a packet against what is due.

use traceproof_vectors::riscv_etrace::{Packet, QualStatus, ReportedAddress};

use super::modes::Flow;
use super::{Ending, Flag, Reason, Referee, TrapField, Wanted};
use crate::{Item, ItemKind};

/// A field that differs: name, clause, what is due, what came.
type Difference = (&'static str, &'static str, String, String);

/// Collects the first field that differs.
struct Fields(Option<Difference>);

impl Fields {
    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        field: &'static str,
        clause: &'static str,
        due: T,
        came: T,
    ) {
        if self.0.is_none() && due != came {
            self.0 = Some((field, clause, format!("{due:?}"), format!("{came:?}")));
        }
    }

    fn same_hex(&mut self, field: &'static str, clause: &'static str, due: u64, came: u64) {
        if self.0.is_none() && due != came {
            self.0 = Some((field, clause, format!("{due:#x}"), format!("{came:#x}")));
        }
    }
}

impl Wanted {
    /// The packet in words.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Start => "a start packet (3.0)",
            Self::Trap { handler: true, .. } => "a trap packet with its handler (3.1, thaddr 1)",
            Self::Trap { .. } => "a trap packet without handler (3.1, thaddr 0)",
            Self::Address { .. } => "an address packet (1 or 2)",
            Self::FullMap => "31 outcomes without address (1)",
            Self::Context => "a context packet (3.2)",
            Self::Support { ended: None, .. } => "a support packet (3.3)",
            Self::Support { .. } => "a support packet that ends the trace (3.3)",
        }
    }
}

/// A packet in words, with the fields that tell it apart.
pub(super) fn show(packet: &Packet) -> String {
    match packet {
        Packet::Start { address, .. } => format!("start at {:#x}", address.0),
        Packet::Trap { thaddr, interrupt, ecause, .. } => {
            let kind = if *interrupt { "interrupt" } else { "exception" };
            format!("trap: {kind} {ecause}, thaddr {}", u8::from(*thaddr))
        }
        Packet::Context { .. } => String::from("context"),
        Packet::StandardSupport(_) => String::from("standard support"),
        Packet::Support { qual_status, ienable, .. } => {
            format!("support: qual_status {}, ienable {}", *qual_status as u8, u8::from(*ienable))
        }
        Packet::Address { address, .. } => format!("address {address}"),
        Packet::Branch { branches, address: Some(address), .. } => {
            format!("{branches} outcomes, address {address}")
        }
        Packet::Branch { .. } => String::from("31 outcomes without address"),
        Packet::BranchCount { .. } => String::from("branch count"),
        Packet::JumpTargetIndex { .. } => String::from("jump target index"),
        Packet::Data(_) => String::from("data"),
    }
}

/// The clause that a packet breaks that nothing asks for.
pub(super) const fn clause_of_unexpected(packet: &Packet) -> &'static str {
    match packet {
        Packet::Start { .. } => "RVET-ENC-005",
        Packet::Trap { .. } => "RVET-ENC-027",
        Packet::Context { .. } => "RVET-ENC-041",
        Packet::Support { .. } | Packet::StandardSupport(_) => "RVET-ENC-011",
        Packet::Address { .. } | Packet::Branch { address: Some(_), .. } => "RVET-ENC-016",
        Packet::Branch { .. } => "RVET-ENC-028",
        Packet::BranchCount { .. } | Packet::JumpTargetIndex { .. } => "RVET-ENC-030",
        Packet::Data(_) => "RVET-DATA-001",
    }
}

/// The oldest outcome in bit 0, 1 = not taken. Spec: RVET-PKT-033.
pub(super) fn map_of(pending: &[bool]) -> u32 {
    pending.iter().take(32).enumerate().fold(0, |map, (bit, not_taken)| map | u32::from(*not_taken) << bit)
}

impl Referee<'_> {
    /// Takes the current packet for the one that is due; the first field that differs is a finding.
    pub(super) fn compare(&mut self, item: &Item, reason: Reason, wanted: Wanted, packet: &Packet) {
        let mut fields = Fields(None);
        let undefined = matches!(wanted, Wanted::Trap { address: TrapField::Undefined, .. });
        self.ruling.causes.push((self.at, reason, undefined));
        match (wanted, packet) {
            (Wanted::Start, Packet::Start { .. }) => self.start(&mut fields, item, packet),
            (Wanted::Trap { .. }, Packet::Trap { .. }) => self.trap_fields(&mut fields, item, wanted, packet),
            (Wanted::Address { .. }, Packet::JumpTargetIndex { index, .. }) => {
                let due = String::from("an entry that has the target");
                fields.same("index", "RVET-ENC-068", due, format!("entry {index}"));
            }
            (Wanted::Address { .. }, Packet::Address { .. } | Packet::Branch { .. }) => {
                self.address_fields(&mut fields, item, reason, wanted, packet);
            }
            (Wanted::FullMap, Packet::Branch { branches, branch_map, .. }) => {
                fields.same("branches", "RVET-PKT-032", 0, *branches);
                let due = map_of(&self.pending);
                let inverted = *branch_map == !due & 0x7fff_ffff;
                fields.same(
                    "branch_map",
                    if inverted { "RVET-PKT-033" } else { "RVET-ENC-028" },
                    format!("{due:031b}"),
                    format!("{branch_map:031b}"),
                );
            }
            (Wanted::Context, Packet::Context { .. }) => {}
            (Wanted::Support { .. }, Packet::Support { .. }) => support(&mut fields, wanted, packet),
            _ => fields.same("format", reason.clause(), wanted.name().to_owned(), show(packet)),
        }
        if let Some((field, clause, expected, got)) = fields.0 {
            self.find(item.row, Some(reason), field, clause, &expected, &got);
        }
        if !matches!(wanted, Wanted::Context | Wanted::Support { .. }) {
            self.device_pending = None;
        }
        self.sync_is_base |= self.shows_sync_as_base(item, packet);
        self.device_base = self.address_of(packet).filter(|address| Some(*address) != item.address());
        self.at += 1;
    }

    /// Whether the address is right, and would be wrong if the synchronisation packet before it were no base.
    fn shows_sync_as_base(&self, item: &Item, packet: &Packet) -> bool {
        let (Packet::Address { address, .. } | Packet::Branch { address: Some(address), .. }) = packet else {
            return false;
        };
        let right = |base| Some(self.resolved(*address, base)) == item.address();
        right(self.base) && self.stale_base.is_some_and(|stale| !right(stale))
    }

    /// Where the device has it that the packet is, so that one wrong address is one finding.
    fn address_of(&self, packet: &Packet) -> Option<u64> {
        match packet {
            Packet::Start { address, .. } => Some(address.0),
            Packet::Trap { thaddr: true, address, .. } => address.map(|address| address.0),
            Packet::Address { address, .. } | Packet::Branch { address: Some(address), .. } => {
                Some(self.resolved(*address, self.device_base.unwrap_or(self.base)))
            }
            _ => self.device_base,
        }
    }

    fn start(&self, fields: &mut Fields, item: &Item, packet: &Packet) {
        let Packet::Start { branch, privilege, time, context, address } = packet else { return };
        fields.same("branch", "RVET-PKT-012", item.taken() != Some(true), *branch);
        fields.same("privilege", "RVET-PKT-011", item.privilege, *privilege);
        self.surroundings(fields, item, *time, *context);
        fields.same_hex("address", "RVET-PKT-015", item.address().unwrap_or_default(), address.0);
    }

    fn surroundings(&self, fields: &mut Fields, item: &Item, time: Option<u64>, context: Option<u64>) {
        if let Some(context) = context.filter(|_| self.device.parameters.context_width() > 0) {
            fields.same_hex("context", "RVET-PKT-014", item.context, context);
        }
        if let Some(time) = time.filter(|_| self.device.parameters.time_width() > 0) {
            fields.same_hex("time", "RVET-PKT-013", item.time, time);
        }
    }

    fn trap_fields(&self, fields: &mut Fields, item: &Item, wanted: Wanted, packet: &Packet) {
        let Wanted::Trap { trap, handler, address: due } = wanted else { return };
        let Some(trapped) = self.items.get(trap) else { return };
        let Packet::Trap { branch, privilege, time, context, ecause, interrupt, thaddr, address, tval } =
            packet
        else {
            return;
        };
        let ItemKind::Trap { interrupt: is_interrupt, cause, tval: value, .. } = trapped.kind else { return };
        let told = if handler { item } else { trapped };
        fields.same("interrupt", "RVET-PKT-016", is_interrupt, *interrupt);
        fields.same("thaddr", if handler { "RVET-ENC-021" } else { "RVET-ENC-024" }, handler, *thaddr);
        fields.same_hex("ecause", "RVET-ENC-025", cause, *ecause);
        if handler {
            fields.same("branch", "RVET-PKT-012", item.taken() != Some(true), *branch);
        }
        fields.same("privilege", "RVET-ENC-026", told.privilege, *privilege);
        self.surroundings(fields, told, *time, *context);
        let came = address.map_or(0, |address| address.0);
        match due {
            TrapField::Is(due) => fields.same_hex("address", "RVET-ENC-022", due, came),
            TrapField::Item if self.kept.modes.implicit_exception => {
                fields.same("address", "RVET-PKT-019", None, *address);
            }
            TrapField::Item => {
                fields.same_hex("address", "RVET-ENC-021", item.address().unwrap_or_default(), came);
            }
            TrapField::Undefined => {}
        }
        if !is_interrupt {
            fields.same_hex("tval", "RVET-PKT-018", value, tval.unwrap_or_default());
        }
    }

    fn address_fields(
        &self,
        fields: &mut Fields,
        item: &Item,
        reason: Reason,
        wanted: Wanted,
        packet: &Packet,
    ) {
        let Wanted::Address { updiscon: flag, notify: asked } = wanted else { return };
        let (branches, map, address, notify, updiscon, irdepth) = match *packet {
            Packet::Address { address, notify, updiscon, irreport, irdepth, .. } => {
                (0, 0, Some(address), notify, updiscon, irreport.then_some(irdepth))
            }
            Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, .. } => {
                (branches, branch_map, address, notify, updiscon, irreport.then_some(irdepth))
            }
            _ => return,
        };
        let indexed = self.kept.indexed == Some(self.at);
        if indexed && reason != Reason::Updiscon {
            fields.same("format", "RVET-ENC-070", String::from("an address"), String::from("a cache index"));
        }
        let pending = self.outcomes_of(packet);
        match pending.len() {
            // All 31 outcomes are there; it is the address that is not reported.
            31 if address.is_none() => {
                let due = map_of(pending);
                fields.same("branch_map", "RVET-ENC-028", format!("{due:031b}"), format!("{map:031b}"));
                fields.same("address", reason.clause(), item.address(), None);
            }
            count if address.is_none() && self.is_map_of_more(item, map) => {
                fields.same("branches", "RVET-ENC-028", count, 31);
            }
            count if address.is_none() => fields.same("branches", "RVET-PKT-032", count, 0),
            count => fields.same("branches", "RVET-ENC-028", count, usize::from(branches)),
        }
        let significant = if branches >= 31 { (1 << 31) - 1 } else { (1_u32 << branches) - 1 };
        let due = map_of(pending);
        fields.same("branch_map", "RVET-PKT-033", format!("{due:b}"), format!("{:b}", map & significant));
        match address {
            None => {}
            Some(address) if !self.is_right(item, address) => {
                let came = self.resolved(address, self.base);
                fields.same_hex("address", "RVET-ENC-031", item.address().unwrap_or_default(), came);
            }
            Some(_) => {}
        }
        if let Flag::Is(due) = asked {
            fields.same("notify", "RVET-ENC-035", due, notify);
        }
        // An index has no such flag, and is of an updiscon target anyway.
        fields.same("updiscon", "RVET-ENC-034", flag && !indexed, updiscon);
        if address.is_some() {
            let due = self.irdepth(reason, Self::is_last(reason, wanted));
            let clause = if self.kept.flow == Flow::Wrong { "RVET-ENC-056" } else { "RVET-ENC-057" };
            fields.same("irreport", clause, due.is_some(), irdepth.is_some());
            fields.same("irdepth", clause, due, irdepth);
        }
    }

    fn is_right(&self, item: &Item, address: ReportedAddress) -> bool {
        [Some(self.base), self.device_base]
            .into_iter()
            .flatten()
            .any(|base| Some(self.resolved(address, base)) == item.address())
    }
}

fn support(fields: &mut Fields, wanted: Wanted, packet: &Packet) {
    let Wanted::Support { ienable: due, ended } = wanted else { return };
    let Packet::Support { ienable, encoder_mode, qual_status, .. } = packet else { return };
    if let Some(due) = due {
        fields.same("ienable", "RVET-ENC-008", due, *ienable);
    }
    fields.same("encoder_mode", "RVET-PKT-023", 0, *encoder_mode);
    let number = |status: QualStatus| status as u8;
    match ended {
        None => {
            fields.same("qual_status", "RVET-ENC-012", number(QualStatus::NoChange), number(*qual_status));
        }
        Some(Ending::Is(due)) => {
            let clause = if due == QualStatus::EndedNtr { "RVET-ENC-013" } else { "RVET-ENC-014" };
            fields.same("qual_status", clause, number(due), number(*qual_status));
        }
        Some(Ending::Either) if matches!(qual_status, QualStatus::EndedRep | QualStatus::EndedNtr) => {}
        Some(Ending::Either) => {
            fields.same("qual_status", "RVET-ENC-014", number(QualStatus::EndedRep), number(*qual_status));
        }
    }
}
