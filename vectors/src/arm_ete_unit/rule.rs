//! The findings of a checker: one for each requirement that a log can show broken.
//!
//! Words with a fixed meaning here (*configuration*, *belief*, *proof*, *command*, …) are those of
//! [`Event`](super::Event). "Needs" names what must be [shown](super::Shown); where it is hidden, the finding is left
//! out.

#[cfg(feature = "serde")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::FaultClass;

/// What kind of finding it is. Software is at fault in the first three, the unit in the fourth; the last is no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FindingKind {
    /// What software did is not allowed.
    Illegal,
    /// What software did has an unpredictable outcome.
    Unpredictable,
    /// Software left out a step.
    MissingStep,
    /// What the log shows cannot be: the unit does not conform, or the log is wrong.
    Contradiction,
    /// A recommendation was not followed, or an accepted exception was made.
    Note,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Illegal, Self::Unpredictable, Self::MissingStep, Self::Contradiction, Self::Note];

    /// The class of the fault that accompanies the finding; none of a note.
    #[must_use]
    pub const fn fault(self) -> Option<FaultClass> {
        match self {
            Self::Illegal | Self::Unpredictable | Self::MissingStep => Some(FaultClass::IllegalInState),
            Self::Contradiction => Some(FaultClass::Contradiction),
            Self::Note => None,
        }
    }

    /// The name in reports, e.g. `missing step`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Unpredictable => "unpredictable",
            Self::MissingStep => "missing step",
            Self::Contradiction => "contradiction",
            Self::Note => "note",
        }
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $kind:ident $text:literal)+) => {
        /// A requirement whose breach a checker reports, in the order in which findings about one record are reported.
        ///
        /// Written as the id of the requirement, e.g. `ETE-PRG-002`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[allow(rustdoc::broken_intra_doc_links, reason = "bits in brackets are no links")]
        pub enum Rule {
            $(#[doc = concat!($id, ", `", stringify!($kind), "`: ", $text)] $name,)+
        }

        impl Rule {
            /// Every rule, in their order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The requirement.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What kind of finding its breach is.
            #[must_use]
            pub const fn kind(self) -> FindingKind {
                match self { $(Self::$name => FindingKind::$kind,)+ }
            }

            /// When it is reported, in Markdown.
            #[must_use]
            pub const fn when(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

rules! {
    // What software does.
    Rwyqd001 "ETE-RWYQD-001" Unpredictable
        "A write that reaches the unit, of a programming register, where no configuration of the belief is in Idle. Reported for every such write."
    Mdzdn001 "ETE-MDZDN-001" Unpredictable
        "A change of EN that reaches the unit, where no configuration of the belief is in Idle or Running."
    Yfrmg001 "ETE-YFRMG-001" Unpredictable
        "An external or memory-mapped access of 64 bits to a register of 32 bits."
    Prg002 "ETE-PRG-002" MissingStep
        "A write that reaches the unit, of a programming register, without proof of Idle; not where ETE-RWYQD-001 is reported, once in a period, not before the first new period after a gap. Needs the accesses of its agent."
    Prg003 "ETE-PRG-003" MissingStep
        "A change of EN that reaches the unit: to 1 without proof of Idle; to 0 without proof of Running, or of Idle while the OS Lock is known to be locked. Not where ETE-MDZDN-001 is reported, not of EN = 0 while EN is not known, or is known to be 1 from reads alone since the first record or the latest gap, with the command enabled and no proving read of TRCSTATR (or poll) that showed IDLE = 1 meanwhile; not before the first new period after a gap. Needs the accesses of its agent."
    Syn003 "ETE-SYN-003" MissingStep
        "A write that reaches the unit, of a programming register, where TRCSTATR was not read or polled since the latest change of EN, and that was a direct write. Once for each change of EN. Needs System accesses."
    Syn004 "ETE-SYN-004" MissingStep
        "A direct read or poll of TRCSTATR with no context synchronisation event since the latest direct change of EN or of the OS Lock. Needs barriers."
    Syn005 "ETE-SYN-005" MissingStep
        "A direct read or poll of TRCSTATR with no context synchronisation event since the latest direct read or poll of it. Needs barriers."
    Syn009 "ETE-SYN-009" MissingStep
        "A TSB CSYNC with no context synchronisation event since the latest write of TRFCR_ELx, which prohibited tracing. Needs barriers."
    Syn010 "ETE-SYN-010" MissingStep
        "A direct read of TRBPTR_EL1 or TRBSR_EL1, where the latest TSB CSYNC was not followed by a DSB and after that by a context synchronisation event. Needs barriers."
    Prg004 "ETE-PRG-004" MissingStep
        "The record at which the command becomes enabled: one finding for each register that exists and was not written since a trace unit reset that the log shows, in this order: TRCCONFIGR, TRCEVENTCTL0R, TRCEVENTCTL1R, TRCRSR, TRCSTALLCTLR, TRCSYNCPR (unless its period is fixed), TRCTRACEIDR, TRCVICTLR. The register is the missing one. Needs System and external accesses."
    Prg005 "ETE-PRG-005" MissingStep
        "As ETE-PRG-004, of registers that the latest written value of TRCCONFIGR, which is known, makes necessary: TRCTSCTLR if TS, TRCCCCTLR if CCI, TRCBBCTLR if BB, TRCQCTLR if QE is not 0, where they exist; and without a condition TRCVIIECTLR, TRCVISSCTLR, TRCVIPCSSCTLR where they exist; in the order of offsets. Then each `TRCRSCTLR<n>` that exists and that an event selects by the known value of its register: each event of TRCEVENTCTL0R that exists, RST of TRCSEQRSTEVR, F and B of `TRCSEQEVR<n>`, CNTEVENT and RLDEVENT of `TRCCNTCTLR<n>`, EVENT of TRCTSCTLR and TRCVICTLR. In the eight bits of an event bit 7 = 0 selects n = [4:0], bit 7 = 1 selects n = 2*[3:0] and the one after it; n of 0 and 1 is none; in ascending order."
    Prg010 "ETE-PRG-010" Illegal
        "A write of TRBLIMITR_EL1.E = 0, where a record showed E = 1 before, without proof of Idle, and not both in a prohibited region and after a TSB CSYNC since that is in effect; only where a record of TRFCR_ELx was before it. Needs System accesses and barriers."
    Fjpcn001 "ETE-FJPCN-001" MissingStep
        "An external access with outcome `error` to an existing register of class T or C while the OS Lock is known to be locked. Once until the OS Lock changes."
    Dxffn002 "ETE-DXFFN-002" MissingStep
        "A poll for IDLE = 0 that timed out, or the end of the log, while EN is known to be 1 and was written as 1 while the OS Lock was known to be locked, and is known to be locked still. Once for each such write."
    Prg001 "ETE-PRG-001" MissingStep
        "The end of the log, where the command is enabled by an external or memory-mapped change of EN, and TRCSTATR was not read with IDLE = 0 since. Needs external accesses."

    // What the unit does: accesses.
    Twqjt001 "ETE-TWQJT-001" Contradiction
        "An external access with outcome `ok` in retention."
    Acc001 "ETE-ACC-001" Contradiction
        "An external access to a register of class T, in a direction that the register has, that gives no error although it must (no Core power, OS Lock locked in every configuration, or not allowed), or an error although it must not."
    Acc002 "ETE-ACC-002" Contradiction
        "The same of class C, which has an error without Core power or with the OS Lock locked."
    Acc003 "ETE-ACC-003" Contradiction
        "The same of TRCOSLSR, which has an error without Core power or where access is not allowed."
    Acc004 "ETE-ACC-004" Contradiction
        "The same of class M, which has an error only without Core power."
    Kqmkx001 "ETE-KQMKX-001" Contradiction
        "An external access to a reserved register or one that does not exist: `ok` without Core power; `error` with Core power, unless it is below 0xF00 and a configuration has the OS Lock locked or access may not be allowed; or a read that gives another value than 0."
    Wxkdp001 "ETE-WXKDP-001" Contradiction
        "As ETE-KQMKX-001, of an external read of a register that is only written, of any class."
    Svsnr001 "ETE-SVSNR-001" Contradiction
        "As ETE-KQMKX-001, of an external write of a register that is only read, of any class: instead of ETE-ACC-001 to ETE-ACC-004."
    Acc005 "ETE-ACC-005" Contradiction
        "A direct access with outcome `error`."
    Sgpqb001 "ETE-SGPQB-001" Contradiction
        "A direct access to a register of the trace unit with outcome `ok` at EL0."
    Acc007 "ETE-ACC-007" Contradiction
        "A direct access with outcome `ok` to an existing register of the trace unit without a System encoding."
    Wcxdt001 "ETE-WCXDT-001" Contradiction
        "A direct access with outcome `ok` that writes a read-only register, reads a write-only one, or accesses one without a name or that does not exist; or with outcome `undefined` to one of the trace unit that exists, has an encoding and the direction, at a known level other than EL0."
    Acc009 "ETE-ACC-009" Contradiction
        "A read of TRCCLAIMSET that is not the mask of implemented tags, or of TRCCLAIMCLR that differs from the tags that are known, with the bits above the implemented ones always known to be 0."
    Acc010 "ETE-ACC-010" Contradiction
        "A read of TRCPDSR with bit 0 (POWER) 0 in ETE, or with bit 1 (STICKYPD) 1 although a read has cleared it, and since then Core power was never off and no trace unit reset was."
    Acc011 "ETE-ACC-011" Contradiction
        "A read of TRCOSLSR in ETE that is not 0x10 with OSLK in bit 1, or whose OSLK no configuration has."
    Rwpfg001 "ETE-RWPFG-001" Contradiction
        "A read of TRCIDR5 with ATBTRIG = 0, where interface 0 is an ATB."
    Rwpfg002 "ETE-RWPFG-002" Contradiction
        "A read of TRCIDR5 with another TRACEIDSIZE than 7, where interface 0 is an ATB."
    Hbbdv001 "ETE-HBBDV-001" Contradiction
        "A read of TRCIDR5 with OE = 0 from ETE 1.3 on, where there is an interface."

    // What the unit does: states.
    Syn002 "ETE-SYN-002" Contradiction
        "A direct read of TRCPRGCTLR whose EN no configuration has, where the latest record that concerns EN is a direct write of it, not unpredictable. Records that concern EN: writes of it that reach the unit, resets, power, OS Lock."
    Dyrzc001 "ETE-DYRZC-001" Contradiction
        "An external read of TRCPRGCTLR whose EN no configuration has, where the latest record that concerns EN is an external write of it, not unpredictable."
    St004 "ETE-ST-004" Contradiction
        "A read of TRCPRGCTLR whose EN no configuration has, where the latest record that concerns EN is a Warm reset or a change of the OS Lock."
    St005 "ETE-ST-005" Contradiction
        "A read of TRCPRGCTLR whose EN no configuration has, where the latest record that concerns EN is a trace unit reset, a Cold reset or a power-up."
    Mdzdn002 "ETE-MDZDN-002" Contradiction
        "A read of TRCPRGCTLR whose EN no configuration has, in all other cases."
    St001 "ETE-ST-001" Contradiction
        "A proving read of TRCSTATR with a bit above 1 set; or with a value, or a poll that shows a bit, that no configuration has and that none of ETE-ST-002, ETE-ST-003 and ETE-ST-006 covers."
    St002 "ETE-ST-002" Contradiction
        "The same, where every configuration before it was disabled, and not ETE-ST-006."
    St003 "ETE-ST-003" Contradiction
        "The same, where every configuration before it was enabled."
    St006 "ETE-ST-006" Contradiction
        "The same, or bytes of output, where every configuration before it was Idle with EN = 1 and the OS Lock locked."
    Wmggp005 "ETE-WMGGP-005" Contradiction
        "A record of a state that no configuration can be in."
    Wmggp004 "ETE-WMGGP-004" Contradiction
        "The signal `enabled` with a value that no configuration has."
    Mvzyp001 "ETE-MVZYP-001" Contradiction
        "A proving read of TRCSTATR with PMSTABLE = 1, a poll that ended with it, or a record of Stable, where after it every configuration is disabled, while the signal `resources` is known not to be `paused`."
    Lyfdt001 "ETE-LYFDT-001" Contradiction
        "The signal `resources` becomes `running` where every configuration is disabled."
    Zfphc001 "ETE-ZFPHC-001" Contradiction
        "A proving read of TRCSTATR with IDLE = 1, or a poll for IDLE = 0 that timed out, while every configuration is enabled and the elapsed time is more than the bound."
    Czhwf001 "ETE-CZHWF-001" Contradiction
        "A proving read of TRCSTATR with PMSTABLE = 0, or a poll for PMSTABLE = 1 that timed out, while every configuration is disabled and the elapsed time is more than the bound."
    Trzcp003 "ETE-TRZCP-003" Contradiction
        "A proving read of TRCSTATR with IDLE = 0 and PMSTABLE = 1, or a poll for IDLE = 1 that timed out, while every configuration is disabled, no sink is blocked, and the elapsed time is more than the bound."

    // What the unit does: contents of registers.
    OeRst001 "ETE-OE-RST-001" Contradiction
        "A read of TRCEVENTCTL1R with OE = 1, where the latest record that concerns the register is a trace unit reset."
    Wklgx001 "ETE-WKLGX-001" Contradiction
        "A read of TRCAUXCTLR other than 0, or of TRCIMSPEC0 with EN other than 0, where the latest record that concerns the register is a trace unit reset."
    Bptkt002 "ETE-BPTKT-002" Contradiction
        "A read of a register whose resource state is known from a write, and differs from it in those bits."
    Rwyqd004 "ETE-RWYQD-004" Contradiction
        "The same of its other bits that read as they were written."
    Bptkt001 "ETE-BPTKT-001" Contradiction
        "A read of a register whose resource state is known from a read, and differs from it in those bits."
    Res001 "ETE-RES-001" Contradiction
        "A first stable read of TRCRSR in a disabled period with EVENT\\[n\\] = 1, where it was written as 0 before the latest session and no ETEEvent n occurred since that began while the region was prohibited or the unit in low power, or while a configuration was in Enabling, with no proof of Running since as in ETE-RES-002. Needs events."
    Res002 "ETE-RES-002" Contradiction
        "A first stable read of TRCRSR in a disabled period with EVENT\\[n\\] = 1, where it was written as 1 before the latest session, Running was proved in the session while the region was not prohibited and the unit not in low power, and no ETEEvent n occurred as in ETE-RES-001. Needs events."

    // What the unit does: output.
    Svdbd001 "ETE-SVDBD-001" Contradiction
        "Bytes at a sink that this trace unit has not."
    Rt002 "ETE-RT-002" Contradiction
        "Bytes at the trace buffer unit while self-hosted trace is disabled, without FEAT_TRBE_EXT."
    Fjfns001 "ETE-FJFNS-001" Contradiction
        "Bytes at the trace buffer unit while it is known to be disabled, except in flight."
    Rt003 "ETE-RT-003" Contradiction
        "Bytes at the trace buffer unit while it is stopped; bytes at an interface while it is known to be enabled and is stopped, except in flight."
    Lgvcx002 "ETE-LGVCX-002" Contradiction
        "Bytes at an interface while the trace buffer unit is known to be enabled, except in flight, with OE known to be 1."
    Pjyky002 "ETE-PJYKY-002" Contradiction
        "The same with OE implemented and not known to be 1."
    Lgvcx001 "ETE-LGVCX-001" Contradiction
        "The same with OE not implemented."
    Pjyky001 "ETE-PJYKY-001" Contradiction
        "Bytes at an interface with OE implemented and known to be 0, where none of the rules before is reported."
    Ftszg002 "ETE-FTSZG-002" Contradiction
        "Bytes at an interface while the interfaces are disabled by their own mechanism, with OE not implemented; or with OE implemented under `disabled_interfaces_are_silent`. Where none of the rules before is reported."
    Ses001 "ETE-SES-001" Contradiction
        "Bytes while every configuration is Idle, or without Core power or in retention; not where ETE-ST-006 is reported."
    Xlvqm001 "ETE-XLVQM-001" Contradiction
        "Bytes at the trace buffer unit in a prohibited region, after a TSB CSYNC since that is in effect with the trace buffer unit known to be enabled; not where a programming register was written since Idle was proved and a configuration was not in Idle then (ETE-RWYQD-002)."
    Fcblj001 "ETE-FCBLJ-001" Contradiction
        "A TSB CSYNC in a prohibited region while the signal `resources` is known not to be `paused` and no configuration is in Idle or Stable."

    // What the unit does: overflow, flush, stall, filters.
    Zdtlk001 "ETE-ZDTLK-001" Contradiction
        "An overflow begins while every configuration is disabled."
    Nlssl002 "ETE-NLSSL-002" Contradiction
        "An overflow begins while the trace buffer unit is known to be disabled and the outputs are `discarded` alone."
    Stl002 "ETE-STL-002" Contradiction
        "An overflow begins while no-overflow is on (TRCSTALLCTLR known with ISTALL = 1 and NOOVERFLOW = 1, which is implemented), a stall is none of those of ETE-STL-001, and each ETEEvent n occurred at most once since the command became enabled. Needs events."
    Rpsph001 "ETE-RPSPH-001" Contradiction
        "A read of TRCSTATR, a poll or a record of the state after which every configuration is in Idle, while an overflow has begun and not ended."
    Twbvy001 "ETE-TWBVY-001" Contradiction
        "A flush is acknowledged while an overflow has begun and not ended; not under the erratum `early_flush_acknowledge`."
    Dkfrl001 "ETE-DKFRL-001" Contradiction
        "The record at which more time than the bound has passed since a flush request without an acknowledgement, with Core power and while no sink was blocked. Once for each request. Only where a record of a signal was before it: a log without signals does not show acknowledgements."
    Zvnkv001 "ETE-ZVNKV-001" Contradiction
        "The signal `operative` becomes 1 while every configuration is disabled or an overflow has begun and not ended; or it becomes 0 while every configuration is enabled and no overflow has begun and not ended."
    Ymjfj001 "ETE-YMJFJ-001" Contradiction
        "The signal `viewinst` becomes 1 in Debug state."
    Stl001 "ETE-STL-001" Contradiction
        "The processor is stalled while every configuration is disabled, in a prohibited region, in Debug state, without SYSSTALL or TRCSTALLCTLR, with outputs as in ETE-NLSSL-002, with TRCSTALLCTLR known and ISTALL = 0 and NOOVERFLOW = 0, or while self-hosted trace is disabled and `invasive_debug` is off."

    // Recommendations and accepted exceptions.
    Hsxgz001 "ETE-HSXGZ-001" Note
        "In place of ETE-PRG-002, ETE-PRG-003 and ETE-SYN-003 under `accept_context_switch`: the command became disabled by a direct write of EN, in a region that TRFCR_ELx prohibited and after a TSB CSYNC since that was in effect, and TRCSTATR was not read since. Once in the period. Where barriers are hidden, region and TSB CSYNC are taken as given."
    Zgjrf001 "ETE-ZGJRF-001" Note
        "The end of the log, where the command is enabled by a direct change of EN, and TRCSTATR was not read with IDLE = 0 since. Needs System accesses."
    Syn007 "ETE-SYN-007" Note
        "The end of the log, with no context synchronisation event since the latest direct write of a register of the trace unit. Needs barriers."
    Syn008 "ETE-SYN-008" Note
        "A direct read of TRCRSR or TRCVICTLR that reaches the unit, with no context synchronisation event since TRCSTATR first showed Stable or Idle in this disabled period. Needs barriers."
    Prg006 "ETE-PRG-006" Note
        "The record at which the command becomes enabled, where the log shows an earlier session: one finding for each of TRCVICTLR (if it has SSSTATUS), TRCSEQSTR, `TRCCNTVR<n>` and `TRCSSCSR<n>` that exists and was not written since the command last became disabled, in the order of offsets. Needs System and external accesses."
    Prg009 "ETE-PRG-009" Note
        "A change of TRBLIMITR_EL1.E that a record showed with the other value before, while the command is enabled and the region is not prohibited. Needs System accesses."
    Prg011 "ETE-PRG-011" Note
        "The first write of a programming register, change of EN, change of the OS Lock or loss of Core power after a poll timed out, where nothing was proved since and no trace unit reset was."
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// The text names no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRule;

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no rule that a checker reports")
    }
}

impl core::error::Error for UnknownRule {}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        Self::ALL.iter().copied().find(|rule| rule.id() == text).ok_or(UnknownRule)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Rule {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Rule".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let ids: Vec<&str> = Self::ALL.iter().map(|rule| rule.id()).collect();
        schemars::json_schema!({
            "type": "string",
            "description": "The requirement that a finding is about.",
            "enum": ids
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_read_back() {
        for rule in Rule::ALL {
            assert_eq!(rule.id().parse(), Ok(*rule));
        }
        assert_eq!("ETE-NONE".parse::<Rule>(), Err(UnknownRule));
        assert!(Rule::ALL.is_sorted());
    }

    #[test]
    fn only_notes_have_no_fault() {
        for kind in FindingKind::ALL {
            assert_eq!(kind.fault().is_none(), kind == FindingKind::Note);
        }
    }
}
