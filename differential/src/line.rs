//! One readable line for any packet, event or other serialisable value: `address address=+0x4 updiscon`.
//!
//! The line follows the value's serialised form, so a new packet of a new family needs nothing here. A variant
//! is its name followed by its fields; a flag that is set is its name alone; what is absent is left out.

use std::fmt::{self, Display, Write as _};

use serde::ser::{self, Serialize};

/// The line of a value.
#[must_use]
pub fn line<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = String::new();
    write_line(&mut text, value);
    text
}

/// Appends the line of a value; for loops that reuse one buffer.
pub fn write_line<T: Serialize + ?Sized>(out: &mut String, value: &T) {
    if let Err(error) = value.serialize(Writer { out, key: None }) {
        let _ = write!(out, "<{error}>");
    }
}

/// A type refused to be serialised.
#[derive(Debug)]
struct Refused(String);

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Writes one value, after its key if it has one. The key is written only for a value that is not empty.
struct Writer<'a> {
    out: &'a mut String,
    key: Option<&'static str>,
}

impl<'a> Writer<'a> {
    fn put(self, value: impl Display) -> Result<(), Refused> {
        let out = self.keyed();
        write!(out, "{value}").map_err(|fmt::Error| Refused(String::from("cannot be written")))
    }

    /// The line, after the key.
    fn keyed(self) -> &'a mut String {
        if let Some(key) = self.key {
            self.out.push_str(key);
            self.out.push('=');
        }
        self.out
    }
}

/// Writes the parts of a compound value.
struct Parts<'a> {
    out: &'a mut String,
    /// Stands between two parts.
    between: &'static str,
    /// Follows the last part.
    close: &'static str,
    /// Where the next part starts when nothing was written since: no separator is needed.
    start: usize,
}

impl<'a> Parts<'a> {
    /// A nested value is bracketed so that its end is seen; a whole line is not.
    fn open(
        writer: Writer<'a>,
        name: &str,
        brackets: (&'static str, &'static str),
        between: &'static str,
    ) -> Self {
        let Writer { out, key } = writer;
        let close = if let Some(key) = key {
            for text in [key, "=", name, brackets.0] {
                out.push_str(text);
            }
            brackets.1
        } else {
            out.push_str(name);
            if !name.is_empty() {
                out.push(' ');
            }
            ""
        };
        let start = out.len();
        Self { out, between, close, start }
    }

    fn part<T: Serialize + ?Sized>(&mut self, key: Option<&'static str>, value: &T) -> Result<(), Refused> {
        let before = self.out.len();
        if before > self.start {
            self.out.push_str(self.between);
        }
        let opened = self.out.len();
        value.serialize(Writer { out: self.out, key })?;
        if self.out.len() == opened {
            self.out.truncate(before);
        }
        Ok(())
    }

    fn close(self) {
        if self.out.len() == self.start && self.close.is_empty() {
            let trimmed = self.out.trim_end_matches(' ').len();
            self.out.truncate(trimmed);
        }
        self.out.push_str(self.close);
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Refused> {
            self.put(value)
        })*
    };
}

macro_rules! integers {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Refused> {
            self.keyed().push_str(itoa::Buffer::new().format(value));
            Ok(())
        })*
    };
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
    }

    plain! { serialize_f32: f32, serialize_f64: f64, serialize_char: char }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.keyed().push_str(value);
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        match self.key {
            Some(key) if value => {
                self.out.push_str(key);
                Ok(())
            }
            _ => self.put(value),
        }
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Refused> {
        self.put(traceproof_vectors::notation::show_bytes(bytes))
    }

    fn serialize_none(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Refused> {
        self.put(name)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Refused> {
        self.put(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        let mut parts = Parts::open(self, variant, ("(", ")"), " ");
        parts.part(None, value)?;
        parts.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, "", ("[", "]"), ", "))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, "", ("[", "]"), ", "))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, "", ("[", "]"), ", "))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, variant, ("(", ")"), " "))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, "", ("{", "}"), " "))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, "", ("{", "}"), " "))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Refused> {
        Ok(Parts::open(self, variant, ("{", "}"), " "))
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Refused;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
                self.part(None, value)
            }

            fn end(self) -> Result<(), Refused> {
                self.close();
                Ok(())
            }
        })*
    };
}

elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
);

macro_rules! fields {
    ($($trait:ident),* $(,)?) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Refused;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Refused> {
                self.part(Some(key), value)
            }

            fn end(self) -> Result<(), Refused> {
                self.close();
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.part(None, key)?;
        self.out.push(':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(Writer { out: self.out, key: None })
    }

    fn end(self) -> Result<(), Refused> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use std::collections::BTreeMap;
    use traceproof_vectors::riscv_etrace::{
        DataEvent, DataPacket, Epc, Event, Packet, QualStatus, ReportedAddress, ReportedData, StopReason,
        Transfer,
    };

    #[test]
    fn packets_and_events_are_lines() {
        let address = ReportedAddress::Delta(4);
        let packets = [
            Packet::Support {
                ienable: true,
                encoder_mode: 0,
                qual_status: QualStatus::NoChange,
                ioptions: 3,
                denable: false,
                dloss: false,
                doptions: 0,
            },
            Packet::Start {
                branch: true,
                privilege: 3,
                time: None,
                context: Some(7),
                address: Address(0x1000),
            },
            Packet::Start {
                branch: false,
                privilege: 3,
                time: None,
                context: None,
                address: Address(0x1000),
            },
            Packet::Address { address, notify: false, updiscon: true, irreport: false, irdepth: 0, irets: 0 },
            Packet::Branch {
                branches: 0,
                branch_map: 0x7fff_ffff,
                address: None,
                notify: false,
                updiscon: false,
                irreport: false,
                irdepth: 0,
                irets: 0,
            },
        ];
        let events = [
            Event::Retire { first: Address(0x1000), end: Address(0x1010), count: 4 },
            Event::Trap { interrupt: false, cause: 2, tval: Some(0), epc: Epc::At(Address(0x1008)) },
            Event::Trap { interrupt: true, cause: 7, tval: None, epc: Epc::Unstated },
            Event::Context { privilege: 3, context: None, precise: false },
            Event::Time { time: 9 },
            Event::Stop { reason: StopReason::Ended },
        ];
        let load = Transfer {
            size: 2,
            unaligned: false,
            multi: false,
            data_len: 0,
            data: Some(ReportedData::Xor(1)),
            address: Some(address),
        };
        let packets = packets.into_iter().chain([Packet::Data(DataPacket::Load(load))]).collect::<Vec<_>>();
        let load =
            DataEvent::Load { address: Some(Address(0x1004)), size: 2, data: Some(0x12), multi: false };
        let events = events.into_iter().chain([load, DataEvent::Lost].map(Event::Data)).collect::<Vec<_>>();
        let lines: Vec<String> = packets.iter().map(line).chain(events.iter().map(line)).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[derive(serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Unit,
        Newtype(u8),
        Tuple(u8, bool),
        Nested { list: Vec<Option<u8>>, inner: Inner, kind: Box<Shape>, none: Option<u8> },
        Nothing { none: Option<u8> },
    }

    #[derive(serde::Serialize)]
    struct Inner {
        flag: bool,
        text: &'static str,
    }

    #[test]
    fn every_serde_shape_has_a_line() {
        let inner = || Inner { flag: true, text: "t" };
        let nested = Shape::Nested {
            list: vec![Some(1), None, Some(3)],
            inner: inner(),
            kind: Box::new(Shape::Tuple(1, false)),
            none: None,
        };
        assert_eq!(line(&Shape::Unit), "unit");
        assert_eq!(line(&Shape::Newtype(3)), "newtype 3");
        assert_eq!(line(&Shape::Tuple(3, true)), "tuple 3 true");
        assert_eq!(line(&nested), "nested list=[1, 3] inner={flag text=t} kind=tuple(1 false)");
        assert_eq!(line(&Shape::Nothing { none: None }), "nothing");
        assert_eq!(line(&inner()), "flag text=t");
        assert_eq!(line(&BTreeMap::from([("a", 1), ("b", 2)])), "a:1 b:2");
        assert_eq!(line(&None::<u8>), "");
    }
}
