//! Tab completion: commands after a slash, known names elsewhere.

use std::sync::{Arc, Mutex, PoisonError};

use reedline::{Completer, CompletionResult, Span, Suggestion};

use super::command::COMMANDS;

/// Names known to the session, shared with the editor.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<Mutex<Vec<String>>>);

impl Names {
    /// Replaces the names.
    pub(super) fn set(&self, names: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    fn get(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Completes commands and names.
pub(super) struct Words(pub Names);

impl Completer for Words {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        CompletionResult::fresh(self.fitting(line, pos))
    }
}

impl Words {
    fn fitting(&self, line: &str, pos: usize) -> Vec<Suggestion> {
        let before = &line[..pos.min(line.len())];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = &before[start..];
        let suggest = |value: String, description: Option<&str>| Suggestion {
            value,
            description: description.map(str::to_owned),
            span: Span::new(start, pos),
            append_whitespace: true,
            ..Suggestion::default()
        };
        if start == 0 && word.starts_with('/') {
            let fitting = COMMANDS.iter().filter(|(name, _)| name.starts_with(word));
            return fitting.map(|(name, what)| suggest((*name).into(), Some(what))).collect();
        }
        if word.is_empty() {
            return Vec::new();
        }
        let begins = |name: &String| name.to_lowercase().starts_with(&word.to_lowercase());
        self.0.get().into_iter().filter(begins).map(|name| suggest(name, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let names = Names::default();
        names.set(vec!["rack-12".into(), "Rome".into(), "switch-1".into()]);
        let found = Words(names).fitting(line, line.len());
        let values: Vec<&str> = found.iter().map(|suggestion| suggestion.value.as_str()).collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn commands_stand_first_and_names_anywhere() {
        check("/en", &["/entities"]);
        check("show r", &["rack-12", "Rome"]);
        check("show /en", &[]);
        check("show ", &[]);
    }
}
