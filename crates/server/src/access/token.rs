//! Access tokens of a configured issuer: JWTs that say who calls and what they may do.
//!
//! This is the resource server of OAuth; it issues, stores, refreshes and forwards no tokens.
//!
//! Invariant: a token yields a caller only after its signature, algorithm, issuer, audience and times were
//! checked, and never for a user or tenant reserved for the installation.

use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, dangerous, decode, decode_header};
use serde_json::{Map, Value};
use throughline_engine::access::{Caller, Grants, local_scope};
use throughline_engine::id::{TenantId, UserId};
use throughline_engine::store::Scope;

use super::issuer::{Issuer, KeyError};
use crate::config::OauthSettings;
use crate::failure::Failure;
use crate::names::distinct_name_of;

/// Accepted algorithms: public keys only.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];
/// Longest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Why a token is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is invalid.
    #[error("the access token is rejected: {0}")]
    Invalid(String),
    /// It is valid, but has no scope for this server.
    #[error("the access token has none of the scopes {0}")]
    NoScope(String),
    /// It cannot be verified now.
    #[error(transparent)]
    Away(KeyError),
}

/// Authenticates access tokens.
#[derive(Clone)]
pub struct Tokens {
    settings: Arc<OauthSettings>,
    issuer: Arc<Issuer>,
}

impl Tokens {
    /// The tokens of the configured issuer, if there is one.
    pub fn of(settings: &OauthSettings) -> Result<Option<Self>, Failure> {
        if !settings.enabled() {
            return Ok(None);
        }
        let issuer = Arc::new(Issuer::new(settings)?);
        Ok(Some(Self { settings: Arc::new(settings.clone()), issuer }))
    }

    /// The OAuth settings.
    pub fn settings(&self) -> &OauthSettings {
        &self.settings
    }

    /// Whether `text` claims to be a token of this issuer; the claim is not verified.
    pub fn claims_issuer(&self, text: &str) -> bool {
        let claims = dangerous::insecure_decode_claims::<Map<String, Value>>(text);
        claims.is_ok_and(|claims| {
            claims.get("iss") == Some(&Value::from(self.settings.issuer.as_str()))
        })
    }

    /// The caller with this token.
    pub async fn caller(&self, token: &str) -> Result<Caller, TokenError> {
        let refuse = |reason: &str| TokenError::Invalid(reason.to_owned());
        if token.len() > TOKEN_BYTES_MAX {
            return Err(refuse("it is too long"));
        }
        let header = decode_header(token).map_err(|error| self.reason(&error))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(refuse("it is not signed with RS256, ES256 or EdDSA"));
        }
        if header.crit.is_some() {
            return Err(refuse("its header has unknown extensions"));
        }
        // Before any key is fetched, so that a foreign token causes no request to the issuer.
        if !self.claims_issuer(token) {
            return Err(self.reason(&ErrorKind::InvalidIssuer.into()));
        }
        let key =
            self.issuer.key(header.kid.as_deref(), header.alg).await.map_err(
                |error| match error {
                    KeyError::Unknown => TokenError::Invalid(error.to_string()),
                    KeyError::Away { .. } => TokenError::Away(error),
                },
            )?;
        let checked = decode::<Map<String, Value>>(token, &key, &self.validation(header.alg));
        let claims = checked.map_err(|error| self.reason(&error))?.claims;
        Ok(Caller { scope: self.scope(&claims)?, grants: self.grants(&claims)? })
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = self.settings.leeway_seconds;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[self.settings.audience()]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation
    }

    fn reason(&self, error: &jsonwebtoken::errors::Error) -> TokenError {
        TokenError::Invalid(match error.kind() {
            ErrorKind::ExpiredSignature => "it has expired".into(),
            ErrorKind::ImmatureSignature => "it is not valid yet".into(),
            ErrorKind::InvalidIssuer => {
                format!("it is not from the issuer {}", self.settings.issuer)
            }
            ErrorKind::InvalidAudience => format!("it is not for {}", self.settings.audience()),
            ErrorKind::InvalidSignature => "its signature is wrong".into(),
            ErrorKind::MissingRequiredClaim(name) => format!("it has no claim {name}"),
            ErrorKind::InvalidClaimFormat(name) => format!("its claim {name} cannot be read"),
            _ => "it is not a readable signed token".into(),
        })
    }

    /// Tenant and user from the claims.
    fn scope(&self, claims: &Map<String, Value>) -> Result<Scope, TokenError> {
        let named = |claim: &str| match claims.get(claim) {
            Some(Value::String(text)) => distinct_name_of(text.as_bytes()),
            Some(Value::Number(number)) => distinct_name_of(number.to_string().as_bytes()),
            _ => None,
        };
        let missing = |claim: &str| TokenError::Invalid(format!("its claim {claim} names no one"));
        let invalid =
            |error: throughline_engine::id::InvalidName| TokenError::Invalid(error.to_string());
        let settings = &self.settings;
        let user = named(&settings.user_claim).ok_or_else(|| missing(&settings.user_claim))?;
        let tenant = match settings.tenant_claim.as_str() {
            "" => settings.tenant.clone(),
            claim => TenantId::new(named(claim).ok_or_else(|| missing(claim))?).map_err(invalid)?,
        };
        let scope = Scope { tenant, user: UserId::new(user).map_err(invalid)? };
        if scope.tenant.as_str().starts_with('_') || scope == local_scope() {
            return Err(TokenError::Invalid("it names a reserved user or tenant".into()));
        }
        Ok(scope)
    }

    /// Grants from the scopes: `scope` (RFC 9068), or `scp` as some issuers write it, as text or list.
    fn grants(&self, claims: &Map<String, Value>) -> Result<Grants, TokenError> {
        let words = |claim: &str| -> Vec<String> {
            match claims.get(claim) {
                Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
                Some(Value::Array(list)) => {
                    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            }
        };
        let held = [words("scope"), words("scp")].concat();
        let settings = &self.settings;
        let scopes = [
            (&settings.admin_scope, Grants::Admin),
            (&settings.write_scope, Grants::Write),
            (&settings.read_scope, Grants::Read),
        ];
        let widest = scopes.into_iter().find(|(scope, _)| held.contains(scope));
        widest
            .map(|(_, grants)| grants)
            .ok_or_else(|| TokenError::NoScope(settings.usual_scopes().join(", ")))
    }
}
