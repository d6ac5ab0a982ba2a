//! Checks that the data accesses of an execution are reported.
//!
//! Knows the accesses, the options and what a split interface is, and nothing of packets.

use std::collections::BTreeMap;

use traceproof_vectors::riscv_etrace::{
    AtomicAccess, AtomicOperation, DataAccess, DataEvent, DataLayout, DataOptions, DataParameters, Event,
    MemoryAccess, RiscvEtrace, Step, Stimulus,
};
use traceproof_vectors::{Entry, Log};

use super::Scenario;
use super::oracle::Mismatch;

/// Compares the data events of a decoder's log with the accesses of the scenario's execution.
///
/// Accesses must be reported in program order, each with what the options leave of it. Data of a response may be
/// reported anywhere later, once. Where packets were lost, some of this may be missing, and if the loss ended it must
/// be reported.
///
/// # Errors
///
/// The first difference.
pub fn judge(scenario: &Scenario, log: &Log<RiscvEtrace>) -> Result<(), Mismatch> {
    let Some(parameters) = &scenario.parameters.data else { return Ok(()) };
    let expected = Expected::of(scenario, parameters);
    let mut ordered = expected.ordered.iter();
    let mut responses = expected.responses;
    let mut reported = 0;
    let mut matched = 0;
    let mut skipped = 0;
    for event in data_events(log) {
        if event == DataEvent::Lost {
            reported += 1;
            continue;
        }
        if let Some(index) = responses.iter().position(|response| *response == event) {
            responses.swap_remove(index);
        } else {
            let before = ordered.clone();
            let Some(missing) = ordered.position(|access| *access == event) else {
                return Err(mismatch(matched, before.as_slice().first(), Some(&event)));
            };
            if missing > 0 && !expected.lossy {
                return Err(mismatch(matched, before.as_slice().first(), Some(&event)));
            }
            skipped += missing;
        }
        matched += 1;
    }
    let missing = ordered.as_slice().first().or(responses.first());
    if !expected.lossy && missing.is_some() {
        return Err(mismatch(matched, missing, None));
    }
    if (skipped > 0 || missing.is_some()) && reported == 0 && expected.reported_in_the_end {
        return Err(mismatch(matched, Some(&DataEvent::Lost), None));
    }
    if reported > 0 && !expected.lossy {
        return Err(mismatch(matched, None, Some(&DataEvent::Lost)));
    }
    Ok(())
}

/// Data events of a log, in order.
pub fn data_events(log: &Log<RiscvEtrace>) -> impl Iterator<Item = DataEvent> {
    log.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Event(Event::Data(event)) => Some(*event),
        _ => None,
    })
}

fn mismatch(after: usize, expected: Option<&DataEvent>, got: Option<&DataEvent>) -> Mismatch {
    let show = |event: Option<&DataEvent>| {
        event.map_or_else(|| String::from("the end of data trace"), |event| format!("{event:x?}"))
    };
    Mismatch { after, expected: show(expected), got: show(got) }
}

#[derive(Debug, Default)]
struct Expected {
    /// What is reported when its instruction retires.
    ordered: Vec<DataEvent>,
    /// What is reported when a response arrives.
    responses: Vec<DataEvent>,
    /// Packets may be lost.
    lossy: bool,
    /// If packets were lost, a support packet reports it.
    reported_in_the_end: bool,
}

/// A split access that waits for its response.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Load(MemoryAccess),
    Atomic {
        access: AtomicAccess,
        /// Its request was reported.
        requested: bool,
    },
}

impl Expected {
    fn of(scenario: &Scenario, parameters: &DataParameters) -> Self {
        let mut expected = Self { reported_in_the_end: true, ..Self::default() };
        let mut options = parameters.options;
        let requests_without_address =
            scenario.parameters.has_standard_support() || parameters.layout == DataLayout::MmaCas;
        let (mut enabled, mut tracing, mut qualified) = (false, false, false);
        let mut transports = [true; 2];
        // Without its start packet data trace does not begin, so there may have been no data packets to lose.
        let mut instruction_trace_lost = false;
        let mut waiting = BTreeMap::new();
        for (step, passes) in scenario.steps.iter().zip(scenario.qualified()) {
            match step {
                Step::Retire(_) => qualified = passes,
                Step::Trap(_) => {}
                Step::Stimulus(stimulus) => match stimulus {
                    Stimulus::Enable(on) => tracing = *on,
                    Stimulus::DataEnable(on) => enabled = *on,
                    Stimulus::DataOptions(other) => options = *other,
                    Stimulus::Transport(takes) => transports[0] = *takes,
                    Stimulus::DataTransport(takes) => transports[1] = *takes,
                    Stimulus::Data(access) => {
                        if enabled && (qualified || !tracing) && !filtered(access) {
                            expected.access(access, requests_without_address, options, &mut waiting);
                        }
                    }
                    Stimulus::Response(response) => {
                        if let Some(access) = waiting.remove(&response.lrid) {
                            expected.response(response.lrid, access, response.data, options);
                        }
                    }
                    Stimulus::Cycle(_) | Stimulus::Modes(_) => {}
                },
            }
            instruction_trace_lost |= matches!(step, Step::Stimulus(Stimulus::Transport(false)));
            expected.reported_in_the_end = transports == [true; 2] && !instruction_trace_lost;
            expected.lossy |= transports != [true; 2];
        }
        expected
    }

    fn access(
        &mut self,
        access: &DataAccess,
        requests_without_address: bool,
        options: DataOptions,
        waiting: &mut BTreeMap<u16, Waiting>,
    ) {
        let DataOptions { no_address, no_data, .. } = options;
        let event = match *access {
            DataAccess::Load(load) => match load.lrid {
                Some(lrid) if !no_data => {
                    waiting.insert(lrid, Waiting::Load(load));
                    if no_address {
                        return;
                    }
                    let MemoryAccess { address, size, multi, .. } = load;
                    DataEvent::LoadRequest { lrid, address, size, multi }
                }
                _ => load_event(&load, options, load.data),
            },
            DataAccess::Store(MemoryAccess { address, size, data, multi, .. }) => DataEvent::Store {
                address: (!no_address).then_some(address),
                size,
                data: (!no_data).then_some(data),
                multi,
            },
            // Only a packet without data can report it (RVET-DATA-018).
            DataAccess::Atomic(atomic)
                if atomic.op == AtomicOperation::ConditionalStoreFailure && !no_data =>
            {
                return;
            }
            // Only a packet with an address can report it (RVET5-PKT-019).
            DataAccess::Atomic(atomic)
                if atomic.op == AtomicOperation::CompareAndSwapFailure && no_address =>
            {
                return;
            }
            DataAccess::Atomic(atomic) => match atomic.lrid {
                Some(lrid) if !no_data => {
                    let requested = !no_address || requests_without_address;
                    waiting.insert(lrid, Waiting::Atomic { access: atomic, requested });
                    if !requested {
                        return;
                    }
                    let AtomicAccess { op, address, size, operand, .. } = atomic;
                    let address = (!no_address).then_some(address);
                    DataEvent::AtomicRequest { op, lrid, address, size, operand }
                }
                _ => atomic_event(&atomic, options, atomic.data),
            },
            DataAccess::Csr(csr) => DataEvent::Csr {
                op: csr.op,
                address: csr.address,
                // RVET-DATA-021.
                operand: (!no_data && csr.address >> 10 != 3).then_some(csr.operand),
                data: (!no_data).then_some(csr.data),
            },
        };
        self.ordered.push(event);
    }

    fn response(&mut self, lrid: u16, access: Waiting, data: Option<u128>, options: DataOptions) {
        let event = match (access, data) {
            // What has no address waits for its data; an error has none (reading reduced-split-packets-are-unified).
            (Waiting::Load(load), data) if options.no_address => {
                let Some(data) = data else { return };
                load_event(&load, options, low(data, load.size))
            }
            (Waiting::Atomic { access, requested: false }, data) => {
                let Some(data) = data else { return };
                atomic_event(&access, options, low(data, access.size))
            }
            (Waiting::Load(MemoryAccess { address, size, .. }), data) => DataEvent::LoadResponse {
                lrid,
                address: Some(address),
                size,
                data: data.map(|data| low(data, size)),
            },
            (Waiting::Atomic { access: AtomicAccess { op, address, size, .. }, requested: true }, data) => {
                DataEvent::AtomicResponse {
                    op,
                    lrid,
                    address: (!options.no_address).then_some(address),
                    size,
                    data: data.map(|data| low(data, size)),
                }
            }
        };
        self.responses.push(event);
    }
}

/// A load whose address and data are reported at once.
fn load_event(load: &MemoryAccess, options: DataOptions, data: u128) -> DataEvent {
    DataEvent::Load {
        address: (!options.no_address).then_some(load.address),
        size: load.size,
        data: (!options.no_data).then_some(data),
        multi: load.multi,
    }
}

/// An atomic whose address and data are reported at once.
fn atomic_event(atomic: &AtomicAccess, options: DataOptions, data: u128) -> DataEvent {
    DataEvent::Atomic {
        op: atomic.op,
        address: (!options.no_address).then_some(atomic.address),
        size: atomic.size,
        operand: (!options.no_data).then_some(atomic.operand),
        data: (!options.no_data && atomic.op != AtomicOperation::CompareAndSwapFailure).then_some(data),
    }
}

/// The low bytes of the bus.
const fn low(data: u128, size: u8) -> u128 {
    data & (u128::MAX >> (128 - (8 << size)))
}

const fn filtered(access: &DataAccess) -> bool {
    match access {
        DataAccess::Load(access) | DataAccess::Store(access) => access.filtered,
        DataAccess::Atomic(atomic) => atomic.filtered,
        DataAccess::Csr(csr) => csr.filtered,
    }
}
