//! Embeds arbitrary bytes in JSON: readable where possible, and always restored exactly.
//!
//! Single-line JSON is embedded as it is, other text as a JSON string, and anything else as base64.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes in one of three encodings; exactly one is set.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    json: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    base64: Option<Cow<'a, str>>,
}

impl<'a> Content<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self { base64: Some(STANDARD.encode(bytes).into()), ..Self::default() };
        };
        // serde_json drops the whitespace around a raw value and reads `null` as `None`, so such JSON is
        // stored as text.
        let bare = !text.contains(['\n', '\r']) && text.trim() == text && text != "null";
        match serde_json::from_str::<&RawValue>(text) {
            Ok(json) if bare => Self { json: Some(json), ..Self::default() },
            _ => Self { text: Some(text.into()), ..Self::default() },
        }
    }

    pub(super) fn bytes(&self) -> Result<Bytes, &'static str> {
        match (self.json, &self.text, &self.base64) {
            (Some(json), None, None) => Ok(Bytes::copy_from_slice(json.get().as_bytes())),
            (None, Some(text), None) => Ok(Bytes::copy_from_slice(text.as_bytes())),
            (None, None, Some(base64)) => {
                STANDARD.decode(base64.as_bytes()).map(Bytes::from).map_err(|_| "bad base64")
            }
            _ => Err("it has no content, or more than one kind"),
        }
    }
}
