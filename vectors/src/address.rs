//! Addresses of code and data, with the one notation that they have in files: `"0x80000000"`.

use core::fmt;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident($inner:ty), $bits:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The address `offset` bytes further on, modulo the address space.
            #[must_use]
            pub const fn wrapping_add(self, offset: $inner) -> Self {
                Self(self.0.wrapping_add(offset))
            }

            /// How many bytes further on than `origin` this is, modulo the address space.
            #[must_use]
            pub const fn wrapping_offset_from(self, origin: Self) -> $inner {
                self.0.wrapping_sub(origin.0)
            }
        }

        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }

        impl From<$name> for $inner {
            fn from(address: $name) -> Self {
                address.0
            }
        }

        /// As in files: `0x80000000`.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl fmt::LowerHex for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(crate::notation::HexText::new(self.0.into()).as_str())
            }
        }

        /// Reads a string or an integer.
        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = crate::notation::hex::deserialize(deserializer)?;
                <$inner>::try_from(value).map(Self).map_err(|_| {
                    let unexpected = serde::de::Unexpected::Unsigned(value);
                    serde::de::Error::invalid_value(unexpected, &concat!("an address of ", $bits, " bits"))
                })
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                crate::notation::Hex::inline_schema()
            }

            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                crate::notation::Hex::schema_name()
            }

            fn schema_id() -> alloc::borrow::Cow<'static, str> {
                crate::notation::Hex::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::notation::Hex::json_schema(generator)
            }
        }
    };
}

address! {
    /// The address of a byte of code or data.
    ///
    /// In files it is a string such as `"0x80000000"`; plain integers are read, too. Arithmetic on addresses belongs to
    /// the family that knows how wide they are: codecs extract the number, compute, and wrap it again.
    Address(u64), "64"
}

address! {
    /// As [`Address`], where no address of the architecture has more than 32 bits.
    Address32(u32), "32"
}

impl From<Address32> for Address {
    fn from(address: Address32) -> Self {
        Self(u64::from(address.0))
    }
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hexadecimal_strings_and_integers_are_read_too() {
        assert_eq!(serde_json::to_string(&Address(0x8000_0000)).expect("writes"), "\"0x80000000\"");
        assert_eq!(serde_json::to_string(&Address32(0)).expect("writes"), "\"0x0\"");
        for text in ["\"0x80000000\"", "\"0x8000_0000\"", "\"2147483648\"", "2147483648"] {
            assert_eq!(serde_json::from_str::<Address>(text).expect(text), Address(0x8000_0000));
            assert_eq!(serde_json::from_str::<Address32>(text).expect(text), Address32(0x8000_0000));
        }
        for wrong in ["\"\"", "-1", "\"-1\"", "\"0x1_0000_0000_0000_0000\"", "1.5", "null", "true"] {
            assert!(serde_json::from_str::<Address>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_of_32_bits_has_no_more() {
        assert!(serde_json::from_str::<Address>("\"0x100000000\"").is_ok());
        let error = serde_json::from_str::<Address32>("\"0x100000000\"").expect_err("too wide");
        assert!(error.to_string().contains("an address of 32 bits"), "{error}");
    }

    #[test]
    fn arithmetic_wraps_at_the_width() {
        assert_eq!(Address(u64::MAX).wrapping_add(2), Address(1));
        assert_eq!(Address32(u32::MAX).wrapping_add(2), Address32(1));
        assert_eq!(Address32(1).wrapping_offset_from(Address32(u32::MAX)), 2);
        assert_eq!(Address::from(Address32(u32::MAX)), Address(0xffff_ffff));
    }
}
