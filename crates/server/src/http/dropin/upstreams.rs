//! Providers of drop-in requests: the configured models, by API and name.

use axum::http::StatusCode;
use throughline_upstream::model::pass_through::PassThrough;
use throughline_upstream::model::{Api, ModelConfig, Provider};

use crate::config::Config;
use crate::failure::Failure;
use crate::http::problem::Problem;

/// The configured models, the default one first.
#[derive(Debug, Clone, Default)]
pub struct Upstreams(Vec<(String, PassThrough)>);

/// The provider of one request.
#[derive(Debug, Clone, Copy)]
pub struct ChosenUpstream<'a> {
    /// The provider.
    pub upstream: &'a PassThrough,
    /// The provider's model name, if the client used the configured one.
    pub model: Option<&'a str>,
}

impl Upstreams {
    /// The models of a configuration.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let (models, default) = config.model_configs()?;
        Self::new(models, default.as_deref())
    }

    /// These models; `default` is used if a request names none of them.
    pub fn new(
        mut models: Vec<(String, ModelConfig)>,
        default: Option<&str>,
    ) -> Result<Self, Failure> {
        models.sort_by_key(|(name, _)| Some(name.as_str()) != default);
        let mut upstreams = Vec::new();
        for (name, config) in models {
            let upstream = PassThrough::new(config).map_err(|error| {
                Failure::new(error.to_string(), "see the [[model]] of that name")
            })?;
            upstreams.push((name, upstream));
        }
        Ok(Self(upstreams))
    }

    /// The provider for a request that names `model`: the one with that configured name, else with that model,
    /// else the first of the format, which receives the name unchanged.
    pub fn choose(&self, format: Provider, model: Option<&str>) -> Option<ChosenUpstream<'_>> {
        let of_format = || self.0.iter().filter(|(_, up)| up.config().provider == format);
        if let Some((_, upstream)) = of_format().find(|(name, _)| Some(name.as_str()) == model) {
            return Some(ChosenUpstream { upstream, model: Some(&upstream.config().model) });
        }
        let same = of_format().find(|(_, up)| Some(up.config().model.as_str()) == model);
        let (_, upstream) = same.or_else(|| of_format().next())?;
        Some(ChosenUpstream { upstream, model: None })
    }

    /// Rejects an API that no configured model supports.
    pub fn none_of(&self, api: Api) -> Problem {
        let configured =
            self.0.iter().map(|(name, up)| format!("{name} ({})", up.config().provider.as_str()));
        let configured: Vec<String> = configured.collect();
        let configured = match configured.is_empty() {
            true => "no model is configured".to_owned(),
            false => format!("configured: {}", configured.join(", ")),
        };
        let provider = api.provider().as_str();
        Problem::new(
            StatusCode::NOT_FOUND,
            "model_not_found",
            format!("no configured model supports {}; {configured}", api.as_str()),
            format!("add a [[model]] with provider = \"{provider}\" to the configuration"),
        )
    }

    /// Names of the configured models.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The configured model called `provider/model` in receipts.
    pub fn called(&self, name: &str) -> Option<&ModelConfig> {
        let named = |config: &&ModelConfig| {
            name.split_once('/') == Some((config.provider.as_str(), config.model.as_str()))
        };
        self.0.iter().map(|(_, upstream)| upstream.config()).find(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, provider: Provider, model: &str) -> (String, ModelConfig) {
        (name.to_owned(), ModelConfig::new(provider, model))
    }

    #[test]
    fn a_configured_name_is_replaced_and_any_other_goes_to_the_default() {
        let models = vec![
            model("small", Provider::OpenAi, "o-small"),
            model("main", Provider::OpenAi, "o-large"),
            model("claude", Provider::Anthropic, "c"),
        ];
        let upstreams = Upstreams::new(models, Some("main")).expect("valid models");
        let chosen = |format, name| {
            let chosen = upstreams.choose(format, name).expect("one of the format");
            (chosen.upstream.config().model.clone(), chosen.model.map(str::to_owned))
        };
        let openai = Provider::OpenAi;
        assert_eq!(chosen(openai, Some("small")), ("o-small".into(), Some("o-small".into())));
        assert_eq!(chosen(openai, Some("o-small")), ("o-small".into(), None));
        assert_eq!(chosen(openai, Some("gpt")), ("o-large".into(), None));
        assert_eq!(chosen(openai, None), ("o-large".into(), None));
        assert_eq!(chosen(Provider::Anthropic, Some("main")), ("c".into(), None));
    }
}
