//! What a decoder must know about data trace: discovery attributes (ET 10) and static facts.

/// The constants of data trace, by the specification's parameter names, and the options it starts with.
///
/// The defaults are those that ET 10.1 prescribes for attributes that cannot be discovered: unified loads and stores of
/// a 32-bit bus. Widths are in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataParameters {
    /// Width of data addresses.
    pub daddress_width_p: u8,
    /// Width of the widest access: 8, 16, 32, 64 or 128.
    pub data_width_p: u8,
    /// Width of `dblock`; leaves no mark in the trace.
    pub dblock_width_p: u8,
    /// Width of `dsize`; leaves no mark in the trace.
    pub dsize_width_p: u8,
    /// Width of `dtype`: 1 = loads and stores, 3 = CSRs too, 4 = atomics too; 2 = multi-memory accesses, with
    /// [`DataLayout::MmaCas`] only.
    pub dtype_width_p: u8,
    /// Width of `iaddr_lsbs`; leaves no mark in the trace.
    pub iaddr_lsbs_width_p: u8,
    /// Width of `lrid`.
    pub lrid_width_p: u8,
    /// Width of `lresp`; leaves no mark in the trace.
    pub lresp_width_p: u8,
    /// Width of `ldata`; leaves no mark in the trace.
    pub ldata_width_p: u8,
    /// Width of `sdata`; leaves no mark in the trace.
    pub sdata_width_p: u8,
    /// The interface is split, not unified: loads and atomics are requests, their data come as responses (not
    /// discoverable).
    pub split: bool,
    /// Which compressions of data the encoder offers (not discoverable).
    pub offered: OfferedCompression,
    /// Which packets there are (not discoverable).
    pub layout: DataLayout,
    /// `diff` compresses operands as it does data, with the data of the same size as base, in the order of the fields.
    /// Otherwise operands are always whole (not discoverable).
    pub compressed_operands: bool,
    /// Options in force before the first support packet.
    pub options: DataOptions,
    /// The `srcID` of data trace, where it has one of its own; all packets of that source are data trace.
    pub source: Option<u16>,
}

impl Default for DataParameters {
    fn default() -> Self {
        Self {
            daddress_width_p: 32,
            data_width_p: 32,
            dblock_width_p: 1,
            dsize_width_p: 3,
            dtype_width_p: 1,
            iaddr_lsbs_width_p: 1,
            lrid_width_p: 1,
            lresp_width_p: 1,
            ldata_width_p: 32,
            sdata_width_p: 32,
            split: false,
            offered: OfferedCompression::Both,
            layout: DataLayout::Ratified,
            compressed_operands: false,
            options: DataOptions::default(),
            source: None,
        }
    }
}

impl DataParameters {
    /// Width of the `format` field. Spec: RVET-DATA-002 (ET 8.1.1).
    #[must_use]
    pub const fn format_width(&self) -> u32 {
        match (self.layout, self.split, self.dtype_width_p) {
            (DataLayout::Ratified, false, 1) => 2,
            (DataLayout::Ratified, _, _) => 3,
            (DataLayout::MmaCas, false, 1) => 0,
            (DataLayout::MmaCas, false, 2) => 1,
            (DataLayout::MmaCas, _, _) => 2,
        }
    }

    /// Width of the `size` field. Spec: RVET-DATA-004 (ET 8.1).
    #[must_use]
    pub const fn size_width(&self) -> u32 {
        match self.data_width_p {
            0..=16 => 1,
            17..=64 => 2,
            _ => 3,
        }
    }

    /// The `size` of the widest access: log2 of its bytes.
    #[must_use]
    pub const fn max_size(&self) -> u8 {
        (self.data_width_p / 8).next_power_of_two().trailing_zeros() as u8
    }

    /// Width of the `diff` field of packets with data and without memory address. Spec: RVET-DATA-010 (ET 8.1.3).
    #[must_use]
    pub const fn data_diff_width(&self) -> u32 {
        if matches!(self.offered, OfferedCompression::Both) { 2 } else { 1 }
    }

    /// Whether CSR accesses are traced.
    #[must_use]
    pub const fn csrs(&self) -> bool {
        self.dtype_width_p >= 3
    }

    /// Whether atomics are traced.
    #[must_use]
    pub const fn atomics(&self) -> bool {
        self.dtype_width_p == 4
    }

    /// Mask of the `daddress_width_p` low bits.
    #[must_use]
    pub const fn address_mask(&self) -> u64 {
        if self.daddress_width_p >= 64 { u64::MAX } else { (1 << self.daddress_width_p) - 1 }
    }

    /// The first parameter that no hardware can have, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let dtype = match self.layout {
            DataLayout::Ratified => matches!(self.dtype_width_p, 1 | 3 | 4),
            DataLayout::MmaCas => (1..=4).contains(&self.dtype_width_p),
        };
        let wide = |width: u8| (1..=128).contains(&width);
        let rules: [(&'static str, bool, &'static str); 9] = [
            ("daddress_width_p", (1..=64).contains(&self.daddress_width_p), "must be 1 to 64"),
            (
                "data_width_p",
                matches!(self.data_width_p, 8 | 16 | 32 | 64 | 128),
                "must be 8, 16, 32, 64 or 128",
            ),
            ("dtype_width_p", dtype, "must be 1, 3 or 4; 2 also, with the layout mma_cas"),
            ("lrid_width_p", (1..=12).contains(&self.lrid_width_p), "must be 1 to 12"),
            ("lresp_width_p", (1..=2).contains(&self.lresp_width_p), "must be 1 or 2"),
            ("dsize_width_p", (1..=3).contains(&self.dsize_width_p), "must be 1 to 3"),
            ("ldata_width_p", wide(self.ldata_width_p), "must be 1 to 128"),
            ("sdata_width_p", wide(self.sdata_width_p), "must be 1 to 128"),
            (
                "options",
                !(self.options.no_address && self.options.no_data),
                "must not leave out both address and data",
            ),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((parameter, _, reason)) => Err((parameter, reason)),
            None => Ok(()),
        }
    }
}

/// Which compressions of data an encoder offers (ET 8.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OfferedCompression {
    /// Exclusive or.
    Xor,
    /// Differences.
    Differential,
    /// Both.
    #[default]
    Both,
}

/// Which data trace packets there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataLayout {
    /// Those of ET 8.
    #[default]
    Ratified,
    /// Those of the MMA/CAS extension of version 2.0.5, for multi-memory accesses and compare-and-swap.
    MmaCas,
}

/// A run-time option of data trace that a support packet announces in `doptions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataOption {
    /// Packets have no address (`trTeDataNoAddr`).
    NoAddress,
    /// Packets have no data (`trTeDataNoValue`).
    NoData,
    /// Addresses are never differences.
    FullAddress,
    /// Data are never compressed.
    FullData,
}

/// The run-time options of data trace in force. All off = address and data, both compressed where that is shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataOptions {
    /// [`DataOption::NoAddress`].
    pub no_address: bool,
    /// [`DataOption::NoData`].
    pub no_data: bool,
    /// [`DataOption::FullAddress`].
    pub full_address: bool,
    /// [`DataOption::FullData`].
    pub full_data: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths worked by hand from max(1, clog2(clog2(bytes + 1))).
    #[test]
    fn size_fields_are_as_wide_as_the_formula_says() {
        for (data_width_p, size_width, max_size) in
            [(8, 1, 0), (16, 1, 1), (32, 2, 2), (64, 2, 3), (128, 3, 4)]
        {
            let parameters = DataParameters { data_width_p, ..DataParameters::default() };
            assert_eq!(
                (parameters.size_width(), parameters.max_size()),
                (size_width, max_size),
                "{data_width_p}"
            );
            assert_eq!(parameters.check(), Ok(()));
        }
    }

    #[test]
    fn format_fields_grow_with_what_can_be_traced() {
        let width = |layout, split, dtype_width_p| {
            let parameters = DataParameters { layout, split, dtype_width_p, ..DataParameters::default() };
            assert_eq!(parameters.check(), Ok(()));
            parameters.format_width()
        };
        let ratified = DataLayout::Ratified;
        assert_eq!([1, 3, 4].map(|dtype| width(ratified, false, dtype)), [2, 3, 3]);
        assert_eq!([1, 3, 4].map(|dtype| width(ratified, true, dtype)), [3, 3, 3]);
        let draft = DataLayout::MmaCas;
        assert_eq!([1, 2, 3, 4].map(|dtype| width(draft, false, dtype)), [0, 1, 2, 2]);
        assert_eq!([1, 2, 3, 4].map(|dtype| width(draft, true, dtype)), [2; 4]);
    }

    #[test]
    fn impossible_hardware_is_named() {
        let plain = DataParameters::default();
        let both = DataOptions { no_address: true, no_data: true, ..DataOptions::default() };
        for (parameters, name) in [
            (DataParameters { daddress_width_p: 65, ..plain }, "daddress_width_p"),
            (DataParameters { data_width_p: 24, ..plain }, "data_width_p"),
            (DataParameters { dtype_width_p: 2, ..plain }, "dtype_width_p"),
            (DataParameters { dtype_width_p: 5, layout: DataLayout::MmaCas, ..plain }, "dtype_width_p"),
            (DataParameters { lrid_width_p: 13, ..plain }, "lrid_width_p"),
            (DataParameters { lresp_width_p: 0, ..plain }, "lresp_width_p"),
            (DataParameters { dsize_width_p: 4, ..plain }, "dsize_width_p"),
            (DataParameters { ldata_width_p: 0, ..plain }, "ldata_width_p"),
            (DataParameters { sdata_width_p: 129, ..plain }, "sdata_width_p"),
            (DataParameters { options: both, ..plain }, "options"),
        ] {
            assert_eq!(parameters.check().map_err(|(name, _)| name), Err(name));
        }
    }
}
