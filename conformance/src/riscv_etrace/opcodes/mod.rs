//! Sweeps of RISC-V encodings: each is executed in a little program of its own, a branch both ways.
//!
//! Class and target of an encoding are those of the tables, which `tables.py` made from the text of GNU objdump. The flow
//! of the executions and the expected events follow from them alone; the encoder model makes the packets.

mod layout;

use std::sync::LazyLock;

use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{Parameters, Policy, RiscvEtrace, Xlen};
use traceproof_vectors::{Encoder as _, Log};

use self::layout::Layout;
use crate::family::{FamilyRules as _, Generated, Sweep, Sweeps};

pub(super) const SWEEPS: Sweeps<RiscvEtrace> = Sweeps { names, make };

/// One line of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    code: u32,
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
        Some(Self {
            code: u32::from_str_radix(code, 16).ok()?,
            length: code.len() as u64 / 2,
            text,
            class,
            distance: distance.parse().ok()?,
            absolute,
        })
    }
}

/// Rows of one class, which make one case.
struct Batch {
    name: String,
    xlen: Xlen,
    rows: Vec<Row>,
}

/// Most rows of a case.
const MOST_ROWS: usize = 128;

static BATCHES: LazyLock<Vec<Batch>> = LazyLock::new(|| {
    [("rv32", Xlen::Rv32, include_str!("rv32.tsv")), ("rv64", Xlen::Rv64, include_str!("rv64.tsv"))]
        .into_iter()
        .flat_map(|(set, xlen, table)| batches(set, xlen, table))
        .collect()
});

fn batches(set: &str, xlen: Xlen, table: &'static str) -> Vec<Batch> {
    let mut classes: Vec<(&str, Vec<Row>)> = Vec::new();
    for row in table.lines().filter_map(Row::parse) {
        match classes.iter_mut().find(|(class, _)| *class == row.class) {
            Some((_, rows)) => rows.push(row),
            None => classes.push((row.class, vec![row])),
        }
    }
    let mut batches = Vec::new();
    for (class, rows) in classes {
        for (number, rows) in rows.chunks(MOST_ROWS).enumerate() {
            batches.push(Batch { name: format!("{set}/{class}-{}", number + 1), xlen, rows: rows.to_vec() });
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

fn sweep(batch: &Batch) -> Result<Sweep<RiscvEtrace>, String> {
    let iaddress_width_p = if batch.xlen == Xlen::Rv64 { 64 } else { 32 };
    let parameters = Parameters { xlen: batch.xlen, iaddress_width_p, ..Parameters::default() };
    let policy = Policy::default();
    let mut layout = Layout::new(parameters.address_mask());
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
    let generated = Generated { parameters, policy, program, execution: steps, wire: log.wire };
    Ok(Sweep { generated, packets, events, readings: Vec::new(), rows })
}
