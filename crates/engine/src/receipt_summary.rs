//! A receipt in one sentence: what was shown and what was left out, as a person would say it.
//!
//! Names where there is one of a kind, counts where there are more. Our own instructions and the message itself
//! are in every request and are not mentioned; items that merely did not match the message are not "left out".
//!
//! Invariant: the sentence says nothing that the receipt's pieces do not say.

use crate::piece::{HistoryPart, Source};
use crate::receipt::{DropReason, Receipt};

/// Entities that are named; the others are counted.
const ENTITIES_NAMED: usize = 2;

impl Receipt {
    /// `2 rules, 6 earlier messages, what is known of core-02; left out: 12 older messages; 1,204 tokens`.
    pub fn summary(&self) -> String {
        let mut shown = Parts::default();
        let mut left_out = Parts::default();
        for piece in &self.pieces {
            match piece.dropped {
                None => shown.add(&piece.source),
                Some(reason) if reason.is_loss() => left_out.add(&piece.source),
                Some(_) => {}
            }
        }
        let mut text = shown.words("earlier").join(", ");
        if text.is_empty() {
            text = "only the message".into();
        }
        let left_out = left_out.words("older").join(", ");
        if !left_out.is_empty() {
            text = format!("{text}; left out: {left_out}");
        }
        format!("{text}; {} tokens", with_commas(self.budget.used_tokens))
    }
}

/// What some pieces are, counted by kind.
#[derive(Debug, Default)]
struct Parts<'a> {
    personas: Vec<&'a str>,
    rules: Vec<&'a str>,
    references: Vec<&'a str>,
    tools: Vec<&'a str>,
    given: Vec<&'a str>,
    summaries: Vec<(u64, u64)>,
    messages: usize,
    results: usize,
    recalled: usize,
    entities: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn add(&mut self, source: &'a Source) {
        match source {
            Source::Instructions { .. }
            | Source::Calm
            | Source::Topic
            | Source::Day { .. }
            | Source::ClientRequest { .. }
            | Source::Message => {}
            Source::Persona { name } => self.personas.push(name),
            Source::Rule { name, .. } => self.rules.push(name),
            Source::Reference { name, .. } => self.references.push(name),
            Source::Tool { name, .. } => self.tools.push(name),
            Source::Given { name } => self.given.push(name),
            Source::Summary { from, to } => self.summaries.push((*from, *to)),
            Source::History { part: HistoryPart::Results, .. } | Source::EarlierResult { .. } => {
                self.results += 1;
            }
            Source::History { .. } => self.messages += 1,
            Source::Recalled { .. } => self.recalled += 1,
            Source::Entity { name, .. } => self.entities.push(name),
        }
    }

    /// One phrase a kind; `age` says which messages of the conversation are meant.
    fn words(&self, age: &str) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(named(&self.personas, "persona"));
        words.extend(named(&self.rules, "rule"));
        words.extend(named(&self.references, "reference"));
        words.extend(named(&self.tools, "tool"));
        words.extend(match self.given.as_slice() {
            [one] => Some((*one).to_owned()),
            several => counted(several.len(), "attachment"),
        });
        for (from, to) in &self.summaries {
            words.push(format!("a summary of turns {from}–{to}"));
        }
        words.extend(counted(self.messages, &format!("{age} message")));
        words.extend(counted(self.results, "tool result"));
        words.extend(counted(self.recalled, "recalled message"));
        words.extend(self.about());
        words
    }

    fn about(&self) -> Option<String> {
        // The most relevant come first.
        let (first, rest) = self.entities.split_at(self.entities.len().min(ENTITIES_NAMED));
        match (first, rest.len()) {
            ([], _) => None,
            ([one], _) => Some(format!("what is known of {one}")),
            (some, 0) => Some(format!("what is known of {}", some.join(" and "))),
            (some, more) => Some(format!("what is known of {} and {more} more", some.join(", "))),
        }
    }
}

/// `the rule short-lists`, `3 rules`.
fn named(names: &[&str], kind: &str) -> Option<String> {
    match names {
        [one] => Some(format!("the {kind} {one}")),
        several => counted(several.len(), kind),
    }
}

fn counted(count: usize, kind: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {kind}")),
        count => Some(format!("{count} {kind}s")),
    }
}

fn with_commas(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ContentHash;
    use crate::mode::PromptMode;
    use crate::piece::{IncludeMode, Place, Rank};
    use crate::receipt::{BudgetReport, Parameters, ReceiptPiece};

    fn check(pieces: &[(Source, Option<DropReason>)], expected: &str) {
        let pieces = pieces.iter().map(|(source, dropped)| ReceiptPiece {
            source: source.clone(),
            why: String::new(),
            place: Place::Aside,
            rank: Rank::Entity,
            score: None,
            tokens: 1,
            hash: ContentHash::of(""),
            kept_in: None,
            dropped: *dropped,
            used: false,
        });
        let receipt = Receipt {
            at: jiff::Timestamp::UNIX_EPOCH,
            layout: 1,
            mode: PromptMode::General,
            mode_why: String::new(),
            budget: BudgetReport { used_tokens: 1_204, ..BudgetReport::default() },
            parameters: Parameters { reply_tokens_max: 1, temperature: 0.0 },
            pieces: pieces.collect(),
            stable_prefix_tokens: 0,
            request_hash: ContentHash::of(""),
            handed_on_hash: None,
        };
        assert_eq!(receipt.summary(), expected);
    }

    fn rule(name: &str) -> Source {
        Source::Rule { name: name.into(), mode: IncludeMode::Always }
    }

    fn said(turn: u64) -> Source {
        Source::History { turn, part: HistoryPart::Message }
    }

    fn known(name: &str) -> Source {
        Source::Entity { entity: "device".into(), name: name.into() }
    }

    #[test]
    fn one_of_a_kind_is_named_and_several_are_counted() {
        check(&[(Source::Message, None)], "only the message; 1,204 tokens");
        check(
            &[(rule("short-lists"), None), (said(1), None), (known("core-02"), None)],
            "the rule short-lists, 1 earlier message, what is known of core-02; 1,204 tokens",
        );
        let more = [
            (rule("a"), None),
            (rule("b"), None),
            (Source::Summary { from: 1, to: 12 }, None),
            (said(13), None),
            (said(14), None),
            (known("x"), None),
            (known("y"), None),
            (known("z"), None),
        ];
        check(
            &more,
            "2 rules, a summary of turns 1–12, 2 earlier messages, what is known of x, y and 1 more; \
             1,204 tokens",
        );
    }

    #[test]
    fn what_did_not_fit_is_left_out_and_what_did_not_match_is_not_mentioned() {
        let dropped = |reason| Some(reason);
        check(
            &[
                (rule("a"), None),
                (rule("b"), dropped(DropReason::NotRelevant)),
                (said(1), dropped(DropReason::OverHistory)),
                (said(2), dropped(DropReason::OverWindow)),
            ],
            "the rule a; left out: 2 older messages; 1,204 tokens",
        );
    }
}
