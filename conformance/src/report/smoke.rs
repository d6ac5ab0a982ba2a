//! A smoke test for people: a line for each probe, and below those that failed what is to be done.

use std::fmt::Write as _;

use super::text::{Style, counted};
use crate::smoke::{Finding, Outcome, Report};
use crate::visible;

/// The whole report.
#[must_use]
pub fn report(report: &Report, style: Style) -> String {
    let mut out = String::new();
    let names = report.probes.iter().map(|probe| probe.question.name.len()).max().unwrap_or(0);
    let families =
        report.probes.iter().filter_map(|probe| probe.protocol).map(|protocol| protocol.name().len());
    let families = families.max().unwrap_or(0);
    for probe in &report.probes {
        let (name, right) = (probe.question.name, probe.question.right);
        let family = probe.protocol.map_or("", |protocol| protocol.name());
        let head = format!("{name:names$}  {family:families$}  ");
        match &probe.outcome {
            Outcome::Pass(None) => {
                let _ = writeln!(out, "{}  {head}{right}", style.good("pass"));
            }
            Outcome::Pass(Some(remark)) => {
                let _ = writeln!(out, "{}  {head}{right} ({remark})", style.good("pass"));
            }
            Outcome::NotApplicable(reason) => {
                let _ = writeln!(out, "{}  {head}not applicable: {reason}", style.faint("-   "));
            }
            Outcome::Fail(Finding { sent, came }) => {
                let _ = writeln!(out, "{}  {head}expected: {right}", style.bad("FAIL"));
                for (what, text) in [("sent", sent.as_str()), ("came", came), ("do", probe.question.remedy)] {
                    let _ = writeln!(
                        out,
                        "        {what:4}  {}",
                        visible::lines(text).replace('\n', "\n              ")
                    );
                }
            }
        }
    }
    let _ = write!(out, "\n{}", last_word(report, style));
    out
}

fn last_word(report: &Report, style: Style) -> String {
    let failed = report.failures().count();
    let apart =
        report.probes.iter().filter(|probe| matches!(probe.outcome, Outcome::NotApplicable(_))).count();
    let asked = report.probes.len() - apart;
    let name = [report.name.as_str(), report.version.as_str()].join(" ");
    let name = visible::line(&name);
    let who = if name.trim().is_empty() { "the subject" } else { name.trim() };
    let rest = format!("{apart} not applicable, {:.2} s", report.time.as_secs_f64());
    match failed {
        0 if report.is_success() => {
            format!(
                "{}: {who} is fit to be judged: {}, {rest}\n",
                style.good("PASS"),
                counted(asked, "probe")
            )
        }
        0 => format!("{}: no probe applies to {who}; {rest}\n", style.bad("NOTHING")),
        _ => {
            let first = report.failures().next().map_or("", |probe| probe.question.name);
            let probes = counted(asked, "probe");
            format!("{}: {failed} of {probes} of {who} failed, `{first}` first; {rest}\n", style.bad("FAIL"))
        }
    }
}
