//! Parses a message: the role of each word.
//!
//! Words of the lexicon, kinds, names, references and values are recognised once, independent of what can be done
//! with them. Everything else is *content*, which must be accounted for before anything is called.
//!
//! Invariant: the parts are in the order of the message, and every word is in exactly one.

mod literal;

use std::collections::BTreeSet;

use super::spelling;
use crate::entity::token::{Clitic, Gap, Setting, Token, tokens};
use crate::entity::{How, Mention, Noticed, Number, Span};
use crate::lexicon::{self, Class, Family, Language};
use crate::pack::{Grammar, Kind, PackSet};

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

/// Whether the words of a message contain it.
fn is_written(mention: &Mention) -> bool {
    !matches!(mention.how, How::Reference | How::Given)
}

pub(super) struct Reader<'a> {
    pub message: &'a str,
    pub language: &'static Language,
    pub noticed: &'a Noticed,
    pub packs: &'a PackSet,
    /// Kinds of tools that no pack knows.
    pub nouns: &'a [Kind],
    /// First words of tools besides the verbs of the lexicon: "convert".
    pub commands: Vec<String>,
    /// Where servers are named.
    pub servers: &'a [Span],
    /// Whether a tool evaluates arithmetic expressions.
    pub sums: bool,
    /// Whether a tool takes time zones.
    pub zones: bool,
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
            let text = self.message[span.start..span.end].to_owned();
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
        if let Some((literal, from)) = self.literal(token) {
            return (1, Role::Literal(literal), from);
        }
        if let Some((words, literal)) = self.zoned(&tokens[at..]) {
            return (words, Role::Literal(literal), start);
        }
        if let Some(span) = self.sum(token) {
            return (covered(span), Role::Literal(Literal::Sum), span.start);
        }
        if let Some(role) = self.numbered(token) {
            return (1, role, start);
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
        // "patch panels" is a kind, though "patch" is a verb.
        if let Some((words, role)) = self.kind_at(words()).filter(|(count, _)| *count > 1) {
            return (words, role, start);
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
        let anew = token.gap != Gap::Space
            || before.iter().all(|part| matches!(part.role, Role::Filler | Role::Pointer { .. }));
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
        match token.text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => (1, Role::Number, start),
            false => (1, Role::Content, start),
        }
    }

    /// Whether a name or a reference starts there.
    fn begins_something(&self, start: usize) -> bool {
        let Noticed { mentions, references, .. } = self.noticed;
        mentions.iter().any(|one| one.span.start == start && one.how != How::Given)
            || references.iter().any(|one| one.span.start == start)
    }

    /// The kind word at the start of these words.
    fn kind_at<'w>(&self, words: impl Iterator<Item = &'w str> + Clone) -> Option<(usize, Role)> {
        let role = |kind: &Kind, many: bool, narrower: Option<String>| Role::Kind {
            kind: kind.clone(),
            many,
            narrower,
        };
        if let Some((known, count, grammar)) = self.packs.cue_at(words.clone()) {
            let text = words.take(count).collect::<Vec<_>>().join(" ");
            let singular = self.language.singular(&text);
            let narrower = known.narrows.contains_key(&singular).then_some(singular);
            return Some((count, role(&known.kind, grammar == Grammar::Plural, narrower)));
        }
        // Tools are named in English, whatever the language of the message.
        let english = lexicon::english();
        for (noun, many) in words.clone().next().map_or(&[][..], |word| self.language.nouns(word)) {
            if let Some((known, 1, _)) = self.packs.cue_at(std::iter::once(noun.as_str())) {
                return Some((1, role(&known.kind, *many, None)));
            }
            if let Some(kind) = self.nouns.iter().find(|kind| kind.as_str() == noun) {
                return Some((1, role(kind, *many, None)));
            }
        }
        self.nouns.iter().find_map(|kind| {
            let own: Vec<&str> = kind.as_str().split('_').collect();
            let mut given = words.clone();
            let fits = own.iter().all(|word| {
                given.next().is_some_and(|said| said == *word || english.singular(said) == *word)
            });
            let last = words.clone().nth(own.len() - 1)?;
            fits.then(|| (own.len(), role(kind, english.singular(last) != last, None)))
        })
    }

    /// Joins parts that belong together: words of one name, "the power one".
    fn join(&self, parts: Vec<Part>) -> Vec<Part> {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            let glued = joined.last().is_some_and(|last| self.goes_on(last, &part));
            match joined.last_mut() {
                Some(last) if glued => {
                    last.span.end = part.span.end;
                    last.text = self.message[last.span.start..last.span.end].to_owned();
                    last.lower = last.text.to_lowercase();
                    last.is_possessive = part.is_possessive;
                    if last.role == Role::Number {
                        last.role = Role::Content;
                    }
                }
                _ => joined.push(part),
            }
        }
        for at in 1..joined.len() {
            let names_server = self.servers.iter().any(|span| *span == joined[at].span);
            let places = [Class::In, Class::From, Class::With, Class::Of, Class::To];
            if names_server && places.iter().any(|class| joined[at - 1].is(*class)) {
                joined[at - 1].role = Role::Filler;
            }
        }
        for at in 0..joined.len().saturating_sub(1) {
            let next = &joined[at + 1];
            if joined[at].role == Role::Content && next.is(Class::One) && next.gap == Gap::Space {
                joined[at].role = Role::Pick;
            }
        }
        joined
    }

    /// Whether a part continues the previous name: "pier 9", "marsh & sons", "third floor".
    fn goes_on(&self, last: &Part, part: &Part) -> bool {
        if part.gap != Gap::Space || last.is_possessive {
            return false;
        }
        let content = matches!(last.role, Role::Content);
        let amp = |part: &Part| part.lower == "&";
        match &part.role {
            Role::Content => content || last.lower.ends_with('&'),
            Role::Number => content && !self.is_choice_like(last),
            Role::Word(Class::And) if amp(part) => content,
            _ => false,
        }
    }

    /// A lower-case word that does not look like part of a name keeps numbers apart: "tail 3".
    fn is_choice_like(&self, last: &Part) -> bool {
        let limit = |word: &str| self.language.is(Class::SlotLimit, word);
        last.lower.split(' ').next_back().is_some_and(limit)
    }
}
