//! Path and query extractors that fail with a [`Problem`].

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::App;
use super::problem::Problem;

/// Parameters in the path.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, app).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(error) => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "invalid_path",
                error.body_text(),
                "ids have 1-128 characters of A-Z a-z 0-9 . _ -; turns count from 1",
            )),
        }
    }
}

/// Query parameters; unknown names are rejected.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match axum::extract::Query::from_request_parts(parts, app).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(error) => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "invalid_query",
                error.body_text(),
                "see /api/openapi.json",
            )),
        }
    }
}
