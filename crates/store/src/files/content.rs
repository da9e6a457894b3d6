//! Any bytes inside JSON, readable where they can be, and the same to the byte when they come back.
//!
//! JSON on one line stands as it is; other text stands as a JSON string; anything else as base64.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes in one of three forms; exactly one is set.
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
        // A parser gives back a value without the space around it, and `null` as no value at all, so
        // such JSON is kept as text.
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
            _ => Err("it has no content, or more than one"),
        }
    }
}
