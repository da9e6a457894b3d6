//! The wire formats of models and clients.

use super::Provider;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's Chat Completions, as offered by many servers.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl Api {
    /// The provider whose models use it.
    pub fn provider(self) -> Provider {
        match self {
            Self::ChatCompletions | Self::Responses => Provider::OpenAi,
            Self::Messages => Provider::Anthropic,
        }
    }

    /// The provider's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Messages => "Anthropic Messages",
        }
    }

    /// Path of the endpoint under the provider's base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => super::openai::PATH,
            Self::Responses => "/responses",
            Self::Messages => super::anthropic::PATH,
        }
    }
}
