//! Claims and results of a decoder in JSON, as in the protocol of adaptors.

use serde::{Deserialize, Serialize};
use traceproof_vectors::case::CaseProtocol;
use traceproof_vectors::{Address, Capabilities, Entry, Fault, FaultClass, FaultDetail, Layer, Place};

/// What is claimed for one protocol. What is not claimed is not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Which results there are.
    pub layers: Vec<Layer>,
    /// Optional features, by the family's names.
    #[serde(default)]
    pub features: Vec<String>,
    /// Readings that it follows.
    #[serde(default)]
    pub readings: Vec<String>,
    /// The detail of its faults.
    #[serde(default = "place")]
    pub faults: FaultDetail,
    /// Whether warnings (class `suspicious`) are reported.
    #[serde(default)]
    pub warnings: bool,
    /// Whether a stream may come in pieces and decoders are used again. If not, every `run` is a whole stream for a new
    /// decoder.
    #[serde(default = "yes")]
    pub incremental: bool,
}

impl From<&Capabilities> for Claims {
    fn from(capabilities: &Capabilities) -> Self {
        Self {
            layers: capabilities.layers.iter().copied().collect(),
            features: capabilities.features.iter().cloned().collect(),
            readings: capabilities.readings.iter().cloned().collect(),
            faults: capabilities.faults,
            warnings: capabilities.warnings,
            incremental: capabilities.incremental,
        }
    }
}

impl From<&Claims> for Capabilities {
    fn from(claims: &Claims) -> Self {
        Self::new(claims.layers.iter().copied())
            .with_features(claims.features.iter().map(String::as_str))
            .with_readings(claims.readings.iter().map(String::as_str))
            .with_faults(claims.faults)
            .with_warnings(claims.warnings)
            .with_incremental(claims.incremental)
    }
}

const fn yes() -> bool {
    true
}

const fn place() -> FaultDetail {
    FaultDetail::Place
}

/// One result of a decoder: a packet, an event or a fault.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "P: CaseProtocol", deserialize = "P: CaseProtocol"))]
pub struct Item<P: CaseProtocol> {
    /// Packet index, byte, bit. What is left out is the place of the result before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(u64, u64, u8)>,
    /// A packet, as in a case.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub packet: Option<P::Packet>,
    /// An event.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub event: Option<P::Event>,
    /// The class of a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultClass>,
    /// The code address that a fault is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

impl<P: CaseProtocol> Item<P> {
    /// A packet.
    #[must_use]
    pub const fn packet(place: Place, packet: P::Packet) -> Self {
        Self { at: Some(at(place)), packet: Some(packet), event: None, fault: None, address: None }
    }

    /// An event.
    #[must_use]
    pub const fn event(place: Place, event: P::Event) -> Self {
        Self { at: Some(at(place)), packet: None, event: Some(event), fault: None, address: None }
    }

    /// A fault.
    #[must_use]
    pub const fn fault(fault: &Fault) -> Self {
        let Fault { class, place, address, .. } = *fault;
        Self { at: Some(at(place)), packet: None, event: None, fault: Some(class), address }
    }

    /// Without its place.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { at: None, ..self }
    }

    /// The result and its place; `latest` is the place of the result before it. `None` unless it is exactly one result.
    #[must_use]
    pub fn entry(self, latest: Place) -> Option<(Place, Entry<P>)> {
        let place = self.at.map_or(latest, |(packet, byte, bit)| Place { packet, byte, bit });
        let entry = match (self.packet, self.event, self.fault) {
            (Some(packet), None, None) => Entry::Packet(packet),
            (None, Some(event), None) => Entry::Event(event),
            (None, None, Some(class)) => Entry::Fault(Fault::new(class, place).with_address(self.address)),
            _ => return None,
        };
        Some((place, entry))
    }
}

impl<P: CaseProtocol> PartialEq for Item<P> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
            && self.packet == other.packet
            && self.event == other.event
            && (self.fault, self.address) == (other.fault, other.address)
    }
}

const fn at(place: Place) -> (u64, u64, u8) {
    (place.packet, place.byte, place.bit)
}

// What `default` alone would ask of `Packet` is not needed.
const fn none<T>() -> Option<T> {
    None
}
