//! From what is to be traced to register values, to the sequence that writes them, and back.
//!
//! | purpose | place |
//! |---|---|
//! | What is to be traced | [`TraceRequest`], [`AddressRange`], [`Levels`], [`Stall`], [`Output`] |
//! | Values of every register of the trace unit | [`TraceRequest::settings`], [`Setting`] |
//! | The sequence of accesses and barriers that a driver or a debugger makes | [`Procedure`] |
//! | What register values mean | [`TraceRequest::from_values`], [`TraceRequest::read_back`] |
//!
//! ```
//! use traceproof_encoder_model::arm_ete_unit::settings::{AddressRange, Levels, Procedure, TraceRequest};
//! use traceproof_vectors::arm_ete_unit::{Parameters, Register};
//!
//! let request = TraceRequest {
//!     ranges: vec![AddressRange { start: 0x40_0000, end: 0x40_1000 }],
//!     levels: Levels::at(1 << 0),
//!     cycle_counts: Some(0x100),
//!     context_id: true,
//!     ..TraceRequest::default()
//! };
//! let unit = Parameters::default();
//! let settings = request.settings(&unit).unwrap();
//! let config = settings.iter().find(|setting| setting.register == Register::CONFIGR).unwrap();
//! assert_eq!(config.value, 0x1051);
//! let sequence = Procedure::System.enable(&unit, &settings, request.output);
//! assert!(sequence.len() > settings.len());
//! ```

mod procedure;
mod read_back;
mod request;
mod values;

pub use procedure::Procedure;
pub use read_back::{Inexpressible, Unread};
pub use request::{AddressRange, Levels, Output, SettingsRefusal, Stall, TraceRequest};
pub use values::Setting;

#[cfg(test)]
mod tests;
