//! The accepted issuer of access tokens, and the meaning of claims and scopes.

use reqwest::Url;
use serde::Deserialize;
use throughline_engine::id::TenantId;

use crate::failure::Failure;

/// The section `oauth`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthSettings {
    /// URL of the issuer; empty to accept no tokens.
    pub issuer: String,
    /// Public URL of `/mcp`.
    pub resource: String,
    /// Required `aud`; empty for the resource.
    pub audience: String,
    /// Claim that names the user.
    pub user_claim: String,
    /// Claim that names the tenant; empty for none.
    pub tenant_claim: String,
    /// Tenant if no claim names one.
    pub tenant: TenantId,
    /// Scope that grants reading.
    pub read_scope: String,
    /// Scope that grants writing.
    pub write_scope: String,
    /// Scope that grants administration; empty for none.
    pub admin_scope: String,
    /// Tolerated clock difference of the issuer, in seconds.
    pub leeway_seconds: u64,
    /// How long signing keys are used before they are fetched again, in seconds.
    pub keys_seconds: u64,
    /// Shortest time between two fetches, in seconds.
    pub keys_pause_seconds: u64,
    /// Time limit of a request to the issuer, in seconds.
    pub issuer_seconds_max: u64,
}

impl OauthSettings {
    /// Whether tokens are accepted.
    pub fn enabled(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// Required `aud`.
    pub fn audience(&self) -> &str {
        if self.audience.is_empty() { &self.resource } else { &self.audience }
    }

    /// Scopes that a client should request.
    pub fn usual_scopes(&self) -> [&str; 2] {
        [&self.read_scope, &self.write_scope]
    }

    /// Checks that types cannot express.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.enabled() {
            return match self.resource.is_empty() {
                true => Ok(()),
                false => Err(wrong(
                    "oauth.resource is set, but oauth.issuer is not",
                    "set both or neither",
                )),
            };
        }
        address("oauth.issuer", &self.issuer)?;
        address("oauth.resource", &self.resource)?;
        if self.user_claim.is_empty() {
            return Err(wrong(
                "oauth.user_claim is empty",
                "name the claim of the user, such as sub",
            ));
        }
        if self.tenant.as_str().starts_with('_') {
            let what = format!("oauth.tenant is {}, which is reserved", self.tenant);
            return Err(wrong(what, "use another tenant"));
        }
        self.check_scopes()
    }

    fn check_scopes(&self) -> Result<(), Failure> {
        let scopes = [
            ("oauth.read_scope", &self.read_scope),
            ("oauth.write_scope", &self.write_scope),
            ("oauth.admin_scope", &self.admin_scope),
        ];
        // Characters allowed in a scope by RFC 6749.
        let is_scope =
            |text: &str| text.bytes().all(|b| b.is_ascii_graphic() && !b"\"\\".contains(&b));
        for (at, (name, scope)) in scopes.iter().enumerate() {
            if !is_scope(scope) || (scope.is_empty() && *name != "oauth.admin_scope") {
                let hint = "a scope is visible ASCII without spaces, quotes and backslashes";
                return Err(wrong(format!("{name} is {scope:?}"), hint));
            }
            if let Some((same, _)) = scopes[..at].iter().find(|(_, other)| other == scope) {
                let hint = "give each its own scope: a wider one includes the narrower ones";
                return Err(wrong(format!("{name} and {same} are both {scope:?}"), hint));
            }
        }
        Ok(())
    }
}

/// Checks that a URL uses TLS or is on this machine.
fn address(name: &str, text: &str) -> Result<(), Failure> {
    let hint =
        "use https://…; http only for 127.0.0.1, [::1] and localhost; no query and no fragment";
    let refuse = || wrong(format!("{name} is {text:?}"), hint);
    let url = Url::parse(text).map_err(|_| refuse())?;
    let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if plain && url.password().is_none() && is_safe(&url) { Ok(()) } else { Err(refuse()) }
}

/// Whether data from this URL cannot be tampered with in transit.
pub fn is_safe(url: &Url) -> bool {
    let loopback = match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && loopback)
}

fn wrong(what: impl Into<String>, hint: &str) -> Failure {
    Failure::wrong_use(what, hint)
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Environment};

    fn check(pairs: &[(&str, &str)]) -> String {
        let flags: Vec<(&str, String)> =
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let environment = Environment::of([("HOME", "/home/ann")]);
        Config::load(None, environment, &flags)
            .map_or_else(|failure| failure.message, |_| "ok".into())
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let issuer = ("oauth.issuer", "https://login.example.com/realm");
        let resource = ("oauth.resource", "https://memory.example.com/mcp");
        assert_eq!(check(&[issuer, resource]), "ok");
        assert_eq!(check(&[("oauth.issuer", "http://127.0.0.1:9"), resource]), "ok");
        assert_eq!(check(&[resource]), "oauth.resource is set, but oauth.issuer is not");
        assert_eq!(check(&[issuer]), "oauth.resource is \"\"");
        for address in [
            "http://login.example.com",
            "login",
            "https://x/?a=b",
            "https://a:b@x/",
            "https://x/#y",
        ] {
            assert_eq!(
                check(&[("oauth.issuer", address), resource]),
                format!("oauth.issuer is {address:?}")
            );
        }
        let with = |name, value| check(&[issuer, resource, (name, value)]);
        assert_eq!(with("oauth.user_claim", ""), "oauth.user_claim is empty");
        assert_eq!(with("oauth.read_scope", "a b"), "oauth.read_scope is \"a b\"");
        assert_eq!(with("oauth.write_scope", ""), "oauth.write_scope is \"\"");
        assert_eq!(
            with("oauth.admin_scope", "throughline:read"),
            "oauth.admin_scope and oauth.read_scope are both \"throughline:read\""
        );
        assert!(with("oauth.tenant", "_system").contains("is reserved"));
        assert!(with("oauth.leeway_seconds", "301").contains("0 to 300"));
    }
}
