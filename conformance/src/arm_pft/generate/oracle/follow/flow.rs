//! I-syncs, instructions and exceptions.

use traceproof_vectors::arm_pft::{Action, Outcome, Signal, Step};

use super::{Event, Item, Judge, Mismatch, Next, Position, Reason, Reasons, State, What, show};

impl Judge<'_> {
    /// Spec: PFT-ENC-002, 003, 043, 044, PFT-DEC-004, 060 (3.3.2, 4.4, 4.8, 5.3.8, B.3.1).
    pub(super) fn trace_on(&mut self, reason: Reason, event: &Event) -> Result<(), Mismatch> {
        let periodic = reason == Reason::Periodic;
        let unknown_count = matches!(reason, Reason::Overflow | Reason::DebugExit);
        let is_counted = !(periodic || unknown_count && self.scenario.parameters.minor >= 1);
        let count = self.take_count(event, is_counted)?;
        let jumps = !periodic && self.loses_packets() || !self.began && self.joins_late();
        if jumps {
            self.jump(event)?;
        } else {
            let checked = count.filter(|_| !unknown_count);
            self.advance(event, |judge, position| {
                if periodic {
                    judge.periodic(position, event)
                } else {
                    judge.start(position, reason, checked, event)
                }
            })?;
        }
        self.began = true;
        if let Event::TraceOn { context_id, .. } = *event {
            self.context_id = context_id;
            self.synchronised = true;
        }
        if !periodic {
            self.returned.starts += 1;
            self.returned.overflows += u64::from(reason == Reason::Overflow);
            self.returned.debug_exits += u64::from(reason == Reason::DebugExit);
            if !self.scenario.policy.vmid_after_sync {
                self.vmid = None;
            }
        }
        if reason == Reason::Overflow || jumps {
            self.stamped = None;
        }
        self.returned.periodic += u64::from(periodic);
        Ok(())
    }

    /// Between any two instructions, but not while tracing is off.
    fn periodic(&self, position: Position, event: &Event) -> Next {
        let item = self.item(position)?;
        if matches!(item.what, What::Start { .. }) {
            return Err(show(item));
        }
        let non_secure = self.synchronised(position.at, event)?;
        Ok(position.in_state(non_secure))
    }

    fn start(&self, position: Position, reason: Reason, count: Option<u32>, event: &Event) -> Next {
        let item = self.item(position)?;
        let What::Start { reasons, .. } = item.what else { return Err(show(item)) };
        let Reasons { enabled, overflow, debug_exit } = reasons;
        let possible = match reason {
            Reason::Periodic => false,
            Reason::TraceEnabled => enabled,
            Reason::Overflow => overflow,
            Reason::DebugExit => debug_exit,
        };
        if !possible {
            return Err(format!("a reason of {reasons:?}"));
        }
        let non_secure = self.synchronised(position.at, event)?;
        let timed = self.at_time(position, count, item.step)?;
        let time = Some(self.clock.cycles(item.step));
        let at = position.at + 1;
        Ok(Position { at, latest: None, time, ..timed }.in_state(non_secure))
    }

    /// Trace was lost, up to any place.
    fn jump(&mut self, event: &Event) -> Result<(), Mismatch> {
        let reachable = self.reachable();
        let from = reachable.iter().map(|position| position.at).min().unwrap_or_default();
        let possible = |at: usize| {
            let non_secure = self.synchronised(at, event).ok()?;
            let starts = matches!(self.items.get(at)?.what, What::Start { .. });
            let at = at + usize::from(starts);
            let lost = Position { at, secure: true, non_secure: true, time: None, latest: None };
            Some(lost.in_state(non_secure))
        };
        let mut next: Vec<Position> = (from..self.items.len()).filter_map(possible).collect();
        next.dedup();
        if next.is_empty() {
            return Err(self.mismatch("the state of an instruction that is executed later", event));
        }
        self.positions = next;
        Ok(())
    }

    /// The security state of an I-sync that states where execution is. A change of it that no branch has
    /// shown yet may be in it or not.
    fn synchronised(&self, at: usize, event: &Event) -> Result<bool, String> {
        let item = self.items.get(at).ok_or("the end")?;
        let Event::TraceOn { address, isa, non_secure, hyp, context_id, .. } = *event else {
            return Err(show(item));
        };
        let State { address: place, isa: set, hyp: mode, .. } = item.at;
        let length = self.items[at..].iter().take_while(|item| !ends_block(item)).count();
        let block = &self.items[at..(at + length + 1).min(self.items.len())];
        let is_state = block.iter().any(|item| [item.at.non_secure, item.non_secure].contains(&non_secure));
        let before = at.checked_sub(1).and_then(|before| self.items.get(before));
        let is_before = before.is_some_and(|item| state_after(item) == non_secure);
        let pending = self.positions.iter().any(|position| position.at == at && position.allows(non_secure));
        if (address, isa, hyp) != (place, set, mode)
            || !(is_state || is_before || pending || self.is_unseen())
        {
            return Err(format!("an I-sync with the state of {}", show(item)));
        }
        let context = self.traced_context(item.context_id);
        let is_written = |item: &Item| self.traced_context(item.written.0) == context_id;
        // Of a block that is never traced only the steps say what was written in it.
        let last = block.last().map_or(item.step, |last| last.step);
        let steps = before.map_or(0, |before| before.step)..=last;
        let is_write = |step: &Step| match step.action {
            Action::Signal(Signal::ContextId(value)) => self.traced_context(value) == context_id,
            _ => false,
        };
        let writes = self.scenario.steps.get(steps).is_some_and(|steps| steps.iter().any(is_write));
        if context_id != context
            && !writes
            && !block.iter().any(is_written)
            && !before.is_some_and(is_written)
        {
            return Err(format!("an I-sync with Context ID {context:x?}"));
        }
        Ok(non_secure)
    }

    /// Whether the state of a late I-sync can be that before a write to SCR which no branch has shown yet (4.12.2).
    fn is_unseen(&self) -> bool {
        let is_write = |step: &Step| matches!(step.action, Action::Signal(Signal::NonSecure(_)));
        !self.began && self.joins_late() && self.scenario.steps.iter().any(is_write)
    }

    /// Spec: PFT-DEC-022, 032, 063, PFT-ENC-004 to 006 (2.1, B.3.2).
    pub(super) fn instructions(&mut self, event: &Event) -> Result<(), Mismatch> {
        let Event::Instructions { count: amount, last, .. } = *event else { return Ok(()) };
        let count = self.take_count(event, last != Outcome::Unknown)?;
        self.advance(event, |judge, position| judge.walk(position, event, count))?;
        self.synchronised &= last == Outcome::Unknown;
        self.returned.instructions += amount;
        self.returned.not_executed += u64::from(last == Outcome::NotExecuted);
        Ok(())
    }

    fn walk(&self, mut position: Position, event: &Event, cycles: Option<u32>) -> Next {
        let Event::Instructions { first, end, count, isa, non_secure, hyp, last } = *event else {
            return Err(show(self.item(position)?));
        };
        let mut address = first;
        for index in 0..count {
            let item = self.item(position)?;
            let What::Instruction { size, executed, branches, next } = item.what else {
                return Err(show(item));
            };
            let is_there = (item.at.address, item.at.isa, item.at.hyp) == (address, isa, hyp);
            let outcome = match executed {
                None => Outcome::Unknown,
                Some(true) => Outcome::Executed,
                Some(false) => Outcome::NotExecuted,
            };
            let is_last = index + 1 == count;
            let is_right = if is_last { outcome == last } else { executed.is_none() };
            if !is_there || !is_right || !position.allows(non_secure) {
                return Err(show(item));
            }
            self.check_registers(item)?;
            address = address.wrapping_add(size.into());
            position = Position { at: position.at + 1, ..position }.in_state(non_secure);
            if executed.is_some() {
                position = self.at_time(position, cycles, item.step)?;
                position.latest = Some(item.step);
                if branches {
                    position = position.in_state(next.non_secure);
                } else if executed == Some(true) && next.non_secure {
                    // An ISB may be a branch address packet (4.6).
                    position.non_secure = true;
                }
            }
        }
        if address != end {
            return Err(format!("an end at {address}"));
        }
        Ok(position)
    }

    /// Spec: PFT-ENC-010 to 019, PFT-DEC-026, 064, 073 (5.2, 5.3).
    pub(super) fn exception(&mut self, event: &Event) -> Result<(), Mismatch> {
        let count = self.take_count(event, true)?;
        self.advance(event, |judge, position| {
            let item = judge.item(position)?;
            let What::Exception { number: taken, handler } = item.what else { return Err(show(item)) };
            let Event::Exception { number, returns_to, address, isa, non_secure, hyp } = *event else {
                return Err(show(item));
            };
            let is_there =
                handler.map_or(address.0 == 0, |handler| handler == State { address, isa, non_secure, hyp });
            if number != taken || returns_to != Some(item.at.address) || !is_there {
                return Err(show(item));
            }
            let timed = judge.at_time(position, count, item.step)?;
            let next = Position { at: position.at + 1, latest: Some(item.step), ..timed };
            Ok(next.in_state(handler.map_or(non_secure, |handler| handler.non_secure)))
        })?;
        self.synchronised = false;
        if let Event::Exception { number, .. } = *event {
            self.returned.exceptions += u64::from(number != 1);
        }
        Ok(())
    }

    /// Spec: PFT-ENC-040, 041, PFT-DEC-056 (4.5.10).
    pub(super) fn exception_return(&mut self, event: &Event) -> Result<(), Mismatch> {
        self.advance(event, |judge, position| {
            let item = judge.item(position)?;
            match item.what {
                What::Return => Ok(Position { at: position.at + 1, ..position }),
                _ => Err(show(item)),
            }
        })?;
        self.returned.exception_returns += 1;
        Ok(())
    }

    pub(super) fn item(&self, position: Position) -> Result<&Item, String> {
        self.items.get(position.at).ok_or_else(|| "the end".to_owned())
    }
}

/// Whether the next instruction is the destination of this.
const fn ends_block(item: &Item) -> bool {
    match item.what {
        What::Instruction { executed, .. } => executed.is_some(),
        _ => true,
    }
}

/// The security state in which execution goes on after this, before any write to SCR.
const fn state_after(item: &Item) -> bool {
    match item.what {
        What::Instruction { next, .. } => next.non_secure,
        What::Exception { handler: Some(handler), .. } => handler.non_secure,
        _ => item.at.non_secure,
    }
}
