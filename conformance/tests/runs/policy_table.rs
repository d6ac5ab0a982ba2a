//! `docs/policies.md` names every key of every policy: from the published schemas and the legal choices.
//!
//! `TRACEPROOF_BLESS=1 cargo test -p traceproof-conformance --test runs policy_table` writes it.

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

/// The section of a protocol.
struct Section;

impl Visitor for Section {
    type Output = String;

    fn visit<P: FamilyRules>(self) -> String {
        let path = format!("{}/../vectors/schema/case.{}.schema.json", env!("CARGO_MANIFEST_DIR"), P::ID);
        let schema: Value = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        let mut rows = Vec::new();
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
            Value::Null => String::new(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        rows.push(Row {
            key,
            values: values(target),
            default,
            means: prose(description.unwrap_or_default()),
        });
    }
}

fn values(target: &Value) -> String {
    let names: Vec<String> = ["oneOf", "anyOf"]
        .iter()
        .filter_map(|of| target[of].as_array())
        .flatten()
        .filter_map(|one| one["const"].as_str())
        .chain(target["enum"].as_array().into_iter().flatten().filter_map(Value::as_str))
        .map(|name| format!("`{name}`"))
        .collect();
    if !names.is_empty() {
        return names.join(", ");
    }
    match target["type"].as_str() {
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

#[test]
fn the_page_of_policies_is_current() {
    let mut page = HEAD.to_owned();
    for protocol in IMPLEMENTED {
        page.push_str(&visit(protocol, Section).expect("implemented"));
    }
    if std::env::var_os("TRACEPROOF_BLESS").is_some() {
        fs::write(PAGE, &page).expect("the page can be written");
    }
    let committed = fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    assert!(committed == page, "out of date; run with TRACEPROOF_BLESS=1 and commit the result");
}
