//! Values recognised by their form: paths, times, dates, zones, expressions, numbered names.

use super::super::dates;
use super::super::fit::has_ending;
use super::super::schema;
use super::super::sum::sum_at;
use super::super::zones;
use super::{Literal, Part, Reader, Role};
use crate::entity::Span;
use crate::entity::token::{Gap, Token, tokens};
use crate::lexicon::{self, Class, Language};

/// Maximum letters of a file's ending.
const ENDING_LETTERS_MAX: usize = 5;
/// Maximum words of a file's name after the first.
const NAME_WORDS_MAX: usize = 6;

/// Whether a text is a number in digits. Where a comma separates decimals, a point may separate thousands.
pub(super) fn is_number(text: &str, language: &Language) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, part)) => {
            digits(whole) && digits(part) && !(language.decimal_comma && part.len() == 3)
        }
        None => digits(text),
    }
}

impl Reader<'_> {
    /// A listed folder next to a word that says so, or a listed file without its ending: "in notes", "the seeds file".
    pub(super) fn known_path(
        &self,
        tokens: &[Token<'_>],
        at: usize,
        before: &[Part],
    ) -> Option<usize> {
        let text = tokens[at].text;
        let english = lexicon::english();
        let is = |class: Class, at: Option<usize>| {
            at.and_then(|at| tokens.get(at)).is_some_and(|token| english.is(class, &token.lower))
        };
        let beside = is(Class::Folder, Some(at + 1)) || is(Class::Folder, at.checked_sub(1));
        let inside = before.last().is_some_and(|part| part.is(Class::In));
        let folder = |(name, _): &&(String, String)| name == text && !name.contains('.');
        if (beside || inside) && self.files.iter().any(|file| folder(&file)) {
            return Some(if is(Class::Folder, Some(at + 1)) { 2 } else { 1 });
        }
        let mut stems = self.files.iter().filter(|(name, _)| {
            name.rsplit_once('.').is_some_and(|(stem, _)| stem.eq_ignore_ascii_case(text))
        });
        let file = is(Class::File, Some(at + 1)) && stems.next().is_some();
        file.then_some(2)
    }

    /// A folder that nothing has shown yet, next to a word that says so: "the notes folder", "a folder called archive".
    pub(super) fn folder_named(
        &self,
        tokens: &[Token<'_>],
        at: usize,
        before: &[Part],
    ) -> Option<usize> {
        let english = lexicon::english();
        let word = |at: Option<usize>| {
            at.and_then(|at| tokens.get(at)).map_or("", |token| token.lower.as_str())
        };
        let folder = |at: Option<usize>| english.is(Class::Folder, word(at));
        let own = word(Some(at));
        let called = before.last().is_some_and(|part| part.is(Class::Called));
        let named = own.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            && (called || !english.knows(own))
            && !self.path_words.contains(&english.singular(own))
            && !self.begins_something(tokens[at].span.start);
        if self.path_words.is_empty() || !named {
            return None;
        }
        let spaced = |at: usize| tokens.get(at).is_some_and(|token| token.gap == Gap::Space);
        let behind = if called { at.checked_sub(2) } else { at.checked_sub(1) };
        let ends = !spaced(at + 1);
        // "list the files in notes"
        let files =
            before.iter().any(|part| english.is(Class::File, &english.singular(&part.lower)));
        let inside = before.last().is_some_and(|part| part.is(Class::In)) && files && ends;
        match folder(Some(at + 1)) && spaced(at + 1) {
            true => Some(2),
            false => (folder(behind) && (called || ends) || inside).then_some(1),
        }
    }

    /// Whether a word is the name of a file, with an ending: "ideas.txt", "notes/ideas.txt".
    fn is_file_name(&self, token: &Token<'_>) -> bool {
        let text = token.text;
        let name = text.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end);
        let is_ending = |end: &str| {
            (1..=ENDING_LETTERS_MAX).contains(&end.len())
                && end.chars().all(char::is_alphanumeric)
                && end.contains(char::is_alphabetic)
        };
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
        let before = self.message[..token.span.start].chars().next_back();
        let begins = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '`' | '\''));
        !self.path_words.is_empty()
            && begins
            && text.chars().all(plain)
            && ending.is_some_and(is_ending)
            && !lexicon::english().is(Class::Abbreviation, &token.lower)
            && !self.begins_something(token.span.start)
    }

    /// A path with spaces in it: its first word has a folder, its last one an ending.
    pub(super) fn spaced_path(&self, tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
        let token = &tokens[at];
        let before = &self.message[..token.span.start];
        let from = before.trim_end_matches('/').len();
        let begins = self.message[..from].chars().next_back().is_none_or(char::is_whitespace);
        let folder = token.text.contains('/') || from < token.span.start;
        let ends = |token: &Token<'_>| has_ending(token.text);
        if self.path_words.is_empty() || !begins || !folder || ends(token) {
            return None;
        }
        let small = [Class::And, Class::To, Class::In, Class::From, Class::With, Class::Of];
        let goes_on = |next: &&Token<'_>| {
            let is_small = small.iter().any(|class| self.language.is(*class, &next.lower));
            next.gap == Gap::Space && !is_small && !next.text.contains('/')
        };
        let rest = tokens[at + 1..].iter().take(NAME_WORDS_MAX).take_while(goes_on);
        let last = rest.into_iter().position(ends)?;
        Some((last + 2, from))
    }

    /// A literal and its start: paths start with characters that words lose.
    pub(super) fn literal(&self, token: &Token<'_>) -> Option<(Literal, usize)> {
        let text = token.text;
        let before = &self.message[..token.span.start];
        let lead = before.len() - before.trim_end_matches(['/', '.', '~', '\\']).len();
        let from = token.span.start - lead;
        let begins = before[..before.len() - lead]
            .trim_end_matches('*')
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '`'));
        if lead > 0 && begins && before.ends_with(['/', '\\']) {
            return Some((Literal::Path, from));
        }
        let word = text.chars().all(char::is_alphanumeric)
            && !text.starts_with(|c: char| c.is_ascii_digit());
        if lead == 1 && begins && word && before.ends_with('.') {
            return Some((Literal::Ending, from));
        }
        if self.is_file_name(token) {
            return Some((Literal::Path, token.span.start));
        }
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if let Some((hours, minutes)) = text.split_once(':')
            && digits(hours)
            && hours.len() <= 2
            && minutes.len() == 2
            && digits(minutes)
        {
            return Some((Literal::Time, token.span.start));
        }
        let date: Vec<&str> = text.split('-').collect();
        if let [year, month, day] = date[..]
            && [year, month, day].iter().all(|part| digits(part))
            && (year.len(), month.len(), day.len()) == (4, 2, 2)
        {
            return Some((Literal::Date, token.span.start));
        }
        let capital = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
        let letters = |part: &str| part.chars().all(|c| c.is_alphabetic() || c == '_');
        let zone = text.split_once('/').is_some_and(|(area, place)| {
            let known = lexicon::english().is(Class::ZoneArea, &area.to_lowercase());
            known && place.split('/').all(|p| letters(p) && !p.is_empty())
                || capital(area)
                    && letters(area)
                    && place.split('/').all(|p| capital(p) && letters(p))
        });
        (zone || matches!(text, "UTC" | "GMT")).then_some((Literal::Zone, token.span.start))
    }

    /// A place that stands for its time zone, or a time such as "9 am", where a tool takes zones.
    pub(super) fn zoned(&self, tokens: &[Token<'_>]) -> Option<(usize, Literal)> {
        let rest = tokens.iter().enumerate();
        let rest = rest.take_while(|(at, token)| *at == 0 || token.gap == Gap::Space);
        let words = rest.map(|(_, token)| token.lower.as_str());
        if !self.zones {
            return None;
        }
        if let Some(count) = zones::place_at(words.clone()) {
            return Some((count, Literal::Zone));
        }
        let half = |word: &str| word.ends_with("am") || word.ends_with("pm");
        [1, 2].into_iter().find_map(|count| {
            let said: Vec<&str> = words.clone().take(count).collect();
            let fits = said.len() == count && said.last().is_some_and(|word| half(word));
            let time = zones::clock(&said.join("")).filter(|_| fits);
            time.map(|_| (count, Literal::Time))
        })
    }

    /// Days in words, where a tool takes dates or several things are asked for.
    pub(super) fn days(&self, tokens: &[Token<'_>]) -> Option<(usize, Literal)> {
        let rest = tokens.iter().enumerate();
        // "5. Dezember": the dot ends no sentence.
        let dotted = |at: usize, token: &Token<'_>| {
            let number = tokens[at - 1].text.bytes().all(|byte| byte.is_ascii_digit());
            number && self.language.month(&token.lower).is_some()
        };
        let rest = rest
            .take_while(|(at, token)| *at == 0 || token.gap == Gap::Space || dotted(*at, token));
        let words = rest.map(|(_, token)| token.lower.as_str());
        let (count, days) = dates::days_at(words, self.language, self.today)?;
        let literal = if days.single().is_some() { Literal::Date } else { Literal::Period };
        (self.dates || self.names_many()).then_some((count, literal))
    }

    /// Whether the message has a word for several things that can be listed.
    fn names_many(&self) -> bool {
        let (tokens, _) = tokens(self.message);
        tokens.iter().any(|token| {
            let kind = self.kind_at(std::iter::once(token.lower.as_str()));
            matches!(kind, Some((_, Role::Kind { many: true, .. })))
        })
    }

    /// The expression that starts at a token, or with parentheses before it.
    pub(super) fn sum(&self, token: &Token<'_>) -> Option<Span> {
        let start = self.message[..token.span.start].trim_end_matches('(').len();
        let (length, _) = sum_at(&self.message[start..], self.language).filter(|_| self.sums)?;
        Some(Span { start, end: start + length })
    }

    /// A name that contains its kind: "task-2", if tools are about tasks.
    pub(super) fn numbered(&self, token: &Token<'_>) -> Option<Role> {
        let (word, number) = token.lower.rsplit_once('-')?;
        let counted = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let kind = self.nouns.iter().find(|kind| counted && kind.as_str() == word)?.clone();
        Some(Role::Name { kind: Some(kind), is_sure: true, id: Some(token.text.to_owned()) })
    }

    /// The number before a unit of measurement that a tool takes, in letters or with a comma: "two miles", "2,5 km".
    pub(super) fn amount(&self, tokens: &[Token<'_>]) -> Option<usize> {
        let measure = |at: usize| {
            let rest = tokens.get(at..at + 2).unwrap_or(tokens.get(at..at + 1)?);
            let words: Vec<&str> = rest.iter().map(|token| token.lower.as_str()).collect();
            let found = lexicon::measure(&words.join(" ")).or_else(|| lexicon::measure(words[0]));
            found.filter(|measure| self.measures.contains(measure))
        };
        let digits = |token: &Token<'_>| token.text.bytes().all(|byte| byte.is_ascii_digit());
        let first = tokens.first()?;
        if let Some(second) = tokens.get(1).filter(|_| !self.measures.is_empty()) {
            let between = &self.message[first.span.end..second.span.start];
            // "und 2,5?"
            let ends = self.language.decimal_comma && tokens.len() == 2;
            if between == "," && digits(first) && digits(second) && (ends || measure(2).is_some()) {
                return Some(2);
            }
        }
        let spelt = !digits(first) && self.language.cardinal(&first.lower).is_some();
        (spelt && measure(1).is_some()).then_some(1)
    }

    /// The text of a part; a number is written in digits, with a point.
    pub(super) fn text_of(&self, role: &Role, span: Span) -> String {
        let text = &self.message[span.start..span.end];
        match self.language.cardinal(&text.to_lowercase()) {
            _ if *role != Role::Number => text.to_owned(),
            Some(number) => number.to_string(),
            None if self.language.decimal_comma => text.replace(',', "."),
            None => schema::written(text).into_owned(),
        }
    }

    /// A path extends to the next space, an expression to its last number.
    pub(super) fn widened(&self, role: &Role, span: Span) -> Span {
        if *role == Role::Literal(Literal::Sum) {
            let sum = sum_at(&self.message[span.start..], self.language);
            return sum.map_or(span, |(length, _)| Span { end: span.start + length, ..span });
        }
        let known = |(name, _): &(String, String)| *name == self.message[span.start..span.end];
        if !matches!(role, Role::Literal(Literal::Path)) || self.files.iter().any(known) {
            return span;
        }
        let said = &self.message[span.start..span.end];
        if said.contains(' ') || !said.contains(['/', '.', '\\', '~']) {
            return span;
        }
        let rest = &self.message[span.start..];
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '`')).unwrap_or(rest.len());
        let text = rest[..end].trim_end_matches(['.', ',', ';', '?', '!', ')', ':']);
        Span { start: span.start, end: span.start + text.len().max(1) }
    }
}
