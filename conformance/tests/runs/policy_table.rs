//! `docs/policies.md` names every key of every policy, `docs/parameters.md` every parameter: from the published schemas
//! and the legal choices.
//!
//! `TRACEPROOF_BLESS=1 cargo test -p traceproof-conformance --test runs policy_table` writes them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;
use traceproof_conformance::family::{FamilyRules, IMPLEMENTED, Visitor, visit};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policies.md");

const HEAD: &str = "# Policies of encoders

The keys of `policy` in [cases](cases.md), in `--policy` of `traceproof encode` and in the request
[`encode`](adaptors.md#encode), for each protocol. A key that is not given has its default.

A key is *free* if the specification leaves its value to encoders. Where a case leaves a free key at its default, an
encoder that made another choice is judged `legal`, and the report names the choice: see
[how far encoders agree](subjects.md#how-far-encoders-agree). The clauses are those that leave it open. Every other key
is configuration, or something that the hardware is: an encoder that cannot be set up so refuses the policy with
`unsupported` and the name of the key.

The page is made from the types and schemas of the policies; a test holds both together.
";

const PARAMETERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/parameters.md");

const PARAMETERS_HEAD: &str = "# Parameters of encoders

The keys of `--parameters`, of `parameters` in [cases](cases.md) and in the message
[`parameters`](adaptors.md#parameters-image), for each protocol, by the specification's names. A key that is not given has its
default. [cli.md](cli.md#parameters) says what else a file of parameters may contain.

The page is made from the types and schemas of the parameters; a test holds both together.
";

fn schema_of<P: FamilyRules>() -> Value {
    let path = format!("{}/../vectors/schema/case.{}.schema.json", env!("CARGO_MANIFEST_DIR"), P::ID);
    serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// The parameters of a protocol.
struct Parameters;

impl Visitor for Parameters {
    type Output = String;

    fn visit<P: FamilyRules>(self) -> String {
        let (schema, mut rows) = (schema_of::<P>(), Vec::new());
        keys(&schema, resolved(&schema, &schema["properties"]["parameters"]), "", &mut rows);
        let mut text = format!("\n## {}\n\n| key | values | default | means |\n|---|---|---|---|\n", P::ID);
        for Row { key, values, default, means } in rows {
            writeln!(text, "| `{key}` | {values} | {default} | {means} |").expect("a string");
        }
        text
    }
}

/// The policy of a protocol.
struct Section;

impl Visitor for Section {
    type Output = String;

    fn visit<P: FamilyRules>(self) -> String {
        let (schema, mut rows) = (schema_of::<P>(), Vec::new());
        keys(&schema, resolved(&schema, &schema["properties"]["policy"]), "", &mut rows);
        let mut text =
            format!("\n## {}\n\n| key | values | default | means | free |\n|---|---|---|---|---|\n", P::ID);
        for choice in P::LEGAL_CHOICES {
            assert!(rows.iter().any(|row| row.key == choice.key), "{}: no key {}", P::ID, choice.key);
        }
        for Row { key, values, default, means } in rows {
            let choice = P::LEGAL_CHOICES.iter().find(|choice| choice.key == key);
            let free = choice.map_or(String::new(), |choice| match choice.clauses {
                [] => String::from("yes"),
                clauses => format!("yes: {}", clauses.join(", ")),
            });
            writeln!(text, "| `{key}` | {values} | {default} | {means} | {free} |").expect("a string");
        }
        text
    }
}

struct Row {
    key: String,
    values: String,
    default: String,
    means: String,
}

/// What a value refers to, if it does.
fn resolved<'a>(schema: &'a Value, value: &'a Value) -> &'a Value {
    let name = value["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
    name.map_or(value, |name| &schema["$defs"][name])
}

/// The keys of an object, with those of the objects in it.
fn keys(schema: &Value, object: &Value, prefix: &str, rows: &mut Vec<Row>) {
    for (name, property) in object["properties"].as_object().expect("an object has keys") {
        let key = format!("{prefix}{name}");
        let target = resolved(schema, property);
        if target["properties"].is_object() {
            keys(schema, target, &format!("{key}."), rows);
            continue;
        }
        let description = property["description"].as_str().or(target["description"].as_str());
        let default = match &property["default"] {
            // Those of its keys follow.
            Value::Null | Value::Object(_) => String::new(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        let tables: Vec<&Value> =
            alternatives(target).map(|one| resolved(schema, one)).filter(is_table).collect();
        let means = prose(description.unwrap_or_default());
        rows.push(Row { key: key.clone(), values: values(target, !tables.is_empty()), default, means });
        for table in tables {
            keys(schema, table, &format!("{key}."), rows);
        }
    }
}

/// What a value may be, where that is one of several things.
fn alternatives(target: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|of| target[of].as_array()).flatten()
}

/// The type of a value, `null` and other ways to write it left out.
fn type_of(target: &Value) -> Option<&str> {
    let several = target["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let alternative =
        alternatives(target).filter_map(|one| one["type"].as_str()).find(|name| *name == "integer");
    target["type"].as_str().or_else(|| several.into_iter().find(|name| *name != "null")).or(alternative)
}

fn is_table(value: &&Value) -> bool {
    value["properties"].is_object()
}

fn values(target: &Value, or_table: bool) -> String {
    let names: Vec<String> = alternatives(target)
        .filter_map(|one| one["const"].as_str())
        .chain(target["enum"].as_array().into_iter().flatten().filter_map(Value::as_str))
        .map(|name| format!("`{name}`"))
        .chain(or_table.then(|| String::from("a table")))
        .collect();
    if !names.is_empty() {
        return names.join(", ");
    }
    match type_of(target) {
        Some("boolean") => String::from("`true`, `false`"),
        Some("integer") => match target["format"].as_str() {
            Some("uint8") => String::from("0 to 255"),
            Some("uint16") => String::from("0 to 65535"),
            _ => String::from("a number"),
        },
        Some("array") => String::from("a list"),
        _ => String::from("a table"),
    }
}

/// A comment as the text of a cell: links of code become plain names.
fn prose(description: &str) -> String {
    let mut text = description.replace("\n\n", " ").replace('\n', " ").replace('|', "\\|");
    while let Some(start) = text.find("](") {
        let (Some(open), Some(close)) = (text[..start].rfind('['), text[start..].find(')')) else { break };
        let name = text[open + 1..start].to_owned();
        text.replace_range(open..=start + close, &name);
    }
    text.replace("[`", "`").replace("`]", "`")
}

fn check(path: &str, page: &str) {
    if std::env::var_os("TRACEPROOF_BLESS").is_some() {
        fs::write(path, page).expect("the page can be written");
    }
    let committed = fs::read_to_string(Path::new(path)).unwrap_or_default();
    assert!(committed == page, "{path}: out of date; run with TRACEPROOF_BLESS=1 and commit the result");
}

#[test]
fn the_page_of_policies_is_current() {
    let sections = IMPLEMENTED.iter().map(|protocol| visit(*protocol, Section).expect("implemented"));
    check(PAGE, &sections.fold(HEAD.to_owned(), |page, section| page + &section));
}

#[test]
fn the_page_of_parameters_is_current() {
    let sections = IMPLEMENTED.iter().map(|protocol| visit(*protocol, Parameters).expect("implemented"));
    check(PARAMETERS, &sections.fold(PARAMETERS_HEAD.to_owned(), |page, section| page + &section));
}
