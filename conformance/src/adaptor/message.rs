//! The messages of `tdut/2`, as they stand in JSON.
//!
//! Every request but `bye` has an `id`, and exactly one answer with the same `id`. Answers come in the order of the
//! requests. Unknown fields are ignored on both sides; an unknown `op` is answered `unsupported`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::notation::parse_bytes;
use traceproof_vectors::{Address, DecoderLimits, MemorySpace, Program, ProgramError, Refusal, Section};

pub use traceproof_differential::{Claims, Item};

use super::backref::MOST_ITEMS;
use super::framing::Framing;

/// What every request begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// What is asked.
    #[serde(default)]
    pub op: String,
    /// Which answer belongs to it.
    #[serde(default)]
    pub id: u32,
}

/// A request: the head and what belongs to the `op`.
#[derive(Clone, Debug, Serialize)]
pub struct Request<B> {
    /// What is asked.
    pub op: &'static str,
    /// Which answer belongs to it.
    pub id: u32,
    /// The rest.
    #[serde(flatten)]
    pub body: B,
}

/// `hello`: the first request, always a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol version of the runner.
    pub tdut: u32,
    /// Returned unchanged, so that a recording or an echo is not mistaken for a subject.
    pub nonce: String,
    /// The framings that the runner supports, the preferred one first.
    pub framings: Vec<Framing>,
    /// The longest answer that it takes, in bytes.
    pub max_message: u64,
    /// Results may have [back-references](super::backref).
    #[serde(default)]
    pub again: bool,
}

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The protocol version of the subject.
    pub tdut: u32,
    /// The nonce of the request.
    pub nonce: String,
    /// The framing of everything that follows.
    #[serde(default)]
    pub framing: Framing,
    /// How many requests may wait for their answers at once.
    #[serde(default = "one")]
    pub max_inflight: u32,
    /// Its name.
    pub name: String,
    /// Which version of it.
    #[serde(default)]
    pub version: String,
    /// Stimulus may have [back-references](super::backref).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub again: bool,
    /// It reads the `space` of sections; otherwise it gets no program that has any.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub spaces: bool,
    /// Where its defects are reported.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issues: String,
    /// What it claims as a decoder, by the name of the protocol.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decoders: BTreeMap<String, Claims>,
    /// What it claims as an encoder, by the name of the protocol.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encoders: BTreeMap<String, Claims>,
}

const fn one() -> u32 {
    1
}

/// `parameters`: what the hardware is, once for each key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters<T> {
    /// The number by which requests name it from now on.
    pub key: u32,
    /// The protocol's name.
    pub family: String,
    /// The family's parameters, by the specification's names; all of them that have a value.
    pub parameters: T,
    /// Limits of work and memory, if they are not the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<DecoderLimits>,
}

/// `image`: the code that the trace ran over, once for each key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Image<'a> {
    /// The number by which requests name it from now on.
    pub key: u32,
    /// The code, by ascending addresses.
    pub sections: Vec<ImageSection<'a>>,
}

/// A run of bytes in target memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSection<'a> {
    /// Address of the first byte.
    pub address: Address,
    /// The bytes as they lie in memory.
    pub bytes: HexBytes<'a>,
    /// In which states of the processor they are there; absent = any.
    #[serde(default, skip_serializing_if = "MemorySpace::is_any")]
    pub space: MemorySpace,
}

impl<'a> Image<'a> {
    /// The message for a program.
    #[must_use]
    pub fn of(key: u32, program: &'a Program) -> Self {
        let section = |section: &'a Section| ImageSection {
            address: section.address,
            bytes: HexBytes(Cow::Borrowed(&section.bytes)),
            space: section.space,
        };
        Self { key, sections: program.sections().iter().map(section).collect() }
    }

    /// The program.
    ///
    /// # Errors
    ///
    /// When sections overlap or do not fit the address space.
    pub fn program(self) -> Result<Program, ProgramError> {
        let mut program = Program::new();
        for section in self.sections {
            let bytes = section.bytes.0.into_owned();
            program.insert(Section::new(section.address, bytes, "").in_space(section.space))?;
        }
        Ok(program)
    }
}

/// How the decoder or encoder comes into the state in which the request finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Begins with parameters and image, in a new decoder or the current one.
    Begin,
    /// The current one discards its stream and keeps parameters and image.
    Reset,
    /// The current one continues.
    Continue,
}

/// `run`: decode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run<'a> {
    /// What happens first.
    pub start: Start,
    /// Key of the parameters.
    pub parameters: u32,
    /// Key of the image.
    pub image: u32,
    /// The bytes, in the pieces in which the decoder must get them; pieces may be empty.
    pub chunks: Vec<HexBytes<'a>>,
    /// Whether the stream ends after them.
    pub finish: bool,
}

/// `encode`: let stimulus happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Encode<Policy, List> {
    /// What happens first.
    pub start: Start,
    /// Key of the parameters.
    pub parameters: u32,
    /// The encoder's choices, with `"start": "begin"`.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// What the hardware sees, step by step.
    pub stimulus: List,
    /// Whether the stimulus ends after them.
    pub finish: bool,
}

// What `default` alone would ask of `Policy` is not needed.
const fn none<T>() -> Option<T> {
    None
}

impl<R> Answer<R> {
    /// An answer without results.
    #[must_use]
    pub const fn new(id: u32, status: Status) -> Self {
        Self { id, status, results: Vec::new(), feature: None, parameter: None, reason: None, message: None }
    }

    /// What a refusal is as an answer.
    #[must_use]
    pub fn refused(id: u32, refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unsupported { feature } => {
                Self { feature: Some(feature), ..Self::new(id, Status::Unsupported) }
            }
            Refusal::Invalid { parameter, reason } => Self {
                parameter: Some(parameter.to_owned()),
                reason: Some(reason),
                ..Self::new(id, Status::Invalid)
            },
            other => Self { reason: Some(other.to_string()), ..Self::new(id, Status::Invalid) },
        }
    }

    /// The refusal that an answer is; `None` if it is none.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| String::from("not stated"));
        match self.status {
            Status::Ok | Status::Error => None,
            Status::Unsupported => Some(Refusal::unsupported(text(&self.feature))),
            Status::Invalid => Some(Refusal::Stated {
                text: match &self.parameter {
                    Some(parameter) => format!("invalid parameter `{parameter}`: {}", text(&self.reason)),
                    None => text(&self.reason),
                },
            }),
        }
    }
}

/// How a request came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was done.
    Ok,
    /// A feature is not supported; see `feature`.
    Unsupported,
    /// No hardware has such parameters; see `parameter` and `reason`.
    Invalid,
    /// The subject broke; see `message`.
    Error,
}

/// The answer to every request but `hello`. `R` is an [element](super::backref::Element) of [`Item`] or
/// [`EncodedItem`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer<R> {
    /// Whose answer it is.
    #[serde(default)]
    pub id: u32,
    /// How it came out.
    pub status: Status,
    /// The results, in stream order; at most [`MOST_ITEMS`] elements are read.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded", bound(deserialize = "R: Deserialize<'de>"))]
    pub results: Vec<R>,
    /// Which feature is not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// Which parameter is impossible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Reads no more elements than an answer can have: in memory they are many times as long as in the message.
fn bounded<'de, D: Deserializer<'de>, R: Deserialize<'de>>(deserializer: D) -> Result<Vec<R>, D::Error> {
    struct Bounded<R>(PhantomData<R>);

    impl<'de, R: Deserialize<'de>> Visitor<'de> for Bounded<R> {
        type Value = Vec<R>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MOST_ITEMS} results")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<R>, A::Error> {
            let mut results = Vec::new();
            while let Some(result) = elements.next_element()? {
                if results.len() == MOST_ITEMS {
                    return Err(A::Error::custom(format_args!("more than {MOST_ITEMS} results")));
                }
                results.push(result);
            }
            Ok(results)
        }
    }

    deserializer.deserialize_seq(Bounded(PhantomData))
}

/// A body without fields, and a result of an answer that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {}

/// One result of an encoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound(serialize = "P: CaseProtocol", deserialize = "P: CaseProtocol"))]
pub enum EncodedItem<P: CaseProtocol> {
    /// A packet was made.
    Packet(P::Packet),
    /// Bytes left.
    Wire(HexBytes<'static>),
}

impl<P: CaseProtocol> PartialEq for EncodedItem<P> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Packet(a), Self::Packet(b)) => a == b,
            (Self::Wire(a), Self::Wire(b)) => a == b,
            _ => false,
        }
    }
}

/// Bytes as hexadecimal digits, two for each byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HexBytes<'a>(pub Cow<'a, [u8]>);

impl Serialize for HexBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
        let mut text = String::with_capacity(self.0.len() * 2);
        for &byte in self.0.iter() {
            text.push(digit(byte >> 4));
            text.push(digit(byte));
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for HexBytes<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let bytes =
            parse_bytes(&text).ok_or_else(|| D::Error::custom("expected pairs of hexadecimal digits"))?;
        Ok(Self(Cow::Owned(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::{Capabilities, FaultDetail, Layer};

    use super::*;

    #[test]
    fn claims_come_back_as_the_capabilities_that_they_state() {
        let full = Capabilities::new([Layer::Events])
            .with_features(["rv32"])
            .with_readings(["etm-pc-1"])
            .with_faults(FaultDetail::Flag)
            .with_warnings(true)
            .with_incremental(false);
        for capabilities in [full.clone(), full.with_warnings(false).with_incremental(true)] {
            let text = serde_json::to_string(&Claims::from(&capabilities)).expect("JSON");
            let claims: Claims = serde_json::from_str(&text).expect("claims");
            assert_eq!(Capabilities::from(&claims), capabilities);
        }
    }

    #[test]
    fn a_subject_that_states_layers_alone_claims_no_warnings() {
        let claims: Claims = serde_json::from_str(r#"{"layers":["packets"]}"#).expect("claims");
        assert_eq!(Capabilities::from(&claims), Capabilities::new([Layer::Packets]));
    }

    #[test]
    fn no_more_results_are_read_than_an_answer_can_have() {
        let read = |count: usize| {
            let results = vec!["{}"; count].join(",");
            let text = format!(r#"{{"status":"ok","results":[{results}]}}"#);
            serde_json::from_str::<Answer<Nothing>>(&text).map(|answer| answer.results.len())
        };
        assert_eq!(read(MOST_ITEMS).expect("as many as there may be"), MOST_ITEMS);
        let error = read(MOST_ITEMS + 1).expect_err("one more").to_string();
        assert!(error.starts_with("more than 1048576 results"), "{error}");
    }

    #[test]
    fn sections_keep_their_spaces() {
        let mut program = Program::new();
        for (address, space) in [(0x1000_u64, "any"), (0x2000, "secure el1"), (0x2000, "non-secure vmid=0x3")]
        {
            let section = Section::new(address, vec![1, 2], "").in_space(space.parse().expect("a space"));
            program.insert(section).expect("clear");
        }
        let text = serde_json::to_string(&Image::of(7, &program)).expect("writes");
        assert_eq!(
            text,
            r#"{"key":7,"sections":[{"address":"0x1000","bytes":"0102"},"#.to_owned()
                + r#"{"address":"0x2000","bytes":"0102","space":{"security":"secure","exception_levels":["el1"]}},"#
                + r#"{"address":"0x2000","bytes":"0102","space":{"security":"non-secure","vmid":"0x3"}}]}"#
        );
        let read: Image<'_> = serde_json::from_str(&text).expect("reads");
        assert_eq!(read.program(), Ok(program));
    }
}
