//! What a provider's answer becomes on its way to the client: itself, itself under another id, or a response made from
//! chat completions.

use bytes::Bytes;
use serde_json::Value;
use throughline_upstream::model::responses::{self, FromChat, Rename, ResponseWriter};

/// The form of an answer.
pub enum AnswerForm {
    /// As it came.
    AsItIs,
    /// A response under another id.
    Renamed(Rename),
    /// A response made from chat completions.
    FromChat(Box<Conversion>),
}

/// What a response is made with.
pub struct Conversion {
    /// Its id.
    pub id: String,
    /// The model that it names.
    pub model: String,
    /// When, in seconds.
    pub created: i64,
    /// What was asked for.
    pub request: Value,
    /// Tools that are custom ones.
    pub custom: Vec<String>,
    /// The stream so far.
    pub stream: Option<FromChat>,
}

impl Conversion {
    fn writer(&self) -> ResponseWriter {
        ResponseWriter::new(&self.id, &self.model, self.created, &self.request)
    }
}

impl AnswerForm {
    /// A part of a stream.
    pub fn stream(&mut self, chunk: Bytes) -> Bytes {
        match self {
            Self::AsItIs => chunk,
            Self::Renamed(rename) => rename.stream(&chunk),
            Self::FromChat(made) => made.open().stream(&chunk),
        }
    }

    /// What a stream still owes when the provider has ended.
    pub fn end(&mut self) -> Bytes {
        match self {
            Self::AsItIs => Bytes::new(),
            Self::Renamed(rename) => rename.end(),
            Self::FromChat(made) => made.open().end(),
        }
    }

    /// A whole answer.
    pub fn whole(&self, body: Bytes) -> Bytes {
        match self {
            Self::AsItIs => body,
            Self::Renamed(rename) => rename.whole(&body),
            Self::FromChat(made) => responses::whole(made.writer(), &made.custom, &body)
                .map_or(body, |response| response.to_string().into()),
        }
    }
}

impl Conversion {
    fn open(&mut self) -> &mut FromChat {
        let stream =
            self.stream.take().unwrap_or_else(|| FromChat::new(self.writer(), self.custom.clone()));
        self.stream.insert(stream)
    }
}
