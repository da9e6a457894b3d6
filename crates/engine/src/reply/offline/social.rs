//! Messages that do not ask a tool: greetings, thanks, withdrawals, questions about abilities.

use super::ask::Ask;
use super::read::{Part, Role};
use super::scene::{Said, Scene};
use crate::fact::Fact;
use crate::fact::gather::{self, Statement};
use crate::lexicon::{Class, Family, Language, Say};
use crate::search::words::{content_stems, is_stop_word};

/// Maximum content words that only lead to a statement: "oh, by the way, …".
const LEAD_MAX: usize = 2;
/// Kinds listed when somebody asks what can be done.
const KINDS_NAMED: usize = 12;

impl Scene<'_> {
    /// Where the message itself starts, after sentences that only greet, thank or withdraw something; and whether
    /// one of them did the latter.
    pub(super) fn opening(&self) -> (usize, bool) {
        let (mut start, mut cancels) = (0, false);
        loop {
            let rest = &self.message[start..];
            let end = sentence_end(rest);
            let (sentence, after) = rest.split_at(end);
            let social = self.consists_of(sentence, &[Class::SmallTalk, Class::Filler])
                || self.is_idle(start, end) && self.language.asks_for_something(after);
            let cancel = self.cancels(sentence);
            if after.trim().is_empty() || !(social || cancel) || sentence.trim().is_empty() {
                return (self.after_greeting(start), cancels);
            }
            cancels |= cancel;
            start += end;
        }
    }

    /// Where a sentence starts after a greeting and a comma: "hi, which sites are there?".
    fn after_greeting(&self, start: usize) -> usize {
        let Some(comma) = self.message[start..].find(", ") else { return start };
        let greets = self.consists_of(&self.message[start..start + comma], &[Class::SmallTalk]);
        if greets { start + comma + 2 } else { start }
    }

    /// Whether a sentence only tells something that no tool is asked about: "I just started here."
    fn is_idle(&self, start: usize, end: usize) -> bool {
        let within = |part: &&Part| part.span.start >= start && part.span.start < start + end;
        let mut parts = self.parts.iter().filter(within).peekable();
        let told = self.message[start..start + end].trim_end().ends_with(['.', '!']);
        let plain = |part: &Part| match &part.role {
            Role::Filler | Role::Word(_) => true,
            Role::Content => !part.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit()),
            _ => false,
        };
        told && parts.peek().is_some() && parts.all(plain)
    }

    /// Whether a message greets or thanks and neither agrees nor disagrees.
    pub(super) fn only_greets(&self, from: usize) -> bool {
        let text = &self.message[from..];
        let agrees =
            |word: &String| self.language.is(Class::Yes, word) || self.language.is(Class::No, word);
        self.consists_of(text, &[Class::SmallTalk, Class::Filler])
            && !self.consists_of(text, &[Class::Filler])
            && !lower_words(text).iter().any(agrees)
    }

    fn cancels(&self, text: &str) -> bool {
        let starts = lower_words(text);
        let held = (0..starts.len()).any(|at| {
            let words = starts[at..].iter().map(String::as_str);
            self.language.starts(Class::Cancel, words).is_some()
        });
        held && self.consists_of(
            text,
            &[Class::Cancel, Class::SmallTalk, Class::Filler, Class::Yes, Class::No],
        )
    }

    /// Whether a text consists only of words of these classes.
    fn consists_of(&self, text: &str, classes: &[Class]) -> bool {
        let words = lower_words(text);
        let mut at = 0;
        while at < words.len() {
            let rest = || words[at..].iter().map(String::as_str);
            let longest =
                classes.iter().filter_map(|class| self.language.starts(*class, rest())).max();
            match longest {
                Some(count) => at += count,
                None => return false,
            }
        }
        !words.is_empty()
    }

    /// The reply to a message that asks for nothing from a tool.
    pub(super) fn social(&self, from: usize) -> Option<Said> {
        let text = &self.message[from..];
        let mut dialogue = self.dialogue.clone();
        let said = |text: String, dialogue| Some(Said { text, dialogue, ..Said::default() });
        if self.cancels(text) {
            dialogue.open = None;
            return said(self.say(Say::Cancelled, &[]), dialogue);
        }
        let talk = [Class::SmallTalk, Class::Filler, Class::Yes, Class::No];
        let words = lower_words(text);
        // First, because "who are you?" has only words of small talk.
        let is_known = |word: &String| {
            self.language.knows(word) || self.language.ordinal(word).is_some() || is_stop_word(word)
        };
        let alone = |asked: usize| words[asked..].iter().all(is_known);
        if self.begins_with(&words, Class::Abilities).is_some_and(alone) {
            return said(self.say(Say::Abilities, &[("what", &self.abilities())]), dialogue);
        }
        if let Some(text) = self.clock(&words) {
            return said(text, dialogue);
        }
        let greets = (0..words.len()).any(|at| {
            let rest = || words[at..].iter().map(String::as_str);
            [Class::SmallTalk, Class::Yes, Class::No]
                .iter()
                .any(|class| self.language.starts(*class, rest()).is_some())
        });
        if greets && self.consists_of(text, &talk) {
            return said(self.say(Say::SmallTalk, &[]), dialogue);
        }
        // "What did I say about the dentist?" is not about the last message.
        if let Some(end) = self.begins_with(&words, Class::AskedBefore).filter(|end| alone(*end)) {
            let first = words.iter().any(|word| self.language.ordinal(word) == Some(1));
            if let Some(message) = self.first_message.filter(|_| first) {
                return said(self.say(Say::AskedFirst, &[("message", message)]), dialogue);
            }
            let turn = if first { self.recent.first() } else { self.recent.last() };
            let Some(turn) = turn else {
                let nothing = said(self.say(Say::AskedNothing, &[]), dialogue);
                return nothing.filter(|_| end == words.len());
            };
            let what = match first {
                true if turn.turn == 1 => Say::AskedFirst,
                true => Say::AskedEarliest,
                false => Say::AskedLast,
            };
            let mut said = said(self.say(what, &[("message", &turn.message)]), dialogue)?;
            said.unanswered = (what == Say::AskedEarliest).then_some("not_at_hand");
            return Some(said);
        }
        None
    }

    /// The reply to a message that only states something about the user: it is stored, and no more is said.
    pub(super) fn noted(&self, ask: &Ask) -> Option<Said> {
        if ask.verb.is_some() || self.language.asks_for_something(self.message) {
            return None;
        }
        let known: Vec<&Fact> = self.facts.iter().map(|hit| &hit.fact).collect();
        let stated = gather::stated_over(self.message, &known);
        let last = stated.last()?;
        // Nothing else is in the message.
        let rest: usize = stated.iter().map(|one| one.sentence.trim().len()).sum();
        let whole = rest >= self.message.trim().trim_end_matches(['.', '!']).len()
            && (stated.iter().any(|one| one.explicit)
                || words_beside(self.message, &stated) <= LEAD_MAX);
        let what = if stated.len() == 1 { last.sentence.trim() } else { self.message.trim() };
        let mut dialogue = self.dialogue.clone();
        dialogue.open = None;
        let is_known = |one: &Statement| known.iter().any(|fact| fact.text == one.text);
        let text = match self.memory_full.filter(|_| !stated.iter().all(is_known)) {
            Some(limit) => self.say(Say::MemoryFull, &[("limit", &limit.to_string())]),
            None => self.say(Say::Noted, &[("what", what)]),
        };
        whole.then(|| Said { text, dialogue, ..Said::default() })
    }

    /// The date or the time, for a message that asks for no more, where no tool tells it.
    fn clock(&self, words: &[String]) -> Option<String> {
        let small = |word: &String| {
            [Class::Filler, Class::It, Class::Today].iter().any(|c| self.language.is(*c, word))
        };
        let asks = |class: Class| {
            let begins = self.begins_with(words, class);
            begins.is_some_and(|end| words[end..].iter().all(small))
        };
        let told = self.offers.iter().any(|offer| offer.takes_zone());
        let date = self.today.strftime("%Y-%m-%d (%A)").to_string();
        let time = self.now.strftime("%H:%M").to_string();
        match () {
            () if told => None,
            () if asks(Class::AsksDay) => Some(self.say(Say::Today, &[("date", &date)])),
            () if asks(Class::AsksTime) => Some(self.say(Say::Now, &[("time", &time)])),
            () => None,
        }
    }

    fn begins_with(&self, words: &[String], class: Class) -> Option<usize> {
        self.language.starts(class, words.iter().map(String::as_str))
    }

    pub(super) fn abilities(&self) -> String {
        let mut done: Vec<String> = Vec::new();
        for offer in self.offers {
            let verb = match offer.family {
                Some(Family::List | Family::Find) => "list",
                Some(Family::Show) => "show",
                Some(Family::Create) => "create",
                Some(Family::Add | Family::Change) => "change",
                Some(Family::Remove) => "delete",
                None => continue,
            };
            let Some(kind) = &offer.kind else { continue };
            let text = format!("{verb} {}", self.noun(kind, true));
            if !done.contains(&text) && done.len() < KINDS_NAMED {
                done.push(text);
            }
        }
        match done.is_empty() {
            true => {
                self.offers.iter().map(|offer| offer.words.join(" ")).collect::<Vec<_>>().join(", ")
            }
            false => done.join(", "),
        }
    }
}

/// Whether a message asks for the first one of the session.
pub(super) fn asks_for_first(message: &str, language: &Language) -> bool {
    let words = lower_words(message);
    language.starts(Class::AskedBefore, words.iter().map(String::as_str)).is_some()
        && words.iter().any(|word| language.ordinal(word) == Some(1))
}

/// Content words of a message that are in none of its statements: "deprecate it because we release daily now".
fn words_beside(message: &str, stated: &[Statement]) -> usize {
    let mut rest = message.to_owned();
    for one in stated {
        // Its first letter was made a capital.
        let mut letters = one.text.chars();
        let first = letters.next().map_or(0, char::len_utf8);
        if let Some(at) = rest.find(letters.as_str()) {
            let start = rest.floor_char_boundary(at.saturating_sub(first));
            rest.replace_range(start..at + letters.as_str().len(), " ");
        }
    }
    content_stems(&rest).len()
}

/// The end of the first sentence, including the space after it.
fn sentence_end(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        if matches!(letter, '.' | '!' | '?' | ';' | '\n')
            && let Some((at, next)) = letters.peek()
            && next.is_whitespace()
        {
            return at + next.len_utf8();
        }
    }
    text.len()
}

fn lower_words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-');
    words
        .map(|word| word.trim_matches(['\'', '-']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}
