//! Which trace unit wrote a stream: from the registers of a snapshot.

use std::fmt;

use traceproof_opencsd_host::{Source, etmv3, etmv4};

use crate::snapshot::{Device, SnapshotError};

/// Why a device is no source that can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// This peer does not know the protocol of this type of device.
    UnknownProtocol(String),
    /// The snapshot does not have a register that is needed.
    MissingRegister(&'static str),
    /// A register does not fit 32 bits.
    WideRegister(&'static str),
    /// The snapshot is damaged.
    Snapshot(SnapshotError),
}

/// The source that a device of a snapshot is. `core` is the type of the core that it traces, such as `Cortex-M4`.
///
/// # Errors
///
/// When the protocol is not known, or a register is missing or damaged.
pub fn source(device: &Device, core: &str) -> Result<Source, SourceError> {
    let register = |name: &'static str| {
        let value = device.register(name).map_err(SourceError::Snapshot)?;
        let value = value.ok_or(SourceError::MissingRegister(name))?;
        u32::try_from(value).map_err(|_| SourceError::WideRegister(name))
    };
    let model = device.model.to_ascii_uppercase();
    let registers = || {
        Ok(etmv3::Configuration {
            etmidr: register("ETMIDR")?,
            etmcr: register("ETMCR")?,
            etmccer: register("ETMCCER")?,
            etmtraceidr: register("ETMTRACEIDR")?,
            m_profile: core.to_ascii_uppercase().starts_with("CORTEX-M"),
        })
    };
    if model.starts_with("ETM3") || model.starts_with("ETMV3") {
        return registers().map(Source::Etmv3);
    }
    if model.starts_with("PTM") || model.starts_with("PFT") {
        return registers().map(Source::Ptm);
    }
    let is_ete = model.starts_with("ETE");
    if is_ete || model.starts_with("ETM4") || model.starts_with("ETMV4") {
        let optional = |name: &'static str| match register(name) {
            Err(SourceError::MissingRegister(_)) => Ok(0),
            other => other,
        };
        return Ok(Source::Etmv4(etmv4::Configuration {
            trcidr0: register("TRCIDR0")?,
            trcidr1: register("TRCIDR1")?,
            trcidr2: register("TRCIDR2")?,
            trcidr8: optional("TRCIDR8")?,
            trcdevarch: if is_ete { register("TRCDEVARCH")? } else { 0 },
            trcconfigr: register("TRCCONFIGR")?,
            trctraceidr: register("TRCTRACEIDR")?,
            profile: if core.to_ascii_uppercase().starts_with("CORTEX-M") {
                etmv4::Profile::V8M
            } else {
                etmv4::Profile::A
            },
        }));
    }
    Err(SourceError::UnknownProtocol(device.model.clone()))
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProtocol(model) => write!(f, "the protocol of `{model}` is not known"),
            Self::MissingRegister(name) => write!(f, "register {name} is missing"),
            Self::WideRegister(name) => write!(f, "register {name} does not fit 32 bits"),
            Self::Snapshot(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}
