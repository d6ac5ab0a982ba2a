//! What a testbench writes: the lines of its monitor.

use crate::Problem;

/// One packet, or one beat of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The row that was driven last.
    pub row: u32,
    /// Clocks since the start.
    pub clock: u64,
    /// The bytes, first one first.
    pub bytes: Vec<u8>,
}

/// What belongs to one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseLog {
    /// The number of the case.
    pub number: u32,
    /// Packets (`P`).
    pub packets: Vec<Beat>,
    /// Beats of a stream (`B`).
    pub beats: Vec<Beat>,
    /// Drains that ended at their limit: the device was not quiet.
    pub restless: u32,
    /// What the wrapper reported.
    pub reports: Vec<String>,
}

/// A whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorLog {
    /// The cases, in the order in which they were driven.
    pub cases: Vec<CaseLog>,
    /// Rows driven and checksum; absent if the simulation stopped before its end.
    pub driven: Option<(u64, u32)>,
    /// The log ends with its end line.
    pub ended: bool,
}

impl MonitorLog {
    /// Reads a log. A log that stops in the middle is no error here: `ended` is false.
    ///
    /// # Errors
    ///
    /// The first line that no monitor writes.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let mut log = Self::default();
        let mut lines = (1..).zip(text.lines());
        match lines.next() {
            Some((_, "traceproof-log 1")) => {}
            _ => return Err(Problem::at(file, 1, 1, "the first line must be `traceproof-log 1`")),
        }
        for (number, line) in lines {
            if log.ended {
                return Err(Problem::at(file, number, 1, "nothing may come after the line `E`"));
            }
            log.line(line).map_err(|(word, message)| {
                let column =
                    line.split(' ').take(word).map(|word| word.chars().count() + 1).sum::<usize>() + 1;
                Problem::at(file, number, column, message)
            })?;
        }
        Ok(log)
    }

    /// Adds a line; the index of the word that is wrong.
    fn line(&mut self, line: &str) -> Result<(), (usize, String)> {
        let words: Vec<&str> = line.split(' ').collect();
        match *words.as_slice() {
            ["C", case] => {
                let number = number(case).ok_or_else(|| expected(1, "the number of a case"))?;
                self.cases.push(CaseLog { number, ..CaseLog::default() });
            }
            [kind @ ("P" | "B"), row, clock, bytes] => {
                let beat = Beat {
                    row: u32::from_str_radix(row, 16).map_err(|_| expected(1, "a row in hexadecimal"))?,
                    clock: number(clock).ok_or_else(|| expected(2, "clocks in decimal"))?,
                    bytes: hex(bytes).ok_or_else(|| expected(3, "bytes in hexadecimal, two digits each"))?,
                };
                let case = self.case()?;
                if kind == "P" {
                    case.packets.push(beat);
                } else {
                    case.beats.push(beat);
                }
                if !case.packets.is_empty() && !case.beats.is_empty() {
                    return Err((0, String::from("a log has `P` lines or `B` lines, not both")));
                }
            }
            ["D", _, clocks, quiet @ ("0" | "1")] => {
                number::<u64>(clocks).ok_or_else(|| expected(2, "clocks in decimal"))?;
                self.case()?.restless += u32::from(quiet == "0");
            }
            ["X", _, _, ..] => {
                let report = words.get(3..).unwrap_or_default().join(" ");
                self.case()?.reports.push(report);
            }
            ["R", rows, checksum] => {
                let rows = number(rows).ok_or_else(|| expected(1, "a number of rows"))?;
                let checksum = u32::from_str_radix(checksum, 16)
                    .map_err(|_| expected(2, "a checksum in hexadecimal"))?;
                self.driven = Some((rows, checksum));
            }
            ["E"] => self.ended = true,
            _ => return Err((0, format!("`{line}` is no line of a monitor"))),
        }
        Ok(())
    }

    fn case(&mut self) -> Result<&mut CaseLog, (usize, String)> {
        self.cases.last_mut().ok_or_else(|| (0, String::from("a line `C` must come first")))
    }
}

fn expected(word: usize, what: &str) -> (usize, String) {
    (word, format!("expected {what}"))
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Bytes from hexadecimal digits; `None` unless there are some, two digits each.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// Hexadecimal digits of bytes.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read() {
        let text = include_str!("../tests/packs/example/monitor.log");
        let log = MonitorLog::parse("monitor.log", text).expect("valid");
        let packets = &log.cases.first().expect("a case").packets;
        let bytes: Vec<&[u8]> = packets.iter().map(|packet| packet.bytes.as_slice()).collect();
        assert_eq!(bytes, [&[0x1f][..], &[0x73, 0, 4], &[0x0a], &[0x4f]]);
        assert_eq!((log.driven, log.ended), (Some((11, 0x24b5_6adf)), true));
    }

    #[test]
    fn errors_have_a_place() {
        let error = |lines: &str| {
            let text = format!("traceproof-log 1\n{lines}");
            let problem = MonitorLog::parse("log", &text).expect_err("wrong");
            (problem.line, problem.column)
        };
        assert_eq!(error("P 00 1 00\n"), (2, 1));
        assert_eq!(error("C 0\nP 00 1 0\n"), (3, 8));
        assert_eq!(error("C 0\nP 00 x 00\n"), (3, 6));
        assert_eq!(error("C -1\n"), (2, 3));
        assert_eq!(error("C 0\nP 00 1 00\nB 00 1 00\n"), (4, 1));
        assert_eq!(error("E\nE\n"), (3, 1));
        assert!(MonitorLog::parse("log", "").is_err());
    }

    #[test]
    fn a_log_that_stops_is_no_syntax_error() {
        let log = MonitorLog::parse("log", "traceproof-log 1\nC 0\n").expect("valid");
        assert!(!log.ended && log.driven.is_none());
    }
}
