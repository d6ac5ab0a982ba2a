//! Whether logs of register accesses are taken apart into the columns of their records.

use traceproof_vectors::{Dissection, Fault, FaultClass, Field, Place, Protocol};

use super::{Entropy, tiles};

/// Bytes of a record.
const RECORD: usize = 16;
/// What bits are called that are always 0.
const ALWAYS_0: &str = "0";

/// The fields that a record must have, lowest bit first.
pub(crate) struct Columns(Vec<Field>);

impl Columns {
    /// Those of a record of this kind begin with its code.
    pub(crate) fn of(code: u8) -> Self {
        Self(Vec::new()).field("record", 8, code)
    }

    pub(crate) fn field(mut self, name: &'static str, width: u32, value: impl Into<u64>) -> Self {
        let bit = self.end();
        self.0.push(Field { name, bit, width, received: width, value: value.into() });
        self
    }

    /// Nothing up to this bit, in each half of the record.
    pub(crate) fn up_to(self, end: u64) -> Self {
        [64, 128].into_iter().fold(self, |columns, border| {
            let width = end.min(border).saturating_sub(columns.end());
            if width == 0 { columns } else { columns.field(ALWAYS_0, width as u32, 0_u64) }
        })
    }

    /// Bytes 8 to 15 in fields, each with its first bit.
    pub(crate) fn value(self, fields: &[(&'static str, u32)], value: u64) -> Self {
        let ends = fields.iter().map(|field| field.1).skip(1).chain([64]);
        fields.iter().zip(ends).fold(self.up_to(64), |columns, (&(name, first), end)| {
            let width = end - first;
            columns.field(name, width, value >> first & (u64::MAX >> (64 - width)))
        })
    }

    fn end(&self) -> u64 {
        self.0.last().map_or(0, |field| field.bit + u64::from(field.width))
    }

    /// In the record that begins at this byte of a stream, up to this bit of it.
    fn at(&self, byte: u64, end: u64) -> Vec<Field> {
        let before = self.0.iter().filter(|field| field.bit + u64::from(field.width) <= end);
        before.map(|field| Field { bit: field.bit + 8 * byte, ..field.clone() }).collect()
    }
}

/// How the logs of a family are taken apart, and how they should be.
pub(crate) struct Records<'a, P: Protocol> {
    /// By the reference.
    pub(crate) dissect: &'a dyn Fn(&[u8]) -> Vec<Dissection<P>>,
    /// The columns of a packet; some need bytes 8 to 15.
    pub(crate) columns: fn(&P::Packet, u64) -> Columns,
}

impl<P: Protocol + PartialEq> Records<'_, P> {
    /// Each record of a log has the fields of its packet. One with a bit set that is always 0 has those before it, and
    /// one that is unknown or cut off has none.
    ///
    /// # Errors
    ///
    /// The first record with other fields.
    pub(crate) fn judge(
        &self,
        wire: &[u8],
        packets: &[P::Packet],
        entropy: &mut Entropy<'_>,
    ) -> Result<(), String> {
        let units = (self.dissect)(wire);
        if units.len() != packets.len() || wire.len() != packets.len() * RECORD {
            return Err(format!("{} units of {} packets", units.len(), packets.len()));
        }
        for (index, ((unit, packet), record)) in
            units.iter().zip(packets).zip(wire.chunks(RECORD)).enumerate()
        {
            tiles(unit, wire)?;
            let columns = (self.columns)(packet, value_of(record));
            if columns.end() != 8 * RECORD as u64 || *unit != whole(index, packet.clone(), &columns) {
                return Err(format!("{packet:x?} is taken apart as {unit:x?}, not {:x?}", columns.0));
            }
        }
        let index = entropy.below(packets.len());
        match (packets.get(index), wire.chunks(RECORD).nth(index)) {
            (Some(packet), Some(record)) => self.judge_faults(packet, record, entropy),
            _ => Ok(()),
        }
    }

    fn judge_faults(
        &self,
        packet: &P::Packet,
        record: &[u8],
        entropy: &mut Entropy<'_>,
    ) -> Result<(), String> {
        let columns = (self.columns)(packet, value_of(record));
        let unused: Vec<&Field> = columns.0.iter().filter(|field| field.name == ALWAYS_0).collect();
        if let Some(field) = unused.get(entropy.below(unused.len())) {
            let bit = field.bit + u64::from(entropy.byte()) % u64::from(field.width);
            let mut other = record.to_vec();
            other[bit as usize / 8] |= 1 << (bit % 8);
            let place = Place { packet: 0, byte: bit / 8, bit: (bit % 8) as u8 };
            self.expect(&other, 0, columns.at(0, bit), FaultClass::Overlong, place)?;
        }
        let unknown = [&[0x80 | entropy.byte()], &record[1..]].concat();
        let first = Place { packet: 0, byte: 0, bit: 0 };
        self.expect(&unknown, 0, Vec::new(), FaultClass::ReservedEncoding, first)?;
        let cut = 1 + usize::from(entropy.byte()) % (RECORD - 1);
        let wire = [record, &record[..cut]].concat();
        let second = Place { packet: 1, byte: RECORD as u64, bit: 0 };
        self.expect(&wire, 1, Vec::new(), FaultClass::Truncated, second)
    }

    /// The last unit of this log, with this index, has a fault.
    fn expect(
        &self,
        wire: &[u8],
        index: usize,
        fields: Vec<Field>,
        class: FaultClass,
        place: Place,
    ) -> Result<(), String> {
        let units = (self.dissect)(wire);
        let first = (index * RECORD) as u64;
        let expected = Dissection {
            place: Place { packet: index as u64, byte: first, bit: 0 },
            bytes: first..wire.len() as u64,
            fields,
            packet: Some(Err(Fault::new(class, place))),
        };
        if units.len() == index + 1 && units.last() == Some(&expected) {
            Ok(())
        } else {
            Err(format!("{wire:02x?} is taken apart as {units:x?}, not {expected:x?}"))
        }
    }
}

/// Bytes 8 to 15.
fn value_of(record: &[u8]) -> u64 {
    record.iter().skip(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn whole<P: Protocol>(index: usize, packet: P::Packet, columns: &Columns) -> Dissection<P> {
    let first = (index * RECORD) as u64;
    Dissection {
        place: Place { packet: index as u64, byte: first, bit: 0 },
        bytes: first..first + RECORD as u64,
        fields: columns.at(first, 128),
        packet: Some(Ok(packet)),
    }
}
