//! Sweeps of RISC-V encodings: each is executed in a little program of its own, a branch both ways.
//!
//! Class and target of an encoding are those of the tables, which `tables.py` made from the text of GNU objdump and of
//! LLVM. The flow of the executions and the expected events follow from them alone; the encoder model makes packets.

mod layout;

use std::sync::LazyLock;

use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{Modes, Parameters, Policy, RiscvEtrace, Xlen};
use traceproof_vectors::{Encoder as _, Log};

use self::layout::Layout;
use super::readings;
use crate::family::{FamilyRules as _, Generated, Sweep, Sweeps};

pub(super) const SWEEPS: Sweeps<RiscvEtrace> = Sweeps { names, make };

/// One line of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its half-words; the second one only where `length` is 4.
    halves: [u16; 2],
    /// Bytes: 2 or 4.
    length: u64,
    text: &'static str,
    class: &'static str,
    /// To the target, or its address.
    distance: i64,
    absolute: bool,
}

impl Row {
    /// `None` of comments.
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let (code, text, class, distance) =
            (columns.next()?, columns.next()?, columns.next()?, columns.next()?);
        let (distance, absolute) = match distance.strip_suffix(" absolute") {
            Some(address) => (address, true),
            None => (distance, false),
        };
        let word = u32::from_str_radix(code, 16).ok()?;
        Some(Self {
            halves: [word as u16, (word >> 16) as u16],
            length: code.len() as u64 / 2,
            text,
            class,
            distance: distance.parse().ok()?,
            absolute,
        })
    }

    fn halves(&self) -> &[u16] {
        if self.length == 2 { &self.halves[..1] } else { &self.halves }
    }
}

/// Encodings and how they are executed.
#[derive(Clone, Copy, Debug)]
struct Set {
    name: &'static str,
    xlen: Xlen,
    table: &'static str,
    /// The hart has Zcmp and Zcmt.
    zcm: bool,
    /// Implicit return is on: jumps and returns only, each with the call or the return that belongs to it.
    implicit_return: bool,
}

impl Set {
    const fn new(name: &'static str, xlen: Xlen, table: &'static str) -> Self {
        Self { name, xlen, table, zcm: false, implicit_return: false }
    }

    const fn zcm(name: &'static str, xlen: Xlen) -> Self {
        Self { zcm: true, ..Self::new(name, xlen, ZCM) }
    }

    const fn implicit_return(self, name: &'static str) -> Self {
        Self { name, implicit_return: true, ..self }
    }

    /// Whether executions of the set tell a row's class from others.
    fn has(self, row: &Row) -> bool {
        let jumps =
            row.class.contains("jump") || row.class.contains("call") && row.class != "environment-call";
        // ET names `cm.popret` as a return, and not `cm.popretz`.
        let returns =
            ["return", "coroutine-swap"].contains(&row.class) && !row.text.starts_with("cm.popretz");
        !self.implicit_return || jumps || returns
    }
}

const ZCM: &str = include_str!("zcm.tsv");
const RV32: Set = Set::new("rv32", Xlen::Rv32, include_str!("rv32.tsv"));
const RV64: Set = Set::new("rv64", Xlen::Rv64, include_str!("rv64.tsv"));
const RV32_ZCM: Set = Set::zcm("rv32-zcm", Xlen::Rv32);
const RV64_ZCM: Set = Set::zcm("rv64-zcm", Xlen::Rv64);
const SETS: [Set; 8] = [
    RV32,
    RV64,
    RV32_ZCM,
    RV64_ZCM,
    RV32.implicit_return("implicit-return/rv32"),
    RV64.implicit_return("implicit-return/rv64"),
    RV32_ZCM.implicit_return("implicit-return/rv32-zcm"),
    RV64_ZCM.implicit_return("implicit-return/rv64-zcm"),
];

/// Rows of one class, which make one case.
struct Batch {
    name: String,
    set: Set,
    /// All or none of its rows are jumps through `x0`.
    absolute: bool,
    rows: Vec<Row>,
}

/// Most rows of a case.
const MOST_ROWS: usize = 128;

static BATCHES: LazyLock<Vec<Batch>> = LazyLock::new(|| SETS.into_iter().flat_map(batches).collect());

fn batches(set: Set) -> Vec<Batch> {
    let mut classes: Vec<((&str, bool), Vec<Row>)> = Vec::new();
    for row in set.table.lines().filter_map(Row::parse).filter(|row| set.has(row)) {
        let key = (row.class, row.absolute);
        match classes.iter_mut().find(|(found, _)| *found == key) {
            Some((_, rows)) => rows.push(row),
            None => classes.push((key, vec![row])),
        }
    }
    let mut batches = Vec::new();
    for ((class, absolute), rows) in classes {
        let through = if absolute { "-through-x0" } else { "" };
        for (number, rows) in rows.chunks(MOST_ROWS).enumerate() {
            let name = format!("{}/{class}{through}-{}", set.name, number + 1);
            batches.push(Batch { name, set, absolute, rows: rows.to_vec() });
        }
    }
    batches
}

fn names() -> Vec<String> {
    BATCHES.iter().map(|batch| batch.name.clone()).collect()
}

fn make(name: &str) -> Option<Result<Sweep<RiscvEtrace>, String>> {
    BATCHES.iter().find(|batch| batch.name == name).map(sweep)
}

fn parameters(set: Set) -> Parameters {
    let iaddress_width_p = if set.xlen == Xlen::Rv64 { 64 } else { 32 };
    let modes = Modes { implicit_return: set.implicit_return, ..Modes::default() };
    Parameters {
        xlen: set.xlen,
        iaddress_width_p,
        zcmp_zcmt: set.zcm,
        return_stack_size_p: if set.implicit_return { 2 } else { 0 },
        modes,
        ..Parameters::default()
    }
}

fn sweep(batch: &Batch) -> Result<Sweep<RiscvEtrace>, String> {
    let parameters = parameters(batch.set);
    let policy = Policy::default();
    let mut layout = Layout::new(parameters.address_mask(), batch.set.implicit_return);
    let rows = batch.rows.iter().filter(|row| layout.run(row)).count();
    let layout::Finished { program, steps, events } = layout.finish()?;
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &policy).map_err(|refusal| refusal.to_string())?;
    let mut log = Log::<RiscvEtrace>::default();
    RiscvEtrace::drive(&steps, &program, &parameters, &policy, &mut |stimulus| {
        encoder.step(stimulus, &mut log);
    })?;
    encoder.finish(&mut log);
    let packets = log.packets().cloned().collect();
    let mut readings = readings::of_executions(&parameters);
    readings.extend(batch.absolute.then_some("jalr-through-x0-is-inferable"));
    let generated = Generated { parameters, policy, program, execution: steps, wire: log.wire };
    Ok(Sweep { generated, packets, events, readings, rows })
}
