//! The body of a chat request.

use serde::Deserialize;
use serde_json::Value;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::image::Image;
use throughline_engine::notice::GivenThing;
use throughline_engine::pack::Kind;
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::turn::TurnRequest;
use utoipa::ToSchema;

use crate::http::conversations::turn::{WORKFLOW_ID, WORKFLOW_SPEC};
use crate::http::conversations::view::PersonaBody;
use crate::http::problem::Problem;

/// Entity type of `workflow_id` and `workflow_spec`.
const WORKFLOW: &str = "workflow";
/// Maximum number of files per message.
const ATTACHMENTS_MAX: usize = 8;
/// Largest file, in bytes.
const ATTACHMENT_BYTES_MAX: usize = 256 << 10;
/// Largest picture, in bytes. Providers shrink what has more pixels than fit well into that.
const IMAGE_BYTES_MAX: usize = 1 << 20;
/// Longest file name, in characters.
const NAME_CHARACTERS_MAX: usize = 200;

/// A text file or a picture attached to a message: either `text` or `image`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachmentBody {
    /// File name, 1–200 characters.
    name: String,
    /// Content of a text file, at most 256 KiB.
    #[serde(default)]
    text: Option<String>,
    /// A picture as a data URL in base64: PNG, JPEG, GIF or WebP, at most 1 MiB.
    #[serde(default)]
    image: Option<String>,
}

/// What was attached.
enum Attached {
    Text(String),
    Picture(Image),
}

impl AttachmentBody {
    fn check(self) -> Result<(String, Attached), Problem> {
        let refused = |reason: String| Err(Problem::invalid("attachments", reason));
        let Self { name, text, image } = self;
        if !(1..=NAME_CHARACTERS_MAX).contains(&name.chars().count()) {
            return refused(format!("a file name must have 1-{NAME_CHARACTERS_MAX} characters"));
        }
        match (text, image) {
            (Some(text), None) if text.len() > ATTACHMENT_BYTES_MAX => {
                refused(format!("a file may have at most {} KiB", ATTACHMENT_BYTES_MAX >> 10))
            }
            (Some(text), None) => Ok((name, Attached::Text(text))),
            (None, Some(url)) => match Image::of_data_url(url) {
                Ok(image) if image.bytes() > IMAGE_BYTES_MAX => {
                    refused(format!("a picture may have at most {} KiB", IMAGE_BYTES_MAX >> 10))
                }
                Ok(image) => Ok((name, Attached::Picture(image))),
                Err(reason) => refused(format!("image of {name}: {reason}")),
            },
            _ => refused(format!("{name} must have either text or image")),
        }
    }
}

/// A message to answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatBody {
    /// The user's message, at most `limits.message_bytes_max` (256 KiB).
    message: String,
    /// Id of the session; created if it does not exist, generated if absent.
    #[serde(default, alias = "session_id")]
    conversation_id: Option<String>,
    /// Name of the agent for a new session; default: the default agent.
    #[serde(default)]
    agent: Option<String>,
    /// Persona for a new session.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    persona: Option<PersonaBody>,
    /// Id of the preset for a new session; ignored if `persona` is given.
    #[serde(default)]
    preset: Option<String>,
    /// Id of the workflow that the message is about.
    #[serde(default)]
    workflow_id: Option<String>,
    /// Specification of that workflow, included in the request as data.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    workflow_spec: Option<Value>,
    /// Text files and pictures that the message is about, at most 8, included in the request as data. Only a
    /// model sees a picture.
    #[serde(default)]
    attachments: Vec<AttachmentBody>,
    /// Whether to answer without a model although one is configured.
    #[serde(default)]
    without_model: bool,
    /// Maximum tokens of the request; default: the context window less the reply.
    #[serde(default)]
    budget_tokens: Option<u32>,
    /// Whether a heated message adds a reminder to stay calm; default: that of the persona.
    #[serde(default, alias = "maintainPersonality")]
    keeps_calm: Option<bool>,
}

impl ChatBody {
    /// The engine's request.
    pub(super) fn request(self, key: Option<RequestKey>) -> Result<TurnRequest, Problem> {
        let about = match (&self.workflow_id, &self.workflow_spec) {
            (None, None) => Vec::new(),
            (id, data) => {
                let kind = Kind::new(WORKFLOW);
                vec![GivenThing { kind, id: id.clone(), data: data.clone() }]
            }
        };
        let mut given = Vec::new();
        given.extend(self.workflow_id.map(|id| (WORKFLOW_ID.to_owned(), id)));
        given.extend(self.workflow_spec.map(|spec| (WORKFLOW_SPEC.to_owned(), spec.to_string())));
        if self.attachments.len() > ATTACHMENTS_MAX {
            let reason = format!("at most {ATTACHMENTS_MAX} files per message");
            return Err(Problem::invalid("attachments", reason));
        }
        let mut images = Vec::new();
        for attachment in self.attachments {
            match attachment.check()? {
                (name, Attached::Text(text)) => given.push((name, text)),
                (name, Attached::Picture(image)) => images.push((name, image)),
            }
        }
        Ok(TurnRequest {
            session: self.conversation_id.map(SessionId::new).transpose()?,
            agent: self.agent.map(AgentName::new).transpose()?,
            input: TurnInput {
                message: self.message,
                given,
                images,
                about,
                without_model: self.without_model,
                budget_tokens: self.budget_tokens,
                keeps_calm: self.keeps_calm,
                ..TurnInput::default()
            },
            key,
            persona: self.persona.map(Into::into),
            preset: self.preset,
            model: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(attachments: Value) -> Result<Vec<(String, String)>, String> {
        let body = json!({"message": "What does it say?", "attachments": attachments});
        let body: ChatBody = serde_json::from_value(body).expect("a valid shape");
        body.request(None).map(|request| request.input.given).map_err(|problem| problem.detail)
    }

    #[test]
    fn a_workflow_that_comes_with_a_message_is_a_thing_it_is_about() {
        let spec = json!({"spec_id": "wf-7", "name": "Onboarding"});
        let body = json!({"message": "Add a step.", "workflow_id": "wf-7", "workflow_spec": spec});
        let body: ChatBody = serde_json::from_value(body).expect("a valid shape");
        let input = body.request(None).expect("a request").input;
        let id = Some("wf-7".to_owned());
        let about = vec![GivenThing { kind: Kind::new("workflow"), id, data: Some(spec) }];
        assert_eq!(input.about, about);
    }

    #[test]
    fn files_come_along_as_data_within_their_limits() {
        let file = |name: &str, bytes: usize| json!({"name": name, "text": "x".repeat(bytes)});
        assert_eq!(given(json!([file("a.txt", 1)])), Ok(vec![("a.txt".into(), "x".into())]));
        assert!(given(json!([file("a.txt", ATTACHMENT_BYTES_MAX)])).is_ok());
        let refused = |attachments| given(attachments).expect_err("over a limit");
        assert!(refused(json!([file("a.txt", ATTACHMENT_BYTES_MAX + 1)])).contains("256 KiB"));
        assert!(refused(json!([file("", 1)])).contains("1-200"));
        assert!(refused(json!(vec![file("a", 1); 9])).contains("at most 8"));
        assert!(refused(json!([{"name": "a"}])).contains("either text or image"));
        let both = json!([{"name": "a", "text": "b", "image": "data:image/gif;base64,R0lGODlh"}]);
        assert!(refused(both).contains("either text or image"));
        let page = json!([{"name": "a.png", "image": "https://pictures.example/a.png"}]);
        assert!(refused(page).contains("image of a.png: must be a data URL"));
    }
}
