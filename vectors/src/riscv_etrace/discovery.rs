//! The parameters of an encoder from a description: the attributes of ET 10 as they are discovered, parameters by name,
//! or both.
//!
//! A description is a TOML file. Names with `_p` are parameters, as in [`Parameters`]; names without are attributes,
//! which are often one less (`iaddress_width = 63` means the same as `iaddress_width_p = 64`). What cannot be
//! discovered (`xlen`, `support`, `encapsulation`, …) has the names of [`Parameters`]. Attributes of data trace count
//! where the description has a table `data`, however empty: that there is data trace cannot be discovered either.
//!
//! ```
//! use traceproof_vectors::riscv_etrace::discovery;
//!
//! let found = discovery::read("iaddress_width = 63\necause_width = 5\nxlen = \"rv64\"").unwrap();
//! assert_eq!((found.parameters.iaddress_width_p, found.parameters.ecause_width_p), (64, 6));
//! let errors = discovery::read("ecause_width = 5\niaddres_width = 63").unwrap_err();
//! assert_eq!(errors[0].to_string(), "2:1: `iaddres_width` is no attribute and no parameter");
//! ```

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::{DataParameters, Parameters};

/// What a description says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// What packets depend on.
    pub parameters: Parameters,
    /// The parameters after attributes on which no packet depends, such as `filters_p` for `filters`: those which the
    /// description has, in the order of [`ATTRIBUTES`].
    pub others: Vec<(&'static str, u64)>,
}

/// One row of the tables of ET 10.1. Spec: RVET-DISC-002.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The name under which it is discovered.
    pub name: &'static str,
    /// The name of the parameter.
    pub parameter: &'static str,
    /// The parameter is the attribute plus this: 0 or 1.
    pub offset: u64,
    /// The attribute where it cannot be discovered; an encoder without it must be like that (RVET-DISC-001).
    pub default: u64,
    /// The values that an attribute can have.
    pub range: (u64, u64),
    /// An encoder must let it be discovered, or be as the default says.
    pub required: bool,
    /// Puts the parameter in its place, where packets depend on it.
    set: Option<fn(&mut Parameters, u64)>,
    /// Likewise, where data trace depends on it.
    set_data: Option<fn(&mut DataParameters, u64)>,
}

/// A value that decides the width of a field of at most 64 bits.
const WIDTH: (u64, u64) = (0, 63);
/// log2 of a number of entries.
const SIZE: (u64, u64) = (0, 15);
const FLAG: (u64, u64) = (0, 1);

/// A row whose parameter packets depend on.
macro_rules! packets {
    ($name:literal, $field:ident, $offset:literal, $default:literal, $range:expr, $set:expr) => {
        Attribute {
            name: $name,
            parameter: stringify!($field),
            offset: $offset,
            default: $default,
            range: $range,
            required: true,
            set: Some($set),
            set_data: None,
        }
    };
}

/// A row whose parameter no packet depends on, or not that of instruction trace.
const fn other(
    name: &'static str,
    parameter: &'static str,
    offset: u64,
    default: u64,
    most: u64,
) -> Attribute {
    Attribute {
        name,
        parameter,
        offset,
        default,
        range: (0, most),
        required: false,
        set: None,
        set_data: None,
    }
}

/// A row of data trace.
const fn data(
    name: &'static str,
    parameter: &'static str,
    default: u64,
    most: u64,
    set: fn(&mut DataParameters, u64),
) -> Attribute {
    Attribute { set_data: Some(set), ..other(name, parameter, 1, default, most) }
}

/// The attributes of ET 10.1: instruction trace, then data trace.
pub const ATTRIBUTES: [Attribute; 41] = [
    packets!("arch", arch_p, 0, 0, SIZE, |p, v| p.arch_p = v as u8),
    packets!("bpred_size", bpred_size_p, 0, 0, SIZE, |p, v| p.bpred_size_p = v as u8),
    packets!("cache_size", cache_size_p, 0, 0, SIZE, |p, v| p.cache_size_p = v as u8),
    packets!("call_counter_size", call_counter_size_p, 0, 0, SIZE, |p, v| p.call_counter_size_p = v as u8),
    packets!("context_width", context_width_p, 1, 0, WIDTH, |p, v| p.context_width_p = v as u8),
    packets!("time_width", time_width_p, 1, 0, WIDTH, |p, v| p.time_width_p = v as u8),
    packets!("ecause_width", ecause_width_p, 1, 3, WIDTH, |p, v| p.ecause_width_p = v as u8),
    packets!("f0s_width", f0s_width_p, 0, 0, (0, 3), |p, v| p.f0s_width_p = v as u8),
    packets!("iaddress_lsb", iaddress_lsb_p, 1, 0, (0, 1), |p, v| p.iaddress_lsb_p = v as u8),
    packets!("iaddress_width", iaddress_width_p, 1, 31, WIDTH, |p, v| p.iaddress_width_p = v as u8),
    packets!("nocontext", nocontext_p, 0, 1, FLAG, |p, v| p.nocontext_p = v == 1),
    packets!("notime", notime_p, 0, 1, FLAG, |p, v| p.notime_p = v == 1),
    packets!("privilege_width", privilege_width_p, 1, 1, (0, 3), |p, v| p.privilege_width_p = v as u8),
    packets!("return_stack_size", return_stack_size_p, 0, 0, SIZE, |p, v| p.return_stack_size_p = v as u8),
    packets!("sijump", sijump_p, 0, 0, FLAG, |p, v| p.sijump_p = v == 1),
    Attribute {
        required: false,
        ..packets!("itype_width", itype_width_p, 1, 3, (2, 3), |p, v| p.itype_width_p = v as u8)
    },
    Attribute {
        required: false,
        ..packets!("retires", retires_p, 1, 0, (0, 254), |p, v| p.retires_p = v as u8)
    },
    other("comparators", "comparators_p", 1, 0, 7),
    other("filters", "filters_p", 1, 0, 15),
    other("ecause_choice", "ecause_choice_p", 0, 5, 7),
    other("filter_context", "filter_context_p", 0, 1, 1),
    other("filter_excint", "filter_excint_p", 0, 1, 15),
    other("filter_privilege", "filter_privilege_p", 0, 1, 1),
    other("filter_time", "filter_time_p", 0, 1, 1),
    other("filter_tval", "filter_tval_p", 0, 1, 1),
    other("ctype_width", "ctype_width_p", 1, 0, 1),
    other("ilastsize_width", "ilastsize_width_p", 1, 0, 127),
    other("iretire_width", "iretire_width_p", 1, 1, 127),
    other("impdef_width", "impdef_width_p", 1, 0, 127),
    data("daddress_width", "daddress_width_p", 31, 63, |d, v| d.daddress_width_p = v as u8),
    data("data_width", "data_width_p", 31, 127, |d, v| d.data_width_p = v as u8),
    data("dblock_width", "dblock_width_p", 0, 7, |d, v| d.dblock_width_p = v as u8),
    data("dsize_width", "dsize_width_p", 2, 7, |d, v| d.dsize_width_p = v as u8),
    data("dtype_width", "dtype_width_p", 0, 3, |d, v| d.dtype_width_p = v as u8),
    data("iaddr_lsbs_width", "iaddr_lsbs_width_p", 0, 63, |d, v| d.iaddr_lsbs_width_p = v as u8),
    data("lrid_width", "lrid_width_p", 0, 63, |d, v| d.lrid_width_p = v as u8),
    data("lresp_width", "lresp_width_p", 0, 1, |d, v| d.lresp_width_p = v as u8),
    data("ldata_width", "ldata_width_p", 31, 127, |d, v| d.ldata_width_p = v as u8),
    data("sdata_width", "sdata_width_p", 31, 127, |d, v| d.sdata_width_p = v as u8),
    // Not in the tables, but needed to decide whether signals are replicated (ET 4.2).
    other("blocks", "blocks_p", 1, 0, 15),
    // The field of the example register map that is `ctype_width` (ET 10.2).
    other("context_type_width", "ctype_width_p", 1, 0, 1),
];

/// What is wrong with a description, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: DiscoveryProblem,
}

/// What can be wrong with a description.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryProblem {
    /// The text is no TOML, or a parameter has a value of another kind.
    Syntax(String),
    /// No attribute and no parameter has this name.
    Unknown(String),
    /// The value of an attribute is no whole number.
    NoNumber(&'static str),
    /// An attribute cannot have this value.
    OutOfRange {
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        value: i128,
        /// The least and the greatest value that it can have.
        range: (u64, u64),
    },
    /// An attribute and its parameter, or two attributes of one parameter, disagree.
    Contradiction {
        /// The name that comes second in the file.
        name: String,
        /// The one that comes first.
        other: String,
    },
    /// No hardware can have this parameter, alone or beside the others.
    Impossible {
        /// The parameter.
        parameter: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl fmt::Display for DiscoveryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => f.write_str(message),
            Self::Unknown(name) => write!(f, "`{name}` is no attribute and no parameter"),
            Self::NoNumber(attribute) => write!(f, "`{attribute}` must be a whole number"),
            Self::OutOfRange { attribute, value, range: (least, most) } => {
                write!(f, "`{attribute}` = {value} is not {least} to {most}")
            }
            Self::Contradiction { name, other } => write!(f, "`{name}` contradicts `{other}`"),
            Self::Impossible { parameter, reason } => write!(f, "`{parameter}` {reason}"),
        }
    }
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.problem)
    }
}

impl core::error::Error for DiscoveryError {}

/// Reads a description.
///
/// What it leaves out has the default of ET 10.1.
///
/// # Errors
///
/// Everything that is wrong with it, in the order of the file.
///
/// Spec: RVET-DISC-001, RVET-DISC-002, RVET-DISC-003 (ET 10.1).
pub fn read(text: &str) -> Result<Discovery, Vec<DiscoveryError>> {
    let mut description = Description { text, errors: Vec::new(), keys: BTreeMap::new() };
    let discovery = description.read();
    let errors = description.errors;
    match discovery {
        Some(discovery) if errors.is_empty() => Ok(discovery),
        _ => Err(placed(text, errors)),
    }
}

/// The errors in the order of the text, with lines and columns; passes over the text once.
fn placed(text: &str, mut errors: Vec<(usize, DiscoveryProblem)>) -> Vec<DiscoveryError> {
    errors.sort_by_key(|(offset, _)| *offset);
    let (mut line, mut passed, mut first) = (1, 0, 0);
    let place = |(offset, problem): (usize, DiscoveryProblem)| {
        let between = text.get(passed..offset).unwrap_or_default();
        line += between.matches('\n').count();
        if let Some(last) = between.rfind('\n') {
            first = passed + last + 1;
        }
        passed = offset;
        let column = text.get(first..offset).unwrap_or_default().chars().count() + 1;
        DiscoveryError { line, column, problem }
    };
    errors.into_iter().map(place).collect()
}

/// A description that is being read.
struct Description<'a> {
    text: &'a str,
    /// Where each begins, in bytes.
    errors: Vec<(usize, DiscoveryProblem)>,
    /// Where each name stands.
    keys: BTreeMap<String, Range<usize>>,
}

/// An attribute of the description.
struct Found {
    attribute: &'static Attribute,
    value: u64,
    span: Range<usize>,
}

impl Description<'_> {
    fn read(&mut self) -> Option<Discovery> {
        let document = match DeTable::parse(self.text) {
            Ok(document) => document,
            Err(error) => {
                self.syntax(&error);
                return None;
            }
        };
        let span = document.span();
        let mut stated = DeTable::new();
        let mut found = Vec::new();
        for (key, value) in document.into_inner() {
            let name: &str = key.get_ref();
            self.keys.insert(name.to_string(), key.span());
            if let Some(data) = value.get_ref().as_table().filter(|_| name == "data") {
                self.keys.extend(data.keys().map(|key| (key.get_ref().to_string(), key.span())));
            }
            match Self::row(name) {
                Some(row) => found.extend(self.value(row, key.span(), &value)),
                None if is_parameter(name) => {
                    stated.insert(key, value);
                }
                None => {
                    let problem = DiscoveryProblem::Unknown(name.to_string());
                    self.error(&key.span(), problem);
                }
            }
        }
        let mut parameters = match Parameters::deserialize(Deserializer::from(Spanned::new(span, stated))) {
            Ok(parameters) => parameters,
            Err(error) => {
                self.syntax(&error);
                return None;
            }
        };
        let others = self.apply(&mut found, &mut parameters);
        self.check(&parameters, &others);
        Some(Discovery { parameters, others })
    }

    /// The row of a name that stands for one: an attribute, or a parameter that has no place in [`Parameters`].
    fn row(name: &str) -> Option<(&'static Attribute, &'static str, u64)> {
        let attribute = ATTRIBUTES.iter().find(|row| row.name == name).map(|row| (row, row.name, 0));
        let parameter = || {
            let row = ATTRIBUTES.iter().find(|row| row.parameter == name && row.set.is_none())?;
            Some((row, row.parameter, row.offset))
        };
        attribute.or_else(parameter)
    }

    /// The value at `key`, which is a name of the row and is `more` than the attribute.
    fn value(
        &mut self,
        (attribute, name, more): (&'static Attribute, &'static str, u64),
        key: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Found> {
        let (least, most) = attribute.range;
        let range = (least + more, most + more);
        let Some(number) = number(value.get_ref()) else {
            self.error(&value.span(), DiscoveryProblem::NoNumber(name));
            return None;
        };
        match u64::try_from(number) {
            Ok(value) if (range.0..=range.1).contains(&value) => {
                Some(Found { attribute, value: value - more, span: key })
            }
            _ => {
                let problem = DiscoveryProblem::OutOfRange { attribute: name, value: number, range };
                self.error(&value.span(), problem);
                None
            }
        }
    }

    /// Puts the attributes in their places; what has none is returned.
    fn apply(&mut self, found: &mut [Found], parameters: &mut Parameters) -> Vec<(&'static str, u64)> {
        found.sort_by_key(|found| found.span.start);
        let mut others: Vec<(&'static str, u64, String)> = Vec::new();
        for Found { attribute, value, span } in found {
            let value = *value + attribute.offset;
            let before = parameters.clone();
            if let Some(set) = attribute.set {
                set(parameters, value);
            } else if let (Some(set), Some(data)) = (attribute.set_data, &mut parameters.data) {
                set(data, value);
            } else if let Some((_, same, other)) =
                others.iter().find(|(name, ..)| *name == attribute.parameter)
            {
                if *same != value {
                    let name = self.name_at(span);
                    let problem = DiscoveryProblem::Contradiction { name, other: other.clone() };
                    self.error(span, problem);
                }
            } else {
                others.push((attribute.parameter, value, self.name_at(span)));
            }
            if let Some(parameter) = self.keys.get(attribute.parameter).cloned()
                && before != *parameters
            {
                let (first, second) = if parameter.start < span.start {
                    (parameter, span.clone())
                } else {
                    (span.clone(), parameter)
                };
                let (name, other) = (self.name_at(&second), self.name_at(&first));
                self.error(&second, DiscoveryProblem::Contradiction { name, other });
            }
        }
        let place = |name: &str| ATTRIBUTES.iter().position(|attribute| attribute.parameter == name);
        others.sort_by_key(|(name, ..)| place(name));
        others.into_iter().map(|(name, value, _)| (name, value)).collect()
    }

    /// Consistency of the parameters with each other.
    fn check(&mut self, parameters: &Parameters, others: &[(&'static str, u64)]) {
        let other = |name| others.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let counts_returns = parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0;
        let rules = [
            (
                "itype_width_p",
                parameters.itype_width_p == 4 || !counts_returns,
                "of 3 bits cannot distinguish returns, which call_counter_size and return_stack_size promise (ET 4.2)",
            ),
            (
                "filter_tval_p",
                other("filter_tval_p") != Some(1) || other("filter_excint_p") != Some(0),
                "needs filter_excint_p (ET 10)",
            ),
        ];
        let broken = rules.into_iter().find(|(_, holds, _)| !holds).map(|(name, _, reason)| (name, reason));
        if let Some((parameter, reason)) = parameters.check().err().or(broken) {
            let span = self.place(parameter);
            self.error(&span, DiscoveryProblem::Impossible { parameter, reason });
        }
    }

    /// Where a parameter is stated, by whichever name; the start of the file if nowhere.
    fn place(&self, parameter: &str) -> Range<usize> {
        let names = ATTRIBUTES.iter().filter(|attribute| attribute.parameter == parameter);
        let stated = names.filter_map(|attribute| self.keys.get(attribute.name)).next();
        let stated = self.keys.get(parameter).or(stated);
        // Constants of the transport are entries of a table.
        let table = ["timestamp_bytes", "type_bits", "src_id_bits", "src_id", "block_bytes", "first_block"];
        let stated = stated.or_else(|| self.keys.get("encapsulation").filter(|_| table.contains(&parameter)));
        stated.cloned().unwrap_or(0..0)
    }

    fn name_at(&self, span: &Range<usize>) -> String {
        self.text.get(span.clone()).unwrap_or_default().to_string()
    }

    fn syntax(&mut self, error: &toml::de::Error) {
        let message = error.message().lines().next().unwrap_or_default().to_string();
        self.error(&error.span().unwrap_or(0..0), DiscoveryProblem::Syntax(message));
    }

    fn error(&mut self, span: &Range<usize>, problem: DiscoveryProblem) {
        self.errors.push((span.start, problem));
    }
}

/// A whole number in any base, or a flag as 0 and 1.
fn number(value: &DeValue<'_>) -> Option<i128> {
    match value {
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix()).ok(),
        DeValue::Boolean(flag) => Some(i128::from(*flag)),
        _ => None,
    }
}

/// Whether [`Parameters`] has a field of this name.
fn is_parameter(name: &str) -> bool {
    let probe = alloc::format!("{name:?} = []");
    // A field that is there refuses the value, or takes it; one that is not is called unknown.
    match toml::from_str::<Parameters>(&probe) {
        Ok(_) => true,
        Err(error) => !error.message().starts_with("unknown field"),
    }
}
