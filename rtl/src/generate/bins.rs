//! The table of bins: what of the ingress port the cases of a pack have had.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use traceproof_vectors::riscv_etrace::{Filter, Mode};

use crate::device::{MODES, mode_of};
use crate::referee::{Reason, Ruling};
use crate::{Device, Ingress, Item, ItemKind, Signal};

/// `itype` of two items after each other.
pub type Pair = (u8, u8);

/// How a bin came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hit {
    /// Cases had it so many times.
    Hit(u64),
    /// No case had it.
    Missed,
    /// The device cannot have it, because of this.
    Unreachable(String),
}

/// All bins of a device, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bins {
    /// The bins; names are like `pair/4/13` and `pending/updiscon/16-30`.
    #[serde(flatten)]
    pub table: BTreeMap<String, Hit>,
}

/// Counts of pending outcomes that are one bin.
const FILLS: [(u32, u32, &str); 7] = [
    (0, 0, "0"),
    (1, 1, "1"),
    (2, 3, "2-3"),
    (4, 7, "4-7"),
    (8, 15, "8-15"),
    (16, 30, "16-30"),
    (31, 31, "31"),
];

/// Clocks with an empty port before an item that are one bin.
const IDLES: [(u64, u64, &str); 3] = [(0, 0, "0"), (1, 1, "1"), (2, u64::MAX, "2+")];

type Condition = fn(&Filter) -> bool;

/// Conditions of filters.
const FILTERS: [(&str, Condition); 4] = [
    ("address", |filter| !filter.addresses.is_empty()),
    ("privilege", |filter| !filter.privileges.is_empty()),
    ("context", |filter| !filter.contexts.is_empty()),
    ("trap", |filter| filter.trap.is_some()),
];

/// Reasons for which an address is reported.
const REASONS: [Reason; 6] = [
    Reason::Updiscon,
    Reason::Notify,
    Reason::BeforeTrap,
    Reason::BeforePrivilege,
    Reason::BeforeContext,
    Reason::Final,
];

impl Bins {
    /// The bins of a device, none hit.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let mut bins = Self::default();
        for before in 0..=15 {
            for itype in 0..=15 {
                let why = unreachable_itype(device, before).or_else(|| unreachable_itype(device, itype));
                bins.add(format!("pair/{before}/{itype}"), why);
            }
            for (_, _, idle) in IDLES {
                bins.add(format!("idle/{before}/{idle}"), unreachable_itype(device, before));
            }
        }
        for reason in REASONS {
            for (_, _, fill) in FILLS {
                bins.add(
                    format!("pending/{}/{fill}", reason.name()),
                    unreachable_pending(device, reason, fill),
                );
            }
        }
        bins.add("pending/full_map/31".to_owned(), None);
        for form in ["merged", "alone"] {
            for kind in ["exception", "interrupt"] {
                let why = (form == "merged" && !device.ingress.merged_traps)
                    .then(|| String::from("`merged_traps` is false"));
                bins.add(format!("trap/{kind}/{form}"), why);
            }
        }
        for before in ["retired", "updiscon", "trap", "first"] {
            for kind in ["exception", "interrupt"] {
                bins.add(format!("trap/{kind}/after_{before}"), None);
            }
        }
        bins.add_others(device);
        bins.add_modes(device);
        bins
    }

    /// Optional modes with what they decide, and filters.
    fn add_modes(&mut self, device: &Device) {
        let mut modes = device.parameters.modes;
        for (control, mode, name) in MODES {
            let there = device.control.contains(&control) || *mode_of(&mut modes, mode);
            let why = (!there).then(|| format!("the device has no mode `{name}`"));
            self.add(name.to_owned(), why.clone());
            let decisions: &[&str] = match mode {
                Mode::SequentiallyInferredJumps => &["sijump/inferred", "sijump/reported"],
                Mode::ImplicitReturn => &["return/right", "return/wrong", "return/empty"],
                Mode::BranchPrediction => &["count/address", "count/failed", "count/alone"],
                Mode::JumpTargetCache => &["cache/hit", "cache/miss"],
                _ => &[],
            };
            for decision in decisions {
                let counter = *decision == "return/wrong" && device.parameters.return_stack_size_p == 0;
                let counter = counter.then(|| String::from("a call counter trusts every return"));
                self.add((*decision).to_owned(), why.clone().or(counter));
            }
        }
        let Ingress { filters, comparators, .. } = device.ingress;
        let no_context = device.parameters.nocontext_p || !device.has(Signal::Ctype);
        for (kind, _) in FILTERS {
            let why = match kind {
                _ if filters == 0 => Some("the device has no filters"),
                "address" | "context" if comparators == 0 => Some("the device has no comparators"),
                "context" if no_context => Some("the device has no context changes"),
                _ => None,
            };
            for result in ["passes", "stops"] {
                self.add(format!("filter/{kind}/{result}"), why.map(str::to_owned));
            }
        }
    }

    fn add_others(&mut self, device: &Device) {
        let lacks = |signal: Signal, name: &str| {
            (!device.has(signal)).then(|| format!("the device has no signal `{name}`"))
        };
        self.add("break/disable".to_owned(), None);
        let stops = [lacks(Signal::Halted, "halted"), lacks(Signal::Reset, "reset")];
        self.add("break/halt".to_owned(), stops.iter().all(Option::is_some).then(|| stops.concat_reasons()));
        self.add("break/trigger".to_owned(), lacks(Signal::Trigger, "trigger"));
        for ctype in 1..=3 {
            let no_context = device.parameters.nocontext_p.then(|| String::from("`nocontext_p` is 1"));
            self.add(format!("ctype/{ctype}"), lacks(Signal::Ctype, "ctype").or(no_context));
        }
        for (from, to) in [(3, 0), (3, 1), (0, 3), (1, 3), (0, 1), (1, 0)] {
            self.add(format!("privilege/{from}/{to}"), None);
        }
        let blocks = device.parameters.retires_p > 1;
        for cut in ["one", "some", "most"] {
            let why = (!blocks).then(|| String::from("`retires_p` is 1"));
            self.add(format!("block/{cut}"), why);
        }
    }

    fn add(&mut self, name: String, why: Option<String>) {
        self.table.insert(name, why.map_or(Hit::Missed, Hit::Unreachable));
    }

    fn hit(&mut self, name: &str) {
        self.hit_times(name, 1);
    }

    fn hit_times(&mut self, name: &str, times: u64) {
        match self.table.get_mut(name) {
            Some(Hit::Hit(count)) => *count += times,
            Some(bin) if times > 0 => *bin = Hit::Hit(times),
            _ => {}
        }
    }

    /// Adds what a case has; `halfwords` are those of its blocks.
    pub(crate) fn observe(
        &mut self,
        items: &[Item],
        ruling: &Ruling,
        filters: &[Filter],
        (halfwords, most): (impl Iterator<Item = u16>, u16),
    ) {
        for (bin, count) in &ruling.used {
            self.hit_times(bin, *count);
        }
        for (kind, _) in FILTERS.iter().filter(|(_, has)| filters.iter().any(has)) {
            let count = |filtered: bool| {
                let found = items.iter().filter(|item| {
                    itype(item).is_some() && if filtered { item.filtered } else { item.qualified }
                });
                found.count() as u64
            };
            self.hit_times(&format!("filter/{kind}/passes"), count(false));
            self.hit_times(&format!("filter/{kind}/stops"), count(true));
        }
        for window in items.windows(2) {
            if let [before, item] = window {
                self.observe_pair(before, item);
            }
        }
        for due in &ruling.dues {
            for (from, to, fill) in FILLS {
                if (from..=to).contains(&due.pending) {
                    self.hit(&format!("pending/{}/{fill}", due.reason.name()));
                }
            }
        }
        for halfwords in halfwords {
            let cut = if halfwords <= 2 {
                "one"
            } else if halfwords + 2 > most {
                "most"
            } else {
                "some"
            };
            self.hit(&format!("block/{cut}"));
        }
    }

    fn observe_pair(&mut self, before: &Item, item: &Item) {
        if let ItemKind::Break { ienable } = item.kind {
            self.hit(if ienable { "break/halt" } else { "break/disable" });
        }
        if before.qualified && !item.qualified && itype(item).is_some() {
            self.hit("break/trigger");
        }
        if !item.qualified {
            return;
        }
        let Some(current) = itype(item) else { return };
        for (from, to, idle) in IDLES {
            if (from..=to).contains(&item.idle) {
                self.hit(&format!("idle/{current}/{idle}"));
            }
        }
        if item.ctype > 0 {
            self.hit(&format!("ctype/{}", item.ctype));
        }
        let previous = itype(before).filter(|_| before.qualified);
        if let Some(previous) = previous {
            self.hit(&format!("pair/{previous}/{current}"));
            self.hit(&format!("privilege/{}/{}", before.privilege, item.privilege));
        }
        if item.is_trap() {
            let kind = if current == 1 { "exception" } else { "interrupt" };
            self.hit(&format!("trap/{kind}/{}", if item.ends_block { "alone" } else { "merged" }));
            let after = match previous {
                None => "first",
                Some(_) if before.is_trap() => "trap",
                Some(_) if before.is_updiscon() => "updiscon",
                Some(_) => "retired",
            };
            self.hit(&format!("trap/{kind}/after_{after}"));
        }
    }

    /// Pairs that no case has had.
    pub(super) fn missing_pairs(&self) -> BTreeSet<Pair> {
        let missing = self.table.iter().filter(|(_, hit)| **hit == Hit::Missed);
        let pairs = missing.filter_map(|(name, _)| name.strip_prefix("pair/")?.split_once('/'));
        pairs.filter_map(|(before, itype)| Some((before.parse().ok()?, itype.parse().ok()?))).collect()
    }

    /// `itype` and clocks with an empty port directly before it, 1 or 2, that no case has had.
    pub(super) fn missing_idles(&self) -> BTreeSet<Pair> {
        let missing = self.table.iter().filter(|(_, hit)| **hit == Hit::Missed);
        let idles = missing.filter_map(|(name, _)| name.strip_prefix("idle/")?.split_once('/'));
        idles
            .filter_map(|(itype, idle)| Some((itype.parse().ok()?, idle.trim_end_matches('+').parse().ok()?)))
            .collect()
    }

    /// How many are hit, missed and unreachable.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |is: fn(&Hit) -> bool| self.table.values().filter(|hit| is(hit)).count();
        (
            count(|hit| matches!(hit, Hit::Hit(_))),
            count(|hit| matches!(hit, Hit::Missed)),
            count(|hit| matches!(hit, Hit::Unreachable(_))),
        )
    }
}

/// Two reasons in one.
trait ConcatReasons {
    fn concat_reasons(&self) -> String;
}

impl ConcatReasons for [Option<String>; 2] {
    fn concat_reasons(&self) -> String {
        self.iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    }
}

/// The `itype` of an item; 1 and 2 are traps.
fn itype(item: &Item) -> Option<u8> {
    match item.kind {
        ItemKind::Retire { itype, .. } => Some(itype),
        ItemKind::Trap { interrupt, .. } => Some(1 + u8::from(interrupt)),
        ItemKind::Enable { .. } | ItemKind::Break { .. } => None,
    }
}

/// Spec: RVET-ING-001, RVET-ING-011.
fn unreachable_itype(device: &Device, itype: u8) -> Option<String> {
    match (device.parameters.itype_width_p, itype) {
        (_, 7) => Some(String::from("`itype` 7 is reserved (RVET-ING-001)")),
        (3, 8..) => Some(String::from("`itype` has 3 bits (RVET-ING-011)")),
        (4.., 6) => Some(String::from("`itype` 6 is reserved where it has 4 bits (RVET-ING-001)")),
        _ => None,
    }
}

fn unreachable_pending(device: &Device, reason: Reason, fill: &str) -> Option<String> {
    let context = device.has(Signal::Ctype) && !device.parameters.nocontext_p;
    match (reason, fill) {
        (Reason::Notify, _) if !device.has(Signal::Notify) => {
            Some(String::from("the device has no signal `notify`"))
        }
        (Reason::BeforeContext, _) if !context => Some(String::from("the device has no context changes")),
        (Reason::BeforePrivilege, "0") => {
            Some(String::from("without pending outcomes nothing is reported (RVET-ENC-020)"))
        }
        (Reason::BeforePrivilege, "31") => {
            Some(String::from("only a trap return precedes it, and a full map went before (RVET-ENC-029)"))
        }
        _ => None,
    }
}
