//! Executions in files: one step of [`traceproof_vectors::arm_pft::Step`] in each line, as JSON.

use std::io::{BufRead, Read as _};
use std::iter;

use traceproof_encoder_model::arm_pft::Core;
use traceproof_vectors::Program;
use traceproof_vectors::arm_pft::{ArmPft, Parameters, Step, Stimulus};

use crate::family::{ExecutionError, ExecutionFormat, FileSummary};

/// The formats.
pub(super) const FORMATS: &[ExecutionFormat<ArmPft>] = &[ExecutionFormat {
    name: "jsonl",
    drive: |input, program, parameters, _, each| run(input, program, parameters, each),
}];

/// The longest line that is read; longer ones are an error, not an allocation.
const LINE_LIMIT: usize = 4096;

/// Shows the steps to a PTM. An execution is traced from its first `enable` on; there is nothing to skip, because the
/// steps before say nothing of instructions.
fn run(
    input: &mut dyn BufRead,
    program: &Program,
    parameters: &Parameters,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let mut lines = Lines { input, line: Vec::new(), number: 0 };
    let (mut steps, mut failure) = (0, None);
    let middle = iter::from_fn(|| match lines.next_step() {
        Ok(step) => {
            steps += u64::from(step.is_some());
            step
        }
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let done = Core::new(program, parameters).run(middle, each);
    match (failure, done) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => {
            Err(ExecutionError::Record { number: lines.number, message: error.to_string() })
        }
        (None, Ok(())) => Ok(FileSummary { steps, skipped: 0 }),
    }
}

/// Reads line by line.
struct Lines<'a> {
    input: &'a mut dyn BufRead,
    line: Vec<u8>,
    number: u64,
}

impl Lines<'_> {
    /// The step of the next line that is not empty; `None` at the end.
    fn next_step(&mut self) -> Result<Option<Step>, ExecutionError> {
        loop {
            self.line.clear();
            let limit = LINE_LIMIT as u64 + 1;
            if (&mut *self.input).take(limit).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let wrong = |message: String| ExecutionError::Record { number: self.number, message };
            if self.line.len() > LINE_LIMIT {
                return Err(wrong(String::from("the line is too long")));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return serde_json::from_slice(&self.line)
                    .map(Some)
                    .map_err(|error| wrong(error.to_string()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_encoder_model::arm_pft::Encoder;
    use traceproof_vectors::{Encoder as _, Log, Section};

    /// Code and execution of the worked stream A of the fact sheet (9.2).
    fn program() -> Program {
        let words = [
            0xe3a0_0001_u32, // 8000: MOV
            0xe350_0000,     // 8004: CMP
            0x0a00_0002,     // 8008: BEQ 8018
            0xeb00_0003,     // 800C: BL 8020
            0xe1a0_0000,     // 8010: NOP
            0xeaff_fffe,     // 8014: B .
            0xe1a0_0000,     // 8018: NOP
            0xe1a0_0000,     // 801C: NOP
            0xe280_0001,     // 8020: ADD
            0xe12f_ff1e,     // 8024: BX LR
        ];
        let mut program = Program::new();
        for (address, words) in [(0x8000, &words[..]), (0x18, &[0xe25e_f004])] {
            let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            program.insert(Section::new(address, code, "")).expect("free");
        }
        program
    }

    const STREAM_A: &str = r#"
        {"action":{"signal":{"enable":{"address":"0x8000"}}}}
        {"action":{"execute":{"address":"0x8000"}}}
        {"action":{"execute":{"address":"0x8004"}}}
        {"action":{"execute":{"address":"0x8008","skipped":true}}}
        {"action":{"execute":{"address":"0x800c"}}}
        {"action":{"execute":{"address":"0x8020"}}}
        {"action":{"execute":{"address":"0x8024","to":{"address":"0x8010"}}}}

        {"action":{"execute":{"address":"0x8010"}}}
        {"action":{"exception":{"number":14,"returns_to":"0x8014","handler":{"address":"0x18"}}}}
        {"action":{"execute":{"address":"0x18","to":{"address":"0x8014"}}}}
        {"action":{"execute":{"address":"0x8014"}}}
        {"action":{"execute":{"address":"0x8014"}}}
        {"action":{"signal":"trigger"}}
        {"action":{"signal":"disable"}}
    "#;

    fn encoded(text: &str) -> Result<(Vec<u8>, FileSummary), String> {
        let parameters = Parameters::default();
        let (mut encoder, mut log) = (Encoder::default(), Log::default());
        encoder.begin(&parameters, &Default::default()).expect("a PTM");
        let mut each = |stimulus: &Stimulus| encoder.step(stimulus, &mut log);
        let summary = run(&mut text.as_bytes(), &program(), &parameters, &mut each);
        let summary = summary.map_err(|error| error.to_string())?;
        encoder.finish(&mut log);
        Ok((log.wire, summary))
    }

    #[test]
    fn steps_become_the_worked_stream() {
        let wire = [
            &[0x00, 0x00, 0x00, 0x00, 0x00, 0x80][..],
            &[0x08, 0x00, 0x80, 0x00, 0x00, 0x21],
            &[0x8c, 0x09, 0x72, 0x09, 0x8d, 0x80, 0x40, 0x1c, 0x8b, 0x80, 0x01, 0x76, 0x88, 0x0c],
        ]
        .concat();
        assert_eq!(encoded(STREAM_A), Ok((wire, FileSummary { steps: 14, skipped: 0 })));
    }

    #[test]
    fn wrong_steps_are_named() {
        let enable = r#"{"action":{"signal":{"enable":{"address":"0x8000"}}}}"#;
        for (line, message) in [
            (
                r#"{"action":{"execute":{"address":"0x8004"}}}"#,
                "at 0x8004: the next instruction is at 0x8000",
            ),
            (r#"{"action":{"execute":{"address":"0x8000","to":{"address":"0x8000"}}}}"#, "leads to 0x8004"),
            (r#"{"action":{"run":{}}}"#, "unknown variant"),
            (r#"{"actions":"debug_entry"}"#, "unknown field"),
            ("nop", "expected"),
        ] {
            let error = encoded(&format!("\n{enable}\n{line}\n")).expect_err(line);
            assert!(error.starts_with("record 3: ") && error.contains(message), "{error}");
        }
        let long = format!("{enable}\n{}", " ".repeat(LINE_LIMIT + 1));
        assert_eq!(encoded(&long), Err(String::from("record 2: the line is too long")));
    }
}
