//! Conversion of a provider's response for the client: none, another id, or Chat Completions to Responses.

use bytes::Bytes;
use serde_json::Value;
use throughline_upstream::model::responses::{self, FromChat, Rename, ResponseWriter};

/// How a response is converted.
pub(super) enum AnswerForm {
    /// Passed on unchanged.
    AsItIs,
    /// A Responses response with another id.
    Renamed(Rename),
    /// A Responses response converted from Chat Completions.
    FromChat(Box<Conversion>),
}

/// Parameters of a conversion.
pub(super) struct Conversion {
    /// Id of the response.
    pub id: String,
    /// Model named in the response.
    pub model: String,
    /// Creation time, in seconds since the epoch.
    pub created: i64,
    /// The client's request.
    pub request: Value,
    /// Names of the custom tools.
    pub custom: Vec<String>,
    /// State of a streamed conversion.
    pub stream: Option<FromChat>,
}

impl Conversion {
    fn writer(&self) -> ResponseWriter {
        ResponseWriter::new(&self.id, &self.model, self.created, &self.request)
    }
}

impl AnswerForm {
    /// Converts a chunk of a stream.
    pub(super) fn stream(&mut self, chunk: Bytes) -> Bytes {
        match self {
            Self::AsItIs => chunk,
            Self::Renamed(rename) => rename.stream(&chunk),
            Self::FromChat(made) => made.open().stream(&chunk),
        }
    }

    /// The rest of a stream after the provider has ended.
    pub(super) fn end(&mut self) -> Bytes {
        match self {
            Self::AsItIs => Bytes::new(),
            Self::Renamed(rename) => rename.end(),
            Self::FromChat(made) => made.open().end(),
        }
    }

    /// Converts a complete response.
    pub(super) fn whole(&self, body: Bytes) -> Bytes {
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
