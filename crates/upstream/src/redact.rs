//! Removes secrets from text before it reaches an error or a log.
//!
//! The last line of defence: messages from libraries and remote servers may repeat what they were given. It replaces
//! known values and does not guess what a secret looks like.

use secrecy::{ExposeSecret, SecretString};

const MARK: &str = "[redacted]";
/// Parts of the names of options whose value is a secret.
const SECRET_OPTIONS: [&str; 7] =
    ["token", "secret", "password", "passwd", "credential", "key", "auth"];
/// Shorter values (`1`, `true`) would mangle ordinary words and protect nothing.
const SECRET_BYTES_MIN: usize = 6;
/// Shorter path segments are taken for names.
const SEGMENT_BYTES_MIN: usize = 16;

/// A URL whose path segments are masked if they are long enough to be tokens.
pub fn without_path_tokens(address: &str) -> String {
    let (before, query) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let host = before.find("://").map_or(0, |at| at + "://".len());
    let path = before[host..].find('/').map_or(before.len(), |at| host + at);
    let shown = |segment| if is_token(segment) { "***" } else { segment };
    let segments: Vec<&str> = before[path..].split('/').map(shown).collect();
    format!("{}{}{query}", &before[..path], segments.join("/"))
}

/// A token in the path is long; names such as `mcp` are not.
fn is_token(segment: &str) -> bool {
    segment.len() >= SEGMENT_BYTES_MIN
}

/// The secrets of one upstream, each with its replacement.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Vec<(SecretString, String)>);

impl Redactor {
    /// Redacts these secrets; values too short to be secret are ignored.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut redactor = Self::default();
        for secret in secrets {
            redactor.add(secret.expose_secret(), MARK);
        }
        redactor
    }

    /// Also redacts everything in a URL except scheme, host and port: user, path and query may contain a token.
    pub fn with_address(mut self, address: &str) -> Self {
        let Ok(url) = reqwest::Url::parse(address) else { return self };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = url.host_str().unwrap_or_default();
        let shown = format!("{}://{host}{port}/{MARK}", url.scheme());
        // The whole URL first, before its parts are replaced.
        for whole in [address, url.as_str()] {
            self.add(whole, &shown);
        }
        for part in [url.query(), url.password(), Some(url.username())].into_iter().flatten() {
            self.add(part, MARK);
        }
        for (_, value) in url.query_pairs() {
            self.add(&value, MARK);
        }
        let segments = url.path_segments().into_iter().flatten();
        for segment in segments.filter(|segment| is_token(segment)) {
            self.add(segment, MARK);
        }
        self
    }

    /// Also redacts the values of command-line options that are named like a secret: `--token=…`, `--api-key …`.
    pub fn with_arguments(mut self, arguments: &[String]) -> Self {
        for (at, argument) in arguments.iter().enumerate() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), arguments.get(at + 1).map(String::as_str)),
            };
            let lower = name.to_ascii_lowercase();
            if SECRET_OPTIONS.iter().any(|part| lower.contains(part)) {
                self.add(value.unwrap_or_default(), MARK);
            }
        }
        self
    }

    fn add(&mut self, secret: &str, shown: &str) {
        if secret.len() >= SECRET_BYTES_MIN {
            self.0.push((SecretString::from(secret), shown.to_owned()));
        }
    }

    /// Returns `text` without the secrets.
    pub fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (secret, shown)| {
            text.replace(secret.expose_secret(), shown)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_taken_out_and_short_values_are_not_secrets() {
        let secrets = [SecretString::from("sk-123456"), SecretString::from("on")];
        let address = "https://u:hunter22@host/mcp?token=abc%20def";
        let redactor = Redactor::new(&secrets).with_address(address);
        for (text, expected) in [
            ("401 for sk-123456 on", "401 for [redacted] on"),
            ("url (https://u:hunter22@host/mcp?token=abc%20def)", "url (https://host/[redacted])"),
            ("GET /mcp?token=abc%20def", "GET /mcp?[redacted]"),
            ("bad token abc def", "bad token [redacted]"),
            ("for u with hunter22", "for u with [redacted]"),
        ] {
            assert_eq!(redactor.clean(text), expected);
        }
        let redactor = Redactor::default().with_address("https://host/s/0123456789abcdef0123/mcp");
        assert_eq!(redactor.clean("at /s/0123456789abcdef0123/mcp"), "at /s/[redacted]/mcp");
        let arguments = ["--token=abcdef-1", "serve", "--api-key", "ghijkl-2", "--port=12345678"];
        let redactor = Redactor::default().with_arguments(&arguments.map(str::to_owned));
        assert_eq!(
            redactor.clean("x --token=abcdef-1 serve --api-key ghijkl-2 --port=12345678"),
            "x --token=[redacted] serve --api-key [redacted] --port=12345678"
        );
        assert!(!format!("{redactor:?}").contains("abcdef"));
    }
}
