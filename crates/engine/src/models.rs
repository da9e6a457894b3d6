//! The configured models, and which of them answers a turn.

use std::sync::Arc;

use crate::agent::Agent;
use crate::model::{LentModel, Model};
use crate::session::head::Settings;
use crate::session::record::{ReplyForm, TurnKind};

#[derive(Default, Clone)]
pub struct ModelBook {
    models: Vec<(String, Arc<dyn Model>)>,
    default: Option<String>,
}

impl ModelBook {
    /// Models by configured name; `default` is used if none is named.
    pub fn new(models: Vec<(String, Arc<dyn Model>)>, default: Option<String>) -> Self {
        Self { models, default }
    }

    /// The named model or the default; `None` if there is none.
    pub fn get(&self, name: Option<&str>) -> Option<Arc<dyn Model>> {
        let name = name.or(self.default.as_deref())?;
        self.models.iter().find(|(known, _)| known == name).map(|(_, model)| model.clone())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|(name, _)| name.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelOwner {
    /// Configuration.
    Ours,
    /// The client, by MCP sampling.
    Client,
}

/// The model that answers a turn.
#[derive(Clone)]
pub struct ModelChoice {
    pub model: Arc<dyn Model>,
    /// Phrases the result of a query; the same model unless the agent names another.
    pub formatter: Arc<dyn Model>,
    pub owner: ModelOwner,
}

impl ModelChoice {
    /// How a reply by `model` is recorded.
    pub fn form(&self, model: &dyn Model) -> ReplyForm {
        let model = model.name().to_owned();
        match self.owner {
            ModelOwner::Ours => ReplyForm::Model { model },
            ModelOwner::Client => ReplyForm::Sampling { model },
        }
    }
}

impl ModelBook {
    /// Chooses the model for a turn, or says why there is none.
    pub fn choose(
        &self,
        settings: &Settings,
        agent: &Agent,
        kind: TurnKind,
        lent: Option<&LentModel>,
    ) -> Result<ModelChoice, String> {
        let role = match kind {
            TurnKind::Query => agent.models.selector.as_deref(),
            _ => None,
        };
        let name = in_role(settings, agent, role);
        if let Some(model) = self.get(name) {
            let formatter = self.get(in_role(settings, agent, agent.models.formatter.as_deref()));
            let formatter = formatter.unwrap_or_else(|| model.clone());
            return Ok(ModelChoice { model, formatter, owner: ModelOwner::Ours });
        }
        if let Some(LentModel(model)) = lent {
            let (model, formatter) = (model.clone(), model.clone());
            return Ok(ModelChoice { model, formatter, owner: ModelOwner::Client });
        }
        Err(match name {
            Some(name) => format!("there is no model {name} in the configuration"),
            None => "no model is configured".to_owned(),
        })
    }
}

/// The model for a role; a session's own choice applies to all roles.
fn in_role<'a>(settings: &'a Settings, agent: &'a Agent, role: Option<&'a str>) -> Option<&'a str> {
    settings.model.as_deref().or(role).or(agent.models.chat.as_deref())
}
