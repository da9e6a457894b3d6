//! What a chat request says.

use serde::Deserialize;
use serde_json::Value;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::notice::GivenThing;
use throughline_engine::pack::Kind;
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::turn::TurnRequest;
use utoipa::ToSchema;

use crate::http::conversations::turn::{WORKFLOW_ID, WORKFLOW_SPEC};
use crate::http::conversations::view::PersonaBody;
use crate::http::problem::Problem;

/// The type of the things that `workflow_id` and `workflow_spec` name.
const WORKFLOW: &str = "workflow";
/// Files that may come with one message.
const ATTACHMENTS_MAX: usize = 8;
/// The longest file.
const ATTACHMENT_BYTES_MAX: usize = 256 << 10;
/// The longest name of a file.
const NAME_CHARACTERS_MAX: usize = 200;

/// A text file that comes with a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentBody {
    /// Its name, 1–200 characters.
    name: String,
    /// Its text, at most 256 KiB.
    text: String,
}

impl AttachmentBody {
    fn check(self) -> Result<(String, String), Problem> {
        if !(1..=NAME_CHARACTERS_MAX).contains(&self.name.chars().count()) {
            let reason = format!("a file's name has 1-{NAME_CHARACTERS_MAX} characters");
            return Err(Problem::invalid("attachments", reason));
        }
        if self.text.len() > ATTACHMENT_BYTES_MAX {
            let reason = format!("a file has at most {} KiB", ATTACHMENT_BYTES_MAX >> 10);
            return Err(Problem::invalid("attachments", reason));
        }
        Ok((self.name, self.text))
    }
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatBody {
    /// What the user says.
    message: String,
    /// The session; a new one when absent.
    #[serde(default, alias = "session_id")]
    conversation_id: Option<String>,
    /// The agent of a new session.
    #[serde(default)]
    agent: Option<String>,
    /// The persona of a new session.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    persona: Option<PersonaBody>,
    /// The preset of a new session, where no persona is given.
    #[serde(default)]
    preset: Option<String>,
    /// The workflow that the message is about.
    #[serde(default)]
    workflow_id: Option<String>,
    /// That workflow's specification, shown to the model as data.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    workflow_spec: Option<Value>,
    /// Text files that the message is about, at most 8; shown to the model as data.
    #[serde(default)]
    attachments: Vec<AttachmentBody>,
    /// Tokens that the request may take.
    #[serde(default)]
    budget_tokens: Option<u32>,
    /// Whether a heated message brings the calm-keeping reminder, for this message.
    #[serde(default, alias = "maintainPersonality")]
    keeps_calm: Option<bool>,
}

impl ChatBody {
    /// The engine's request.
    pub fn request(self, key: Option<RequestKey>) -> Result<TurnRequest, Problem> {
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
            let reason = format!("at most {ATTACHMENTS_MAX} files come with a message");
            return Err(Problem::invalid("attachments", reason));
        }
        for attachment in self.attachments {
            given.push(attachment.check()?);
        }
        Ok(TurnRequest {
            session: self.conversation_id.map(SessionId::new).transpose()?,
            agent: self.agent.map(AgentName::new).transpose()?,
            input: TurnInput {
                message: self.message,
                given,
                about,
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
    }
}
