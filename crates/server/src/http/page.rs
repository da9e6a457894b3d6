//! The web page at `/`, embedded from `web-dist/`.
//!
//! Files are served as committed; nothing is built or compressed here. Names under `assets/` contain a hash of
//! the content, so browsers may cache them for ever; all other files are revalidated with `ETag`.
//!
//! Invariant: the content policy allows nothing from other hosts, and no inline script or style.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::{EmbeddedFile, RustEmbed};

use super::App;
use super::problem::Problem;

/// The page may only talk to this server.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";
/// For files whose name changes with the content.
const KEEP: &str = "public, max-age=31536000, immutable";
/// For files whose name does not change.
const ASK_AGAIN: &str = "no-cache";

#[derive(RustEmbed)]
#[folder = "web-dist"]
struct Files;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(|headers: HeaderMap| async move { file("index.html", &headers) }))
        .route("/icon.svg", get(|headers: HeaderMap| async move { file("icon.svg", &headers) }))
        .route("/assets/{name}", get(asset))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&format!("assets/{name}"), &headers)
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    // A debug build reads the files from disk, where `..` would leave the folder.
    match Files::get(path).filter(|_| !path.contains("..")) {
        Some(file) => answer(path, file, headers),
        None => no_file(path).into_response(),
    }
}

fn no_file(path: &str) -> Problem {
    let shown: String = path.chars().take(200).collect();
    Problem::new(
        StatusCode::NOT_FOUND,
        "no_file",
        format!("the page has no file {shown}"),
        "reload the page: it may be from an older version of the server",
    )
}

fn answer(path: &str, file: EmbeddedFile, headers: &HeaderMap) -> Response {
    let tag = tag_of(&file);
    let unchanged = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == tag);
    let caching = if path.starts_with("assets/") { KEEP } else { ASK_AGAIN };
    let kind = HeaderValue::from_str(file.metadata.mimetype())
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let about = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY)),
        (header::ETAG, tag),
    ];
    match unchanged {
        true => (StatusCode::NOT_MODIFIED, about).into_response(),
        false => (about, file.data).into_response(),
    }
}

/// The first half of the content's hash, in quotes.
fn tag_of(file: &EmbeddedFile) -> HeaderValue {
    let hash = file.metadata.sha256_hash();
    let digits: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{digits}\"")).expect("digits in quotes are a valid header")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_of(response: &Response, name: header::HeaderName) -> &str {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[test]
    fn the_page_loads_nothing_from_elsewhere_and_no_inline_script() {
        let page = Files::get("index.html").expect("the built page is committed");
        let text = String::from_utf8(page.data.to_vec()).expect("text");
        assert!(!text.contains("http:") && !text.contains("https:"), "{text}");
        for script in text.split("<script").skip(1) {
            assert!(script.contains("src=\"/assets/"), "{script}");
        }
        assert!(!text.contains("<style"), "{text}");
        let response = file("index.html", &HeaderMap::new());
        let policy = header_of(&response, header::CONTENT_SECURITY_POLICY);
        assert!(!policy.contains("unsafe"), "{policy}");
    }

    #[test]
    fn hashed_names_are_kept_and_the_page_is_asked_for_again() {
        let script = Files::iter().find(|path| path.ends_with(".js")).expect("a script");
        let response = file(&script, &HeaderMap::new());
        assert_eq!(header_of(&response, header::CACHE_CONTROL), KEEP);
        let response = file("index.html", &HeaderMap::new());
        assert_eq!(header_of(&response, header::CACHE_CONTROL), ASK_AGAIN);
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, response.headers()[header::ETAG].clone());
        assert_eq!(file("index.html", &headers).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn a_file_that_is_not_there_is_a_problem() {
        assert_eq!(file("assets/none.js", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
        assert_eq!(file("assets/../index.html", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
    }
}
