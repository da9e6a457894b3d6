//! Presets: stored personas that contexts are created from.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use throughline_engine::preset::PresetGone;
use throughline_engine::preset::{Preset, PresetDraft, Review, review};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Body;
use super::caller::Authenticated;
use super::idempotency::IdempotencyKey;
use super::part::{Path, Query};
use super::problem::Problem;
use crate::persona_view::{PresetView, ReviewView};

/// The routes under `/presets`.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, change, delete))
        .routes(routes!(restore))
}

/// Selects presets.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Number of the page, from 1; default: 1.
    page: Option<usize>,
    /// Presets per page, 1–100; default: 10.
    page_size: Option<usize>,
    /// Whether to include deactivated presets; default `false`.
    include_inactive: bool,
}

/// A page of presets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Presets {
    /// The presets, built-in ones first.
    presets: Vec<PresetView>,
    /// Number of presets on all pages.
    total_count: usize,
}

/// A preset with a review of its prompt.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewedPreset {
    /// The preset.
    #[serde(flatten)]
    preset: PresetView,
    /// Review of the prompt.
    review: ReviewView,
}

/// A preset to create, or changes to one; when changing, absent fields are left as they are.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct PresetBody {
    /// Id of the preset; default: derived from the name. Only when creating.
    id: Option<String>,
    /// Display name; required when creating.
    name: Option<String>,
    /// What it is good for.
    description: Option<String>,
    /// System prompt; required when creating.
    system_prompt: Option<String>,
    /// Character, in a sentence.
    default_personality: Option<String>,
    /// Settings of contexts created from it.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    default_settings: Option<PresetSettingsBody>,
    /// Arbitrary data of the application.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
    /// Whether contexts can be created from it; default `true`.
    is_active: Option<bool>,
}

/// Settings of contexts created from a preset.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct PresetSettingsBody {
    /// Sampling temperature, 0–1; default: 0.7.
    temperature: Option<f64>,
    /// Maximum tokens of a reply, 1–200000; default: 1000.
    max_tokens: Option<i64>,
    /// Maximum tokens of history in a request, 1–2000000; default: 15000.
    max_history_tokens: Option<i64>,
    /// Days from the last interaction until a context expires, 1–3650; default: 7.
    expiry_days: Option<i64>,
}

impl PresetBody {
    fn draft(self) -> PresetDraft {
        let settings = self.default_settings.unwrap_or_default();
        PresetDraft {
            name: self.name,
            description: self.description,
            system_prompt: self.system_prompt,
            personality: self.default_personality,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            max_history_tokens: settings.max_history_tokens,
            expiry_days: settings.expiry_days,
            metadata: self.metadata,
            active: self.is_active,
        }
    }
}

fn reviewed((preset, review): (Preset, Review)) -> Json<ReviewedPreset> {
    Json(ReviewedPreset { preset: preset.into(), review: review.into() })
}

/// Lists the presets that the caller can use.
#[utoipa::path(get, path = "/presets", tag = "presets", params(ListQuery),
    responses((status = 200, body = Presets)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ListQuery>,
) -> Result<Json<Presets>, Problem> {
    let (page, size) = (query.page.unwrap_or(1), query.page_size.unwrap_or(10));
    let list = app.engine().presets().list(&caller, page, size, query.include_inactive).await?;
    let presets = list.presets.into_iter().map(Into::into).collect();
    Ok(Json(Presets { presets, total_count: list.total }))
}

/// Creates a preset.
#[utoipa::path(post, path = "/presets", tag = "presets", request_body = PresetBody,
    params(("idempotency-key" = Option<String>, Header, description = "Key of this request, 1–255 visible ASCII characters; a repetition returns the first result")),
    responses((status = 201, body = ReviewedPreset), (status = 400, body = Problem)))]
pub async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    key: IdempotencyKey,
    body: Body<PresetBody>,
) -> Result<(StatusCode, Json<ReviewedPreset>), Problem> {
    let key = key.of("presets", &body.bytes);
    let id = body.value.id.clone();
    let draft = body.value.draft();
    let made = app.engine().presets().create(&caller, id.as_deref(), draft, key.as_ref()).await?;
    Ok((StatusCode::CREATED, reviewed(made)))
}

/// Returns a preset with a review of its prompt.
#[utoipa::path(get, path = "/presets/{id}", tag = "presets",
    params(("id" = String, Path, description = "Id of the preset")),
    responses((status = 200, body = ReviewedPreset), (status = 404, body = Problem)))]
pub async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<ReviewedPreset>, Problem> {
    let preset = app.engine().presets().get(&caller, &id).await?;
    let review = review::review(&preset.system_prompt, &preset.personality);
    Ok(reviewed((preset, review)))
}

/// Changes a preset; a built-in one is changed for this user only.
#[utoipa::path(patch, path = "/presets/{id}", tag = "presets", request_body = PresetBody,
    params(("id" = String, Path, description = "Id of the preset")),
    responses((status = 200, body = ReviewedPreset), (status = 404, body = Problem)))]
pub async fn change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    body: Body<PresetBody>,
) -> Result<Json<ReviewedPreset>, Problem> {
    Ok(reviewed(app.engine().presets().update(&caller, &id, body.value.draft()).await?))
}

/// Result of deleting a preset.
#[derive(Debug, Serialize, ToSchema)]
pub struct Gone {
    /// Id of the preset.
    id: String,
    /// `erased`, or `deactivated` for a built-in preset, which can be restored.
    outcome: &'static str,
}

/// Deletes a preset; a built-in one is deactivated for this user.
#[utoipa::path(delete, path = "/presets/{id}", tag = "presets",
    params(("id" = String, Path, description = "Id of the preset")),
    responses((status = 200, body = Gone), (status = 404, body = Problem)))]
pub async fn delete(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<Gone>, Problem> {
    let outcome = match app.engine().presets().delete(&caller, &id).await? {
        PresetGone::Erased => "erased",
        PresetGone::Deactivated => "deactivated",
    };
    Ok(Json(Gone { id, outcome }))
}

/// Restores a built-in preset to its original state.
#[utoipa::path(post, path = "/presets/{id}/restore", tag = "presets",
    params(("id" = String, Path, description = "Id of the preset")),
    responses((status = 200, body = PresetView), (status = 404, body = Problem)))]
pub async fn restore(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<PresetView>, Problem> {
    Ok(Json(app.engine().presets().restore(&caller, &id).await?.into()))
}
