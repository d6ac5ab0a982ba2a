//! Wrong reports are rejected.
