//! Made-up results, in the form of `conformance --json`: a few cases of every kind, and as many as a suite has.

use serde_json::{Map, Value, json};

/// A name that breaks a page which does not escape it.
pub(crate) const HOSTILE: &str =
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&|`\u{2028}";

/// Two families, six cases: passed, failed twice alike, crashed, not judged, a known failure; and a real program.
pub(crate) fn small_text(subject: &str) -> String {
    let case = |id: &str, family: &str, checks: Value| {
        json!({
            "id": id, "rev": 1, "family": family, "path": format!("{family}/branches/{id}.toml"),
            "title": format!("title of {id}"), "level": "must", "polarity": "positive",
            "clauses": [{"id": "RVET-PKT-001", "summary": "what it requires"}],
            "catches": "A bug.", "checks": checks,
        })
    };
    let decode = |verdict: Value| {
        let mut check = verdict;
        check["direction"] = json!("decode");
        json!([check])
    };
    let known = json!({"verdict": "expected-failure", "outcome": "crash", "reason": "overflows", "finding": "a.md#1"});
    let ids = ["etr-0001", "etr-0002", "etr-0003", "etm-0001", "etm-0002", "etm-0003"];
    let details: Map<String, Value> = ids
        .iter()
        .map(|id| ((*id).to_owned(), json!({"source": format!("id = \"{id}\"\nwire = [\"73 00\"]\n")})))
        .collect();
    let run = json!({
        "schema": 1, "harness": "0.1.0", "invocation": "traceproof",
        "subject": {"name": subject, "version": "2.0", "argument": format!("{subject}.toml")},
        "clauses": [
            clause("riscv_etrace", "RVET-PKT-001", "packets"), clause("riscv_etrace", "RVET-PKT-002", "packets"),
        ],
        "cases": [
            case("etr-0001", "riscv_etrace", decode(json!({"verdict": "pass"}))),
            case("etr-0002", "riscv_etrace", decode(divergence(3))),
            case("etr-0003", "riscv_etrace", decode(divergence(3))),
            case("etm-0001", "arm_etm", decode(json!({"verdict": "crash", "message": "gone", "stderr": HOSTILE}))),
            case("etm-0002", "arm_etm", decode(json!({"verdict": "unsupported", "needs": ["a decoder"]}))),
            case("etm-0003", "arm_etm", decode(known)),
        ],
        "details": details,
        "programs": [{
            "family": "riscv_etrace", "program": "mix.rv64gc", "set": "delta", "instructions": 1000, "traps": 1,
            "packets": 50, "bytes": 125, "verdict": "pass",
        }],
    });
    run.to_string()
}

/// What the issue of a page calls large: so many cases, of which one in `failing` fails, with sources and evidence.
pub(crate) fn large_text(subject: &str, cases: u64, failing: u64) -> String {
    let mut random = Random(
        subject.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))),
    );
    let families = ["arm_ete", "arm_etm", "arm_pft", "riscv_etrace"];
    let clauses: Vec<Value> = (0..1700)
        .map(|number| {
            clause(families[number % 4], &format!("CL-{number:04}"), ["core", "data", "modes"][number % 3])
        })
        .collect();
    let mut details = Map::new();
    let cases: Vec<Value> =
        (0..cases).map(|number| large_case(number, failing, &mut random, &mut details)).collect();
    json!({
        "schema": 1, "harness": "0.1.0", "subject": {"name": subject, "version": "1.0"},
        "clauses": clauses, "cases": cases, "details": details,
    })
    .to_string()
}

fn large_case(number: u64, failing: u64, random: &mut Random, details: &mut Map<String, Value>) -> Value {
    let family = ["arm_ete", "arm_etm", "arm_pft", "riscv_etrace"][number as usize * 4 / 4000 % 4];
    let id = format!("case-{number:04}");
    let wire: Vec<String> = (0..12).map(|_| random.bytes(6)).collect();
    let fails = (number + random.next() % 2).is_multiple_of(failing);
    let check = |direction: &str| match fails {
        true => {
            let mut check = divergence(number % 7);
            check["direction"] = json!(direction);
            check
        }
        false => json!({"direction": direction, "verdict": "pass"}),
    };
    let checks = ["decode", "chunks", "join", "garbage"].map(check);
    let mut detail = json!({"source": source(&id, &wire, random)});
    if fails {
        detail["evidence"] = evidence(&wire, random);
    }
    details.insert(id.clone(), detail);
    json!({
        "id": id, "rev": 1, "family": family,
        "path": format!("{family}/folder_{}/behaviour_{number}.toml", number / 40),
        "title": format!("Behaviour {number} of a packet with {} fields", random.next() % 90),
        "level": "must", "polarity": if number.is_multiple_of(3) { "negative" } else { "positive" },
        "clauses": [{"id": format!("CL-{:04}", number % 1700), "summary": "An address packet carries so many bytes"}],
        "catches": format!("The decoder takes bit {} for bit {}.", random.next() % 64, random.next() % 64),
        "checks": checks,
    })
}

fn source(id: &str, wire: &[String], random: &mut Random) -> String {
    let packets: Vec<String> = (0..10)
        .map(|_| {
            format!(
                "  {{ address = {{ address = \"0x{}\", notify = false }} }},\n",
                random.bytes(4).replace(' ', "")
            )
        })
        .collect();
    format!(
        "id = \"{id}\"\nrev = 1\n\n[parameters]\nxlen = \"rv64\"\n\nwire = {wire:?}\npackets = [\n{}]\n",
        packets.concat()
    )
}

fn evidence(wire: &[String], random: &mut Random) -> Value {
    let units: Vec<Value> = wire
        .iter()
        .enumerate()
        .map(|(index, bytes)| {
            let line = format!("= address address=0x{}", random.bytes(4).replace(' ', ""));
            json!({
                "heading": format!("packet {index}, byte {}: {bytes}", index * 6),
                "fields": "  bit  width  field    raw\n  0.0      2  format   0x2\n  0.2     30  address  0x40\n",
                "reference": [line],
                "subject": if index == 2 { json!(["! truncated at packet 2, byte 12.0"]) } else { Value::Null },
            })
        })
        .collect();
    json!({"wire": wire, "units": units, "conclusion": "first difference: packet 2, byte 12.0"})
}

fn clause(family: &str, id: &str, scope: &str) -> Value {
    json!({
        "family": family, "id": id, "summary": format!("What {id} requires of a packet, in one line"), "source": "7.2",
        "level": "must", "scope": scope, "kind": "packet", "violable": false,
    })
}

/// A failure at this item.
fn divergence(index: u64) -> Value {
    json!({
        "verdict": "fail", "what": "events", "index": index, "place": {"packet": 2, "byte": 12, "bit": 0},
        "packet": "84   p_header 0x84",
        "rows": [
            {"same": true, "expected": "sync", "got": "sync"},
            {"same": false, "expected": "retire first=0x10 end=0x14", "got": "fault missing-outcome at packet 3"},
            {"same": false, "expected": "stop"},
        ],
    })
}

/// A linear congruential generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn bytes(&mut self, count: usize) -> String {
        let bytes: Vec<String> = (0..count).map(|_| format!("{:02X}", self.next() % 256)).collect();
        bytes.join(" ")
    }
}
