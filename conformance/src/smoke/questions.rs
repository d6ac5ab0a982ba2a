//! The probes of `smoke`: correct behaviour, and the remedy for a failure.

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name in reports.
    pub name: &'static str,
    /// The correct behaviour.
    pub right: &'static str,
    /// The remedy for a failure.
    pub remedy: &'static str,
}

const fn question(name: &'static str, right: &'static str, remedy: &'static str) -> Question {
    Question { name, right, remedy }
}

/// It starts.
pub const START: Question = question(
    "start",
    "it starts and answers `hello` in time",
    "check `command` in the subject file, and run it by hand; it must flush every answer",
);
/// The id of the answer to `hello`.
pub const HELLO_ID: Question = question(
    "hello-id",
    "the answer to `hello` has the id of the request",
    "copy `id` of every request, also of `hello`, into its answer",
);
/// The nonce.
pub const NONCE: Question = question(
    "nonce",
    "the nonce of `hello` is returned unchanged",
    "copy `nonce` of the request into the answer",
);
/// The version of the protocol.
pub const VERSION: Question = question(
    "version",
    "it implements tdut/2",
    "answer `\"tdut\":2`; version 1 is no longer supported (docs/adaptors.md, Versions)",
);
/// The framing.
pub const FRAMING: Question = question(
    "framing",
    "it chooses a framing that was offered",
    "answer one of `framings` of the request, or list the supported framings in the subject file",
);
/// The names in the claims.
pub const CLAIMS: Question = question(
    "claims",
    "it has a name, claims something, and every family, layer, feature and reading that it claims is known",
    "correct the names; a misspelt feature is never used",
);
/// An unknown request.
pub const UNKNOWN_OP: Question = question(
    "unknown-op",
    "a request with an unknown `op` is answered `unsupported`",
    "answer `{\"id\":…,\"status\":\"unsupported\"}` to every `op` that it does not know",
);
/// Unknown fields.
pub const UNKNOWN_FIELDS: Question = question(
    "unknown-fields",
    "unknown fields of requests change nothing",
    "ignore fields that it does not know; later versions of the runner may send more",
);
/// Ids of answers.
pub const IDS: Question = question(
    "ids",
    "answers have the ids and the order of their requests",
    "copy `id`, up to 4294967295, into the answer; answer each request once, in order; claim `max_inflight` only if several may wait",
);
/// Keys that are sent again.
pub const FORGET: Question = question(
    "forget",
    "`forget` is answered `ok` or `unsupported`, and keys can be sent again after it",
    "replace the earlier value of a key that is sent again",
);
/// A request that is cut off.
pub const MALFORMED: Question = question(
    "malformed",
    "a request that is cut off is never answered `ok`: it is answered `error`, ignored, or ends the process; a new process continues",
    "answer `ok` only to requests that were read to their end; or end with a message on standard error",
);
/// A family that is not claimed.
pub const UNCLAIMED_FAMILY: Question = question(
    "unclaimed-family",
    "parameters of a family that it does not claim are refused, at the latest when a stream begins",
    "check `family` of `parameters`, and answer `unsupported`",
);
/// The end.
pub const BYE: Question = question(
    "bye",
    "after `bye` it and its child processes end in time",
    "leave the loop at `bye` and at the end of the input; end all child processes",
);
/// The content of standard output.
pub const STDOUT: Question = question(
    "stdout",
    "only answers are written to standard output",
    "write messages to standard error; configure libraries not to print",
);
/// A stream of no bytes.
pub const EMPTY: Question = question(
    "empty",
    "a stream of no bytes has no packets and no events",
    "report only what the bytes contain; nothing is known before the first packet",
);
/// The same twice.
pub const AGAIN: Question = question(
    "again",
    "the same stream twice, and after a reset, gives the same results",
    "clear all state of a stream at `begin` and `reset`; use no clock and no randomness",
);
/// In pieces.
pub const PIECES: Question = question(
    "pieces",
    "a stream in pieces gives the same results as the whole",
    "keep an incomplete packet until the rest arrives; or claim `\"incremental\":false`",
);
/// Features that are not claimed.
pub const UNCLAIMED: Question = question(
    "unclaimed",
    "parameters that need a feature that it does not claim are refused",
    "answer `unsupported` with the feature to `begin`; results of a decoder that guesses are worse than none",
);
/// Features that are claimed.
pub const CLAIMED: Question = question(
    "claimed",
    "parameters that need only claimed features are accepted",
    "remove the claim of the feature, or accept the parameters",
);
/// A first stream.
pub const RIGHT: Question = question(
    "right",
    "a small shipped stream is decoded correctly",
    "the verb `explain` with the case dissects the stream; `conformance --filter CASE` shows both sides",
);
/// A first stimulus.
pub const ENCODES: Question = question(
    "encodes",
    "a small shipped stimulus is encoded correctly",
    "the verb `explain` with the case dissects the stream; `conformance --filter CASE` shows both sides",
);

/// The probes of the protocol, in order.
pub(super) const OF_PROTOCOL: [&Question; 14] = [
    &START,
    &HELLO_ID,
    &NONCE,
    &VERSION,
    &FRAMING,
    &CLAIMS,
    &UNKNOWN_OP,
    &UNKNOWN_FIELDS,
    &IDS,
    &FORGET,
    &MALFORMED,
    &UNCLAIMED_FAMILY,
    &BYE,
    &STDOUT,
];

/// The probes with streams of a family, in order.
pub(super) const OF_STREAMS: [&Question; 7] =
    [&EMPTY, &AGAIN, &PIECES, &UNCLAIMED, &CLAIMED, &RIGHT, &ENCODES];
