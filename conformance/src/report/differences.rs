//! What two subjects disagree about, for people.

use std::fmt::Write as _;

use super::table::{render, table};
use super::text::{Style, counted, sides};
use crate::differential::{Cluster, Differences, KnownFinding, findings_of};

/// Every kind of disagreement with its smallest stream, then totals.
#[must_use]
pub fn report(all: &[Differences], first: &str, second: &str) -> String {
    let mut out = String::new();
    for differences in all {
        for (number, cluster) in differences.clusters.iter().enumerate() {
            let _ = write!(out, "{} {}: ", differences.protocol, number + 1);
            out.push_str(&one(cluster, first, second));
            let known = findings_of(&differences.known, &cluster.kind);
            if !known.is_empty() {
                let _ = writeln!(out, "  known: {}", known.join(", "));
            }
            out.push('\n');
        }
    }
    let mut totals =
        table(&["family", ">streams compared", ">not taken by both", ">kinds of disagreement", ">streams"]);
    for Differences { protocol, compared, skipped, clusters, .. } in all {
        let streams: usize = clusters.iter().map(|cluster| cluster.streams).sum();
        totals.add_row([
            protocol.to_string(),
            compared.to_string(),
            skipped.to_string(),
            clusters.len().to_string(),
            streams.to_string(),
        ]);
    }
    out.push_str(&render(&totals, ""));
    for differences in all.iter().filter(|differences| !differences.known.is_empty()) {
        out.push_str(&found_again(differences));
    }
    let _ = writeln!(out, "\nleft is {first}, right is {second}");
    out
}

/// Which findings of the baseline were found again, by which of their kinds.
fn found_again(differences: &Differences) -> String {
    let mut again = table(&["known finding", "found again", "kind"]);
    for KnownFinding { finding, kinds } in &differences.known {
        let found: Vec<&String> =
            kinds.iter().filter(|kind| differences.clusters.iter().any(|it| it.kind == **kind)).collect();
        // A kind that no other finding has proves more.
        let best = found.iter().min_by_key(|kind| findings_of(&differences.known, kind).len());
        let (outcome, kind) = match best {
            Some(kind) => match findings_of(&differences.known, kind).len() {
                1 => (String::from("yes"), kind.as_str()),
                others => (format!("or {}", counted(others - 1, "other")), kind.as_str()),
            },
            None if kinds.is_empty() => (String::from("shows in no stream"), ""),
            None => (String::from("no"), kinds.first().map_or("", String::as_str)),
        };
        again.add_row([finding.as_str(), &outcome, kind]);
    }
    format!("\n{}", render(&again, ""))
}

fn one(cluster: &Cluster, first: &str, second: &str) -> String {
    let mut out = format!("{}  on {}\n", cluster.kind, counted(cluster.streams, "stream"));
    let _ = writeln!(out, "  such as {}", cluster.examples.join("; "));
    for line in cluster.parameters.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  shrunk: {}", cluster.wire);
    for unit in &cluster.units {
        let _ = writeln!(out, "    {unit}");
    }
    let divergence = &cluster.divergence;
    let _ = write!(out, "  {} differ at item {}", divergence.what, divergence.index);
    if let Some(place) = divergence.place {
        let _ = write!(out, " ({place})");
    }
    let _ = writeln!(out, ": {first} | {second}");
    out.push_str(&sides(divergence, [first, second], Style::default()));
    out
}
