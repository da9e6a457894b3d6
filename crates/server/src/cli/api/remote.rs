//! A remote server, called over HTTP as the holder of a key.
//!
//! Invariant: the key is sent to the named server only; redirects are not followed.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use reqwest::Url;
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret, SecretString};

use super::call::Call;
use crate::failure::Failure;
use crate::http::caller::USER;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// A server and the caller's credentials.
pub(super) struct Remote {
    client: reqwest::Client,
    base: Url,
    key: Option<HeaderValue>,
    user: Option<HeaderValue>,
}

impl Remote {
    /// Checks address and key; does not connect yet.
    pub(super) fn new(
        address: &str,
        key: Option<&SecretString>,
        user: Option<&str>,
    ) -> Result<Self, Failure> {
        let base: Url = address.parse().map_err(|error| invalid(address, &format!("{error}")))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(invalid(address, "it must begin with http:// or https://"));
        }
        let mut client =
            reqwest::Client::builder().connect_timeout(CONNECT).redirect(Policy::none());
        if base.host_str().is_some_and(is_loopback) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| invalid(address, &error.to_string()))?;
        let header = |text: &str, what: &str| {
            HeaderValue::from_str(text).map_err(|_| {
                Failure::wrong_use(
                    format!("{what} has characters that are invalid in a header"),
                    "copy it again",
                )
            })
        };
        let mut bearer = key
            .map(|key| header(&format!("Bearer {}", key.expose_secret().trim()), "the key"))
            .transpose()?;
        if let Some(bearer) = &mut bearer {
            bearer.set_sensitive(true);
        }
        let user = user.map(|user| header(user, "the user")).transpose()?;
        Ok(Self { client, base, key: bearer, user })
    }

    /// The address without a trailing slash.
    pub(super) fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Sends a request.
    pub(super) async fn send(&self, call: Call) -> Result<Response<Body>, Failure> {
        let mut request = call.at(&self.base)?;
        let headers = request.headers_mut();
        headers.extend(self.key.clone().map(|key| (header::AUTHORIZATION, key)));
        if let Some(user) = &self.user {
            headers.insert(USER, user.clone());
        }
        let request =
            reqwest::Request::try_from(request).map_err(|error| self.unreachable(&error))?;
        let response = self.client.execute(request).await;
        let response = response.map_err(|error| self.unreachable(&error))?;
        Ok(Response::from(response).map(Body::new))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        // The innermost reason is the most useful one.
        let mut reason: &dyn std::error::Error = error;
        while let Some(source) = reason.source() {
            reason = source;
        }
        let what = format!("the server {} cannot be reached: {reason}", self.address());
        Failure::new(what, "check the address, and that throughline serve is running there")
            .coded("server_unreachable")
    }
}

fn invalid(address: &str, reason: &str) -> Failure {
    let what = format!("{address:?} is not a server address: {reason}");
    Failure::wrong_use(what, "for example --server http://127.0.0.1:7400")
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
