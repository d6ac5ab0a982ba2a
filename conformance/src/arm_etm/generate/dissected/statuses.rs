//! The fields of records: what PIPESTAT says, and what is on TRACEPKT besides packets.

use traceproof_vectors::Dissection;
use traceproof_vectors::arm_etm::v2::Cycle;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Parameters};

use super::Capture;

/// Codes of PIPESTAT, whatever the version: TR, TD. Of ETMv1 also the last one without address or special meaning (WT),
/// and those with an address (BE, BD).
const TR: u8 = 6;
const TD: u8 = 7;
const WT: u8 = 3;
const WITH_ADDRESS: [u8; 2] = [4, 5];

/// Name, byte in the record, first bit and width.
type Pins = (&'static str, u64, u64, u32);

/// What is known from the records before.
pub(super) struct Statuses {
    is_v1: bool,
    port_width: u8,
    /// Bytes of a record.
    size: u64,
    capture: Capture,
    /// ETMv1: how many of the next records are those of an APO.
    apo: u8,
    /// ETMv2: records before the next part of a TFO value.
    value: Option<(Part, u8)>,
    /// ETMv2: the first TFO value, of a capture from its middle on: so many bytes are skipped.
    bytes: Option<u64>,
    /// Its upper part, if the lower one comes later.
    high: Option<u64>,
    skipped: u64,
    has_faults: bool,
    /// ETMv1: every record that could be read.
    records: Vec<Record>,
}

/// A record of ETMv1.
struct Record {
    /// PIPESTAT, or what TR replaces.
    code: u8,
    /// The FIFO delivers in it.
    outputs: bool,
    tracesync: bool,
    /// Bits that are said to be skipped.
    skipped: u32,
}

/// The next part of a TFO value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Second,
}

impl Statuses {
    pub(super) fn new(parameters: &Parameters, capture: Capture) -> Self {
        let is_v1 = parameters.architecture == Architecture::V1;
        let port_width = parameters.port_width;
        Self {
            is_v1,
            port_width,
            size: Cycle::size(parameters) as u64,
            capture,
            apo: 0,
            value: None,
            bytes: None,
            high: None,
            skipped: 0,
            has_faults: false,
            records: Vec::new(),
        }
    }

    /// Whether a record has the fields that its bytes say.
    pub(super) fn say(&mut self, unit: &Dissection<ArmEtm>, wire: &[u8]) -> bool {
        self.has_faults |= matches!(unit.packet, Some(Err(_)));
        let bytes = usize::try_from(unit.bytes.start).ok().and_then(|start| wire.get(start..));
        let Some(&[status, low, ..]) = bytes.filter(|_| unit.bytes.end - unit.bytes.start == self.size)
        else {
            return unit.fields.is_empty();
        };
        let pins = if self.is_v1 { self.v1(status, low) } else { self.v2(status, low) };
        let Some(pins) = pins else { return unit.fields.is_empty() };
        let (skipped, found): (Vec<_>, Vec<_>) =
            unit.fields.iter().partition(|field| field.name == "skipped");
        let width = if self.port_width == 4 { 4 } else { 8 };
        let start = 8 * unit.bytes.start;
        // On a 4-bit port the low half of a byte is in a record before.
        let passes = skipped.iter().all(|field| {
            let is_here = width == 4 || field.bit >= start + 8;
            field.bit % 8 == 0 && field.width == width && is_here
        });
        let skipped_bits = skipped.iter().map(|field| field.width).sum::<u32>();
        self.skipped += u64::from(skipped_bits);
        let found = found.into_iter().map(|field| (field.name, field.bit, field.width));
        let expected =
            pins.into_iter().map(|(name, byte, first, width)| (name, start + 8 * byte + first, width));
        let code = if self.is_v1 { status & 7 } else { status };
        let outputs = code != TR && code != TD;
        if self.is_v1 {
            let code = if code == TR { low & 7 } else { code };
            self.records.push(Record { code, outputs, tracesync: status & 8 != 0, skipped: skipped_bits });
        }
        passes
            && (skipped.is_empty() || outputs)
            && (found.eq(expected) || (!self.is_v1 && self.capture != Capture::Whole))
    }

    /// Spec: ETM1-PS-001 (5.1), ETM1-APO-007, ETM1-APO-008 (5.6.1). `None` if bits are set that are always 0.
    fn v1(&mut self, status: u8, low: u8) -> Option<Vec<Pins>> {
        let apo = self.apo;
        self.apo = apo.saturating_sub(1);
        if status & 0xf0 != 0 || (self.port_width == 4 && low & 0xf0 != 0) {
            return None;
        }
        let name = if apo == 1 { "APO[3:2]" } else { "APO[1:0]" };
        let code = status & 7;
        let replaced = if code == TR { low & 7 } else { code };
        if WITH_ADDRESS.contains(&replaced) {
            self.apo = 2;
        }
        let part = |byte, code: u8, whole| {
            if apo > 0 && code <= WT {
                vec![(name, byte, 0, 2), ("0", byte, 2, 1)]
            } else {
                vec![(whole, byte, 0, 3)]
            }
        };
        let mut pins = part(0, code, "PIPESTAT");
        pins.push(("TRACESYNC", 0, 3, 1));
        match code {
            TR => pins.extend(part(1, low & 7, "replaced PIPESTAT")),
            TD => pins.push(("keep", 1, 0, 1)),
            _ => {}
        }
        Some(pins)
    }

    /// Spec: ETM2-PS-001 (6.1), ETM2-TFO-001 (6.1.6), ETM2-TRG-003 (6.1.7); readings etm-pc-3, etm-pc-8, etm-pc-9.
    fn v2(&mut self, status: u8, low: u8) -> Option<Vec<Pins>> {
        if status & 0xf0 != 0 || (self.port_width == 4 && low & 0xf0 != 0) {
            return None;
        }
        let mut pins = vec![("PIPESTAT", 0, 0, 4)];
        if status == TR {
            pins.push(("replaced PIPESTAT", 1, 0, 4));
            if low & 0xf == TD {
                self.value = Some((Part::First, 0));
            }
            return Some(pins);
        }
        let begins = status == TD && low & 1 == 1 && low >> 1 & 7 != 7;
        if self.value.is_none() && begins {
            self.value = Some((Part::First, 0));
        }
        match self.value {
            None => {}
            Some((part, wait @ 1..)) => self.value = Some((part, wait - 1)),
            Some((Part::First, 0)) => {
                pins.extend([("TFO", 1, 0, 1), ("N[6:4]", 1, 1, 3)]);
                let high = u64::from(low >> 1 & 7) << 4;
                if self.port_width == 4 {
                    self.value = Some((Part::Second, 1));
                    self.high = self.bytes.is_none().then_some(high);
                } else {
                    pins.push(("N[3:0]", 1, 4, 4));
                    self.value = None;
                    self.bytes = self.bytes.or(Some(high | u64::from(low >> 4)));
                }
            }
            Some((Part::Second, 0)) => {
                pins.push(("N[3:0]", 1, 0, 4));
                self.value = None;
                self.bytes = self.high.take().map(|high| high | u64::from(low & 0xf)).or(self.bytes);
            }
        }
        Some(pins)
    }

    /// ETMv1: from the first branch whose APO is known up to the mark that it names, no byte belongs to anything. The
    /// APO counts marks from the record of the branch on.
    ///
    /// Spec: ETM1-APO-001 to 003 (5.6.1).
    fn skips_to_mark(&self) -> bool {
        let known = |three: &[Record]| match three {
            [branch, low, high] if WITH_ADDRESS.contains(&branch.code) && low.code.max(high.code) <= WT => {
                Some(high.code << 2 | low.code).filter(|marks| *marks < 15)
            }
            _ => None,
        };
        let first = self.records.windows(3).enumerate().find_map(|(at, three)| Some((at, known(three)?)));
        let Some((first, marks)) = first else { return true };
        let outputs = self.records[first..].iter().filter(|record| record.outputs);
        let mut left = marks + 1;
        let mut before = outputs.take_while(|record| {
            left -= u8::from(record.tracesync);
            left > 0
        });
        before.all(|record| record.skipped == u32::from(self.port_width))
    }

    /// An ETMv2 capture without faults begins with a TFO packet, or with as many bytes of others as its first TFO value
    /// says. Of one of ETMv1 every byte before the first packet is skipped.
    pub(super) fn finish(self, has_packets: bool, wire: &[u8]) -> Result<(), String> {
        if self.is_v1 {
            let is_right = self.has_faults || self.skips_to_mark();
            return if is_right { Ok(()) } else { Err(format!("not all bytes are skipped of {wire:02x?}")) };
        }
        let is_sure = has_packets && !self.has_faults;
        let expected = match self.capture {
            Capture::Whole => Some(0),
            Capture::Joined => self.bytes.filter(|_| is_sure),
            Capture::Damaged => None,
        };
        if expected.is_none_or(|bytes| self.skipped == 8 * bytes) {
            Ok(())
        } else {
            Err(format!("{} bits are skipped of {wire:02x?}", self.skipped))
        }
    }
}
