//! The requests of a message that holds several: "what is 7 plus 8? And what time is it in Oslo?".
//!
//! A message is split before the first word of a request, at the end of a sentence or after "and". Each piece is then
//! answered by itself, with what the ones before it left in the dialogue.
//!
//! Invariant: the pieces are in order, within the message, and none of them begins inside quotation marks.

use crate::entity::token::{Clitic, Gap, Setting, Token, tokens};
use crate::entity::{Noticed, Span};
use crate::lexicon::{Class, Language};
use crate::permission;

use super::Piece;
use super::read::{Literal, Part, Role};

/// Maximum requests in one message.
const REQUESTS_MAX: usize = 4;

/// Classes with which a question begins.
const QUESTIONS: [Class; 6] =
    [Class::What, Class::Who, Class::Where, Class::When, Class::Count, Class::Any];

/// How certain it is that the pieces are requests of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// All of them are sentences.
    Sentences,
    /// Some are only clauses, which may belong together.
    Clauses,
}

/// The requests of a message, if there are several; `commands` are verbs of the tools.
pub(super) fn requests(
    message: &str,
    language: &Language,
    commands: &[String],
) -> Option<(Split, Vec<Span>)> {
    let (tokens, _) = tokens(message);
    let begins = |at: usize| begins_request(&tokens[at..], language, commands);
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut split = Split::Sentences;
    for (at, token) in tokens.iter().enumerate() {
        let joined = language.is(Class::And, &token.lower) || is_then(token, language);
        let ends = at > 0 && token.gap == Gap::Stop && !after_colon(message, token);
        let first = starts.is_empty();
        if token.setting != Setting::Own || !(first || ends || joined) {
            continue;
        }
        let skipped = tokens[at..]
            .iter()
            .take_while(|one| language.is(Class::And, &one.lower) || is_then(one, language));
        let next = at + skipped.count();
        if next < tokens.len() && tokens[next].setting == Setting::Own && begins(next) {
            if starts.last().is_some_and(|(_, last)| *last == tokens[next].span.start) {
                continue;
            }
            if !first && !ends {
                split = Split::Clauses;
            }
            let begin = if first { 0 } else { token.span.start };
            starts.push((begin, if first { 0 } else { tokens[next].span.start }));
        }
    }
    if !(2..=REQUESTS_MAX).contains(&starts.len()) {
        return None;
    }
    let ends = starts.iter().skip(1).map(|(begin, _)| *begin).chain([message.len()]);
    let spans = starts.iter().zip(ends).map(|((_, start), end)| {
        let text = message[*start..end].trim_end_matches([' ', ',', '\n', '\t']);
        Span { start: *start, end: start + text.len() }
    });
    Some((split, spans.collect()))
}

/// The clauses of a message that also forbids something: "do not delete anything, just list the sites".
pub(super) fn permitted(message: &str, language: &Language, commands: &[String]) -> Option<Span> {
    let (tokens, _) = tokens(message);
    let clauses = tokens
        .chunk_by(|_, next| next.gap == Gap::Space && !language.is(Class::But, &next.lower))
        .collect::<Vec<_>>();
    let forbids = |clause: &&[Token<'_>]| {
        let changes = |token: &Token<'_>| {
            let family = language.family(&token.lower);
            family.is_some_and(|family| !family.reads()) || commands.contains(&token.lower)
        };
        let negates = |token: &Token<'_>| permission::negates(&token.lower);
        clause.iter().any(changes) && clause.iter().any(negates)
    };
    let (first, last) = match (clauses.first()?, clauses.last()?) {
        (first, _) if forbids(first) => (1, clauses.len()),
        (_, last) if forbids(last) => (0, clauses.len() - 1),
        _ => return None,
    };
    let rest = &clauses[first..last];
    let (begin, end) = (rest.first()?.first()?, rest.last()?.last()?);
    let at = tokens.iter().position(|token| token.span == begin.span)?;
    let request = !rest.iter().any(forbids) && begins_request(&tokens[at..], language, commands);
    request.then_some(Span { start: begin.span.start, end: end.span.end })
}

/// Whether a request begins with these words.
fn begins_request(tokens: &[Token<'_>], language: &Language, commands: &[String]) -> bool {
    let content = tokens.iter().position(|token| {
        let asks = QUESTIONS.iter().any(|class| language.is(*class, &token.lower));
        let acts = language.family(&token.lower).is_some();
        asks || acts || !language.is(Class::Filler, &token.lower)
    });
    let Some(tokens) = content.map(|at| &tokens[at..]) else { return false };
    let words = || {
        let rest = tokens.iter().enumerate();
        let rest = rest.take_while(|(at, token)| *at == 0 || token.gap == Gap::Space);
        rest.map(|(_, token)| token.lower.as_str())
    };
    let Some(first) = tokens.first().filter(|token| token.clitic != Clitic::Other) else {
        return false;
    };
    // "list" alone is no request; something must follow.
    tokens.len() > 1
        && (language.family(&first.lower).is_some()
            || commands.contains(&first.lower)
            || QUESTIONS.iter().any(|class| language.starts(*class, words()).is_some()))
}

fn is_then(token: &Token<'_>, language: &Language) -> bool {
    language.is(Class::Then, &token.lower)
}

/// What follows a colon belongs to what precedes it.
fn after_colon(message: &str, token: &Token<'_>) -> bool {
    message[..token.span.start].trim_end().ends_with(':')
}

/// The parts of a message that names several values of one sort, once with each of them: "in Tokyo and in Lima".
pub(super) fn distributed(parts: &[Part]) -> Vec<Vec<Part>> {
    let sort = |part: &Part| match &part.role {
        Role::Literal(literal @ (Literal::Zone | Literal::Path)) => Some((Some(*literal), None)),
        Role::Number => Some((None, None)),
        Role::Name { kind, .. } => Some((None, kind.clone())),
        _ => None,
    };
    let between = |part: &Part| {
        matches!(part.role, Role::Word(Class::And | Class::Continue | Class::In | Class::Of))
            || part.role == Role::Filler
    };
    let values: Vec<usize> = (0..parts.len()).filter(|at| sort(&parts[*at]).is_some()).collect();
    let joined = |pair: &[usize]| {
        let inner = &parts[pair[0] + 1..pair[1]];
        let numbers = |at: usize| parts[at].role == Role::Number;
        let alike = sort(&parts[pair[0]]) == sort(&parts[pair[1]]) || numbers(pair[1]);
        let joins = |part: &Part| part.is(Class::And) || part.is(Class::Continue);
        alike && inner.iter().all(between) && inner.iter().any(joins)
    };
    let several = (2..=REQUESTS_MAX).contains(&values.len()) && values.windows(2).all(joined);
    if !several {
        return Vec::new();
    }
    let (first, last) = (values[0], values[values.len() - 1]);
    let with = |value: usize| {
        let mut kept = parts[..first].to_vec();
        let mut own = parts[value].clone();
        if let (Role::Name { kind, .. }, Role::Number) = (&parts[first].role, &own.role) {
            let id = Some(own.text.clone());
            own.role = Role::Name { kind: kind.clone(), is_sure: true, id };
        }
        kept.push(own);
        kept.extend_from_slice(&parts[last + 1..]);
        kept
    };
    values.iter().map(|value| with(*value)).collect()
}

/// The requests of a message that names several kinds: "Lisbon racks and Porto prefixes" are two requests, and so are
/// "racks and prefixes in Lisbon".
pub(super) fn by_kinds(parts: &[Part]) -> Vec<Piece> {
    let is_kind = |part: &Part| matches!(part.role, Role::Kind { many: true, .. });
    let kinds: Vec<usize> = (0..parts.len()).filter(|at| is_kind(&parts[*at])).collect();
    let [one, two] = kinds[..] else { return Vec::new() };
    let joins = |at: &usize| parts[*at].is(Class::And) || parts[*at].is(Class::Continue);
    let Some(and) = (one + 1..two).find(joins) else { return Vec::new() };
    let small = |part: &Part| part.role == Role::Filler || matches!(part.role, Role::Verb(_));
    if parts[and + 1..two].iter().all(small) && and == one + 1 {
        let without = |from: usize, to: usize| {
            let kept = parts.iter().enumerate().filter(|(at, _)| *at < from || *at >= to);
            Piece::Parts(kept.map(|(_, part)| part.clone()).collect())
        };
        return vec![without(and, two + 1), without(one, two)];
    }
    // Each has words of its own, or it is not certain what belongs to which.
    let says = |parts: &[Part]| {
        parts
            .iter()
            .any(|part| matches!(part.role, Role::Content | Role::Name { .. } | Role::Quoted))
    };
    if !says(&parts[..and]) || !says(&parts[and + 1..]) {
        return Vec::new();
    }
    let span = |parts: &[Part]| {
        let (first, last) = (parts.first()?, parts.last()?);
        Some(Piece::Words(Span { start: first.span.start, end: last.span.end }))
    };
    [span(&parts[..and]), span(&parts[and + 1..])].into_iter().flatten().collect()
}

/// What was noticed within a piece, with positions in the piece.
pub(super) fn noticed_in(noticed: &Noticed, piece: Span) -> Noticed {
    let within = |span: Span| span.start >= piece.start && span.end <= piece.end;
    let moved = |span: Span| Span { start: span.start - piece.start, end: span.end - piece.start };
    let mut own = Noticed::default();
    for mention in noticed.mentions.iter().filter(|mention| within(mention.span)) {
        own.mentions.push(crate::entity::Mention { span: moved(mention.span), ..mention.clone() });
    }
    for open in noticed.ambiguous.iter().filter(|open| within(open.span)) {
        let mut open = open.clone();
        open.span = moved(open.span);
        own.ambiguous.push(open);
    }
    for reference in noticed.references.iter().filter(|one| within(one.span)) {
        let mut reference = reference.clone();
        reference.span = moved(reference.span);
        own.references.push(reference);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        let commands = ["echo".to_owned()];
        let found = requests(message, crate::lexicon::english(), &commands);
        let found = found.map(|(_, spans)| spans).unwrap_or_default();
        let pieces: Vec<&str> = found.iter().map(|span| &message[span.start..span.end]).collect();
        assert_eq!(pieces, expected);
    }

    #[test]
    fn sentences_and_clauses_with_a_request_of_their_own_are_pieces() {
        check(
            "what is 7 plus 8? and what time is it in Oslo?",
            &["what is 7 plus 8?", "what time is it in Oslo?"],
        );
        check(
            "list the sites, then show me rack R1 and echo done now",
            &["list the sites", "show me rack R1", "echo done now"],
        );
    }

    #[test]
    fn what_is_forbidden_is_no_part_of_the_request() {
        for (message, expected) in [
            ("do not delete anything, just list the sites", Some("just list the sites")),
            ("Don't change a thing. Show me rack R1", Some("Show me rack R1")),
            ("list the sites, but do not delete them", Some("list the sites")),
            ("do not delete the sites", None),
            ("list the sites without a rack", None),
            ("delete rack R1, not rack R2", None),
        ] {
            let found = permitted(message, crate::lexicon::english(), &[]);
            assert_eq!(found.map(|span| &message[span.start..span.end]), expected, "{message}");
        }
    }

    #[test]
    fn one_request_stays_whole() {
        check("list devices in Oslo and Bergen", &[]);
        check("create a note \"call Ann and list the sites\"", &[]);
        check("I am in Oslo. What time is it?", &[]);
    }
}
