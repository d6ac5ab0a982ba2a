//! Parameters with one of them changed, and every change that the schema of a protocol knows.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use traceproof_vectors::notation::parse_u64;
use traceproof_vectors::shipped;

use crate::family::FamilyRules;

/// Another value for one parameter: `itype_width_p=4`, `modes.full_address=true`.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its name, with those of the tables that it is in.
    pub key: String,
    /// The value, as in JSON.
    pub value: Value,
}

/// As arguments of a shell: what is neither number nor word is quoted.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::String(text) => write!(f, "{}={text}", self.key),
            value @ (Value::Array(_) | Value::Object(_)) => write!(f, "{}='{value}'", self.key),
            value => write!(f, "{}={value}", self.key),
        }
    }
}

impl FromStr for Change {
    type Err = String;

    /// A value is JSON, a number in another base (`0x10`), or else a string, so that names need no quotes. There are no
    /// parameters with fractions: `2.0` is the name of a version.
    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as itype_width_p=4")?;
        if key.split('.').any(str::is_empty) {
            return Err(format!("`{key}` is no name of a parameter"));
        }
        let value = match serde_json::from_str(value) {
            Ok(Value::Number(number)) if number.is_f64() => Value::from(value),
            Ok(value) => value,
            Err(_) => parse_u64(value).map_or_else(|| Value::from(value), Value::from),
        };
        Ok(Self { key: key.to_owned(), value })
    }
}

impl Change {
    /// The parameters with this change. Tables that are absent begin with their defaults.
    ///
    /// # Errors
    ///
    /// When there is no such parameter, or it cannot have the value.
    pub fn of<P: FamilyRules>(&self, parameters: &P::Parameters) -> Result<P::Parameters, String> {
        let mut table = serde_json::to_value(parameters).map_err(|error| error.to_string())?;
        let mut target = &mut table;
        for name in self.key.split('.') {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            target = &mut target[name];
        }
        *target = self.value.clone();
        serde_json::from_value(table).map_err(|error| format!("{self}: {error}"))
    }
}

/// The largest number that is tried for a parameter: no width of a field and no size of a table is larger.
const LARGEST: u64 = 64;

/// Tables in tables; no parameter is deeper.
const DEPTH: usize = 8;

/// Every single change of a parameter by the schema of the protocol, names and switches before numbers, near numbers
/// before far ones; empty without the schema.
pub(super) fn changes<P: FamilyRules>(parameters: &P::Parameters) -> Vec<Change> {
    let schema = shipped::schemas().read_to_string(format!("case.{}.schema.json", P::ID)).ok();
    let schema: Option<Value> = schema.and_then(|text| serde_json::from_str(&text).ok());
    let (Some(schema), Ok(current)) = (schema, serde_json::to_value(parameters)) else { return Vec::new() };
    let mut found = Found { schema: &schema, changes: Vec::new() };
    found.table(found.resolved(&schema["properties"]["parameters"]), &current, "", DEPTH);
    found.changes.sort_by_key(|(distance, _)| *distance);
    found.changes.into_iter().map(|(_, change)| change).collect()
}

struct Found<'a> {
    schema: &'a Value,
    /// With the distance of a number from the current one; 0 of what is no number.
    changes: Vec<(u64, Change)>,
}

impl<'a> Found<'a> {
    /// What a part of the schema refers to.
    fn resolved(&self, part: &'a Value) -> &'a Value {
        let name = part["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
        name.map_or(part, |name| &self.schema["$defs"][name])
    }

    fn table(&mut self, table: &'a Value, current: &Value, prefix: &str, depth: usize) {
        for (name, property) in table["properties"].as_object().into_iter().flatten() {
            let target = self.resolved(property);
            self.parameter(target, &current[name], &format!("{prefix}{name}"), depth);
        }
    }

    fn parameter(&mut self, target: &'a Value, current: &Value, key: &str, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if target["properties"].is_object() {
            return self.table(target, current, &format!("{key}."), depth);
        }
        match target["type"].as_str() {
            Some("boolean") => self.push(0, key, Value::Bool(current != &Value::Bool(true))),
            Some("integer") => self.numbers(target, current, key),
            _ => {
                for name in target["enum"].as_array().into_iter().flatten().filter(|name| *name != current) {
                    self.push(0, key, name.clone());
                }
                for of in ["oneOf", "anyOf"] {
                    for one in target[of].as_array().into_iter().flatten() {
                        self.alternative(self.resolved(one), current, key, depth);
                    }
                }
            }
        }
    }

    /// One of several things that a value may be.
    fn alternative(&mut self, one: &'a Value, current: &Value, key: &str, depth: usize) {
        let required = || one["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if one["const"].is_string() && &one["const"] != current {
            self.push(0, key, one["const"].clone());
        } else if one["type"] == "null" && !current.is_null() {
            self.push(0, key, Value::Null);
        } else if one["properties"].is_object() {
            if current.is_object() && required().all(|name| !current[name].is_null()) {
                self.table(one, current, &format!("{key}."), depth);
            } else {
                let empty = required().map(|name| (name.to_owned(), Value::Object(Map::new())));
                self.push(0, key, Value::Object(empty.collect()));
            }
        }
    }

    fn numbers(&mut self, target: &Value, current: &Value, key: &str) {
        let bound = |name: &str| target[name].as_u64();
        let now = current.as_u64().unwrap_or_default();
        for number in bound("minimum").unwrap_or(0)..=bound("maximum").unwrap_or(LARGEST).min(LARGEST) {
            if current.as_u64() != Some(number) {
                self.push(1 + now.abs_diff(number), key, Value::from(number));
            }
        }
    }

    fn push(&mut self, distance: u64, key: &str, value: Value) {
        self.changes.push((distance, Change { key: key.to_owned(), value }));
    }
}
