//! A server with a scripted model of each format behind it.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use throughline::config::{Config, ModelEntry};
use throughline_testkit::scripted_model::{Recorded, ScriptedModel, Turn};

use crate::app::{Answer, TestApp, send};

/// A server and the model that it hands requests on to.
pub(crate) struct Bench {
    pub app: TestApp,
    pub model: ScriptedModel,
}

/// A provider's format, as a test speaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    OpenAi,
    Anthropic,
}

pub(crate) const BOTH: [Format; 2] = [Format::OpenAi, Format::Anthropic];

impl Format {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// A request of these messages.
    pub(crate) fn body(self, messages: Value, streams: bool) -> Value {
        let mut body = json!({"model": "some-model", "messages": messages});
        if self == Self::Anthropic {
            body["max_tokens"] = json!(100);
        }
        if streams {
            body["stream"] = json!(true);
        }
        body
    }

    /// The words of an answer in one piece.
    pub(crate) fn said(self, answer: &Value) -> String {
        let text = match self {
            Self::OpenAi => &answer["choices"][0]["message"]["content"],
            Self::Anthropic => &answer["content"][0]["text"],
        };
        text.as_str().unwrap_or_else(|| panic!("no words in {answer}")).to_owned()
    }
}

impl Bench {
    pub(crate) async fn playing(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with(turns, |_| {}).await
    }

    pub(crate) async fn with(
        turns: impl IntoIterator<Item = Turn>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let model = ScriptedModel::playing(turns).await;
        let entry = |name: &str, base_url: String| ModelEntry {
            name: name.into(),
            provider: name.into(),
            model: "configured".into(),
            base_url,
            ..ModelEntry::default()
        };
        let entries =
            vec![entry("openai", model.openai_url()), entry("anthropic", model.anthropic_url())];
        let app = TestApp::builder().set(|config| config.model = entries).set(change).start().await;
        Self { app, model }
    }

    /// A request as an SDK sends it, with its own key.
    pub(crate) fn request(
        &self,
        format: Format,
        session: Option<&str>,
        body: &Value,
    ) -> RequestBuilder {
        let request = self.app.request(Method::POST, format.path()).json(body);
        let request = match format {
            Format::OpenAi => request.bearer_auth("sk-of-the-client"),
            Format::Anthropic => {
                let request = request.header("x-api-key", "sk-of-the-client");
                request.header("anthropic-version", "2023-06-01")
            }
        };
        match session {
            Some(session) => request.header("x-session-id", session),
            None => request,
        }
    }

    pub(crate) async fn ask(&self, format: Format, session: Option<&str>, body: &Value) -> Answer {
        send(self.request(format, session, body)).await
    }

    /// Says one message and nothing else.
    pub(crate) async fn say(&self, format: Format, session: &str, text: &str) -> Answer {
        let messages = json!([{"role": "user", "content": text}]);
        self.ask(format, Some(session), &format.body(messages, false)).await
    }

    /// The last request that reached the model.
    pub(crate) fn reached(&self) -> Recorded {
        self.model.requests().pop().expect("a request reached the model")
    }

    /// The turns of a session.
    pub(crate) async fn turns(&self, session: &str) -> Vec<Value> {
        let path = format!("/conversations/{session}/history");
        let history = self.app.get(&path).await.expect(200);
        history["turns"].as_array().expect("turns").clone()
    }

    /// Waits until all that is under way is kept.
    pub(crate) async fn settled(&self) {
        self.app.app.turns().close();
        self.app.app.turns().wait().await;
        self.app.app.turns().reopen();
    }
}
