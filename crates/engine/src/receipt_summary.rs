//! A receipt in one sentence: what was shown and what was left out.
//!
//! A single thing is named, several are counted. Our instructions and the message are in every request and not
//! mentioned; items that did not match the message do not count as left out.
//!
//! Invariant: the sentence names only entities and files that its own turn added, so that erasing a turn leaves
//! none of its words in later receipts.

use crate::piece::{HistoryPart, Source};
use crate::receipt::{Receipt, ReceiptPiece};

/// How stored sentences of older versions begin if there was no model; [`Receipt::no_model`] says it.
const FORMER_LEAD: &str = "no model was asked; it would be sent: ";
/// Entities named; the rest are counted.
const ENTITIES_NAMED: usize = 2;

impl Receipt {
    /// `2 rules, 6 earlier messages, what is known of core-02; left out: 12 older messages; 1,204 tokens`.
    pub fn summary(&self) -> String {
        if let Some(kept) = &self.summary {
            return kept.strip_prefix(FORMER_LEAD).unwrap_or(kept).to_owned();
        }
        let mut shown = Parts::default();
        let mut left_out = Parts::default();
        for piece in &self.pieces {
            match piece.dropped {
                None => shown.add(piece),
                Some(reason) if reason.is_loss() => left_out.add(piece),
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

/// Pieces counted by kind.
#[derive(Debug, Default)]
struct Parts<'a> {
    personas: Vec<&'a str>,
    rules: Vec<&'a str>,
    references: Vec<&'a str>,
    tools: Vec<&'a str>,
    given: Things<'a>,
    summaries: Vec<(u64, u64)>,
    messages: usize,
    results: usize,
    recalled: usize,
    remembered: usize,
    entities: Things<'a>,
}

/// Things named if this turn added them, counted if they were there before.
#[derive(Debug, Default)]
struct Things<'a> {
    new: Vec<&'a str>,
    older: usize,
}

impl<'a> Things<'a> {
    fn add(&mut self, name: &'a str, since: Option<u64>) {
        match since {
            None => self.new.push(name),
            Some(_) => self.older += 1,
        }
    }
}

impl<'a> Parts<'a> {
    fn add(&mut self, piece: &'a ReceiptPiece) {
        match &piece.source {
            Source::Instructions { .. }
            | Source::Calm
            | Source::Topic
            | Source::Day { .. }
            | Source::Preferences
            | Source::ToolNames { .. }
            | Source::ClientRequest { .. }
            | Source::Message => {}
            Source::Persona { name } => self.personas.push(name),
            Source::Rule { name, .. } => self.rules.push(name),
            Source::Reference { name, .. } => self.references.push(name),
            Source::Tool { name, .. } => self.tools.push(name),
            Source::Given { .. } if piece.erased => self.given.older += 1,
            Source::Given { name } => self.given.add(name, piece.since),
            Source::Summary { from, to } => self.summaries.push((*from, *to)),
            Source::EarlierResult { .. } => self.results += 1,
            Source::History { part, .. } if part.of_turn() == HistoryPart::Results => {
                self.results += 1;
            }
            Source::History { .. } => self.messages += 1,
            Source::Recalled { .. } | Source::Elsewhere { .. } => self.recalled += 1,
            Source::Fact { .. } => self.remembered += 1,
            Source::Entity { .. } if piece.erased => self.entities.older += 1,
            Source::Entity { name, .. } => self.entities.add(name, piece.since),
        }
    }

    /// One phrase per kind; `age` describes the messages.
    fn words(&self, age: &str) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(named(&self.personas, "persona"));
        words.extend(named(&self.rules, "rule"));
        words.extend(named(&self.references, "reference"));
        words.extend(named(&self.tools, "tool"));
        words.extend(match (self.given.new.as_slice(), self.given.older) {
            ([one], 0) => Some((*one).to_owned()),
            (new, older) => counted(new.len() + older, "attachment"),
        });
        for (from, to) in &self.summaries {
            words.push(format!("a summary of turns {from}–{to}"));
        }
        words.extend(counted(self.messages, &format!("{age} message")));
        words.extend(counted(self.results, "tool result"));
        words.extend(counted(self.recalled, "recalled message"));
        words.extend(counted(self.remembered, "remembered fact"));
        words.extend(self.about());
        words
    }

    fn about(&self) -> Option<String> {
        let new = &self.entities.new;
        let named = &new[..new.len().min(ENTITIES_NAMED)];
        let more = new.len() - named.len() + self.entities.older;
        match (named, more) {
            ([], 0) => None,
            ([], 1) => Some("what is known of 1 thing".into()),
            ([], more) => Some(format!("what is known of {more} things")),
            (named, 0) => Some(format!("what is known of {}", named.join(" and "))),
            (named, more) => Some(format!("what is known of {} and {more} more", named.join(", "))),
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
    use crate::piece::{IncludeMode, Position, Rank};
    use crate::receipt::{BudgetReport, DropReason, Parameters, ReplayCost};

    fn check(pieces: &[(Source, Option<DropReason>)], expected: &str) {
        let summary =
            receipt(pieces.iter().map(|(source, dropped)| piece(source, *dropped))).summary();
        assert_eq!(summary, expected);
    }

    fn piece(source: &Source, dropped: Option<DropReason>) -> ReceiptPiece {
        ReceiptPiece {
            source: source.clone(),
            why: String::new(),
            place: Position::Aside,
            rank: Rank::Entity,
            score: None,
            tokens: 1,
            hash: ContentHash::of(""),
            kept_in: None,
            since: None,
            dropped,
            used: false,
            erased: false,
        }
    }

    fn receipt(pieces: impl Iterator<Item = ReceiptPiece>) -> Receipt {
        Receipt {
            at: jiff::Timestamp::UNIX_EPOCH,
            layout: 1,
            mode: PromptMode::General,
            mode_why: String::new(),
            budget: BudgetReport { used_tokens: 1_204, ..BudgetReport::default() },
            asked_tokens: None,
            parameters: Parameters { reply_tokens_max: 1, temperature: 0.0 },
            pieces: pieces.collect(),
            continues: None,
            window_from: 0,
            history_tokens: 0,
            stable_prefix_tokens: 0,
            broken_by: None,
            replay: ReplayCost::default(),
            used: Vec::new(),
            summary: None,
            no_model: false,
            request_hash: ContentHash::of(""),
            handed_on_hash: None,
        }
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
    fn the_sentence_is_the_same_without_a_model_also_in_records_of_older_versions() {
        let whole = receipt([piece(&rule("a"), None)].into_iter());
        let expected = "the rule a; 1,204 tokens";
        let without = Receipt { no_model: true, ..whole };
        assert_eq!(without.summary(), expected);
        let former = Some(format!("{FORMER_LEAD}{expected}"));
        assert_eq!(Receipt { summary: former, ..without }.summary(), expected);
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

    #[test]
    fn what_was_there_before_is_counted_and_the_sentence_outlives_its_pieces() {
        let earlier = |source| ReceiptPiece { since: Some(1), ..piece(&source, None) };
        let pieces = [earlier(said(1)), earlier(known("secret")), piece(&known("core-02"), None)];
        let whole = receipt(pieces.into_iter());
        let expected = "1 earlier message, what is known of core-02 and 1 more; 1,204 tokens";
        assert_eq!(whole.summary(), expected);
        let stored = Receipt { continues: Some(1), ..whole }.stored();
        assert_eq!(stored.pieces.len(), 1);
        assert_eq!(stored.summary(), expected);
        let before = receipt([earlier(known("a")), earlier(known("b"))].into_iter());
        assert_eq!(before.summary(), "what is known of 2 things; 1,204 tokens");
    }
}
