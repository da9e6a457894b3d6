//! A rule or a reference as a Markdown file: a header between two lines of `---`, then the text.

use std::sync::Arc;

use throughline_engine::agent::Document;
use throughline_engine::hash::ContentHash;
use throughline_engine::piece::IncludeMode;

/// Priority of a document that has none.
const PRIORITY: i32 = 100;

/// A document and its header.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentFile {
    pub document: Document,
    /// Whether it is used.
    pub enabled: bool,
}

/// Parses a document; `stem` is the file name without extension. An error names the line.
pub fn read(stem: &str, text: &str) -> Result<DocumentFile, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (header, body, offset) = split(text)?;
    let mut written = DocumentFile {
        document: Document {
            name: stem.to_owned(),
            description: String::new(),
            include: IncludeMode::Agent,
            priority: PRIORITY,
            text: Arc::from(""),
            hash: ContentHash::of(""),
        },
        enabled: true,
    };
    for (place, line) in header.lines().enumerate() {
        set(&mut written, line).map_err(|reason| format!("line {}: {reason}", place + offset))?;
    }
    let body = body.trim();
    if body.is_empty() {
        return Err("it has no text".into());
    }
    written.document.text = Arc::from(body);
    written.document.hash = ContentHash::of(body);
    Ok(written)
}

/// Header, text, and line number of the header's first line.
fn split(text: &str) -> Result<(&str, &str, usize), String> {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return Ok(("", text, 1));
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..at], &rest[at + line.len()..], 2));
        }
        at += line.len();
    }
    Err("its header has no end; close it with a line of ---".into())
}

fn set(written: &mut DocumentFile, line: &str) -> Result<(), String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let (name, value) = line.split_once(':').ok_or("it is not `name: value`")?;
    let value = value.trim().trim_matches('"');
    let document = &mut written.document;
    match name.trim() {
        "name" if value.is_empty() || value.chars().count() > 200 => {
            return Err("name must have 1-200 characters".into());
        }
        "name" => document.name = value.to_owned(),
        "description" => document.description = value.to_owned(),
        "include" => {
            document.include = match value {
                "always" => IncludeMode::Always,
                "manual" => IncludeMode::Manual,
                "agent" => IncludeMode::Agent,
                other => {
                    return Err(format!("include is {other:?}, not always, manual or agent"));
                }
            }
        }
        "priority" => {
            document.priority =
                value.parse().map_err(|_| format!("priority is {value:?}, not a whole number"))?;
        }
        "enabled" => {
            written.enabled =
                value.parse().map_err(|_| format!("enabled is {value:?}, not true or false"))?;
        }
        other => {
            return Err(format!(
                "there is no {other:?}; use name, description, include, priority, enabled"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use throughline_testkit::fuzz;

    use super::*;
    use crate::agents::definition::Definition;

    #[test]
    fn any_file_of_an_agent_is_read_or_refused() {
        let inputs = [
            "---\nname: Lists\ndescription: how: to list\ninclude: always\npriority: 3\nenabled: true\n---\n\nShort.\n",
            "---\r\nname: \"x\"\r\n---\r\ntext",
            "description = \"d\"\npacks = [\"netbox\"]\napprove = [\"x\"]\n[servers.inventory]\ninclude = \"always\"\ntools = { a = \"manual\" }\n",
        ];
        fuzz::target_text(env!("CARGO_MANIFEST_DIR"), "agents", &inputs, |text| {
            let _ = (read("file", text), Definition::read(text));
        });
    }

    #[test]
    fn a_header_is_read_and_the_text_is_what_follows() {
        let text = "---\nname: Lists\ndescription: how: to list\ninclude: always\npriority: 3\n---\n\nShort.\n";
        let written = read("file", text).unwrap();
        let Document { name, description, include, priority, text, .. } = written.document;
        assert_eq!((name.as_str(), description.as_str()), ("Lists", "how: to list"));
        assert_eq!((include, priority, &*text), (IncludeMode::Always, 3, "Short."));
        assert!(written.enabled);
    }

    #[test]
    fn a_file_without_a_header_is_named_after_itself() {
        let written = read("plain", "Just text").unwrap();
        assert_eq!(written.document.name, "plain");
        assert_eq!(written.document.include, IncludeMode::Agent);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let said = |text: &str| read("x", text).unwrap_err();
        assert_eq!(
            said("---\nname: a\ninclude: often\n---\nb"),
            "line 3: include is \"often\", not always, manual or agent"
        );
        assert!(said("---\ncolour: red\n---\nb").starts_with("line 2: there is no \"colour\""));
        assert_eq!(said("---\nname: a\nb"), "its header has no end; close it with a line of ---");
        assert_eq!(said("---\nname: a\n---\n  \n"), "it has no text");
    }
}
