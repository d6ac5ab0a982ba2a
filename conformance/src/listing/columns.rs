//! Positions as columns or JSON, written without the formatter: a listing has one in each line.

use traceproof_vectors::Place;

/// The latest place as text. Several results of one packet follow each other, so it is often the next one, too.
#[derive(Debug, Default)]
pub(super) struct PlaceText {
    place: Option<Place>,
    text: String,
}

impl PlaceText {
    pub(super) const fn new() -> Self {
        Self { place: None, text: String::new() }
    }

    /// `{packet:>8} {byte:>10}.{bit} `.
    pub(super) fn columns(&mut self, place: Place) -> &str {
        if self.begins(place) {
            let mut digits = itoa::Buffer::new();
            right(&mut self.text, digits.format(place.packet), 8);
            self.text.push(' ');
            right(&mut self.text, digits.format(place.byte), 10);
            self.text.push('.');
            self.text.push_str(digits.format(place.bit));
            self.text.push(' ');
        }
        &self.text
    }

    /// `{"place":{…}`, the beginning of an object.
    pub(super) fn json(&mut self, place: Place) -> &str {
        if self.begins(place) {
            let mut digits = itoa::Buffer::new();
            self.text.push_str(r#"{"place":{"packet":"#);
            self.text.push_str(digits.format(place.packet));
            self.text.push_str(r#","byte":"#);
            self.text.push_str(digits.format(place.byte));
            self.text.push_str(r#","bit":"#);
            self.text.push_str(digits.format(place.bit));
            self.text.push('}');
        }
        &self.text
    }

    /// Whether the text is another one than the latest.
    fn begins(&mut self, place: Place) -> bool {
        if self.place == Some(place) {
            return false;
        }
        self.place = Some(place);
        self.text.clear();
        true
    }
}

/// Appends text, right-aligned in a column.
fn right(out: &mut String, text: &str, width: usize) {
    const BLANKS: &str = "          ";
    out.push_str(BLANKS.get(..width.saturating_sub(text.len())).unwrap_or_default());
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_the_formatter_writes_them() {
        for place in [
            Place::default(),
            Place { packet: 7, byte: 12, bit: 7 },
            Place { packet: 99_999_999, byte: 9_999_999_999, bit: 1 },
            Place { packet: u64::MAX, byte: u64::MAX, bit: u8::MAX },
        ] {
            let Place { packet, byte, bit } = place;
            let (mut columns, mut json) = (PlaceText::default(), PlaceText::default());
            for _ in 0..2 {
                assert_eq!(columns.columns(place), format!("{packet:>8} {byte:>10}.{bit} "));
                let object = serde_json::json!({ "place": place }).to_string();
                let written: serde_json::Value =
                    serde_json::from_str(&format!("{}}}", json.json(place))).expect("an object");
                assert_eq!(written.to_string(), object);
            }
            assert_ne!(columns.columns(Place { packet: 3, ..place }), json.json(place));
        }
    }
}
