//! The log that a testbench writes: what a decoder reported, or the bytes that an encoder sent.

use serde_json::Value;
use traceproof_differential::{Claims, Item};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{Entry, FaultDetail, Layer, Log, Place};

use super::StreamManifest;
use crate::Problem;
use crate::monitor::hex;

/// The first line of a log.
const HEAD: &str = "traceproof-answers 1";

/// What was answered.
#[derive(Clone, Debug)]
pub struct Answers<P: CaseProtocol> {
    /// The cases that were driven.
    pub cases: Vec<Answer<P>>,
    /// What the log says about the device, or what can be seen: its layers, and how much of its faults.
    pub claims: Option<Claims>,
    /// Rows that were driven, and their checksum.
    driven: Option<(u64, u32)>,
    ended: bool,
}

/// What was answered to one case.
#[derive(Clone, Debug)]
pub struct Answer<P: CaseProtocol> {
    /// Its number in the pack.
    pub number: u32,
    /// Results of a decoder, and the bytes of an encoder.
    pub log: Log<P>,
    /// What the testbench reports.
    pub reports: Vec<String>,
}

impl<P: CaseProtocol> Answers<P> {
    /// Reads a log.
    ///
    /// # Errors
    ///
    /// The first line that is none, with its number.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let mut lines = (1..).zip(text.lines());
        let head = lines.next().map(|(_, line)| line);
        if head != Some(HEAD) {
            return Err(Problem::at(file, 1, 1, format!("the first line must be `{HEAD}`")));
        }
        let mut answers = Self { cases: Vec::new(), claims: None, driven: None, ended: false };
        for (number, line) in lines {
            if answers.ended {
                return Err(Problem::at(file, number, 1, "there must be nothing after the line `E`"));
            }
            answers.line(line).map_err(|(column, message)| Problem::at(file, number, column, message))?;
        }
        Ok(answers)
    }

    fn line(&mut self, line: &str) -> Result<(), (usize, String)> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let wrong = |what: &str| (kind.len() + 2, format!("expected {what}"));
        match kind {
            "L" => {
                let claims = serde_json::from_str(rest);
                self.claims = Some(claims.map_err(|error| (error.column() + 2, error.to_string()))?);
            }
            "C" => {
                let number = rest.parse().map_err(|_| wrong("the number of a case"))?;
                if self.cases.iter().any(|case| case.number == number) {
                    return Err((3, format!("case {number} is there twice")));
                }
                self.cases.push(Answer { number, log: Log::default(), reports: Vec::new() });
            }
            "J" => {
                let entries = &mut self.case()?.log.entries;
                let latest = entries.last().map_or_else(Place::default, |(place, _)| *place);
                let item: Item<P> =
                    serde_json::from_str(rest).map_err(|error| (error.column() + 2, error.to_string()))?;
                let mut entry = item.entry(latest).ok_or_else(|| wrong("a packet, an event or a fault"))?;
                // Without places, packets count.
                let stated = serde_json::from_str::<Value>(rest).is_ok_and(|value| value.get("at").is_some());
                if !stated && matches!(entry.1, Entry::Packet(_)) && !entries.is_empty() {
                    entry.0.packet = entry.0.packet.saturating_add(1);
                }
                entries.push(entry);
            }
            "W" => {
                let bytes = hex(rest).ok_or_else(|| wrong("bytes in hexadecimal, two digits each"))?;
                self.case()?.log.wire.extend(bytes);
            }
            "X" => self.case()?.reports.push(rest.to_owned()),
            "R" => {
                let (rows, checksum) = rest.split_once(' ').ok_or_else(|| wrong("rows and checksum"))?;
                let rows = rows.parse().map_err(|_| wrong("a number of rows"))?;
                let checksum =
                    u32::from_str_radix(checksum, 16).map_err(|_| wrong("a checksum in hexadecimal"))?;
                self.driven = Some((rows, checksum));
            }
            "E" if rest.is_empty() => self.ended = true,
            _ => return Err((1, format!("`{line}` is no line of a log of answers"))),
        }
        Ok(())
    }

    fn case(&mut self) -> Result<&mut Answer<P>, (usize, String)> {
        self.cases.last_mut().ok_or_else(|| (1, String::from("a line `C` must come first")))
    }

    /// What the testbench reports, with the ids of the cases.
    #[must_use]
    pub fn reports(&self, manifest: &StreamManifest) -> Vec<String> {
        let id = |number: u32| manifest.cases.get(number as usize).map_or("unknown", |entry| &entry.id);
        let reports = self.cases.iter().flat_map(|case| case.reports.iter().map(|it| (case.number, it)));
        reports.map(|(number, report)| format!("{}: {report}", id(number))).collect()
    }

    /// Why the run cannot be judged: rows, checksum, end, cases that were not driven, nothing came out.
    #[must_use]
    pub fn problems(&self, manifest: &StreamManifest) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.ended {
            problems.push(String::from("the log has no line `E`: the simulation stopped before its end"));
        }
        let sheets = || [Some(&manifest.bytes), manifest.stimulus.as_ref()].into_iter().flatten();
        match self.driven {
            None => problems.push(String::from("the log has no line `R`: rows and checksum are unknown")),
            Some((rows, _)) if sheets().all(|sheet| sheet.rows != rows) => {
                let known: Vec<String> = sheets().map(|sheet| sheet.rows.to_string()).collect();
                problems.push(format!("{rows} rows were driven, the pack has {}", known.join(" or ")));
            }
            Some((_, sum)) if sheets().all(|sheet| format!("{sum:08x}") != sheet.checksum) => {
                let message = "the device did not see the rows of the pack";
                problems.push(format!("the checksum {sum:08x} is not that of the pack: {message}"));
            }
            Some(_) => {}
        }
        let driven = |number| self.cases.iter().any(|case| case.number == number);
        // Without stimulus a case cannot be driven into an encoder.
        let due = manifest.cases.iter().filter(|entry| !self.has_wire() || entry.steps.is_some());
        let missing: Vec<&str> =
            due.filter(|entry| !driven(entry.number)).map(|entry| entry.id.as_str()).collect();
        if !missing.is_empty() {
            problems.push(format!("{} cases were not driven: {}", missing.len(), missing.join(" ")));
        }
        if !self.has_wire() && !self.has_results() {
            problems.push(String::from("nothing came out"));
        }
        problems
    }

    /// Whether these are answers of an encoder.
    #[must_use]
    pub fn has_wire(&self) -> bool {
        self.cases.iter().any(|case| !case.log.wire.is_empty())
    }

    /// Whether these are answers of a decoder.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.cases.iter().any(|case| !case.log.entries.is_empty())
    }

    /// The line `L`, or what can be seen: a stream that was driven is a claim of what it needs.
    #[must_use]
    pub fn claims(&self) -> Claims {
        if let Some(claims) = &self.claims {
            return claims.clone();
        }
        let entries = || self.cases.iter().flat_map(|case| &case.log.entries);
        let packets = entries().any(|(_, entry)| matches!(entry, Entry::Packet(_)));
        let events = entries().any(|(_, entry)| matches!(entry, Entry::Event(_)));
        let layers = [(packets, Layer::Packets), (events, Layer::Events)];
        Claims {
            layers: layers.into_iter().filter_map(|(there, layer)| there.then_some(layer)).collect(),
            features: P::FEATURES.iter().map(|feature| feature.name.to_owned()).collect(),
            readings: P::READINGS.iter().map(|reading| reading.name.to_owned()).collect(),
            faults: FaultDetail::Class,
            warnings: false,
            incremental: false,
        }
    }
}
