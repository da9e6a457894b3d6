//! A request of the REST API, independent of its target.
//!
//! Invariant: typed text is a path segment or a value; it cannot change the structure of the URL.

use std::fmt::Display;

use axum::http::{HeaderName, Method, Request, header};
use bytes::Bytes;
use reqwest::Url;
use serde_json::Value;

use crate::failure::Failure;

#[derive(Debug, Clone)]
pub(crate) struct Call {
    method: Method,
    parts: Vec<String>,
    query: Vec<(&'static str, String)>,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
}

impl Call {
    fn new(method: Method, parts: &[&str]) -> Self {
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        Self { method, parts, query: Vec::new(), headers: Vec::new(), body: Bytes::new() }
    }

    /// `GET /api/v1/…`.
    pub(crate) fn get(parts: &[&str]) -> Self {
        Self::new(Method::GET, parts)
    }

    /// `POST /api/v1/…`.
    pub(crate) fn post(parts: &[&str]) -> Self {
        Self::new(Method::POST, parts)
    }

    /// `PATCH /api/v1/…`.
    pub(crate) fn patch(parts: &[&str]) -> Self {
        Self::new(Method::PATCH, parts)
    }

    /// `DELETE /api/v1/…`.
    pub(crate) fn delete(parts: &[&str]) -> Self {
        Self::new(Method::DELETE, parts)
    }

    /// Adds a query parameter.
    pub(crate) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a query parameter, if there is a value.
    pub(crate) fn with_any(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets a JSON body; null fields are omitted.
    pub(crate) fn body(self, mut value: Value) -> Self {
        if let Value::Object(fields) = &mut value {
            fields.retain(|_, value| !value.is_null());
        }
        self.document("application/json", value.to_string())
    }

    /// Sets a body of any type.
    pub(crate) fn document(mut self, kind: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header(header::CONTENT_TYPE, kind)
    }

    /// The request to a server at `base`.
    pub(crate) fn at(self, base: &Url) -> Result<Request<Bytes>, Failure> {
        let wrong =
            |what: &str| Failure::wrong_use(what, "an address starts with http:// or https://");
        let mut url = base.clone();
        // Some type the address of the API.
        let path = url.path().trim_end_matches('/');
        if let Some(above) = path.strip_suffix("/api/v1").map(str::to_owned) {
            url.set_path(&above);
        }
        url.path_segments_mut()
            .map_err(|()| wrong("the server's address cannot have a path"))?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(&self.parts);
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        let mut request = Request::builder().method(self.method).uri(url.as_str());
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(self.body).map_err(|error| wrong(&error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: &str, call: Call) -> String {
        call.at(&base.parse().expect("an address")).expect("a request").uri().to_string()
    }

    #[test]
    fn what_was_typed_stays_in_its_place() {
        let call = Call::get(&["memories", "../keys?x=1"]).with("q", "a&b=c d");
        assert_eq!(
            address("http://localhost", call),
            "http://localhost/api/v1/memories/..%2Fkeys%3Fx=1?q=a%26b%3Dc+d"
        );
    }

    #[test]
    fn a_server_may_live_under_a_path() {
        let call = || Call::get(&["search"]);
        assert_eq!(address("https://x.example/tl/", call()), "https://x.example/tl/api/v1/search");
        assert_eq!(address("https://x.example/tl", call()), "https://x.example/tl/api/v1/search");
        let api = "https://x.example/api/v1";
        assert_eq!(address(api, call()), "https://x.example/api/v1/search");
        assert_eq!(address(&format!("{api}/"), call()), "https://x.example/api/v1/search");
    }
}
