//! The command that started this program.

use std::env;

use clap::Command;
use traceproof_conformance::Invocation;

/// Set by `.cargo/config.toml` of the checkout, where the program is started as `cargo xtask`.
const VARIABLE: &str = "TRACEPROOF_PROGRAM";

/// The words before the verb.
pub(crate) fn invocation() -> Invocation {
    match env::var(VARIABLE) {
        Ok(words) if !words.is_empty() => Invocation::new(words),
        _ => Invocation::default(),
    }
}

/// Writes usage and examples of every verb with the words by which the program was started.
pub(crate) fn spell(command: Command) -> Command {
    let invocation = invocation();
    if invocation == Invocation::default() {
        return command;
    }
    let name = invocation.to_string();
    examples(command, &format!("  {name} ")).bin_name(name)
}

/// Examples are indented by two; pipes within them start the program again.
fn examples(command: Command, words: &str) -> Command {
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let text = command.get_after_help().map(ToString::to_string);
    let command = match text {
        Some(text) => {
            let piped = format!("| {}", words.trim_start());
            command.after_help(text.replace("  traceproof ", words).replace("| traceproof ", &piped))
        }
        None => command,
    };
    verbs
        .into_iter()
        .fold(command, |command, verb| command.mut_subcommand(verb, |verb| examples(verb, words)))
}
