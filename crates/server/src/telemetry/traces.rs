//! Sends spans to an OpenTelemetry collector over OTLP/HTTP.
//!
//! The engine creates the spans (`throughline_engine::trace`); OpenTelemetry's own exporter batches and sends
//! them, and reads the usual variables for headers, timeout and service name. An unreachable collector costs a
//! log line, never a turn.
//!
//! Invariant: without an endpoint nothing is created or sent.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Array, Value};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData};

use crate::config::TelemetrySettings;
use crate::failure::Failure;

/// Path for spans below the endpoint.
const PATH: &str = "/v1/traces";
/// Time to send the last spans at shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// An attribute that must be a list, which a span field cannot be.
const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";

/// The connection to a collector.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Connects to the configured collector, if there is one.
    pub fn open(settings: &TelemetrySettings) -> Result<Option<Self>, Failure> {
        let endpoint = settings.otlp_endpoint.trim();
        if endpoint.is_empty() || !settings.enabled {
            return Ok(None);
        }
        let exporter = exporter(&address(endpoint)).map_err(|error| {
            let what = format!("cannot send spans to telemetry.otlp_endpoint: {error}");
            Failure::wrong_use(what, "set the collector's URL, such as http://127.0.0.1:4318")
        })?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("throughline");
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(ListExporter(exporter))
            .build();
        Ok(Some(Self(provider)))
    }

    /// Creates spans.
    pub fn tracer(&self) -> SdkTracer {
        self.0.tracer("throughline")
    }

    /// Sends the remaining spans, within a few seconds.
    pub async fn close(self) {
        let closed =
            tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(CLOSE_TIMEOUT));
        if let Ok(Err(error)) = closed.await {
            tracing::warn!(%error, "cannot send the last spans");
        }
    }
}

/// The usual variable names the collector; spans have their own path below it.
fn address(endpoint: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    if endpoint.ends_with(PATH) { endpoint.to_owned() } else { format!("{endpoint}{PATH}") }
}

fn exporter(address: &str) -> Result<SpanExporter, ExporterBuildError> {
    SpanExporter::builder().with_http().with_endpoint(address).build()
}

/// The exporter, converting attributes that must be lists.
#[derive(Debug)]
struct ListExporter(SpanExporter);

impl opentelemetry_sdk::trace::SpanExporter for ListExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes.filter(|attribute| attribute.key.as_str() == FINISH_REASONS) {
            if let Value::String(reason) = &attribute.value {
                attribute.value = Value::Array(Array::String(vec![reason.clone()]));
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_address_or_with_telemetry_off_nothing_is_opened() {
        let opened = |enabled, otlp_endpoint: &str| {
            let settings = TelemetrySettings { enabled, otlp_endpoint: otlp_endpoint.into() };
            Traces::open(&settings).map(|traces| traces.is_some())
        };
        assert_eq!(opened(true, "").ok(), Some(false));
        assert_eq!(opened(false, "http://127.0.0.1:4318").ok(), Some(false));
        assert_eq!(opened(true, "http://127.0.0.1:4318").ok(), Some(true));
        assert!(opened(true, "not an address").is_err());
    }

    #[test]
    fn the_path_for_spans_is_added_once() {
        for (given, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://c.example/otlp/v1/traces", "https://c.example/otlp/v1/traces"),
        ] {
            assert_eq!(address(given), expected);
        }
    }
}
