//! Answers the requests of `tdut/2`, one line each, for a shared object.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::object::{Decoder, HostError, Image, NoDecoder, Object};

/// A request; which fields there are depends on `op`.
#[derive(Deserialize)]
struct Request<'a> {
    op: String,
    #[serde(default)]
    id: u32,
    #[serde(default)]
    nonce: String,
    #[serde(default)]
    key: u32,
    #[serde(default)]
    family: String,
    /// The parameters themselves, or the key of those of a `run`.
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
    #[serde(default)]
    image: u32,
    #[serde(default)]
    sections: Vec<Section>,
    #[serde(default)]
    start: String,
    #[serde(default)]
    chunks: Vec<String>,
    #[serde(default)]
    finish: bool,
}

#[derive(Deserialize)]
struct Section {
    address: String,
    bytes: String,
}

/// What there is between requests.
struct Host<'a> {
    object: &'a Object,
    /// Family and parameters, as text.
    parameters: HashMap<u32, (String, String)>,
    images: HashMap<u32, Arc<Image>>,
    decoder: Option<Decoder<'a>>,
}

/// Answers until `bye` or the end of the input.
pub(crate) fn serve(
    object: &Object,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), HostError> {
    let mut host = Host { object, parameters: HashMap::new(), images: HashMap::new(), decoder: None };
    let mut line = String::new();
    while input.read_line(&mut line).map_err(HostError::Io)? > 0 {
        let request: Request<'_> = serde_json::from_str(&line).map_err(wrong)?;
        if request.op == "bye" {
            break;
        }
        let mut answer = host.answer(request)?;
        answer.push('\n');
        output.write_all(answer.as_bytes()).and_then(|()| output.flush()).map_err(HostError::Io)?;
        line.clear();
    }
    Ok(())
}

fn wrong(error: impl ToString) -> HostError {
    HostError::Request(error.to_string())
}

impl Host<'_> {
    fn answer(&mut self, request: Request<'_>) -> Result<String, HostError> {
        let (id, status) =
            (request.id, |status: &str| json!({ "id": request.id, "status": status }).to_string());
        match request.op.as_str() {
            "hello" => self.hello(id, &request.nonce),
            "parameters" => {
                let text = request.parameters.map_or("{}", RawValue::get).to_owned();
                self.parameters.insert(request.key, (request.family, text));
                Ok(status("ok"))
            }
            "image" => {
                let sections = request.sections.iter().map(Section::read).collect::<Result<_, _>>()?;
                self.images.insert(request.key, Arc::new(Image(sections)));
                Ok(status("ok"))
            }
            "forget" => {
                self.parameters.clear();
                self.images.clear();
                Ok(status("ok"))
            }
            "run" => self.run(&request),
            _ => Ok(status("unsupported")),
        }
    }

    /// The object's own description, and the fields that the host adds.
    fn hello(&self, id: u32, nonce: &str) -> Result<String, HostError> {
        let info: Map<String, Value> =
            serde_json::from_str(&self.object.info()).map_err(|_| HostError::Info)?;
        let ours = json!({ "id": id, "tdut": 2, "nonce": nonce, "framing": "jsonl", "max_inflight": 1 });
        let Value::Object(mut answer) = ours else { return Err(HostError::Info) };
        for (name, value) in info {
            answer.entry(name).or_insert(value);
        }
        Ok(Value::Object(answer).to_string())
    }

    fn run(&mut self, request: &Request<'_>) -> Result<String, HostError> {
        let id = request.id;
        if request.start == "begin" {
            // Two at once were never promised.
            self.decoder = None;
            let key = request.parameters.map_or("", RawValue::get).parse().map_err(wrong)?;
            let unknown = || HostError::Request(String::from("an unknown key"));
            let (family, parameters) = self.parameters.get(&key).ok_or_else(unknown)?;
            let image = self.images.get(&request.image).ok_or_else(unknown)?;
            match self.object.open(family, parameters, image) {
                Ok(decoder) => self.decoder = Some(decoder),
                Err(NoDecoder::Unsupported(feature)) => {
                    let answer = json!({ "id": id, "status": "unsupported", "feature": feature });
                    return Ok(answer.to_string());
                }
                Err(NoDecoder::Broke) => {}
            }
        }
        let Some(decoder) = &mut self.decoder else {
            let message = "tdut_open gave no decoder";
            return Ok(json!({ "id": id, "status": "error", "message": message }).to_string());
        };
        if request.start == "reset" {
            decoder.reset();
        }
        let mut results = String::new();
        for chunk in &request.chunks {
            decoder.push(&bytes(chunk)?, &mut results);
        }
        if request.finish {
            decoder.finish(&mut results);
        }
        Ok(format!("{{\"id\":{id},\"status\":\"ok\",\"results\":[{results}]}}"))
    }
}

impl Section {
    fn read(&self) -> Result<(u64, Vec<u8>), HostError> {
        let digits = self.address.strip_prefix("0x").unwrap_or(&self.address);
        Ok((u64::from_str_radix(digits, 16).map_err(wrong)?, bytes(&self.bytes)?))
    }
}

/// The bytes of pairs of hexadecimal digits.
fn bytes(text: &str) -> Result<Vec<u8>, HostError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let pair = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    let bytes: Option<Vec<u8>> = pairs.iter().map(pair).collect();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| wrong("expected pairs of hexadecimal digits"))
}
