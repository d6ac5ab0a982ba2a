//! Prints mutants.

use std::fs;

use traceproof_mutants::{Built, Found, Judgement, Layout, Mutant, Options, Outcome, entry};

/// At most so many failing checks of a mutant.
const FAILURES: usize = 20;

/// One line for each mutant that the options select.
pub(crate) fn list(found: &Found, options: &Options) {
    let families = &options.families;
    let any = |list: &[String], takes: &dyn Fn(&String) -> bool| list.is_empty() || list.iter().any(takes);
    for mutant in &found.mutants {
        if any(families, &|family| family == mutant.module())
            && any(&options.packages, &|package| package == mutant.package())
            && any(&options.ids, &|id| mutant.is_named(id))
        {
            println!("{} {} {mutant}", mutant.id, mutant.operator);
        }
    }
}

/// The change and the failing checks of each mutant that was judged.
pub(crate) fn mutants(layout: &Layout, built: &Built, judgement: &Judgement) {
    for judged in &judgement.judged {
        let Some(mutant) = built.found.mutants.get(judged.mutant) else { continue };
        println!("{} {mutant}", mutant.id);
        source(layout, mutant);
        match &judged.outcome {
            Outcome::NotExecuted => println!("  not executed by the suite"),
            Outcome::Survived => {
                println!("  survived; mutants/equivalent.toml, if the change can have no effect:\n");
                entry(mutant).lines().for_each(|line| println!("    {line}"));
            }
            Outcome::Crashed => println!("  detected: the process crashed"),
            Outcome::TimedOut => println!("  detected: no end"),
            Outcome::Killed { failures } => {
                println!("  detected by {} checks:", failures.len());
                for failure in failures.iter().take(FAILURES) {
                    let message = failure.message.lines().next().unwrap_or_default();
                    println!("    {} {}: {}: {message}", failure.case, failure.direction, failure.kind);
                }
            }
        }
        println!();
    }
}

/// The line of the mutant with those around it.
fn source(layout: &Layout, mutant: &Mutant) {
    let text = fs::read_to_string(layout.root.join(&mutant.file)).unwrap_or_default();
    let first = mutant.line.saturating_sub(3);
    for (index, line) in text.lines().enumerate().skip(first).take(5) {
        let mark = if index + 1 == mutant.line { '>' } else { ' ' };
        println!("  {mark} {:5} {line}", index + 1);
    }
}
