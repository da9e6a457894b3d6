//! Parses a message: the role of each word.
//!
//! Words of the lexicon, kinds, names, references and values are recognised once, independent of what can be done
//! with them. Everything else is *content*, which must be accounted for before anything is called.
//!
//! Invariant: the parts are in the order of the message, and every word is in exactly one.

mod join;
mod kind;
mod literal;

use std::collections::BTreeSet;

pub(super) use kind::own_only;

use super::spelling;
use crate::entity::token::{Clitic, Gap, Setting, Token, tokens};
use crate::entity::{How, Mention, Noticed, Number, Span};
use crate::lexicon::{Class, Family, Language};
use crate::pack::{Kind, PackSet};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// No meaning here.
    Filler,
    /// The verb of a request.
    Verb(Family),
    /// The first word of a tool's name, if it is an action.
    Command,
    /// A word for a kind of thing.
    Kind { kind: Kind, many: bool, narrower: Option<String> },
    /// A name, with the kind suggested by its form or the adjacent words.
    Name { kind: Option<Kind>, is_sure: bool, id: Option<String> },
    /// A reference.
    Pointer { number: Number, kinds: Option<Vec<Kind>>, is_possessive: bool },
    /// "the power one": the one of those shown that has these words.
    Pick,
    /// Text in quotation marks.
    Quoted,
    /// A path, a time, a date, a zone.
    Literal(Literal),
    /// In digits or words.
    Number,
    /// A word of the lexicon with a role of its own.
    Word(Class),
    /// Must be accounted for before anything is called.
    Content,
}

/// Values recognised by their form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    Path,
    /// A file extension: ".cfg".
    Ending,
    Time,
    Date,
    /// Several days: "this week", "before Friday".
    Period,
    Zone,
    /// An arithmetic expression: "17*23".
    Sum,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub role: Role,
    /// The original text.
    pub text: String,
    pub lower: String,
    pub span: Span,
    pub gap: Gap,
    pub is_possessive: bool,
}

impl Part {
    pub(super) fn is(&self, class: Class) -> bool {
        self.role == Role::Word(class)
    }
}

/// Classes with a role of their own, in the order they are tried.
const PARTS: [Class; 31] = [
    Class::Except,
    Class::Each,
    Class::Meant,
    Class::Mean,
    Class::SameFor,
    Class::BackTo,
    Class::Count,
    Class::Details,
    Class::Compare,
    Class::Called,
    Class::Only,
    Class::Continue,
    Class::Any,
    Class::What,
    Class::Who,
    Class::Where,
    Class::When,
    Class::Not,
    Class::Else,
    Class::There,
    Class::These,
    Class::They,
    Class::Ones,
    Class::One,
    Class::And,
    Class::In,
    Class::From,
    Class::Of,
    Class::To,
    Class::With,
    Class::Relates,
];

/// Whether a part only relates the message to the previous one: "no", "sorry".
fn is_turn(part: &Part) -> bool {
    matches!(
        part.role,
        Role::Word(Class::Yes | Class::No | Class::Sorry | Class::Wait | Class::Meant)
    )
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the words of a message contain it.
fn is_written(mention: &Mention) -> bool {
    !matches!(mention.how, How::Reference | How::Given)
}

pub(super) struct Reader<'a> {
    pub message: &'a str,
    pub language: &'static Language,
    pub noticed: &'a Noticed,
    pub packs: &'a PackSet,
    /// The packs of which tools are about some kind.
    pub packs_used: &'a BTreeSet<String>,
    /// Kinds of tools that no pack knows.
    pub nouns: &'a [Kind],
    /// First words of tools besides the verbs of the lexicon: "convert".
    pub commands: Vec<String>,
    /// First words of tools that make something, where the lexicon has them as other verbs: "open".
    pub makers: Vec<String>,
    /// Values of several words that parameters take: "in progress".
    pub values: BTreeSet<String>,
    /// Units of measurement that parameters take.
    pub measures: BTreeSet<&'static str>,
    /// Where servers are named.
    pub servers: &'a [Span],
    /// Whether a tool evaluates arithmetic expressions.
    pub sums: bool,
    /// Whether a tool takes time zones.
    pub zones: bool,
    /// Whether a tool takes dates.
    pub dates: bool,
    pub today: jiff::civil::Date,
    /// Files that the conversation knows, with their paths.
    pub files: &'a [(String, String)],
    /// The words for what can be listed.
    pub kind_words: Vec<String>,
    /// The words of the tools that take paths; none if no tool does.
    pub path_words: BTreeSet<String>,
}

impl Reader<'_> {
    pub(super) fn parts(&self) -> Vec<Part> {
        let (mut tokens, _) = tokens(self.message);
        spelling::mend(&mut tokens, self.language, &self.commands, |token| {
            self.begins_something(token.span.start)
                || self.kind_at([token.lower.as_str()].into_iter()).is_some()
        });
        spelling::mend_kinds(&mut tokens, self.language, &self.kind_words, |token| {
            self.begins_something(token.span.start)
                || self.kind_at([token.lower.as_str()].into_iter()).is_some()
        });
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (words, role, from) = self.part_at(&tokens, at, &parts);
            let span = Span { start: from, end: tokens[at + words - 1].span.end };
            let span = self.widened(&role, span);
            let text = self.text_of(&role, span);
            let next = tokens[at..].iter().position(|token| token.span.start >= span.end);
            let whole = words == 1 && span == tokens[at].span;
            let lower = if whole { tokens[at].lower.clone() } else { text.to_lowercase() };
            parts.push(Part {
                lower,
                text,
                span,
                gap: tokens[at].gap,
                is_possessive: tokens[at + words - 1].clitic == Clitic::S,
                role,
            });
            at = next.map_or(tokens.len(), |next| at + next.max(1));
        }
        self.join(parts)
    }

    /// The part that starts at a token: its number of tokens, its role, and its start in the message.
    fn part_at(&self, tokens: &[Token<'_>], at: usize, before: &[Part]) -> (usize, Role, usize) {
        let token = &tokens[at];
        let start = token.span.start;
        let covered = |span: Span| {
            let rest = tokens[at..].iter();
            rest.take_while(|token| token.span.start < span.end).count().max(1)
        };
        if let Some(span) = self.servers.iter().find(|span| span.start == start) {
            return (covered(*span), Role::Filler, start);
        }
        if let Setting::Quoted(number) = token.setting {
            let quoted = tokens[at..].iter();
            let words = quoted.take_while(|one| one.setting == Setting::Quoted(number)).count();
            return (words, Role::Quoted, start);
        }
        if self.files.iter().any(|(name, _)| name == token.text && name.contains('.')) {
            return (1, Role::Literal(Literal::Path), start);
        }
        if let Some(words) = self.known_path(tokens, at, before) {
            return (words, Role::Literal(Literal::Path), start);
        }
        if let Some(words) = self.folder_named(tokens, at, before) {
            return (words, Role::Literal(Literal::Path), start);
        }
        if let Some((words, from)) = self.spaced_path(tokens, at) {
            return (words, Role::Literal(Literal::Path), from);
        }
        if let Some((words, literal)) = self.days(&tokens[at..]) {
            return (words, Role::Literal(literal), start);
        }
        if let Some((literal, from)) = self.literal(token) {
            return (1, Role::Literal(literal), from);
        }
        if let Some((words, literal)) = self.zoned(&tokens[at..]) {
            return (words, Role::Literal(literal), start);
        }
        if let Some(span) = self.sum(token) {
            return (covered(span), Role::Literal(Literal::Sum), span.start);
        }
        if let Some(words) = self.amount(&tokens[at..]) {
            return (words, Role::Number, start);
        }
        if let Some(role) = self.numbered(token) {
            return (1, role, start);
        }
        // "number 3": the number says which one.
        let next = tokens.get(at + 1).filter(|next| next.gap == Gap::Space);
        if self.language.is(Class::Numbered, &token.lower)
            && let Some(next) = next.filter(|next| is_digits(next.text))
        {
            return (2, Role::Number, next.span.start);
        }
        let theirs = self.language.is(Class::Their, &token.lower);
        if theirs || self.language.is(Class::Its, &token.lower) {
            let number = if theirs { Number::Many } else { Number::One };
            let noticed = self.noticed.references.iter().find(|one| one.span.start == start);
            let kinds = noticed.and_then(|one| one.kinds.clone());
            return (1, Role::Pointer { number, kinds, is_possessive: true }, start);
        }
        let mention = self
            .noticed
            .mentions
            .iter()
            .find(|mention| mention.span.start == start && is_written(mention));
        if let Some(mention) = mention {
            let kind = Some(mention.kind.clone());
            let is_sure = mention.how != How::Pattern && mention.is_sure();
            // The id of an uncertain mention, or one whose number is its name, means nothing.
            let text = &self.message[mention.span.start..mention.span.end];
            let number = text.bytes().all(|byte| byte.is_ascii_digit());
            let means = |id: &String| mention.is_sure() && (!number || id == text);
            let role = Role::Name { kind, is_sure, id: mention.id.clone().filter(means) };
            return (covered(mention.span), role, start);
        }
        if let Some(open) = self.noticed.ambiguous.iter().find(|open| open.span.start == start) {
            let kind = open.candidates.first().map(|candidate| candidate.kind.clone());
            let role = Role::Name { kind, is_sure: false, id: None };
            return (covered(open.span), role, start);
        }
        if let Some(found) = self.noticed.references.iter().find(|one| one.span.start == start) {
            let role = Role::Pointer {
                number: found.number,
                kinds: found.kinds.clone(),
                is_possessive: found.is_possessive,
            };
            return (covered(found.span), role, start);
        }
        // No phrase of the lexicon extends into a name or a reference.
        let words = || {
            let rest = tokens[at..].iter().enumerate();
            rest.take_while(|(index, token)| {
                *index == 0 || token.gap == Gap::Space && !self.begins_something(token.span.start)
            })
            .map(|(_, token)| token.lower.as_str())
        };
        let leads = before.iter().all(|part| {
            matches!(part.role, Role::Filler)
                || matches!(part.role, Role::Word(Class::Continue | Class::And | Class::Only))
                || part.is(Class::Yes)
        });
        // "good evening, list the sites": a greeting before a comma.
        let agrees = [Class::Yes, Class::No, Class::Wait, Class::Sorry];
        if before.iter().all(|part| part.role == Role::Filler)
            && !agrees.iter().any(|class| self.language.is(*class, &token.lower))
            && let Some(count) = self.language.starts(Class::SmallTalk, words())
            && tokens.get(at + count).is_some_and(|next| next.gap != Gap::Space)
        {
            return (count, Role::Filler, start);
        }
        if let Some(count) = self.value_at(words()) {
            return (count, Role::Content, start);
        }
        // "patch panels" is a kind, though "patch" is a verb.
        if let Some((words, role)) = self.kind_at(words()).filter(|(count, _)| *count > 1) {
            return (words, role, start);
        }
        // "open a ticket", where that makes one.
        let one = tokens.get(at + 1).filter(|next| next.gap == Gap::Space);
        let makes = leads && self.makers.contains(&token.lower);
        if makes && one.is_some_and(|next| self.language.is(Class::A, &next.lower)) {
            return (1, Role::Verb(Family::Create), start);
        }
        // "the open tickets": how they are, and not what is done.
        let describes = self.language.is(Class::Adjective, &token.lower)
            && tokens.get(at + 1).is_some_and(|next| next.gap == Gap::Space)
            && self.is_plural(&tokens[at + 1]);
        if describes {
            return (1, Role::Content, start);
        }
        if leads && self.hands_over(&tokens[at..]) {
            return (1, Role::Verb(Family::Change), start);
        }
        // "give it to Tom and set it to high": one change of one thing.
        let alters = |part: &Part| {
            let verb = matches!(part.role, Role::Verb(family) if !family.reads());
            verb && self.language.is(Class::Alters, &part.lower)
        };
        let joined =
            before.last().is_some_and(|last| last.is(Class::And) || last.is(Class::Continue));
        if joined && self.language.is(Class::Alters, &token.lower) && before.iter().any(alters) {
            return (1, Role::Filler, start);
        }
        // "change the owner": a verb comes first, whatever else the word is.
        if let Some(family) = self.language.family(&token.lower).filter(|_| leads) {
            return (1, Role::Verb(family), start);
        }
        if leads && self.commands.contains(&token.lower) {
            return (1, Role::Command, start);
        }
        if let Some((words, role)) = self.kind_at(words()) {
            return (words, role, start);
        }
        // "does it include breakfast?" asks.
        let points = before.iter().any(|part| matches!(part.role, Role::Pointer { .. }));
        let asks = points && self.language.is(Class::Auxiliary, &tokens[0].lower);
        let anew = token.gap != Gap::Space
            || !asks
                && before
                    .iter()
                    .all(|part| matches!(part.role, Role::Filler | Role::Pointer { .. }));
        if let Some(family) = self.language.family(&token.lower).filter(|_| anew) {
            return (1, Role::Verb(family), start);
        }
        if before.iter().all(|part| part.role == Role::Filler) || before.iter().all(is_turn) {
            let opening = [Class::Yes, Class::No, Class::Sorry, Class::Wait];
            if let Some(class) =
                opening.into_iter().find(|class| self.language.is(*class, &token.lower))
            {
                return (1, Role::Word(class), start);
            }
        }
        // "below 10000": a comparison only with a number.
        let compares = [Class::More, Class::Less].into_iter();
        let compares = compares.filter_map(|class| self.language.starts(class, words())).max();
        let number = |next: &Token<'_>| next.lower.starts_with(|c: char| c.is_ascii_digit());
        if let Some(count) = compares.filter(|c| tokens.get(at + c).is_some_and(number)) {
            return (count, Role::Word(Class::Compare), start);
        }
        // "lies sie vor": the end of the verb.
        let last = at + 1 == tokens.len();
        if last
            && self.language.is(Class::Particle, &token.lower)
            && before.iter().any(|part| matches!(part.role, Role::Verb(_)))
        {
            return (1, Role::Filler, start);
        }
        // "Aren't there any?" asks; "those that aren't" denies.
        if !before.is_empty() && self.language.is(Class::Isnt, &token.lower) {
            return (1, Role::Word(Class::Not), start);
        }
        // "in total" is no place.
        if let Some(count) = self.language.starts(Class::Filler, words()).filter(|c| *c > 1) {
            return (count, Role::Filler, start);
        }
        for class in PARTS {
            if let Some(count) = self.language.starts(class, words()) {
                return (count, Role::Word(class), start);
            }
        }
        // "ward A": a letter, and no article.
        let ends = tokens
            .get(at + 1)
            .is_none_or(|next| next.gap != Gap::Space || self.language.is(Class::And, &next.lower));
        let letter = token.text == "A" && token.gap == Gap::Space && !before.is_empty() && ends;
        if let Some(count) = self.language.starts(Class::Filler, words()).filter(|_| !letter) {
            return (count, Role::Filler, start);
        }
        let number = literal::is_number(token.text, self.language);
        (1, if number { Role::Number } else { Role::Content }, start)
    }

    /// "give it to Tom", "give 4107 to Tom", and not "give me the list".
    fn hands_over(&self, tokens: &[Token<'_>]) -> bool {
        let [first, next, rest @ ..] = tokens else { return false };
        let it = self.language.is(Class::It, &next.lower);
        let named = is_digits(next.text) || self.begins_something(next.span.start);
        let to = rest.iter().any(|token| self.language.is(Class::To, &token.lower));
        self.language.is(Class::Gives, &first.lower) && !rest.is_empty() && (it || named && to)
    }
}
