//! The methods of the protocol, each a line or two over the modules beside it.

use std::borrow::Cow;

use opentelemetry::Context;
use opentelemetry::context::FutureExt as _;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use throughline_engine::access::Caller;
use throughline_engine::error::{Error, Fault};

use super::{Mcp, changes, completion, prompts, resources, tools};
use crate::telemetry::joined::Trace;

/// How long lists that are the same for everybody may be cached, in milliseconds.
const FIXED_TTL_MS: u64 = 3_600_000;
/// Maximum number of subscriptions of a connection.
const SUBSCRIPTIONS_MAX: usize = 1_000;

type Answer<T> = Result<T, ErrorData>;

impl Mcp {
    /// The caller: from the transport, or the local user over stdio.
    pub(super) fn caller(&self, extensions: &rmcp::model::Extensions) -> Answer<Caller> {
        let brought = extensions
            .get::<axum::http::request::Parts>()
            .and_then(|parts| parts.extensions.get::<Caller>());
        brought
            .or(self.local.as_ref())
            .cloned()
            .ok_or_else(|| ErrorData::invalid_request("the caller is unknown", None))
    }
}

/// The trace of a request over HTTP.
fn trace_of(extensions: &rmcp::model::Extensions) -> Context {
    let parts = extensions.get::<axum::http::request::Parts>();
    let named = parts.and_then(|parts| parts.extensions.get::<Trace>());
    named.map_or_else(Context::current, |trace| trace.0.clone())
}

/// An engine error outside of a tool call.
pub fn protocol_error(error: &Error) -> ErrorData {
    let data = Some(json!({"code": error.code(), "hint": error.hint()}));
    let message = error.to_string();
    match error.fault() {
        Fault::Upstream | Fault::Unavailable | Fault::Internal => {
            ErrorData::internal_error(message, data)
        }
        _ => ErrorData::invalid_params(message, data),
    }
}

/// All tools and prompts fit on one page, so any cursor is invalid.
fn no_cursor(request: Option<&PaginatedRequestParams>) -> Answer<()> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    resources::start_of(cursor, 0).map(|_| ()).map_err(|error| protocol_error(&error))
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        #[cfg(feature = "conformance-fixtures")]
        let capabilities = {
            let mut capabilities = capabilities;
            capabilities.logging = Some(Default::default());
            capabilities
        };
        let mut implementation = Implementation::new("throughline", env!("CARGO_PKG_VERSION"));
        implementation.title = Some("Throughline".into());
        implementation.description = Some("Conversation memory for assistants.".into());
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(include_str!("prompts/instructions.md").trim_end())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Answer<DiscoverResult> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(FIXED_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListToolsResult> {
        no_cursor(request.as_ref())?;
        Ok(ListToolsResult::with_all_items(tools::listed())
            .with_ttl_ms(FIXED_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::listed().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CallToolResponse> {
        let caller = self.caller(&context.extensions)?;
        let trace = trace_of(&context.extensions);
        tools::call(tools::Call { mcp: self, caller, request, context }).with_context(trace).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListResourcesResult> {
        let caller = self.caller(&context.extensions)?;
        let cursor = request.as_ref().and_then(|request| request.cursor.as_deref());
        resources::list(self, &caller, cursor).await.map_err(|error| protocol_error(&error))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListResourceTemplatesResult> {
        no_cursor(request.as_ref())?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<ReadResourceResponse> {
        let caller = self.caller(&context.extensions)?;
        resources::read(self, &caller, &request.uri).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Answer<ListPromptsResult> {
        no_cursor(request.as_ref())?;
        #[cfg_attr(
            not(feature = "conformance-fixtures"),
            expect(unused_mut, reason = "for fixtures")
        )]
        let mut all = prompts::all();
        #[cfg(feature = "conformance-fixtures")]
        all.extend(super::fixtures::prompts());
        Ok(ListPromptsResult::with_all_items(all)
            .with_ttl_ms(FIXED_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<GetPromptResponse> {
        #[cfg(feature = "conformance-fixtures")]
        if let Some(answer) = super::fixtures::prompt(&request) {
            return answer;
        }
        prompts::get(&request.name, request.arguments.as_ref()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CompleteResult> {
        let caller = self.caller(&context.extensions)?;
        let completion = completion::complete(self, &caller, &request).await;
        completion.map(CompleteResult::new).map_err(|error| protocol_error(&error))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
            let ours = uris.iter().filter(|uri| resources::path_of(uri).is_some());
            ours.take(SUBSCRIPTIONS_MAX).cloned().collect()
        });
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let caller = self.caller(&context.request_context().extensions)?;
        changes::tell_listener(self.changes.listen(), &caller, &context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        let added = self.with_subscribed(|set| {
            let room = set.len() < SUBSCRIPTIONS_MAX;
            if room {
                set.insert(request.uri);
            }
            room
        });
        if added == Some(false) {
            let message =
                format!("a connection may subscribe to at most {SUBSCRIPTIONS_MAX} resources");
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        self.with_subscribed(|set| set.remove(&request.uri));
        Ok(())
    }

    #[cfg(feature = "conformance-fixtures")]
    #[expect(deprecated, reason = "the suite also tests what the protocol deprecates")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(connection) = &self.connection else { return };
        if let Ok(caller) = self.caller(&context.extensions) {
            let told = changes::tell_legacy(
                self.changes.listen(),
                caller,
                context.peer,
                connection.subscribed.clone(),
            );
            tokio::spawn(told);
        }
    }
}
