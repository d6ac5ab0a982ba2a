//! Which mutant is active in this process, and which were executed. `COUNT` is in `count.rs`.
#![no_std]

pub extern crate alloc;

mod count;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use count::COUNT;

const NONE: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(NONE);
static EXECUTED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// Whether the mutant is active.
#[inline(always)]
pub fn active(mutant: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active == mutant || (active == RECORD && record(mutant))
}

#[cold]
#[inline(never)]
fn record(mutant: u32) -> bool {
    if let Some(executed) = EXECUTED.get(mutant as usize) {
        executed.store(true, Relaxed);
    }
    false
}

/// From now on the mutant is active.
pub fn activate(mutant: u32) {
    ACTIVE.store(mutant, Relaxed);
}

/// From now on no mutant is active.
pub fn deactivate() {
    ACTIVE.store(NONE, Relaxed);
}

/// From now on no mutant is active, and those that are executed are recorded; none is yet.
pub fn record_executed() {
    for executed in &EXECUTED {
        executed.store(false, Relaxed);
    }
    ACTIVE.store(RECORD, Relaxed);
}

/// The mutants that were executed since they are recorded.
pub fn executed() -> impl Iterator<Item = usize> {
    EXECUTED.iter().enumerate().filter(|(_, executed)| executed.load(Relaxed)).map(|(mutant, _)| mutant)
}
