//! Takes secrets out of text before it reaches an error or a log.
//!
//! This is the last line of defence: messages from libraries and from the other side may repeat what
//! they were given. It replaces known values; it does not guess what a secret looks like.

use secrecy::{ExposeSecret, SecretString};

const MARK: &str = "[redacted]";
/// Shorter values (`1`, `true`) would mangle ordinary words and protect nothing.
const SECRET_BYTES_MIN: usize = 6;

/// The secrets of one upstream.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Vec<SecretString>);

impl Redactor {
    /// Knows these secrets; values too short to be one are left out.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let long = |secret: &&SecretString| secret.expose_secret().len() >= SECRET_BYTES_MIN;
        Self(secrets.into_iter().filter(long).cloned().collect())
    }

    /// Also takes out what an address carries besides scheme, host and path.
    pub fn with_address(mut self, address: &str) -> Self {
        if let Ok(url) = reqwest::Url::parse(address) {
            let parts = [url.query(), url.password()];
            let parts = parts.into_iter().flatten().filter(|part| part.len() >= SECRET_BYTES_MIN);
            self.0.extend(parts.map(SecretString::from));
        }
        self
    }

    /// `text` without the secrets.
    pub fn clean(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.expose_secret(), MARK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_taken_out_and_short_values_are_not_secrets() {
        let secrets = [SecretString::from("sk-123456"), SecretString::from("on")];
        let redactor =
            Redactor::new(&secrets).with_address("https://u:hunter22@host/mcp?token=abc");
        let text = "401 for sk-123456 on https://u:hunter22@host/mcp?token=abc";
        assert_eq!(
            redactor.clean(text),
            "401 for [redacted] on https://u:[redacted]@host/mcp?[redacted]"
        );
        assert!(!format!("{redactor:?}").contains("sk-123456"));
    }
}
