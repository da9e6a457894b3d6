//! Evidence in descriptions: whether a sentence says that something is changed.
//!
//! Not a parser, but enough to distinguish "resets the counter" from "lists password resets", "never modifies
//! data" from "modifies data", and "items that were deleted" from "the items are deleted". A description in a
//! language without word lists is reported as such.

use super::fold::{deceives, fold};
use super::name::is_foreign;
use super::words::{English, Form, Verb, english, languages, stems};

/// A problem with a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// A word indicates a change.
    Changes(String),
    /// It has characters that are not displayed as they are read.
    Deceives,
    /// There is no word list for its language.
    Unjudged,
}

/// Maximum words of a description whose language need not be known.
const JUDGED_WORDS: usize = 4;

/// Evidence against a text that describes a tool called `tool`.
pub(super) fn against(text: &str, tool: &str) -> Option<Finding> {
    if deceives(text) {
        return Some(Finding::Deceives);
    }
    let folded = fold(text);
    if let Some(word) = sentences(&folded).find_map(|sentence| change_in(&sentence, tool)) {
        return Some(Finding::Changes(word));
    }
    if let Some(phrase) = english().phrase(&folded) {
        return Some(Finding::Changes(phrase.to_owned()));
    }
    elsewhere(&folded)
}

/// The act that a parameter's description tells of: "the account that is to be removed", "id of the row to delete".
pub(super) fn purpose(text: &str) -> Option<String> {
    let folded = fold(text);
    let words = english();
    sentences(&folded).find_map(|sentence| {
        let spoken: Vec<&str> = sentence
            .iter()
            .map(|token| match token {
                Token::Word(word) => word,
                Token::Comma => ",",
            })
            .collect();
        let negated = spoken.iter().any(|word| words.is("negations", word));
        let strong = |word: &str, form: Form| {
            words.verb(word).is_some_and(|verb| verb.strong && !verb.noun && verb.form == form)
        };
        let found = spoken.windows(3).find_map(|three| match three {
            ["to", "be", done] if strong(done, Form::Past) => Some(*done),
            [_, "to", act] if strong(act, Form::Base) => Some(*act),
            _ => None,
        });
        found.filter(|_| !negated).map(str::to_owned)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Comma,
}

fn sentences(text: &str) -> impl Iterator<Item = Vec<Token<'_>>> {
    let ends = |c: char| matches!(c, '!' | '?' | ';' | ':' | '\n' | '。' | '|' | '(' | ')' | '—');
    let stops =
        text.split(ends).flat_map(|part| part.split(". ")).flat_map(|part| part.split(" - "));
    stops.map(|sentence| tokens(sentence.trim().trim_end_matches('.')))
}

fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for part in sentence.split_whitespace() {
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        let leading = part.starts_with(',');
        if leading {
            tokens.push(Token::Comma);
        }
        // A hyphenated word is one word if it is known as such, else several; an identifier stays whole.
        let parts = match word {
            known if english().verb(known).is_some() => vec![known],
            hyphenated if hyphenated.contains('-') && !hyphenated.contains('_') => {
                hyphenated.split('-').collect()
            }
            path if path.contains('/') && !path.contains("//") => path.split('/').collect(),
            plain => vec![plain],
        };
        tokens.extend(parts.into_iter().filter(|part| !part.is_empty()).map(Token::Word));
        if part.ends_with(',') && !word.is_empty() {
            tokens.push(Token::Comma);
        }
    }
    tokens
}

/// The word of a sentence that indicates a change.
fn change_in(sentence: &[Token<'_>], tool: &str) -> Option<String> {
    if points_elsewhere(sentence, tool) {
        return None;
    }
    let reading = Reading { sentence, words: english() };
    let found = sentence.iter().enumerate().find(|(at, token)| match token {
        Token::Word(word) => {
            let verb = reading.words.verb(word);
            verb.is_some_and(|verb| reading.tells(*at, verb) && !reading.is_negated(*at))
        }
        Token::Comma => false,
    });
    found.and_then(|(_, token)| match token {
        Token::Word(word) => Some((*word).to_owned()),
        Token::Comma => None,
    })
}

/// "To remove users use delete_user instead": the sentence is about another tool.
fn points_elsewhere(sentence: &[Token<'_>], tool: &str) -> bool {
    let words = || {
        sentence.iter().filter_map(|token| match token {
            Token::Word(word) => Some(*word),
            Token::Comma => None,
        })
    };
    let tool = tool.to_lowercase();
    let other = words().any(|word| word.contains('_') && word != tool);
    other
        && words().any(|word| matches!(word, "use" | "see" | "call" | "instead"))
        && !words().any(|word| matches!(word, "before" | "after" | "always" | "must" | "first"))
}

struct Reading<'a> {
    sentence: &'a [Token<'a>],
    words: &'a English,
}

impl Reading<'_> {
    fn word(&self, at: usize) -> Option<&str> {
        match self.sentence.get(at)? {
            Token::Word(word) => Some(word),
            Token::Comma => None,
        }
    }

    /// The preceding word, without adverbs; `None` at the start, `","` after a comma.
    fn before(&self, at: usize) -> Option<(usize, &str)> {
        let mut at = at.checked_sub(1)?;
        loop {
            let word = self.word(at).unwrap_or(",");
            if !self.words.is("adverbs", word) {
                return Some((at, word));
            }
            at = at.checked_sub(1)?;
        }
    }

    /// Whether an object follows, as far as one word tells.
    fn has_object(&self, at: usize) -> bool {
        // "changes that are staged": what they are, not what is changed.
        let is = ["be", "perfect", "modals"];
        let relative = self.word(at + 1) == Some("that")
            && self.word(at + 2).is_some_and(|word| is.iter().any(|c| self.words.is(c, word)));
        !relative
            && self.word(at + 1).is_some_and(|next| {
                self.words.is("determiners", next) || next.starts_with(|c: char| c.is_ascii_digit())
            })
    }

    /// Whether the next word could be an object: there is one, and it is neither a preposition nor a word that
    /// makes a noun of the verb.
    fn may_have_object(&self, at: usize) -> bool {
        // "Start here": a place at the end of the sentence is no object.
        let ends = at + 2 == self.sentence.len();
        const NO_OBJECTS: [&str; 6] =
            ["prepositions", "conjunctions", "about", "be", "perfect", "modals"];
        self.word(at + 1).is_some_and(|next| {
            let is_no_object = NO_OBJECTS.iter().any(|class| self.words.is(class, next));
            let is_place = ends && self.words.is("places", next);
            !is_no_object && !is_place
        })
    }

    /// Whether a word other than a preposition follows.
    fn is_followed(&self, at: usize) -> bool {
        self.word(at + 1).is_some_and(|next| !self.words.is("prepositions", next))
    }

    /// Whether the sentence only describes a possibility: "shows what an import would create".
    fn is_reported(&self, at: usize) -> bool {
        let reads = self.word(0).is_some_and(|first| self.words.reads(first));
        let asks =
            (0..at).filter_map(|at| self.word(at)).any(|word| self.words.is("questions", word));
        reads && asks
    }

    /// Whether the word is in a relative clause: "rules that delete mail".
    fn is_relative(&self, at: usize) -> bool {
        let Some((place, before)) = self.before(at) else { return false };
        let reads = self.word(0).is_some_and(|first| self.words.reads(first));
        let comma =
            place.checked_sub(1).is_some_and(|at| self.sentence.get(at) == Some(&Token::Comma));
        reads && !comma && self.words.is("relatives", before)
    }

    fn tells(&self, at: usize, verb: Verb) -> bool {
        let before = self.before(at).map(|(_, word)| word);
        let joined = before.is_some_and(|word| word == "," || self.words.is("conjunctions", word));
        if self.is_reported(at) || self.is_relative(at) {
            return false;
        }
        match verb.form {
            Form::Base => {
                let starts = before.is_none();
                let wanted = before.is_some_and(|word| {
                    word == "to"
                        || self.words.is("modals", word)
                        || word == "would"
                        || matches!(word, "it" | "they" | "we" | "please")
                });
                match verb.noun {
                    false => starts || joined || wanted,
                    true => {
                        (starts && self.may_have_object(at))
                            || (joined && self.has_object(at))
                            || (wanted && self.is_followed(at))
                    }
                }
            }
            Form::Third if self.is_listed(at) => false,
            Form::Third if !verb.noun => true,
            Form::Third => {
                let starts = before.is_none() || joined;
                self.has_object(at) || (starts && before.is_none() && self.may_have_object(at))
            }
            Form::Gerund => {
                let leads = joined
                    || before.is_none_or(|word| {
                        matches!(word, "by" | "for" | "while" | "after" | "when")
                    });
                let object = self.has_object(at) || (!verb.noun && self.may_have_object(at));
                leads && object
            }
            Form::Past => verb.strong && self.is_passive(at),
        }
    }

    /// "Lists calls, emails and meetings": one of the things that are read, of which the last one ends the sentence.
    fn is_listed(&self, at: usize) -> bool {
        let plain = |at: usize| {
            self.word(at).is_some_and(|word| {
                let small = ["determiners", "prepositions", "conjunctions", "adverbs"];
                self.words.verb(word).is_none() && !small.iter().any(|c| self.words.is(c, word))
            })
        };
        let reads = self.word(0).is_some_and(|first| self.words.reads(first));
        let message = self.word(at).is_some_and(|word| self.words.is("messages", word));
        let enumerated = at.checked_sub(1).and_then(|at| self.sentence.get(at))
            == Some(&Token::Comma)
            && at >= 2
            && plain(at - 2);
        let goes_on = matches!(self.word(at + 1), Some("and" | "or")) && plain(at + 2);
        reads && message && enumerated && goes_on && at + 3 == self.sentence.len()
    }

    /// "The originals are deleted", but not "items that are deleted" or "whether it is deleted".
    fn is_passive(&self, at: usize) -> bool {
        let Some((place, be)) = self.before(at) else { return false };
        if !self.words.is("be", be) {
            return false;
        }
        let lasting = (at + 1..at + 3)
            .filter_map(|at| self.word(at))
            .any(|word| self.words.is("adverbs", word));
        let asked =
            (0..place).filter_map(|at| self.word(at)).any(|word| self.words.is("questions", word));
        let place = match self.before(place) {
            Some((modal, word)) if self.words.is("modals", word) => modal,
            _ => place,
        };
        let before = self.before(place).map(|(_, word)| word);
        let future =
            before == Some("to") || before.is_some_and(|word| self.words.is("perfect", word));
        !asked && !future && (lasting || !self.is_relative(place))
    }

    /// "cannot create, update or delete": a negation applies to the next verb and those joined by "or".
    fn is_negated(&self, at: usize) -> bool {
        let mut place = at;
        let mut by_or = false;
        let mut by_comma = false;
        while let Some(previous) = place.checked_sub(1) {
            match self.sentence[previous] {
                Token::Comma => by_comma = true,
                Token::Word(word) if self.words.is("negations", word) => {
                    return !by_comma || by_or || self.or_follows(at);
                }
                Token::Word("or" | "nor") => by_or = true,
                Token::Word(word)
                    if self.words.verb(word).is_some()
                        || self.words.is("modals", word)
                        || self.words.is("adverbs", word)
                        || matches!(word, "do" | "does" | "be" | "any" | "ever") => {}
                Token::Word(_) => return false,
            }
            place = previous;
        }
        false
    }

    /// Whether "or" joins more verbs after this one.
    fn or_follows(&self, at: usize) -> bool {
        let rest = &self.sentence[at + 1..];
        let list = rest.iter().take_while(|token| match token {
            Token::Comma | Token::Word("or" | "nor") => true,
            Token::Word(word) => self.words.verb(word).is_some(),
        });
        list.into_iter().any(|token| matches!(token, Token::Word("or" | "nor")))
    }
}

/// The same for other languages, each with its own words.
fn elsewhere(text: &str) -> Option<Finding> {
    if stems().change(text) {
        return Some(Finding::Changes("its description".into()));
    }
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let english = words.iter().filter(|word| english().is("marks", word)).count();
    let best = languages().iter().map(|language| language.marks(&words)).max().unwrap_or(0);
    if best >= english.max(1) {
        for language in languages().iter().filter(|language| language.marks(&words) == best) {
            let found = words.iter().enumerate().find(|(at, word)| {
                let near = words[at.saturating_sub(3)..*at].iter();
                language.changes(word) && !near.into_iter().any(|word| language.negates(word))
            });
            if let Some((_, word)) = found {
                return Some(Finding::Changes((*word).to_owned()));
            }
        }
    }
    let unknown = text.chars().any(is_of_unknown_script);
    let silent = english == 0
        && best == 0
        && words.len() > JUDGED_WORDS
        && words.iter().all(|word| !is_known(word));
    (unknown || silent).then_some(Finding::Unjudged)
}

fn is_known(word: &str) -> bool {
    english().reads(word)
        || english().verb(word).is_some()
        || english().is("about", word)
        || is_foreign(word)
        || english().is("determiners", word)
        || english().is("prepositions", word)
        || !word.chars().all(char::is_alphabetic)
        || stems().cover(word.chars().next().unwrap_or(' '))
}

/// Whether a letter is of a script without word lists.
pub(super) fn is_of_unknown_script(letter: char) -> bool {
    let covered = letter.is_ascii()
        || matches!(letter, '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{400}'..='\u{4ff}')
        || stems().cover(letter);
    letter.is_alphabetic() && !covered
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
