//! Models: `[[model]]` entries, or those implied by API keys in the environment.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use throughline_upstream::model::{ModelConfig, Price, Provider};

use super::Config;
use crate::failure::Failure;

/// The section `models`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsSettings {
    /// Name of the default model.
    pub default: String,
    /// Model used if only Anthropic's key is set.
    pub anthropic: String,
    /// Model used if only OpenAI's key is set.
    pub openai: String,
}

/// A `[[model]]` entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelEntry {
    /// Name for agents and sessions.
    pub name: String,
    /// Wire format: `anthropic` or `openai`.
    pub provider: String,
    /// The provider's name of the model.
    pub model: String,
    /// Base URL; empty for the provider's own.
    pub base_url: String,
    /// Variable that holds the key; empty for the usual one.
    pub api_key_env: String,
    /// Whether to send the temperature.
    pub sends_temperature: bool,
    /// Context window in tokens; 0 if unknown.
    pub context_tokens: u32,
    /// Price of a million input tokens; 0 if unknown.
    pub input_price: f64,
    /// Price of a million cached input tokens; 0 for a tenth of `input_price`.
    pub cached_price: f64,
    /// Price of a million output tokens.
    pub output_price: f64,
    /// Currency of the prices.
    pub currency: String,
    /// Responses API: `native`, `converted`, or empty to decide by the base URL.
    pub responses: String,
    /// Time until the response head of a drop-in stream, in seconds.
    pub head_seconds: u64,
    /// Time until the first token of the server's own requests, in seconds.
    pub first_token_seconds: u64,
    /// Longest silence within a stream, in seconds.
    pub idle_seconds: u64,
    /// Time for a whole reply to the server's own requests, in seconds.
    pub total_seconds: u64,
    /// Maximum number of retries of a request.
    pub retries_max: usize,
}

impl Default for ModelEntry {
    fn default() -> Self {
        Self {
            name: String::new(),
            provider: "anthropic".into(),
            model: String::new(),
            base_url: String::new(),
            api_key_env: String::new(),
            sends_temperature: true,
            context_tokens: 0,
            input_price: 0.0,
            cached_price: 0.0,
            output_price: 0.0,
            currency: "USD".into(),
            responses: String::new(),
            head_seconds: 600,
            first_token_seconds: 60,
            idle_seconds: 300,
            total_seconds: 600,
            retries_max: 3,
        }
    }
}

/// Models by name, and the name of the default one.
pub(super) type NamedModels = (Vec<(String, ModelConfig)>, Option<String>);

impl Config {
    /// All models by name, and the name of the default one.
    pub fn model_configs(&self) -> Result<NamedModels, Failure> {
        let each = self.each_model().into_iter();
        let models: Vec<_> =
            each.map(|(name, model)| Ok((name, model?))).collect::<Result<_, Failure>>()?;
        let first = models.first().map(|(name, _)| name.clone());
        let default = Some(self.models.default.clone()).filter(|name| !name.is_empty()).or(first);
        Ok((models, default))
    }

    /// Each model by name, or what is wrong with it.
    pub fn each_model(&self) -> Vec<(String, Result<ModelConfig, Failure>)> {
        let brought = self.brought_by_keys();
        let entries = if self.model.is_empty() { &brought } else { &self.model };
        entries.iter().map(|entry| (entry.name.clone(), self.model_config(entry))).collect()
    }

    /// Models implied by keys in the environment.
    fn brought_by_keys(&self) -> Vec<ModelEntry> {
        let has = |name| self.environment.get(name).is_some();
        let entry = |provider: &str, model: &str| ModelEntry {
            name: provider.into(),
            provider: provider.into(),
            model: model.into(),
            ..ModelEntry::default()
        };
        let mut entries = Vec::new();
        if has("ANTHROPIC_API_KEY") {
            entries.push(entry("anthropic", &self.models.anthropic));
        }
        if has("OPENAI_API_KEY") || has("OPENAI_BASE_URL") {
            entries.push(entry("openai", &self.models.openai));
        }
        entries
    }

    fn model_config(&self, entry: &ModelEntry) -> Result<ModelConfig, Failure> {
        let provider = provider(entry)?;
        let (usual_key, usual_url) = match provider {
            Provider::Anthropic => ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
            Provider::OpenAi => ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        };
        let mut config = ModelConfig::new(provider, entry.model.clone());
        if !entry.base_url.is_empty() {
            config.base_url = entry.base_url.clone();
        } else if let Some(url) = self.environment.get(usual_url) {
            config.base_url = url.to_owned();
        }
        config.api_key = match entry.api_key_env.as_str() {
            // The usual key belongs to the usual URL; any other URL must name its own.
            "" if entry.base_url.is_empty() => self.environment.secret(usual_key),
            "" => None,
            named => Some(self.environment.secret(named).ok_or_else(|| {
                // Somebody may have put the key itself here, so only what is surely a name is shown.
                let shown = if is_variable_name(named) { named } else { "in api_key_env" };
                Failure::new(
                    format!("model {} needs the variable {shown}, which is not set", entry.name),
                    "api_key_env is the name of an environment variable that holds the key, \
                     such as OPENAI_API_KEY",
                )
            })?),
        };
        config.sends_temperature = entry.sends_temperature;
        config.context_tokens = Some(entry.context_tokens).filter(|tokens| *tokens > 0);
        config.price = price(entry);
        config.serves_responses = serves_responses(entry, &config)?;
        config.head_timeout = Duration::from_secs(entry.head_seconds);
        config.idle_timeout = Duration::from_secs(entry.idle_seconds);
        config.first_token_timeout = Duration::from_secs(entry.first_token_seconds);
        config.total_timeout = Duration::from_secs(entry.total_seconds);
        config.retries_max = entry.retries_max;
        Ok(config)
    }
}

/// Whether a text has the usual form of a variable's name and not that of a key: words in capitals, joined by `_`.
fn is_variable_name(text: &str) -> bool {
    let is_word = |word: &str| {
        let letters = word.bytes().filter(u8::is_ascii_uppercase).count();
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        letters + digits == word.len() && letters >= digits && word.len() <= 20
    };
    text.contains('_') && text.split('_').all(is_word)
}

fn provider(entry: &ModelEntry) -> Result<Provider, Failure> {
    match entry.provider.as_str() {
        "anthropic" => Ok(Provider::Anthropic),
        "openai" => Ok(Provider::OpenAi),
        other => Err(Failure::wrong_use(
            format!("model {} has the unknown provider {other:?}", entry.name),
            "use anthropic or openai; openai also for compatible servers",
        )),
    }
}

/// Share of the input price that cached tokens cost at most providers.
const CACHED_SHARE: f64 = 0.1;

fn price(entry: &ModelEntry) -> Option<Price> {
    let &ModelEntry { input_price: input, cached_price, output_price: output, .. } = entry;
    let cached = if cached_price > 0.0 { cached_price } else { input * CACHED_SHARE };
    let currency = entry.currency.clone();
    (input > 0.0 || output > 0.0).then_some(Price { input, cached, output, currency })
}

fn serves_responses(entry: &ModelEntry, config: &ModelConfig) -> Result<bool, Failure> {
    match entry.responses.as_str() {
        "native" => Ok(true),
        "converted" => Ok(false),
        "" => Ok(config.base_url.starts_with(Provider::OpenAi.default_base_url())),
        other => Err(Failure::wrong_use(
            format!("model {} has responses = {other:?}", entry.name),
            "use native or converted, or omit it",
        )),
    }
}

/// Checks that names are present and unique, and that the default is one of them.
pub(super) fn check(config: &Config) -> Result<(), Failure> {
    for (place, entry) in config.model.iter().enumerate() {
        if entry.name.is_empty() || entry.model.is_empty() {
            return Err(Failure::wrong_use(
                format!("the [[model]] number {} has no name or no model", place + 1),
                "give it both: name = \"main\" and model = \"…\"",
            ));
        }
        if config.model[..place].iter().any(|other| other.name == entry.name) {
            let what = format!("there are two models named {}", entry.name);
            return Err(Failure::wrong_use(what, "give each [[model]] its own name"));
        }
        provider(entry)?;
    }
    let default = &config.models.default;
    let named = config.model.iter().any(|entry| entry.name == *default);
    if !default.is_empty() && !config.model.is_empty() && !named {
        return Err(Failure::wrong_use(
            format!("models.default is {default:?}, but there is no such [[model]]"),
            "name one of the [[model]] entries, or leave it empty",
        ));
    }
    Ok(())
}
