//! Judges any trace decoder or encoder against the contract.
#![forbid(unsafe_code)]
