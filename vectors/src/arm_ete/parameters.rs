//! What a decoder must know before the first byte (sheet 3.1).

use crate::arm::Profile;

/// Version of the architecture, in the order of their age: `Etmv4_6 < Ete1_0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "their names say it")]
pub enum Version {
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.0"))]
    Etmv4_0,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.1"))]
    Etmv4_1,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.2"))]
    Etmv4_2,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.3"))]
    Etmv4_3,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.4"))]
    Etmv4_4,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.5"))]
    Etmv4_5,
    #[cfg_attr(feature = "serde", serde(rename = "etmv4.6"))]
    Etmv4_6,
    #[cfg_attr(feature = "serde", serde(rename = "ete1.0"))]
    Ete1_0,
    #[cfg_attr(feature = "serde", serde(rename = "ete1.1"))]
    Ete1_1,
    #[cfg_attr(feature = "serde", serde(rename = "ete1.2"))]
    Ete1_2,
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "ete1.3"))]
    Ete1_3,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 11] = [
        Self::Etmv4_0,
        Self::Etmv4_1,
        Self::Etmv4_2,
        Self::Etmv4_3,
        Self::Etmv4_4,
        Self::Etmv4_5,
        Self::Etmv4_6,
        Self::Ete1_0,
        Self::Ete1_1,
        Self::Ete1_2,
        Self::Ete1_3,
    ];

    /// Whether it is ETE, otherwise ETMv4.
    #[must_use]
    pub const fn is_ete(self) -> bool {
        matches!(self, Self::Ete1_0 | Self::Ete1_1 | Self::Ete1_2 | Self::Ete1_3)
    }

    /// The name in case files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etmv4_0 => "etmv4.0",
            Self::Etmv4_1 => "etmv4.1",
            Self::Etmv4_2 => "etmv4.2",
            Self::Etmv4_3 => "etmv4.3",
            Self::Etmv4_4 => "etmv4.4",
            Self::Etmv4_5 => "etmv4.5",
            Self::Etmv4_6 => "etmv4.6",
            Self::Ete1_0 => "ete1.0",
            Self::Ete1_1 => "ete1.1",
            Self::Ete1_2 => "ete1.2",
            Self::Ete1_3 => "ete1.3",
        }
    }
}

/// Which Q elements there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QElements {
    /// None: headers A0 to AF are reserved.
    #[default]
    None,
    /// With a count of instructions only.
    Count,
    /// With and without.
    Any,
}

/// Which conditional non-branch instructions are traced (ETMv4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionalTrace {
    /// None.
    #[default]
    None,
    /// Loads.
    Loads,
    /// Stores.
    Stores,
    /// Loads and stores.
    LoadsAndStores,
    /// All.
    All,
}

/// Configuration of one trace unit and its processor. The default is ETE 1.3 without options and without speculation:
/// COMMOPT = 1, MAXSPEC = 0, 64-bit addresses, VMID and Context ID of 4 bytes (configuration C1 of the worked examples,
/// without their `instrumentation` and `timestamp_markers`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// TRCDEVARCH.ARCHVER and REVISION, or TRCIDR1.TRCARCHMAJ and TRCARCHMIN. Selects the packets.
    pub version: Version,
    /// The architecture profile of the processor, which no register says. ETE: application only.
    pub profile: Profile,
    /// TRCIDR0.COMMOPT\[29\]: cycle count packets carry no commit. Changes the length of packets.
    pub commopt: bool,
    /// TRCIDR0.COMMTRANS\[30\]: a Transaction Start element is *not* a P0 element (R_CTLXL).
    pub commtrans: bool,
    /// TRCIDR8.MAXSPEC: P0 elements that may be uncommitted.
    pub maxspec: u32,
    /// TRCIDR2.VMIDSIZE\[14:10\]: bytes of a VMID, 0, 1, 2 or 4. Changes the length of packets.
    pub vmid_bytes: u8,
    /// TRCIDR2.CIDSIZE\[9:5\]: bytes of a Context ID, 0 or 4. Changes the length of packets.
    pub context_id_bytes: u8,
    /// TRCIDR2.IASIZE\[4:0\]: bytes of an address, 4 or 8.
    pub address_bytes: u8,
    /// TRCIDR2.CCSIZE\[28:25\] and 12: bits of the cycle counter, 12 to 20.
    pub cycle_count_bits: u8,
    /// TRCIDR0.TSSIZE\[28:24\]: bits of a timestamp, 0 (none), 48 or 64. No packet looks different.
    pub timestamp_bits: u8,
    /// TRCIDR0.TSMARK\[23\]: each timestamp has a marker. Header 88 is reserved otherwise.
    pub timestamp_markers: bool,
    /// TRCIDR0.ITE\[22\]: Instrumentation packets. Header 09 is reserved otherwise.
    pub instrumentation: bool,
    /// FEAT_TME: transactions. No register of the trace unit says it.
    pub transactions: bool,
    /// TRCIDR2.WFXMODE\[31\]: WFI, WFE, WFIT and WFET are P0 instructions (R_QBGXJ).
    pub wfx_is_p0: bool,
    /// TRCIDR0.QSUPP\[16:15\] and TRCCONFIGR.QE\[14:13\].
    pub q_elements: QElements,
    /// TRCCONFIGR.CCI\[4\]: cycle counting is enabled.
    pub cycle_counting: bool,
    /// TRCCONFIGR.TS\[11\]: timestamps are enabled.
    pub timestamps: bool,
    /// TRCCONFIGR.CID\[6\]: Context IDs are traced. Only encoders need it: otherwise they are absent or 0.
    pub context_ids: bool,
    /// TRCCONFIGR.VMID\[7\]: VMIDs are traced. Only encoders need it.
    pub vmids: bool,
    /// TRCCONFIGR.RS\[12\]: a taken indirect P0 instruction without address takes its target from the return stack.
    pub return_stack: bool,
    /// TRCCONFIGR.BB\[3\]: taken direct P0 instructions have an address, too. No packet looks different, and decoders
    /// need no special handling (sheet 8.6).
    pub branch_broadcast: bool,
    /// TRCCONFIGR.COND\[10:8\], ETMv4: 0 none, 1 loads, 2 stores, 3 both, 7 all.
    pub conditional_trace: ConditionalTrace,
    /// TRCCONFIGR.INSTP0\[1\], ETMv4: loads are P0 instructions.
    pub load_is_p0: bool,
    /// TRCCONFIGR.INSTP0\[2\], ETMv4: stores are P0 instructions.
    pub store_is_p0: bool,
    /// TRCCONFIGR.DA\[16\] or DV\[17\], ETMv4: data are traced in a stream of their own; this one has data
    /// synchronization markers.
    pub data_trace: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            version: Version::Ete1_3,
            profile: Profile::Application,
            commopt: true,
            commtrans: false,
            maxspec: 0,
            vmid_bytes: 4,
            context_id_bytes: 4,
            address_bytes: 8,
            cycle_count_bits: 12,
            timestamp_bits: 64,
            timestamp_markers: false,
            instrumentation: false,
            transactions: false,
            wfx_is_p0: false,
            q_elements: QElements::None,
            cycle_counting: false,
            timestamps: false,
            context_ids: false,
            vmids: false,
            return_stack: false,
            branch_broadcast: false,
            conditional_trace: ConditionalTrace::None,
            load_is_p0: false,
            store_is_p0: false,
            data_trace: false,
        }
    }
}

/// A parameter's name, and what is wrong with it.
type Wrong = (&'static str, &'static str);

impl Parameters {
    /// Entries of a decoder's return stack, and the most of a trace unit's (R_XSVZC, R_HNDJJ).
    pub const RETURN_STACK_DEPTH: u8 = 15;

    /// ETMv4 of this version without options: no VMID, no Context ID, otherwise as the default.
    #[must_use]
    pub fn etmv4(version: Version) -> Self {
        Self { version, vmid_bytes: 0, context_id_bytes: 0, ..Self::default() }
    }

    /// The first parameter that no trace unit can have, with what is wrong with it. Combinations that the architecture
    /// excludes but that exist, such as MAXSPEC = 0 with COMMOPT = 0 or with COMMTRANS = 1, are accepted (A22).
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    ///
    /// Spec: ETE-DEC-CFG-001.
    pub const fn check(&self) -> Result<(), Wrong> {
        if let Err(wrong) = self.check_sizes() {
            return Err(wrong);
        }
        if self.branch_broadcast && !matches!(self.q_elements, QElements::None) {
            return Err(("q_elements", "excludes branch_broadcast"));
        }
        if self.version.is_ete() { self.check_ete() } else { self.check_etmv4() }
    }

    const fn check_sizes(&self) -> Result<(), Wrong> {
        if !matches!(self.vmid_bytes, 0 | 1 | 2 | 4) {
            return Err(("vmid_bytes", "must be 0, 1, 2 or 4"));
        }
        if !matches!(self.context_id_bytes, 0 | 4) {
            return Err(("context_id_bytes", "must be 0 or 4"));
        }
        if !matches!(self.address_bytes, 4 | 8) {
            return Err(("address_bytes", "must be 4 or 8"));
        }
        if !matches!(self.cycle_count_bits, 12..=20) {
            return Err(("cycle_count_bits", "must be 12 to 20"));
        }
        if !matches!(self.timestamp_bits, 0 | 48 | 64) {
            return Err(("timestamp_bits", "must be 0, 48 or 64"));
        }
        Ok(())
    }

    /// Differences D8 to D14 of sheet 2.2.
    const fn check_ete(&self) -> Result<(), Wrong> {
        if !matches!(self.profile, Profile::Application) {
            return Err(("profile", "must be application for ETE"));
        }
        if !matches!(self.vmid_bytes, 0 | 4) {
            return Err(("vmid_bytes", "must be 0 or 4 for ETE"));
        }
        if self.context_id_bytes != 4 {
            return Err(("context_id_bytes", "must be 4 for ETE"));
        }
        if self.address_bytes != 8 {
            return Err(("address_bytes", "must be 8 for ETE"));
        }
        if self.timestamp_bits != 64 {
            return Err(("timestamp_bits", "must be 64 for ETE"));
        }
        if self.timestamp_markers && matches!(self.version, Version::Ete1_0) {
            return Err(("timestamp_markers", "needs ete1.1"));
        }
        if !matches!(self.conditional_trace, ConditionalTrace::None) {
            return Err(("conditional_trace", "needs ETMv4"));
        }
        if self.load_is_p0 {
            return Err(("load_is_p0", "needs ETMv4"));
        }
        if self.store_is_p0 {
            return Err(("store_is_p0", "needs ETMv4"));
        }
        if self.data_trace {
            return Err(("data_trace", "needs ETMv4"));
        }
        Ok(())
    }

    /// Differences D5 and D7 of sheet 2.2, and the versions of 1.1.
    const fn check_etmv4(&self) -> Result<(), Wrong> {
        if self.timestamp_markers && !matches!(self.version, Version::Etmv4_6) {
            return Err(("timestamp_markers", "needs etmv4.6"));
        }
        if self.instrumentation {
            return Err(("instrumentation", "needs ETE"));
        }
        if self.transactions {
            return Err(("transactions", "needs ETE"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_trace_unit_can_be_is_refused() {
        let ete = Parameters::default;
        let v4 = || Parameters::etmv4(Version::Etmv4_5);
        for (parameters, wrong) in [
            (Parameters { vmid_bytes: 3, ..v4() }, "vmid_bytes"),
            (Parameters { vmid_bytes: 2, ..ete() }, "vmid_bytes"),
            (Parameters { context_id_bytes: 2, ..v4() }, "context_id_bytes"),
            (Parameters { context_id_bytes: 0, ..ete() }, "context_id_bytes"),
            (Parameters { address_bytes: 5, ..v4() }, "address_bytes"),
            (Parameters { address_bytes: 4, ..ete() }, "address_bytes"),
            (Parameters { cycle_count_bits: 11, ..ete() }, "cycle_count_bits"),
            (Parameters { cycle_count_bits: 21, ..ete() }, "cycle_count_bits"),
            (Parameters { timestamp_bits: 32, ..v4() }, "timestamp_bits"),
            (Parameters { timestamp_bits: 48, ..ete() }, "timestamp_bits"),
            (Parameters { branch_broadcast: true, q_elements: QElements::Count, ..ete() }, "q_elements"),
            (Parameters { profile: Profile::Microcontroller, ..ete() }, "profile"),
            (Parameters { timestamp_markers: true, version: Version::Ete1_0, ..ete() }, "timestamp_markers"),
            (Parameters { timestamp_markers: true, ..v4() }, "timestamp_markers"),
            (Parameters { conditional_trace: ConditionalTrace::All, ..ete() }, "conditional_trace"),
            (Parameters { load_is_p0: true, ..ete() }, "load_is_p0"),
            (Parameters { store_is_p0: true, ..ete() }, "store_is_p0"),
            (Parameters { data_trace: true, ..ete() }, "data_trace"),
            (Parameters { instrumentation: true, ..v4() }, "instrumentation"),
            (Parameters { transactions: true, ..v4() }, "transactions"),
        ] {
            assert_eq!(parameters.check().map_err(|(name, _)| name), Err(wrong));
        }
    }

    #[test]
    fn what_trace_units_are_is_accepted() {
        let ete = Parameters::default;
        let v4 = || Parameters::etmv4(Version::Etmv4_6);
        for parameters in [
            ete(),
            v4(),
            Parameters { vmid_bytes: 2, context_id_bytes: 4, timestamp_bits: 48, ..v4() },
            Parameters { vmid_bytes: 0, timestamp_markers: true, version: Version::Ete1_1, ..ete() },
            Parameters { timestamp_markers: true, address_bytes: 4, ..v4() },
            Parameters { profile: Profile::Microcontroller, data_trace: true, load_is_p0: true, ..v4() },
            Parameters { commopt: false, commtrans: true, transactions: true, ..ete() },
            Parameters { maxspec: 255, instrumentation: true, q_elements: QElements::Any, ..ete() },
        ] {
            assert_eq!(parameters.check(), Ok(()));
        }
    }

    #[test]
    fn versions_are_ordered_and_have_names() {
        assert!(Version::ALL.is_sorted() && Version::Etmv4_6 < Version::Ete1_0);
        assert_eq!(Version::ALL.map(Version::is_ete).iter().filter(|ete| **ete).count(), 4);
        #[cfg(feature = "cases")]
        for version in Version::ALL {
            let text = alloc::format!("\"{}\"", version.name());
            assert_eq!(serde_json::to_string(&version).expect("text"), text);
        }
    }
}
