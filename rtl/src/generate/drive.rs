//! An execution as rows, with the packets that the encoder model sends for each.

use traceproof_decoder::riscv_etrace::dissect;
use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, Retirement, TrapPlacement};
use traceproof_vectors::riscv_etrace::{
    Block, Cycle, Filter, Itype, Modes, Packet, Parameters, Policy, RiscvEtrace, Step, Stimulus, SyncMode,
};
use traceproof_vectors::{Address, Encoder as _, EncoderSink, Program};

use crate::device::{MODES, mode_of, mode_of_field};
use crate::filters::registers;
use crate::{Control, Device, Op, Row, Slot};

/// A packet that is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedPacket {
    /// Index of the row that causes it.
    pub row: usize,
    /// Its payload.
    pub bytes: Vec<u8>,
    /// Its fields.
    pub packet: Packet,
}

/// How an execution is put into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many instructions retire together.
    pub retirement: Retirement,
    /// Whether traps come with the instruction before them.
    pub traps: TrapPlacement,
}

/// Rows without numbers, and packets. `None` when the encoder model refuses the device, or the program does not hold the
/// execution.
#[must_use]
pub fn drive(
    device: &Device,
    program: &Program,
    steps: &[Step],
    filters: &[Filter],
    shape: Shape,
) -> Option<(Vec<Row>, Vec<ExpectedPacket>)> {
    let parameters = device.payload_parameters();
    let mut driver = Driver::new(device, &parameters, filters)?;
    let hart = Hart::new(program, &parameters, shape.retirement);
    let mut hart = hart.with_traps(shape.traps).with_filters(filters);
    hart.run(steps.iter().cloned(), &mut |stimulus| driver.take(stimulus)).ok()?;
    driver.look_ahead(steps);
    driver.end();
    let packets = driver.sink.packets();
    Some((driver.rows, packets(&parameters)))
}

struct Driver<'a> {
    device: &'a Device,
    encoder: Encoder,
    sink: Capture,
    rows: Vec<Row>,
    modes: Modes,
}

/// Packets with the row during which they were sent.
#[derive(Default)]
struct Capture {
    row: usize,
    packets: Vec<(usize, Packet)>,
    wire: Vec<u8>,
}

impl EncoderSink<RiscvEtrace> for Capture {
    fn packet(&mut self, packet: &Packet) {
        self.packets.push((self.row, *packet));
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }
}

impl Capture {
    /// The packets with their payloads.
    fn packets(self: &Capture) -> impl Fn(&Parameters) -> Vec<ExpectedPacket> + use<> {
        let (packets, wire) = (self.packets.clone(), self.wire.clone());
        move |parameters| {
            let units = dissect(&wire, parameters);
            let payloads = units.iter().map(|unit| {
                let (first, end) = (unit.place.byte as usize, unit.bytes.end as usize);
                wire.get(first..end).unwrap_or_default().to_vec()
            });
            packets
                .iter()
                .zip(payloads)
                .map(|(&(row, packet), bytes)| ExpectedPacket { row, bytes, packet })
                .collect()
        }
    }
}

/// The fields and registers that hold for a whole case, by number, with their values; the first one is `trTeActive`.
pub(crate) fn settings(device: &Device, filters: &[Filter]) -> Vec<(u64, u64)> {
    let policy = &device.policy;
    let mode = match policy.sync_mode {
        SyncMode::Off => 0,
        SyncMode::Packets => 1,
        SyncMode::Cycles => 2,
        SyncMode::HalfWords => 3,
    };
    let mut modes = device.parameters.modes;
    let optional = MODES.into_iter().filter(|(control, ..)| *control != Control::NoAddrDiff);
    let optional: Vec<_> =
        optional.map(|(control, mode, _)| (control, u64::from(*mode_of(&mut modes, mode)))).collect();
    let values = [
        (Control::SyncMode, mode),
        (Control::SyncMax, u64::from(policy.sync_max)),
        (Control::NoAddrDiff, u64::from(device.parameters.modes.full_address)),
        (Control::TrigEnable, u64::from(policy.triggers.on_off)),
    ];
    let has = |(field, _): &(Control, u64)| device.control.contains(field);
    let values = values.into_iter().chain(optional).filter(has);
    let values = [(Control::Active, 1)].into_iter().chain(values).map(|(field, value)| (field as u64, value));
    values.chain(registers(filters, device.room()).unwrap_or_default()).collect()
}

/// The packets that the encoder model sends for rows. `None` when it refuses the device.
pub(crate) fn encode(device: &Device, rows: &[Row]) -> Option<Vec<ExpectedPacket>> {
    let parameters = device.payload_parameters();
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &device.policy).ok()?;
    let (mut sink, mut modes) = (Capture::default(), parameters.modes);
    for (index, row) in rows.iter().enumerate() {
        sink.row = index;
        let count = if row.op == Op::Idle { row.cause } else { 1 };
        if let Some(stimulus) = stimulus_of(row, &mut modes) {
            (0..count).for_each(|_| encoder.step(&stimulus, &mut sink));
        }
    }
    encoder.finish(&mut sink);
    let packets = sink.packets();
    Some(packets(&parameters))
}

/// What a row is for the encoder model.
fn stimulus_of(row: &Row, modes: &mut Modes) -> Option<Stimulus> {
    let is = |field: Control| row.op == Op::Field && row.cause == field as u64;
    if let Some(mode) = mode_of_field(row.cause).filter(|_| row.op == Op::Field) {
        *mode_of(modes, mode) = row.tval != 0;
        return Some(Stimulus::Modes(*modes));
    }
    Some(match row.op {
        Op::Cycle | Op::Idle => Stimulus::Cycle(cycle_of(row)),
        Op::Ready => Stimulus::Transport(row.cause != 0),
        _ if is(Control::InstTracing) => Stimulus::Enable(row.tval != 0),
        _ => return None,
    })
}

fn cycle_of(row: &Row) -> Cycle {
    let (halted, reset) = (row.status & 1 != 0, row.status & 2 != 0);
    if row.op == Op::Idle {
        return Cycle { halted, reset, ..Cycle::default() };
    }
    let blocks = row.blocks.iter().filter(|slot| !slot.is_empty()).map(|slot| Block {
        itype: Itype::ALL.get(usize::from(slot.itype)).copied().unwrap_or_default(),
        iaddr: Address(slot.iaddr),
        iretire: slot.iretire.into(),
        ilastsize: slot.ilastsize,
        sijump: slot.flags & Slot::SIJUMP != 0,
        notify: slot.flags & Slot::NOTIFY != 0,
    });
    Cycle {
        blocks: blocks.collect(),
        cause: row.cause,
        tval: row.tval,
        privilege: row.privilege,
        context: row.context,
        time: row.time,
        ctype: row.ctype,
        trace_on: row.trigger & 1 != 0,
        trace_off: row.trigger & 2 != 0,
        halted,
        reset,
    }
}

impl<'a> Driver<'a> {
    fn new(device: &'a Device, parameters: &Parameters, filters: &[Filter]) -> Option<Self> {
        let mut encoder = Encoder::default();
        let policy = Policy { filters: filters.to_vec(), ..device.policy.clone() };
        encoder.begin(parameters, &policy).ok()?;
        let (sink, rows) = (Capture::default(), Vec::new());
        let mut driver = Self { device, encoder, sink, rows, modes: parameters.modes };
        driver.order(Op::Case, 0, 0);
        for (field, value) in settings(device, filters) {
            driver.order(Op::Field, field, value);
        }
        Some(driver)
    }

    fn order(&mut self, op: Op, a: u64, b: u64) {
        self.rows.push(Row::order(op, a, b, self.device.blocks()));
    }

    fn field(&mut self, field: Control, value: u64) {
        self.order(Op::Field, field as u64, value);
    }

    fn take(&mut self, stimulus: &Stimulus) {
        match stimulus {
            Stimulus::Cycle(cycle) => self.cycle(cycle),
            Stimulus::Enable(true) => {
                self.field(Control::Enable, 1);
                self.field(Control::InstTracing, 1);
            }
            Stimulus::Enable(false) => {
                self.field(Control::InstTracing, 0);
                self.sink.row = self.rows.len() - 1;
                self.field(Control::Enable, 0);
                self.encoder.step(stimulus, &mut self.sink);
                return;
            }
            Stimulus::Modes(modes) => {
                let (mut before, mut after) = (self.modes, *modes);
                for (control, mode, _) in MODES {
                    let (before, after) = (*mode_of(&mut before, mode), *mode_of(&mut after, mode));
                    if before != after {
                        self.field(control, after.into());
                    }
                }
                self.modes = *modes;
            }
            Stimulus::Transport(ready) => self.order(Op::Ready, (*ready).into(), 0),
            _ => return,
        }
        self.sink.row = self.rows.len() - 1;
        self.encoder.step(stimulus, &mut self.sink);
    }

    fn cycle(&mut self, cycle: &Cycle) {
        let blocks = self.device.blocks();
        let empty = cycle.blocks.is_empty() && !cycle.trace_on && !cycle.trace_off;
        let mut row = Row::order(if empty { Op::Idle } else { Op::Cycle }, u64::from(empty), 0, blocks);
        row.status = u8::from(cycle.halted) | u8::from(cycle.reset) << 1;
        row.trigger = u8::from(cycle.trace_on) | u8::from(cycle.trace_off) << 1;
        if !cycle.blocks.is_empty() {
            row.privilege = cycle.privilege;
            row.ctype = cycle.ctype;
            (row.context, row.time) = (cycle.context, cycle.time);
            if cycle.blocks.iter().any(|block| (block.itype as u8).wrapping_sub(1) < 2) {
                (row.cause, row.tval) = (cycle.cause, cycle.tval);
            }
        }
        for (slot, block) in row.blocks.iter_mut().zip(&cycle.blocks) {
            *slot = slot_of(block);
        }
        self.rows.push(row);
    }

    /// Fills the columns that a core knows ahead: where a trap was, and where its handler is.
    fn look_ahead(&mut self, steps: &[Step]) {
        let mut traps = steps.iter().filter_map(|step| match step {
            Step::Trap(trap) => Some(trap.epc.0),
            _ => None,
        });
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.rows.len() {
            let Some(row) = self.rows.get_mut(index).filter(|row| row.op == Op::Cycle) else { continue };
            let first = row.blocks.iter().find(|slot| slot.iretire > 0).map(|slot| slot.iaddr);
            if let Some(address) = first {
                for trapped in open.drain(..) {
                    if let Some(trapped) = self.rows.get_mut(trapped) {
                        trapped.handler = address;
                    }
                }
            }
            let Some(row) = self.rows.get_mut(index) else { continue };
            if row.blocks.iter().any(|slot| matches!(slot.itype, 1 | 2)) {
                row.epc = traps.next().unwrap_or_default();
                open.push(index);
            }
        }
    }

    fn end(&mut self) {
        self.order(Op::Drain, 4096, 64);
    }
}

fn slot_of(block: &Block) -> Slot {
    Slot {
        iaddr: block.iaddr.0,
        itype: block.itype as u8,
        ilastsize: block.ilastsize,
        flags: u8::from(block.sijump) | u8::from(block.notify) << 1,
        iretire: u16::try_from(block.iretire).unwrap_or(u16::MAX),
    }
}
