//! Redacts secrets in URLs that people get to see.
//!
//! It works on any text, valid URL or not; it does not check the URL.

/// A query parameter is secret if its name contains one of these words.
const SECRET_WORDS: [&str; 5] = ["secret", "password", "token", "credential", "key"];

/// `url` with its user part and secret parameters replaced by `***`.
pub fn redact(url: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut shown = match address.split_once("://") {
        Some((kind, rest)) => {
            // The last @ before the path, because a password may contain one.
            let end = rest.find('/').unwrap_or(rest.len());
            match rest[..end].rfind('@').or_else(|| rest.rfind('@')) {
                Some(at) => format!("{kind}://***@{}", &rest[at + 1..]),
                None => address.to_owned(),
            }
        }
        None => address.to_owned(),
    };
    for (place, parameter) in query.split('&').filter(|p| !p.is_empty()).enumerate() {
        shown.push(if place == 0 { '?' } else { '&' });
        let name = parameter.split_once('=').map_or(parameter, |(name, _)| name);
        if SECRET_WORDS.iter().any(|word| name.to_ascii_lowercase().contains(word)) {
            shown.push_str(name);
            shown.push_str("=***");
        } else {
            shown.push_str(parameter);
        }
    }
    shown
}
