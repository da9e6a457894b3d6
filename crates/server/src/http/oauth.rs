//! OAuth resource server: protected-resource metadata (RFC 9728), and a challenge on every response that
//! rejects a credential (RFC 6750).
//!
//! The gate checks the tokens.

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use reqwest::Url;
use serde_json::{Value, json};
use throughline_engine::access::Grants;

use super::App;
use super::problem::Problem;
use crate::config::OauthSettings;

/// Path of the metadata (RFC 9728).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Serves the metadata at the root, and with the path of the resource appended.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(WELL_KNOWN, get(metadata))
        .route(&format!("{WELL_KNOWN}/{{*path}}"), get(metadata))
}

/// The issuer of tokens for this server, and the scopes they need.
async fn metadata(
    State(app): State<App>,
    path: Option<Path<String>>,
) -> Result<Json<Value>, Problem> {
    let settings = settings(&app).ok_or_else(|| {
        let hint = "send an API key, or set oauth.issuer in the configuration";
        Problem::new(
            StatusCode::NOT_FOUND,
            "no_oauth",
            "this server does not accept access tokens",
            hint,
        )
    })?;
    let resource = resource_path(settings);
    if let Some(Path(path)) = path.filter(|Path(path)| *path != resource.trim_start_matches('/')) {
        let what = format!("there is no protected resource /{path}");
        let hint = format!("the resource is {}", settings.resource);
        return Err(Problem::new(StatusCode::NOT_FOUND, "no_route", what, hint));
    }
    Ok(Json(json!({
        "resource": settings.resource,
        "resource_name": "Throughline",
        "authorization_servers": [settings.issuer],
        "scopes_supported": settings.usual_scopes(),
        "bearer_methods_supported": ["header"],
    })))
}

/// Adds `WWW-Authenticate` to a response that rejects a missing or insufficient credential.
pub(super) async fn challenge(State(app): State<App>, request: Request, next: Next) -> Response {
    let tried = has_credential(request.headers());
    let mut response = next.run(request).await;
    let needed = response.extensions_mut().remove::<Grants>();
    let text = match (response.status(), settings(&app), needed) {
        (StatusCode::UNAUTHORIZED, None, _) => "Bearer".to_owned(),
        (StatusCode::UNAUTHORIZED, Some(settings), _) => {
            let error = if tried { "error=\"invalid_token\", " } else { "" };
            format!("Bearer {error}{}", parameters(settings, &settings.usual_scopes().join(" ")))
        }
        (StatusCode::FORBIDDEN, Some(settings), Some(needed)) => {
            let scope = match needed {
                Grants::Read => settings.usual_scopes().join(" "),
                Grants::Write => settings.write_scope.clone(),
                Grants::Admin => settings.admin_scope.clone(),
            };
            format!("Bearer error=\"insufficient_scope\", {}", parameters(settings, &scope))
        }
        _ => return response,
    };
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

fn parameters(settings: &OauthSettings, scope: &str) -> String {
    let scope = if scope.is_empty() { String::new() } else { format!(", scope=\"{scope}\"") };
    format!("resource_metadata=\"{}\"{scope}", metadata_address(settings))
}

/// Public URL of the metadata: the well-known path stands between host and path of the resource.
fn metadata_address(settings: &OauthSettings) -> String {
    match Url::parse(&settings.resource) {
        Ok(mut url) => {
            url.set_path(&format!("{WELL_KNOWN}{}", resource_path(settings)));
            url.into()
        }
        Err(_) => WELL_KNOWN.into(),
    }
}

/// Path of the resource, without a trailing slash.
fn resource_path(settings: &OauthSettings) -> String {
    let url = Url::parse(&settings.resource);
    url.map_or(String::new(), |url| url.path().trim_end_matches('/').to_owned())
}

fn settings(app: &App) -> Option<&OauthSettings> {
    Some(app.gate().tokens()?.settings())
}

fn has_credential(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || headers.contains_key("x-api-key")
}
