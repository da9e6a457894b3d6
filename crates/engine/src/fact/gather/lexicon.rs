//! The words and patterns of each language for `gather`, read from `lexicon/facts/`.
//!
//! A language is data: to add one, add a file and list it in `FILES`.
//!
//! Invariant: every built-in file is valid; a test reads them all.

mod file;
mod likely;
mod starts;

use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde::Deserialize;

use crate::fact::FactKind;

use file::{File, RewordedEntry};
pub(super) use likely::LikelyWords;
pub(super) use starts::first_word;

/// Of each language its file and its fitted weights.
const FILES: [(&str, &str); 4] = [
    (
        include_str!("../../../lexicon/facts/en.toml"),
        include_str!("../../../lexicon/facts/weights-en.tsv"),
    ),
    (
        include_str!("../../../lexicon/facts/de.toml"),
        include_str!("../../../lexicon/facts/weights-de.tsv"),
    ),
    (include_str!("../../../lexicon/facts/fr.toml"), ""),
    (include_str!("../../../lexicon/facts/es.toml"), ""),
];

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| FILES.map(|file| read(file).expect("the built-in words are valid")).into());

/// The languages in which statements are recognised.
pub(super) fn languages() -> &'static [Language] {
    &LANGUAGES
}

/// The languages that a text may be in: those of which it has a word, and English unless it is clearly in another. To
/// read every message in every language would cost four times as much.
pub(super) fn languages_of(text: &str) -> Vec<&'static Language> {
    let lower = text.to_lowercase();
    let words = || lower.split(|letter: char| !letter.is_alphabetic());
    let is_marked = |language: &&Language| words().any(|word| language.marks.contains(word));
    let marked: Vec<&Language> = languages().iter().filter(is_marked).collect();
    let is_english = || std::ptr::eq(crate::lexicon::of(text), crate::lexicon::english());
    let english = languages().iter().filter(|language| language.marks.is_empty());
    let english = english.filter(|_| marked.is_empty() || is_english());
    english.chain(marked.iter().copied()).collect()
}

/// Compiles the English patterns, which every message needs: that takes a while.
pub fn warm_up() {
    for pattern in LANGUAGES.iter().take(1).flat_map(Language::patterns) {
        let _: &Regex = pattern;
    }
}

/// A regular expression that is compiled when it is first used.
pub(super) struct Pattern {
    text: String,
    compiled: OnceLock<Regex>,
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        self.compiled
            .get_or_init(|| Regex::new(&self.text).expect("a test compiles every built-in pattern"))
    }
}

pub(super) struct Language {
    /// Words by which a text is recognised as perhaps in this language; empty if every text may be.
    pub marks: HashSet<String>,
    /// A word or phrase at the start of a clause that says nothing itself: "by the way,".
    pub lead: Pattern,
    /// The joint of two clauses; the group `next` is the first word of the next clause.
    pub joint: Pattern,
    /// The end of a joint after which the subject of the clause before goes on: "they calm me and always make …".
    pub elided: Pattern,
    /// A relative clause within another clause: "my husband, who is Danish, …".
    pub inserted: Pattern,
    /// Words at the end of a sentence that say nothing themselves.
    pub tail: Pattern,
    /// Adverbs at the end of a clause that say since when, and are no part of what it states: "these days".
    pub time: Pattern,
    /// Words that say that something has become so: "now", "no longer".
    pub changed: Pattern,
    /// Words that say that something is so besides: "also".
    pub added: Pattern,
    /// Words that make a statement say the opposite: "not", "don't".
    pub negation: Pattern,
    /// The beginning of a statement about somebody else: "my sister".
    pub others: Pattern,
    /// Other words for what a form states.
    pub reworded: Vec<Reworded>,
    /// Whole clauses that name what was so before, the group `old`, or what has changed, the group `what`.
    pub ended: Vec<Pattern>,
    /// A whole message that gives another value for what was just said: the group `value`, instead of `old`.
    pub correction: Pattern,
    /// A message about a fictional world.
    pub never_message: Pattern,
    /// A sentence that asks to write something: what follows is not the user's own.
    pub never_after: Pattern,
    /// A sentence that asks to rewrite the text of the message.
    pub never_around: Pattern,
    /// The beginning of a sentence that has nothing to do with the others: "by the way".
    pub aside: Pattern,
    /// A message that is not to be remembered.
    pub unsaved: Pattern,
    /// Words that introduce somebody's text, which continues to the end of the message.
    pub quoting: Pattern,
    /// A sentence that describes something broken, though it can be an instruction.
    pub trouble: Pattern,
    /// The first words of a condition.
    pub condition: Pattern,
    /// A clause that is wished or imagined.
    pub wish: Pattern,
    /// A clause with somebody's words, which may go on to the end of the sentence.
    pub report: Pattern,
    /// The beginning of a question that tells the assistant what to do: "could you".
    pub ask_lead: Pattern,
    /// The end of one: ", okay".
    pub ask_tag: Pattern,
    /// A sentence that states nothing: irony, injected instructions.
    pub never_sentence: Pattern,
    /// A predicate that is temporary, uncertain, negated or past.
    pub never_clause: Pattern,
    /// A value that says nothing by itself: "it", "broken".
    pub never_value: Pattern,
    /// Things not worth storing: "my question is …".
    pub never_what: Pattern,
    /// An instruction that applies to this session only.
    pub never_instruction: Pattern,
    /// Words that ask to remember what follows; a possessive at the end belongs to the statement.
    pub explicit_lead: Pattern,
    /// An `explicit_lead` that is advice as often as a request, so what follows must have a form.
    pub advice_lead: Pattern,
    /// A whole sentence that asks to remember its neighbour: "remember that".
    pub explicit_trailer: Pattern,
    /// A request that is a question in form only: "could you remember that …?"
    pub explicit_asks: Pattern,
    /// Words that announce a statement: "for your information,".
    pub tell_lead: Pattern,
    /// What follows `tell_lead` is news, not a lasting statement.
    pub tell_reject: Pattern,
    /// What follows `explicit_lead` or `tell_lead` is not a statement.
    pub explicit_reject: Pattern,
    /// Words that make what follows a lasting instruction: "from now on".
    pub instruction_lead: Pattern,
    /// The start of what can follow `instruction_lead`.
    pub instruction_body: Pattern,
    /// A whole clause that is a lasting instruction.
    pub instruction_form: Pattern,
    /// Topics of instructions: subject and pattern.
    pub topics: Vec<(String, Pattern)>,
    /// Words of things that only a request about them is told.
    pub secret: HashSet<String>,
    /// Indefinite articles.
    pub indefinite: Vec<String>,
    /// Other words omitted from a subject.
    pub articles: Vec<String>,
    /// Prepositions replaced by "for" in a subject.
    pub prepositions: Vec<String>,
    /// Common things of which people speak in several languages: the word, and the English one.
    pub english: BTreeMap<String, String>,
    /// How other products refer to the user, and the user's own wording.
    pub told_of: Vec<(Pattern, String)>,
    /// Forms that state something, in order of precedence.
    pub forms: Vec<Form>,
    /// How statements without a form are decided.
    pub likely: Option<LikelyWords>,
    /// Forms that ask for something stated.
    pub questions: Vec<Question>,
    /// A whole message that asks to forget what was just said.
    pub forget_that: Pattern,
    /// A whole message that asks to forget the group `what`.
    pub forget: Vec<Pattern>,
    /// The question about the same `{what}`.
    pub forget_asks: String,
    /// What is to be forgotten, as a statement: "that I am …", "dass ich … bin".
    pub forget_told: Vec<Reworded>,
}

impl Language {
    /// All patterns.
    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let own = [
            &self.lead,
            &self.joint,
            &self.elided,
            &self.inserted,
            &self.tail,
            &self.time,
            &self.changed,
            &self.added,
            &self.negation,
            &self.others,
            &self.correction,
            &self.never_message,
            &self.unsaved,
            &self.quoting,
            &self.never_after,
            &self.never_around,
            &self.aside,
            &self.trouble,
            &self.condition,
            &self.wish,
            &self.report,
            &self.ask_lead,
            &self.ask_tag,
            &self.never_sentence,
            &self.never_clause,
            &self.never_value,
            &self.never_what,
            &self.never_instruction,
            &self.explicit_lead,
            &self.advice_lead,
            &self.explicit_trailer,
            &self.explicit_asks,
            &self.tell_lead,
            &self.tell_reject,
            &self.explicit_reject,
            &self.instruction_lead,
            &self.instruction_body,
            &self.instruction_form,
            &self.forget_that,
        ];
        let forms = self.forms.iter().flat_map(|form| [Some(&form.says), form.never.as_ref()]);
        own.into_iter()
            .chain(self.topics.iter().map(|(_, says)| says))
            .chain(self.told_of.iter().map(|(says, _)| says))
            .chain(self.reworded.iter().map(|reworded| &reworded.says))
            .chain(&self.ended)
            .chain(forms.flatten())
            .chain(self.questions.iter().map(|question| &question.asks))
            .chain(&self.forget)
            .chain(self.forget_told.iter().map(|reworded| &reworded.says))
    }
}

/// A form that asks for something a user stated.
pub(super) struct Question {
    /// The subject of facts that answer it, with the pattern's groups in braces; `*` at the end makes it a
    /// prefix.
    pub subject: String,
    /// Whether it asks for a property of the subject, which a fact about the subject may or may not contain.
    pub near: bool,
    /// The kind of facts that it asks for, if it asks for one.
    pub kind: Option<FactKind>,
    /// Matches the whole message.
    pub asks: Pattern,
}

/// Other words for a clause that may have a form.
pub(super) struct Reworded {
    /// Matches the whole clause.
    pub says: Pattern,
    /// The clause in other words, with the pattern's groups as `${name}`; the first that has a form applies.
    pub own: Vec<String>,
    /// Whether the clause says that this is no longer so.
    pub ends: bool,
}

/// A form that states something lasting.
pub(super) struct Form {
    pub kind: FactKind,
    /// The subject, with the pattern's groups in braces.
    pub subject: String,
    /// What the group `value` must be.
    pub value: ValueRule,
    /// Starts of a `value` with which the form states nothing lasting.
    pub never: Option<Pattern>,
    /// The first words of clauses that can match; `None` if any can.
    pub starts: Option<HashSet<String>>,
    /// Matches the whole clause. A group `since` tells from when on it holds, which makes it no passing state.
    pub says: Pattern,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ValueRule {
    #[default]
    Any,
    Name,
    /// A name or an identifier but no bare number, or a noun with an indefinite article.
    Thing,
}

fn read((file, weights): (&str, &str)) -> Result<Language, toml::de::Error> {
    let file: File = toml::from_str(file)?;
    let words = &file.words;
    let any = |patterns: &[String]| pattern(words, &patterns.join("|"));
    let joint = format!(
        r"(?:\s*[,;:]\s+(?:(?:{joints})\s+)*|\s+[–—-]+\s+(?:(?:{joints})\s+)*|\s+(?:{joints})\s+)(?P<next>(?:{starts})\b)",
        joints = file.clause.joints.join("|"),
        starts = file.clause.starts.join("|"),
    );
    // An empty list matches nothing.
    let any_of = |patterns: &[String]| match patterns.is_empty() {
        true => "[^\\s\\S]".to_owned(),
        false => patterns.join("|"),
    };
    let (tails, tags) = (any_of(&file.clause.tails), any_of(&file.clause.tags));
    let tail = format!(r"(?:\s*[,;]\s+(?:{tails})|\s+(?:{tags}))[.!]*$");
    let bodies = match file.instruction.bodies.is_empty() {
        true => String::new(),
        false => format!(r"(?:{})\b", file.instruction.bodies.join("|")),
    };
    let forms = file.form.into_iter().map(|entry| {
        let says = pattern(words, &format!("^(?:{})$", entry.says));
        let never = entry.never.map(|never| pattern(words, &format!(r"^(?:{never})\b")));
        let starts = starts::of(&expanded(words, &entry.says));
        Form { kind: entry.kind, subject: entry.subject, value: entry.value, never, starts, says }
    });
    let forms = forms.collect();
    let questions = file.question.into_iter().map(|entry| {
        let asks = pattern(words, &format!("^(?:{})$", entry.asks));
        Question { subject: entry.subject, near: entry.near, kind: entry.kind, asks }
    });
    let forget = file.forget.what.iter().map(|what| pattern(words, &format!("^(?:{what})$")));
    let told_of = file.told_of.into_iter();
    let told_of = told_of.map(|told| (pattern(words, &format!("^(?:{})$", told.says)), told.own));
    let in_other_words = |entry: RewordedEntry| {
        let says = pattern(words, &format!("^(?:{})$", entry.says));
        Reworded { says, own: entry.own, ends: entry.ends }
    };
    let reworded = file.reworded.into_iter().map(in_other_words);
    let forget_told = file.forget.told.into_iter().map(in_other_words);
    let topics = file.topics.iter().map(|(topic, says)| (topic.clone(), pattern(words, says)));
    Ok(Language {
        lead: pattern(words, &format!(r"^(?:{})\b[\s,:!.–—-]*", file.clause.leads.join("|"))),
        joint: pattern(words, &joint),
        elided: pattern(words, &format!(r"\b(?:{})$", any_of(&file.clause.elided))),
        inserted: pattern(words, &any_of(file.clause.inserted.as_slice())),
        tail: pattern(words, &tail),
        time: pattern(words, &format!(r",?\s+(?:{})$", any_of(&file.clause.times))),
        changed: pattern(words, &format!(r"(?:^|\s)(?:{})\b", any_of(&file.change.words))),
        added: pattern(words, &format!(r"(?:^|\s)(?:{})\b", any_of(&file.change.added))),
        negation: pattern(words, &format!(r"\b(?:{})\b", any_of(&file.change.negation))),
        others: pattern(words, &format!(r"^(?:{})\b", any_of(&file.change.others))),
        ended: file.change.ended.iter().map(|it| pattern(words, &format!("^(?:{it})$"))).collect(),
        correction: pattern(words, &format!("^(?:{})$", any_of(file.clause.correction.as_slice()))),
        never_message: any(&file.never.message),
        unsaved: any(&file.never.unsaved),
        quoting: pattern(words, &any_of(&file.never.quoting)),
        never_after: pattern(words, &any_of(&file.never.after)),
        never_around: pattern(words, &any_of(&file.never.around)),
        aside: pattern(words, &format!(r"^(?:{})\b", any_of(&file.clause.asides))),
        trouble: pattern(words, &any_of(&file.never.trouble)),
        condition: pattern(words, &any_of(&file.never.condition)),
        wish: pattern(words, &any_of(&file.never.wish)),
        report: pattern(words, &any_of(&file.never.report)),
        ask_lead: pattern(words, &format!(r"^(?:{})\s+", any_of(&file.instruction.asks))),
        ask_tag: pattern(words, &format!(r",?\s+(?:{})$", any_of(&file.instruction.tags))),
        never_sentence: any(&file.never.sentence),
        never_clause: any(&file.never.clause),
        never_value: pattern(words, &format!(r"^(?:{})\b", file.never.value.join("|"))),
        never_what: pattern(
            words,
            &format!(
                r"^(?:{})\b|(?:^|\s)(?:{})(?:$| (?:with|about|for|of|on|in|at|from|to)\b)",
                file.never.which.join("|"),
                file.never.what.join("|"),
            ),
        ),
        never_instruction: any(&file.never.instruction),
        explicit_lead: pattern(words, &format!("^(?:{})", file.explicit.leads.join("|"))),
        advice_lead: pattern(words, &format!("^(?:{})$", any_of(&file.explicit.advice))),
        explicit_trailer: pattern(
            words,
            &format!(r"^(?:{})[.!]*$", file.explicit.trailers.join("|")),
        ),
        explicit_asks: any(&file.explicit.asks),
        tell_lead: pattern(words, &format!("^(?:{})", file.explicit.tell.join("|"))),
        tell_reject: any(&file.explicit.tell_reject),
        explicit_reject: any(&file.explicit.reject),
        instruction_lead: pattern(words, &format!("^(?:{})", file.instruction.leads.join("|"))),
        instruction_body: pattern(words, &format!(r"^(?:{})", bodies)),
        instruction_form: pattern(words, &format!("^(?:{})$", file.instruction.forms.join("|"))),
        topics: topics.collect(),
        marks: file.key.marks,
        secret: file.key.secret,
        indefinite: file.key.indefinite,
        articles: file.key.articles,
        prepositions: file.key.prepositions,
        english: file.key.english,
        told_of: told_of.collect(),
        reworded: reworded.collect(),
        questions: questions.collect(),
        forget_asks: file.forget.asks.clone(),
        forget_that: pattern(words, &format!("^(?:{})$", any_of(&file.forget.that))),
        forget: forget.collect(),
        forget_told: forget_told.collect(),
        likely: file.likely.map(|words| words.with_weights(weights)),
        forms,
    })
}

/// The pattern of `text` with its named words; an apostrophe also matches the curly one and may be omitted.
fn pattern(words: &BTreeMap<String, Vec<String>>, text: &str) -> Pattern {
    let text = expanded(words, text);
    // Latin classes instead of all of Unicode keep the patterns small.
    let text = text
        .replace(r"\w", "[0-9A-Za-zÀ-ɏ_]")
        .replace(r"\d", "[0-9]")
        // A bare "s" would match the end of any verb.
        .replace("'s", "[‘’]s")
        .replace('\'', "['’]?")
        .replace("[‘’]s", "['’]s");
    Pattern { text: format!("(?i){text}"), compiled: OnceLock::new() }
}

/// The text with its named words; words may refer to other words, one level deep.
fn expanded(words: &BTreeMap<String, Vec<String>>, text: &str) -> String {
    words.iter().chain(words).fold(text.to_owned(), |text, (name, alternatives)| {
        text.replace(&format!("{{{name}}}"), &format!("(?:{})", alternatives.join("|")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_file_is_valid() {
        for file in FILES {
            for pattern in read(file).unwrap().patterns() {
                Regex::new(&pattern.text).unwrap();
            }
        }
    }
}
