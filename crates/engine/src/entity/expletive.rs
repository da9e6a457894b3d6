//! "It" that means nothing: "it is raining", "got it", "is it possible to".

use super::token::{Clitic, Gap, Token};

/// Whether the "it" at a word points at nothing.
pub(super) fn is_empty_it(tokens: &[Token<'_>], at: usize) -> bool {
    let joined = |index: usize| {
        tokens.get(index).filter(|token| token.gap == Gap::Space).map(|token| token.lower.as_str())
    };
    let next = joined(at + 1);
    let before = at.checked_sub(1).filter(|_| tokens[at].gap == Gap::Space);
    let before = before.map(|index| &tokens[index]);
    let is_said = tokens[at].clitic == Clitic::S;
    // "it is possible", "it's late", "it was you", "is it possible"
    let asked = before.is_some_and(|token| matches!(token.lower.as_str(), "is" | "was" | "would"));
    let said = is_said || matches!(next, Some("is" | "was" | "will" | "would" | "has" | "might"));
    let mut follow = if is_said || asked { at + 1 } else { at + 2 };
    while joined(follow).is_some_and(|word| FILLERS.contains(&word)) {
        follow += 1;
    }
    if (said || asked) && joined(follow).is_some_and(|word| IMPERSONAL.contains(&word)) {
        return true;
    }
    if next.is_some_and(|word| VERBS.contains(&word)) {
        return true;
    }
    // "got it", "forget it", "that's it", "call it a day"
    let ends =
        next.is_none() || matches!(next, Some("a" | "then" | "now" | "for" | "at" | "thanks"));
    before.is_some_and(|token| {
        let idiom = IDIOMS.contains(&token.lower.as_str())
            || (token.lower == "that" && token.clitic == Clitic::S);
        (idiom && ends)
            || (token.lower == "does" && matches!(next, Some("matter" | "mean" | "make")))
    })
}

const FILLERS: [&str; 14] = [
    "be", "been", "not", "really", "very", "so", "too", "also", "just", "still", "always", "a",
    "quite", "even",
];

const IMPERSONAL: [&str; 49] = [
    "about",
    "all",
    "bad",
    "best",
    "better",
    "clear",
    "cold",
    "common",
    "correct",
    "difficult",
    "done",
    "easier",
    "easy",
    "enough",
    "fair",
    "fine",
    "friday",
    "good",
    "great",
    "hard",
    "hot",
    "important",
    "impossible",
    "interesting",
    "late",
    "likely",
    "me",
    "monday",
    "necessary",
    "nice",
    "odd",
    "ok",
    "okay",
    "over",
    "pity",
    "possible",
    "raining",
    "safe",
    "shame",
    "snowing",
    "strange",
    "sunday",
    "time",
    "true",
    "unlikely",
    "useful",
    "weird",
    "worth",
    "you",
];

const VERBS: [&str; 14] = [
    "appears", "depends", "feels", "happens", "looks", "matters", "means", "rained", "rains",
    "seemed", "seems", "sounds", "takes", "turns",
];

const IDIOMS: [&str; 9] = ["got", "get", "forget", "leave", "call", "made", "make", "drop", "hold"];
