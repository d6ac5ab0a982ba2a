//! Context ID, VMID, timestamps and triggers.

use super::{Event, Item, Judge, Mismatch, Position, Stamped, next_step};

/// A timestamp of PFTv1.1 is the time of the latest traced waypoint (4.14), not that of the request or
/// packet.
const EXACT_TIMESTAMPS: bool = true;

impl Judge<'_> {
    /// What a Context ID packet or I-sync carries there.
    pub(super) const fn traced_context(&self, context_id: u32) -> Option<u32> {
        match self.scenario.parameters.context_id_bytes {
            0 => None,
            1 => Some(context_id & 0xff),
            2 => Some(context_id & 0xffff),
            _ => Some(context_id),
        }
    }

    /// The registers that were reported are those with which an instruction executes (4.5.7, PFT-ENC-037,
    /// PFT-ENC-062).
    pub(super) fn check_registers(&self, item: &Item) -> Result<(), String> {
        if self.synchronised {
            return Ok(());
        }
        let context = self.traced_context(item.context_id);
        if context != self.context_id {
            return Err(format!("Context ID {context:x?} before the instruction at {}", item.at.address));
        }
        if !self.scenario.parameters.vmid {
            return Ok(());
        }
        match self.vmid {
            Some(vmid) if vmid == item.vmid => Ok(()),
            None if !self.scenario.policy.vmid_after_sync => Ok(()),
            _ => Err(format!("VMID {:#x} before the instruction at {}", item.vmid, item.at.address)),
        }
    }

    /// What is in force at a position; at the end, what was last.
    fn in_force(&self, position: Position) -> Option<&Item> {
        self.items.get(position.at).or(self.items.last())
    }

    fn is_written(&self, position: Position, vmid: u8) -> bool {
        let from = position.at.saturating_sub(1);
        let next = self.items.get(from..).unwrap_or_default();
        let last = next.iter().take_while(|item| item.step <= next_step(self.items, position.at, 0));
        last.into_iter().any(|item| item.written.1 == vmid)
    }

    /// Spec: PFT-ENC-037, 038 (4.5.7).
    pub(super) fn context_id(&mut self, value: u32, event: &Event) -> Result<(), Mismatch> {
        self.advance(event, |judge, position| {
            let context = judge.in_force(position).and_then(|item| judge.traced_context(item.context_id));
            if context == Some(value) { Ok(position) } else { Err(format!("Context ID {context:x?}")) }
        })?;
        self.context_id = Some(value);
        self.returned.contexts += 1;
        Ok(())
    }

    /// The VMID is where a Context ID would be, in reading `pft-vmid-like-context-id`.
    pub(super) fn vmid(&mut self, value: u8, event: &Event) -> Result<(), Mismatch> {
        if !self.scenario.parameters.vmid {
            return Err(self.mismatch("no VMID", event));
        }
        self.advance(event, |judge, position| {
            let vmid = judge.in_force(position).map(|item| item.vmid);
            // After an I-sync it may be the one that takes effect later.
            if vmid == Some(value) || judge.synchronised && judge.is_written(position, value) {
                Ok(position)
            } else {
                Err(format!("VMID {vmid:x?}"))
            }
        })?;
        self.vmid = Some(value);
        self.returned.contexts += 1;
        Ok(())
    }

    /// A timestamp of PFTv1.1 is that of the latest traced waypoint, one of PFTv1.0 that of its packet
    /// (4.14). When it is sent, and which requests it answers, is the PTM's choice (PFT-ENC-052, A13).
    pub(super) fn timestamp(
        &mut self,
        value: Option<u64>,
        change: bool,
        event: &Event,
    ) -> Result<(), Mismatch> {
        let count = self.take_count(event, true)?;
        if !self.scenario.parameters.timestamps {
            return Err(self.mismatch("no timestamps", event));
        }
        if value.is_none() && !self.joins_late() {
            return Err(self.mismatch("a full timestamp first", event));
        }
        let stamped = self.stamped;
        self.advance(event, |judge, position| {
            let next = next_step(judge.items, position.at, 0);
            if let Some(value) = value {
                judge.check_value(position, value, next)?;
            }
            if let Some(before) = stamped {
                let from = position.latest.unwrap_or(0);
                let certainly = judge.clock.changes_between(before.latest, from);
                let perhaps = judge.clock.changes_between(before.earliest, next.saturating_add(1));
                if certainly && !change || change && !perhaps {
                    return Err(format!("clock change {}", !change));
                }
            }
            let time = position.time.map(|time| time + u64::from(count.unwrap_or(0)));
            Ok(Position { time, ..position })
        })?;
        let steps =
            |position: &Position| (position.latest.unwrap_or(0), next_step(self.items, position.at, 0));
        let earliest = self.positions.iter().map(|position| steps(position).0).min();
        let latest = self.positions.iter().map(|position| steps(position).1).max();
        self.stamped = earliest.zip(latest).map(|(earliest, latest)| Stamped { earliest, latest });
        self.returned.timestamps += u64::from(value.is_some());
        Ok(())
    }

    fn check_value(&self, position: Position, value: u64, next: usize) -> Result<(), String> {
        let v1_1 = self.scenario.parameters.minor >= 1;
        let highest = self.clock.counter(next);
        match position.latest.map(|step| self.clock.counter(step)) {
            Some(exact) if v1_1 && value != exact && EXACT_TIMESTAMPS => {
                Err(format!("a timestamp of {exact:#x}"))
            }
            Some(lowest) if value < lowest => Err(format!("a timestamp of {lowest:#x} or more")),
            _ if value > highest && !self.loses_packets() => {
                Err(format!("a timestamp of {highest:#x} or less"))
            }
            _ => Ok(()),
        }
    }

    /// A trigger is reported when it has occurred, not before; how late is the PTM's choice.
    pub(super) fn trigger(&mut self, event: &Event) -> Result<(), Mismatch> {
        let Some(&step) = self.clock.triggers.get(self.triggers) else {
            return Err(self.mismatch("no further trigger", event));
        };
        // Atoms that are older than the trigger may be held.
        let policy = &self.scenario.policy;
        let held = if policy.flush_before_trigger { 0 } else { usize::from(policy.atoms_per_packet) };
        self.advance(event, |judge, position| {
            // What was lost since then is not known where the FIFO can be full at any place.
            if judge.loses_packets() || step < next_step(judge.items, position.at, held) {
                Ok(position)
            } else {
                Err("what happens before the trigger".into())
            }
        })?;
        self.triggers += 1;
        self.returned.triggers += 1;
        Ok(())
    }
}
