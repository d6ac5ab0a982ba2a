//! What is asked, what is right, and what is to be done where something else comes.

/// What a probe asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name in reports.
    pub name: &'static str,
    /// What is right.
    pub right: &'static str,
    /// What is to be done if something else comes.
    pub remedy: &'static str,
}

const fn question(name: &'static str, right: &'static str, remedy: &'static str) -> Question {
    Question { name, right, remedy }
}

/// It starts.
pub const START: Question = question(
    "start",
    "it starts and answers `hello` in time",
    "look at `command` in the subject file, and start it by hand; it must flush every answer",
);
/// The id of the answer to `hello`.
pub const HELLO_ID: Question = question(
    "hello-id",
    "the answer to `hello` has the id of the request",
    "copy `id` of every request into its answer, that of `hello`, too",
);
/// The nonce.
pub const NONCE: Question = question(
    "nonce",
    "the nonce of `hello` comes back unchanged",
    "copy `nonce` of the request into the answer",
);
/// The version of the protocol.
pub const VERSION: Question = question(
    "version",
    "it speaks tdut/2",
    "answer `\"tdut\":2`; version 1 is no longer asked for (docs/adaptors.md, Versions)",
);
/// The framing.
pub const FRAMING: Question = question(
    "framing",
    "it chooses a framing that was offered",
    "answer one of `framings` of the request, or say in the subject file what it can speak",
);
/// The names in the claims.
pub const CLAIMS: Question = question(
    "claims",
    "it has a name, claims something, and every family, layer, feature and reading that it claims is known",
    "correct the names; what is misspelt is never asked for",
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
    "answers have the ids of their requests and come in their order",
    "copy `id`, up to 4294967295, into the answer; answer each request once, in order; claim `max_inflight` only if several may wait",
);
/// Keys that are sent again.
pub const FORGET: Question = question(
    "forget",
    "`forget` is answered `ok` or `unsupported`, and keys may be told anew behind it",
    "let a key that is told again replace what was told before",
);
/// A request that is cut off.
pub const MALFORMED: Question = question(
    "malformed",
    "a request that is cut off is never answered `ok`, but `error`, or passed over, or ends it; a new process works on",
    "answer `ok` only to requests that were read to their end; or end with a message on standard error",
);
/// A family that is not claimed.
pub const UNCLAIMED_FAMILY: Question = question(
    "unclaimed-family",
    "parameters of a family that it does not claim are refused, at the latest when a stream begins",
    "look at `family` of `parameters`, and answer `unsupported`",
);
/// The end.
pub const BYE: Question = question(
    "bye",
    "behind `bye` it ends in time, and all that it started with it",
    "leave the loop at `bye` and at the end of the input; end what was started",
);
/// What stands on standard output.
pub const STDOUT: Question = question(
    "stdout",
    "nothing but answers stands on standard output",
    "write messages to standard error; libraries that print must be told not to",
);
/// A stream of no bytes.
pub const EMPTY: Question = question(
    "empty",
    "a stream of no bytes has no packets and no events",
    "report only what bytes told; nothing is known before the first packet",
);
/// The same twice.
pub const AGAIN: Question = question(
    "again",
    "the same stream twice, and behind a reset, gives the same",
    "let `begin` and `reset` clear all that a stream may have changed; use no clock and no randomness",
);
/// In pieces.
pub const PIECES: Question = question(
    "pieces",
    "a stream in pieces gives the same as the whole",
    "keep what is left of a packet until the rest comes; or claim `\"incremental\":false`",
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
    "parameters that need nothing but what it claims are taken",
    "claim the feature no longer, or take the parameters",
);
/// A first stream.
pub const RIGHT: Question = question(
    "right",
    "what a small shipped stream means comes out",
    "the verb `explain` with the case takes the stream apart; `conformance --filter CASE` shows both sides",
);
/// A first stimulus.
pub const ENCODES: Question = question(
    "encodes",
    "a small shipped stimulus becomes its stream",
    "the verb `explain` with the case takes the stream apart; `conformance --filter CASE` shows both sides",
);

/// What is asked of the protocol, in order.
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

/// What is asked about the streams of a family, in order.
pub(super) const OF_STREAMS: [&Question; 7] =
    [&EMPTY, &AGAIN, &PIECES, &UNCLAIMED, &CLAIMED, &RIGHT, &ENCODES];
