//! Models that reject a temperature, which shows only on the first request.

use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use throughline_upstream::model::{ModelConfig, Provider, connect};

use crate::model::{BOTH, events, question};

#[tokio::test]
async fn a_model_that_refuses_the_temperature_is_asked_without_it_from_then_on() {
    for provider in BOTH {
        let server = ScriptedModel::answering(|request| {
            Some(match request.body.get("temperature") {
                Some(_) => Turn::refuse(400, "`temperature` is not supported by this model"),
                None => Turn::text("Hello."),
            })
        })
        .await;
        let mut config = ModelConfig::new(provider, "test-model");
        config.base_url = match provider {
            Provider::Anthropic => server.anthropic_url(),
            Provider::OpenAi => server.openai_url(),
        };
        config.api_key = Some("sk-test-key".into());
        let model = connect(config).unwrap();
        for requests in [2, 3] {
            let (heard, failed) = events(model.as_ref(), &question("Hello?")).await;
            assert!(failed.is_none() && !heard.is_empty(), "{failed:?}");
            assert_eq!(server.requests().len(), requests);
        }
    }
}
