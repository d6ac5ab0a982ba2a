//! `traceproof encode`: what the encoder model sends for an execution.

use std::io::{BufReader, IsTerminal, stdout};
use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::family::{
    self, ExecutionError, ExecutionFormat, FamilyRules, STIMULUS, Visitor, drive_stimulus,
};
use traceproof_conformance::listing::WireFile;
use traceproof_conformance::report::text::counted;
use traceproof_vectors::ProtocolId;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{Output, Target, check_apart, open, read_toml};

/// Encode an execution with the encoder model.
///
/// The execution is a log of what retired and trapped, in order. Of riscv-etrace:
///
/// csv: a header line VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT (only ADDRESS is required), then one
/// row per instruction or trap. ADDRESS, INSN, ECAUSE and TVAL are hexadecimal. A row with EXCEPTION or INTERRUPT is a
/// trap with the exception program counter in ADDRESS; a row of an ecall or ebreak that traps is also the row of the
/// instruction.
///
/// pc: 8-byte little-endian addresses of the retired instructions, without traps.
///
/// ingress: signals of the ingress port that a simulation wrote down, one clock in a row, as CSV with the columns of
/// packs (docs/pack.md): iaddr, itype and iretire must be there; further blocks have iaddr_1 and so on. Without the
/// column op every row is a clock, and tracing is on from the first to the last. The program is not used.
///
/// Of arm-pft:
///
/// jsonl: JSON Lines, a step of the processor in each: an instruction, an exception or a signal to the PTM. The first
/// one is {"action":{"signal":{"enable":{"address":"0x8000"}}}}.
///
/// Of every family:
///
/// stimulus: TOML with the `stimulus` of a case, and its `program` unless --elf or --section has the code.
///
/// An execution that no processor can have gone through is an error with its record and reason. The output appears
/// only when it is complete.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof encode --family riscv-etrace --elf program.elf --execution run.csv -o trace.bin
  xz -dc run.pc.xz | traceproof encode --family riscv-etrace --elf program.elf --execution - --format pc -o trace.bin
  traceproof encode --family riscv-etrace --parameters dut-parameters.toml --execution signals.csv --format ingress -o -
  traceproof encode --family arm-pft --elf program.elf --execution run.jsonl -o trace.bin
  traceproof encode --family arm-ete --parameters unit.toml --execution run.toml -o trace.bin")]
pub(crate) struct Arguments {
    /// The protocol, e.g. riscv-etrace.
    #[arg(long, value_name = "FAMILY")]
    family: ProtocolId,
    #[command(flatten)]
    target: Target,
    /// The legal choices of the encoder: a TOML file; an omitted choice has its default.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The execution; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    execution: PathBuf,
    /// Format of the execution: csv, pc or ingress (riscv-etrace), jsonl (arm-pft), stimulus (every family). Without it,
    /// the family's first one.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Where to write the bytes; `-` is the standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Also write the packets, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    packets: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut inputs = arguments.target.files();
    inputs.extend([
        ("--execution", Some(arguments.execution.as_path())),
        ("--policy", arguments.policy.as_deref()),
    ]);
    check_apart(
        &inputs,
        &[("--output", Some(&arguments.output)), ("--packets", arguments.packets.as_deref())],
    )?;
    family::visit(arguments.family, Encode(arguments))
        .unwrap_or_else(|| Err(Failure::no_such_family(arguments.family)))
}

struct Encode<'a>(&'a Arguments);

impl Visitor for Encode<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let Arguments { target, policy, execution, format, output, packets, .. } = self.0;
        // What only some families have comes first; every family reads its stimulus.
        let every = ExecutionFormat { name: STIMULUS, drive: drive_stimulus::<P> };
        let formats = || P::EXECUTION_FORMATS.iter().chain([&every]);
        let wanted = |known: &&ExecutionFormat<P>| format.as_deref().is_none_or(|name| known.name == name);
        let Some(reads) = formats().find(wanted) else {
            let known = formats().map(|known| known.name).collect();
            let error = ExecutionError::UnknownFormat { format: format.clone().unwrap_or_default(), known };
            return Err(Failure::usage(error.to_string()));
        };
        if output.as_os_str() == "-" && stdout().is_terminal() {
            return Err(Failure::usage("the trace is binary: name a file with -o, or pipe the output"));
        }
        let (program, parameters) = target.load::<P>()?;
        let policy = policy.as_deref().map(read_toml::<P::Policy>).transpose()?.unwrap_or_default();
        let mut encoder = P::reference_encoder();
        encoder.begin(&parameters, &policy).map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let mut input = BufReader::with_capacity(1 << 16, open(execution)?);
        let mut wire_file = Output::whole(output)?;
        let mut packet_file = packets.as_deref().map(Output::whole).transpose()?;
        let mut sink = WireFile::new(&mut wire_file, packet_file.as_mut());
        let summary = (reads.drive)(&mut input, &program, &parameters, &policy, &mut |stimulus| {
            encoder.step(stimulus, &mut sink);
        })
        .map_err(|error| Failure::file(execution, error))?;
        encoder.finish(&mut sink);
        let (packets, bytes) = sink.finish()?;
        wire_file.publish()?;
        packet_file.map_or(Ok(()), Output::publish)?;
        if summary.skipped > 0 {
            let skipped = counted(usize::try_from(summary.skipped).unwrap_or(usize::MAX), "step");
            eprintln!("note: {skipped} before the first one inside of the program left out");
        }
        eprintln!("{} steps, {packets} packets, {bytes} bytes", summary.steps);
        Ok(Exit::Ok)
    }
}
