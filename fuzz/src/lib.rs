//! The logic of the fuzz targets.
#![forbid(unsafe_code)]
