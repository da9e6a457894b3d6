//! Asks the client's user to approve a tool call.
//!
//! A stateless client gets an `input_required` result and repeats its call with the answer; a client with a
//! session is asked within the call. Without elicitation nobody can be asked, and nothing runs.
//!
//! Invariant: an answer counts only for the caller, tool and arguments of its question.

use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use serde::{Deserialize, Serialize};
use throughline_engine::error::{Error, Result};
use throughline_engine::hash::ContentHash;
use throughline_engine::session::pending::AwaitedCall;

use super::tools::Call;

/// Names of the requested input and of its field.
const INPUT: &str = "approval";
const FIELD: &str = "approve";
/// Characters of the arguments in the question.
const ARGUMENTS_CHARACTERS: usize = 1_000;

/// Result of asking.
pub enum Decision {
    /// The user approved the call.
    Approved,
    /// The user refused it.
    Refused,
    /// The call ends here; the client asks and repeats it.
    Ask(Box<InputRequiredResult>),
    /// The client cannot ask anybody.
    Nobody,
}

/// State that the client holds while its user decides.
#[derive(Debug, Serialize, Deserialize)]
struct Carried {
    asked: String,
}

/// The decision sent with the call, or obtained by asking within it.
pub async fn decide(call: &Call<'_>, awaited: &AwaitedCall) -> Result<Decision> {
    let offered = call.context.client_capabilities().and_then(|client| client.elicitation);
    // A client that names no mode accepts forms; one that names only URLs does not.
    let asks_by_form = offered.is_some_and(|offer| offer.form.is_some() || offer.url.is_none());
    let (true, Some(version)) = (asks_by_form, call.context.protocol_version()) else {
        return Ok(Decision::Nobody);
    };
    if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() {
        return carried(call, awaited).await;
    }
    let asked = call.context.peer.create_elicitation(question(awaited)?).await;
    match asked {
        Ok(answer) => Ok(decision(&answer)),
        Err(error) => {
            tracing::debug!(%error, "the client cannot ask its user");
            Ok(Decision::Nobody)
        }
    }
}

async fn carried(call: &Call<'_>, awaited: &AwaitedCall) -> Result<Decision> {
    let bound = bound(call, awaited);
    let Some(sealed) = &call.request.request_state else {
        let carried = Carried { asked: awaited.tool.to_string() };
        let state = call.mcp.seal.seal(&carried, &bound).await?;
        let input = InputRequest::Elicitation(ElicitRequest::new(question(awaited)?));
        let inputs = InputRequests::from([(INPUT.to_owned(), input)]);
        return Ok(Decision::Ask(Box::new(InputRequiredResult::new(Some(inputs), Some(state)))));
    };
    let _: Carried = call.mcp.seal.open(sealed, &bound).await?;
    let given = call.request.input_responses.as_ref().and_then(|inputs| inputs.get(INPUT));
    let Some(given) = given else {
        return Err(Error::invalid("inputResponses", format!("{INPUT} is missing")));
    };
    let answer: ElicitResult = serde_json::from_value(given.clone()).map_err(|error| {
        Error::invalid("inputResponses", format!("{INPUT} is not an elicitation result: {error}"))
    })?;
    Ok(decision(&answer))
}

fn decision(answer: &ElicitResult) -> Decision {
    let said_yes = answer.content.as_ref().is_some_and(|content| content[FIELD] == true);
    match answer.action {
        ElicitationAction::Accept if said_yes => Decision::Approved,
        _ => Decision::Refused,
    }
}

fn question(awaited: &AwaitedCall) -> Result<ElicitRequestParams> {
    let arguments: String =
        awaited.arguments.to_string().chars().take(ARGUMENTS_CHARACTERS).collect();
    let field = BooleanSchema::new().title("Let it run").with_default(false);
    let schema = ElicitationSchema::builder().required_bool_property(FIELD, |_| field).build();
    let requested_schema = schema.map_err(|reason| Error::Unreadable {
        what: "the question for an approval".into(),
        reason: reason.to_owned(),
    })?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("May {} run with {arguments}? {}", awaited.tool, awaited.reason),
        requested_schema,
    })
}

/// The caller, tool and arguments that an answer is for.
fn bound(call: &Call<'_>, awaited: &AwaitedCall) -> String {
    let scope = &call.caller.scope;
    let arguments = ContentHash::of(&awaited.arguments.to_string());
    format!("tools-call/{}/{}/{}/{arguments}", scope.tenant, scope.user, awaited.tool)
}
