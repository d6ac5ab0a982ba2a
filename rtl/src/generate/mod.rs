//! Executions for a device, until the bins of its ingress port are hit.

mod bins;
mod directed;
mod drive;
mod filters;
mod program;
mod rng;
mod variants;
mod walk;

pub use bins::{Bins, Hit, Pair};
pub(crate) use drive::settings;
pub use drive::{ExpectedPacket, Shape, drive};
pub use variants::Relation;

use traceproof_encoder_model::riscv_etrace::{Retirement, TrapPlacement};
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::Filter;

use crate::judge::{Outcome, decoded};
use crate::referee::{Ruling, referee};
use crate::{Device, Finding, Row, items};
use program::Code;
use rng::Rng;
use walk::Walk;

/// How much stimulus a pack holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Size {
    /// Until all bins are hit, at least 4,000 rows: seconds in any simulator.
    #[default]
    Smoke,
    /// At least 200,000 rows.
    Nightly,
    /// At least 2,000,000 rows.
    Soak,
}

impl Size {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Nightly => "nightly",
            Self::Soak => "soak",
        }
    }

    /// At least so many rows, at most so many, and steps of a case.
    const fn bounds(self) -> (usize, usize, usize) {
        match self {
            Self::Smoke => (4_000, 250_000, 160),
            Self::Nightly => (200_000, 400_000, 1_000),
            Self::Soak => (2_000_000, 3_000_000, 4_000),
        }
    }
}

/// A case of a pack.
#[derive(Clone, Debug)]
pub struct GeneratedCase {
    /// Its id.
    pub id: String,
    /// It is a case of the suite.
    pub directed: bool,
    /// The case that it is a variant of, and how.
    pub variant: Option<(String, Relation)>,
    /// Its filters; its rows write them.
    pub filters: Vec<Filter>,
    /// Its program.
    pub program: Program,
    /// Its rows, numbered from 0.
    pub rows: Vec<Row>,
    /// The packets that are expected, by the index of the row.
    pub packets: Vec<ExpectedPacket>,
    /// Why each of them is due.
    pub(crate) ruling: Ruling,
}

/// The cases of a pack, and what they cover.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The cases in order.
    pub cases: Vec<GeneratedCase>,
    /// The table of bins.
    pub bins: Bins,
    /// What is left out: an id or the name of a variant, and why.
    pub left_out: Vec<(String, String)>,
}

/// Generates the cases of a pack.
///
/// # Errors
///
/// When the encoder model refuses the device, or when it and the referee disagree about a packet: then nothing is sent.
pub fn generate(device: &Device, size: Size, seed: u64) -> Result<Generated, String> {
    let (least, most, steps) = size.bounds();
    let mut generated = Generated { bins: Bins::of(device), ..Generated::default() };
    let relations = variants::of(device, &mut generated.left_out);
    directed::add(device, &mut generated)?;
    let mut rng = Rng::new(seed);
    let mut rows: usize = generated.cases.iter().map(|case| case.rows.len()).sum();
    for number in 0.. {
        let missed = generated.bins.counts().1;
        if rows >= most || (rows >= least && missed == 0) {
            break;
        }
        let code = Code::generate(&mut rng, &device.parameters)?;
        let filters = filters::choose(device, &code, &mut rng);
        let (missing, idles) = (generated.bins.missing_pairs(), generated.bins.missing_idles());
        let narrow = filters.iter().any(|filter| !filter.contexts.is_empty());
        let execution = Walk::run(device, &code, &mut rng, (&missing, &idles, narrow), steps);
        let id = format!("random-{number:04}");
        let case = |id: String, variant, shape| {
            let (rows, packets) = drive(device, &code.program, &execution, &filters, shape)
                .ok_or_else(|| format!("{id}: the encoder model refuses the device"))?;
            let ruling = Ruling::default();
            Ok::<_, String>(GeneratedCase {
                directed: false,
                id,
                variant,
                filters: filters.clone(),
                program: code.program.clone(),
                rows,
                packets,
                ruling,
            })
        };
        let mut base = case(id.clone(), None, base_shape(device))?;
        rows += base.rows.len();
        generated.observe(device, &mut base)?;
        // One variant after each case in turn: none of them may change the packets.
        let variant = relations.get(number % relations.len().max(1)).copied();
        generated.cases.push(base);
        if let Some(relation) = variant {
            let shape = relation.shape(device, &mut rng).unwrap_or_else(|| base_shape(device));
            let mut varied = case(format!("{id}.{}", relation.name()), Some((id, relation)), shape)?;
            relation.change(device, &mut varied, &mut rng);
            rows += varied.rows.len();
            generated.observe(device, &mut varied)?;
            generated.cases.push(varied);
        }
    }
    Ok(generated)
}

/// One case with rows that a simulation wrote down, and the program that it executed.
///
/// # Errors
///
/// When the encoder model refuses the device, or when decoder, referee and encoder model disagree about a packet: the
/// program is not the one that was executed, or the signals are not those of the ingress port.
pub fn recorded(device: &Device, rows: Vec<Row>, program: Program) -> Result<Generated, String> {
    let packets = drive::encode(device, &rows).ok_or("the encoder model refuses the device")?;
    let mut case = GeneratedCase {
        id: String::from("recorded"),
        directed: false,
        variant: None,
        filters: device.policy.filters.clone(),
        program,
        rows,
        packets,
        ruling: Ruling::default(),
    };
    let mut generated = Generated { bins: Bins::of(device), ..Generated::default() };
    generated.observe(device, &mut case)?;
    generated.cases.push(case);
    Ok(generated)
}

fn base_shape(device: &Device) -> Shape {
    let max_halfwords = device.ingress.max_halfwords.into();
    let retirement = match (device.parameters.retires_p, device.ingress.blocks) {
        (0 | 1, 0 | 1) => Retirement::Single,
        (_, 0 | 1) => Retirement::Blocks { max_halfwords },
        (_, groups) => Retirement::Groups { groups: groups.into(), max_halfwords },
    };
    let traps = if device.ingress.merged_traps { TrapPlacement::Merged } else { TrapPlacement::Alone };
    Shape { retirement, traps }
}

impl Generated {
    /// Takes a case into the table, once the referee agrees with the encoder model about every packet of it.
    fn observe(&mut self, device: &Device, case: &mut GeneratedCase) -> Result<(), String> {
        let items = items(&case.rows, &case.program, &device.parameters);
        let packets: Vec<_> = case.packets.iter().map(|expected| expected.packet).collect();
        let payloads: Vec<Vec<u8>> = case.packets.iter().map(|expected| expected.bytes.clone()).collect();
        let (semantic, reported) = decoded(device, &case.program, &items, &payloads);
        if let Outcome::Fail { message, .. } = semantic {
            return Err(format!("{}: the packets of the encoder model: {message}", case.id));
        }
        let ruling = referee(device, &items, &packets, Some(&reported), &[]);
        if let Some(Finding { clause, field, expected, got, .. }) = ruling.findings.first() {
            let id = &case.id;
            return Err(format!(
                "{id}: {clause}, `{field}`: the encoder model sends {got}, the referee expects {expected}"
            ));
        }
        let slots = case.rows.iter().flat_map(|row| &row.blocks).filter(|slot| slot.iretire > 0);
        let halfwords = slots.map(|slot| slot.iretire);
        let blocks = device.parameters.retires_p > 1;
        let most = if blocks { device.ingress.max_halfwords } else { u16::MAX };
        let halfwords: Vec<u16> = halfwords.filter(|_| blocks).collect();
        self.bins.observe(&items, &ruling, &case.filters, (halfwords.into_iter(), most));
        case.ruling = ruling;
        Ok(())
    }
}
