//! What the runner must know about RISC-V E-Trace.

pub mod bench;
pub mod generate;
pub mod programs;
pub mod saboteurs;
mod sync_points;

use std::io::BufRead;
use std::iter;

use traceproof_decoder::riscv_etrace as decoder;
use traceproof_encoder_model::riscv_etrace::{Encoder, Hart, Retirement, write_packets};
use traceproof_vectors::case::{CaseProtocol, SuiteError};
use traceproof_vectors::riscv_etrace::discovery;
use traceproof_vectors::riscv_etrace::{Cycle, Event, Parameters, RiscvEtrace, Step, Stimulus, Xlen};
use traceproof_vectors::{self as vectors, Dissection, Program, Protocol, Refusal};

use crate::Subject;
use crate::elf::{Architecture, Machine};
use crate::execution::{AddressWords, CsvRow, CsvRows, ExecutionError};
use crate::family::{FamilyRules, FileSummary, Timing, WritePackets};
use crate::generate::Generated;
use crate::line::line;
use crate::relations::{Attempts, Broken, Stream};
use crate::run::ProgramRun;
use crate::saboteurs::Saboteur;
use crate::verdict::{Divergence, Row, Verdict};
use generate::{Scenario, Scope, encode, round_trip, scenario};
use programs::foreign;
use programs::{Observation, ProgramResult, RoundTrip, RoundTripError, Subjects, run_all};

impl FamilyRules for RiscvEtrace {
    const FEATURES: &'static [&'static str] = &vectors::riscv_etrace::FEATURES;

    fn reference_decoder() -> Box<dyn vectors::Decoder<Self>> {
        Box::new(decoder::Decoder::default())
    }

    fn reference_encoder() -> Box<dyn vectors::Encoder<Self>> {
        Box::new(Encoder::default())
    }

    const SABOTEURS: &'static [Saboteur<Self>] = saboteurs::SABOTEURS;

    const WRITE_PACKETS: Option<WritePackets<Self>> = Some(|packets, parameters, policy| {
        write_packets(packets, parameters, policy).map_err(|error| error.to_string())
    });

    fn dissect(wire: &[u8], parameters: &Parameters, _: &Program) -> Vec<Dissection<Self>> {
        decoder::dissect(wire, parameters)
    }

    /// By the first byte: core, any optional modes, or data trace.
    fn generate(entropy: &[u8]) -> Option<Generated<Self>> {
        let scenario = generated(entropy)?;
        let wire = encode(&scenario, retirement(&scenario.parameters)).ok()?.wire;
        let program = scenario.program.code().ok()?;
        let Scenario { parameters, policy, steps, .. } = scenario;
        Some(Generated { parameters, policy, program, execution: steps, wire })
    }

    fn confirm(entropy: &[u8]) -> Result<(), String> {
        let Some(scenario) = generated(entropy) else { return Ok(()) };
        round_trip(&scenario).map(drop).map_err(|failure| failure.to_string())
    }

    fn joins(stream: &Stream<'_, Self>, most: usize) -> Result<Attempts, Broken> {
        stream.joins(most)
    }

    fn moment(stimulus: &Stimulus) -> Option<Timing> {
        match stimulus {
            Stimulus::Cycle(Cycle { context, time, .. }) => Some(Timing { context: *context, time: *time }),
            _ => None,
        }
    }

    fn set_moment(stimulus: &mut Stimulus, moment: Timing) {
        if let Stimulus::Cycle(cycle) = stimulus {
            (cycle.context, cycle.time) = (moment.context, moment.time);
        }
    }

    fn drive(
        execution: &<Self as CaseProtocol>::Execution,
        program: &Program,
        parameters: &Parameters,
        each: &mut dyn FnMut(&Stimulus),
    ) -> Result<(), String> {
        Hart::new(program, parameters, retirement(parameters))
            .run(execution.iter().cloned(), each)
            .map_err(|error| error.to_string())
    }

    /// Spec: RVET-DEC-046. A loop without facts from the trace is walked until the budget is spent.
    fn is_open_at_limit(event: &Event) -> bool {
        matches!(event, Event::Retire { .. })
    }

    /// A precise context, until tracing stops.
    fn in_force(events: &[Event]) -> Option<Event> {
        events.iter().rev().find_map(|event| match event {
            Event::Context { precise: true, .. } => Some(Some(*event)),
            Event::Stop { .. } => Some(None),
            _ => None,
        })?
    }

    fn parameters_for(machine: Machine) -> Result<Parameters, String> {
        match machine {
            Machine { architecture: Architecture::Riscv, bits: 64 } => {
                Ok(Parameters { xlen: Xlen::Rv64, iaddress_width_p: 64, ..Parameters::default() })
            }
            Machine { architecture: Architecture::Riscv, .. } => Ok(Parameters::default()),
            Machine { architecture, .. } => {
                Err(format!("the ELF file is for {architecture}, not for RISC-V"))
            }
        }
    }

    /// Attributes as they are discovered, too.
    fn read_parameters(text: &str) -> Result<Parameters, Vec<String>> {
        discovery::read(text)
            .map(|found| found.parameters)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    fn run_programs(
        subject: &Subject,
        parameters: Option<&Parameters>,
        wanted: &(dyn Fn(&str, &str) -> bool + Sync),
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<ProgramRun>, SuiteError> {
        let subjects = Subjects {
            encoder: &|| subject.encoder::<Self>().unwrap_or_else(Self::reference_encoder),
            decoder: &|| subject.decoder::<Self>().unwrap_or_else(Self::reference_decoder),
        };
        let results = run_all(subjects, parameters, wanted, &|_| progress()).map_err(|error| SuiteError {
            path: error.path.clone(),
            place: None,
            message: error.to_string(),
        })?;
        Ok(results.into_iter().map(program_run).collect())
    }

    const EXECUTION_FORMATS: &'static [&'static str] = &["csv", "pc"];

    fn drive_file(
        format: &str,
        input: &mut dyn BufRead,
        program: &Program,
        parameters: &Parameters,
        each: &mut dyn FnMut(&Stimulus),
    ) -> Result<FileSummary, ExecutionError> {
        match format {
            "csv" => {
                let mut rows = CsvRows::new(input)?;
                run(&mut || rows.next_row(), program, parameters, each)
            }
            "pc" => {
                let mut words = AddressWords::new(input);
                let mut number = 0;
                let mut next = || {
                    number += 1;
                    let row = |address| CsvRow { number, address, privilege: MACHINE, ..CsvRow::default() };
                    Ok(words.next_address()?.map(row))
                };
                run(&mut next, program, parameters, each)
            }
            _ => Err(ExecutionError::UnknownFormat {
                format: format.to_owned(),
                known: Self::EXECUTION_FORMATS,
            }),
        }
    }
}

fn program_run(result: ProgramResult) -> ProgramRun {
    let ProgramResult { program, set, outcome, .. } = result;
    let (instructions, traps, packets, bytes) = match &outcome {
        Ok(RoundTrip { instructions, traps, packets, bytes, .. }) => {
            (*instructions, *traps, *packets, *bytes)
        }
        Err(_) => (0, 0, 0, 0),
    };
    let verdict = match outcome {
        Ok(RoundTrip { divergence: None, .. }) => Verdict::Pass,
        Ok(RoundTrip { divergence: Some(found), .. }) => Verdict::Fail(Divergence {
            what: String::from("instructions"),
            index: usize::try_from(found.instruction).unwrap_or(usize::MAX),
            place: Some(found.place),
            packet: None,
            rows: vec![Row {
                same: false,
                expected: Some(shown(&found.expected)),
                got: Some(shown(&found.got)),
            }],
        }),
        Err(RoundTripError::Encoder(refusal) | RoundTripError::Decoder(refusal)) => match refusal {
            Refusal::Unsupported { feature } => Verdict::Unsupported { needs: vec![feature] },
            other => Verdict::Undeclared { refusal: other.to_string() },
        },
        Err(RoundTripError::Subject(verdict)) => *verdict,
        Err(error) => Verdict::Fail(Divergence::sentence("the execution", error.to_string())),
    };
    let (family, set) = (RiscvEtrace::FAMILY, set.to_owned());
    ProgramRun { family, program, set, instructions, traps, packets, bytes, verdict }
}

/// Packets look like everywhere else.
fn shown(observation: &Observation) -> String {
    match observation {
        Observation::Packet(packet) => format!("packet {}", line(packet)),
        other => other.to_string(),
    }
}

/// The scenario that these bytes stand for; by the first one, what it is about.
fn generated(entropy: &[u8]) -> Option<Scenario> {
    let (kind, entropy) = entropy.split_first()?;
    let scope = [Scope::Core, Scope::Modes, Scope::Data][usize::from(kind % 3)];
    Some(scenario(entropy, scope))
}

/// Machine level: where everything runs that says nothing about levels.
const MACHINE: u8 = 3;

/// Block retirement where the parameters have it. No packet depends on it (RVET-ENC-044).
const fn retirement(parameters: &Parameters) -> Retirement {
    if parameters.retires_p > 1 {
        Retirement::Blocks { max_halfwords: 2 * parameters.retires_p as u32 }
    } else {
        Retirement::Single
    }
}

type NextRow<'a> = &'a mut dyn FnMut() -> Result<Option<CsvRow>, ExecutionError>;

/// Traces the rows from the first to the last, with tracing switched on before and off behind them.
fn run(
    next_row: NextRow<'_>,
    program: &Program,
    parameters: &Parameters,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let mut rows = Rows { next_row, program, ahead: None, summary: FileSummary::default() };
    rows.skip_untraceable()?;
    let mut failure = None;
    let middle = iter::from_fn(|| match rows.next_step() {
        Ok(step) => step,
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let enable = |on| iter::once(Step::Stimulus(Stimulus::Enable(on)));
    Hart::new(program, parameters, retirement(parameters))
        .run(enable(true).chain(middle).chain(enable(false)), each)
        .map_err(|error| ExecutionError::Impossible(error.to_string()))?;
    match failure {
        Some(error) => Err(error),
        None => Ok(rows.summary),
    }
}

/// Turns rows into steps; sees one row ahead.
struct Rows<'a> {
    next_row: NextRow<'a>,
    program: &'a Program,
    ahead: Option<CsvRow>,
    summary: FileSummary,
}

impl Rows<'_> {
    /// Passes over what runs before the program, such as a boot ROM that is in no file.
    fn skip_untraceable(&mut self) -> Result<(), ExecutionError> {
        loop {
            self.ahead = (self.next_row)()?;
            match self.ahead {
                Some(row) if self.program.bytes_at(row.address).is_none() => self.summary.skipped += 1,
                _ => return Ok(()),
            }
        }
    }

    fn next_step(&mut self) -> Result<Option<Step>, ExecutionError> {
        let Some(row) = self.ahead else { return Ok(None) };
        self.ahead = (self.next_row)()?;
        self.summary.steps += 1;
        let mut step = foreign::step(&row);
        if let Step::Retire(retire) = &mut step {
            if self.program.bytes_at(row.address).is_none() {
                let message = format!("the program has no code at {:#x}", row.address);
                return Err(ExecutionError::Record { number: row.number, message });
            }
            retire.taken = self.outcome(&row);
        }
        Ok(Some(step))
    }

    /// An interrupt does not tell its EPC at the ingress port, but the file does: whether a branch before it was taken.
    fn outcome(&self, row: &CsvRow) -> Option<bool> {
        let next = self.ahead.filter(|next| next.interrupt)?;
        let first = *self.program.bytes_at(row.address)?.first()?;
        let size = if first & 0b11 == 0b11 { 4 } else { 2 };
        Some(next.address != row.address.wrapping_add(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::Section;
    use traceproof_vectors::riscv_etrace::{Retire, Trap};

    /// 0x1000: nop; 0x1004: c.nop; 0x1006: ecall; 0x100a: beq x0, x0, -4 (to 0x1006).
    fn program() -> Program {
        let mut program = Program::new();
        let bytes = vec![0x13, 0, 0, 0, 1, 0, 0x73, 0, 0, 0, 0xe3, 0x0e, 0x00, 0xfe];
        program.insert(Section { address: 0x1000, bytes, name: String::new() }).expect("free");
        program
    }

    fn steps(text: &str) -> Result<(Vec<Step>, FileSummary), String> {
        let program = program();
        let mut csv = CsvRows::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut next_row = || csv.next_row();
        let mut rows =
            Rows { next_row: &mut next_row, program: &program, ahead: None, summary: FileSummary::default() };
        rows.skip_untraceable().map_err(|error| error.to_string())?;
        let mut steps = Vec::new();
        while let Some(step) = rows.next_step().map_err(|error| error.to_string())? {
            steps.push(step);
        }
        Ok((steps, rows.summary))
    }

    fn retire(address: u64, taken: Option<bool>) -> Step {
        Step::Retire(Retire { address, taken, privilege: 3, qualified: true, ..Retire::default() })
    }

    fn trap(epc: u64, interrupt: bool, cause: u16) -> Step {
        Step::Trap(Trap { interrupt, cause, epc, privilege: 3, qualified: true, ..Trap::default() })
    }

    #[test]
    fn rows_become_steps() {
        let text = "ADDRESS,EXCEPTION,ECAUSE,INTERRUPT\n20,0,0,0\n1000,0,0,0\n1004,1,2,0\n1006,1,b,0\n100a,0,0,0\n1006,0,3,1\n";
        let expected = vec![
            retire(0x1000, None),
            trap(0x1004, false, 2),
            trap(0x1006, false, 11),
            retire(0x100a, Some(true)),
            trap(0x1006, true, 3),
        ];
        assert_eq!(steps(text), Ok((expected, FileSummary { steps: 5, skipped: 1 })));
    }

    #[test]
    fn code_that_is_missing_in_between_is_an_error() {
        let error = steps("ADDRESS\n1000\n2000\n").expect_err("no code");
        assert_eq!(error, "record 3: the program has no code at 0x2000");
    }
}
