//! The wire formats that model clients speak.

use super::Provider;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's Chat Completions, as many servers offer them.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl Api {
    /// Whose models speak it.
    pub fn provider(self) -> Provider {
        match self {
            Self::ChatCompletions | Self::Responses => Provider::OpenAi,
            Self::Messages => Provider::Anthropic,
        }
    }

    /// Its name, as its provider calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Messages => "Anthropic Messages",
        }
    }

    /// Where it is served, under the base address of its provider.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => super::openai::PATH,
            Self::Responses => "/responses",
            Self::Messages => super::anthropic::PATH,
        }
    }
}
