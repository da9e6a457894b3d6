//! The words that indicate a change, one file per language in `lexicon/effects/`.
//!
//! English verbs are inflected here; other languages list their forms. A superfluous word costs a question, a
//! missing one may cost more.
//!
//! Invariant: all words are folded ([`super::fold`]).

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::fold::fold;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `delete`
    Base,
    /// `deletes`
    Third,
    /// `deleting`
    Gerund,
    /// `deleted`
    Past,
}

/// A form of a verb of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verb {
    pub form: Form,
    /// Whether the word is also a noun.
    pub noun: bool,
    /// Whether its passive indicates a change.
    pub strong: bool,
}

pub(super) struct English {
    verbs: HashMap<String, Verb>,
    /// Ways to say that something is gone afterwards.
    phrases: Vec<String>,
    classes: HashMap<&'static str, HashSet<String>>,
}

/// A language other than English.
pub(super) struct Language {
    verbs: HashSet<String>,
    negations: HashSet<String>,
    marks: HashSet<String>,
}

/// Languages without spaces.
pub(super) struct Stems {
    stems: Vec<String>,
    past: Vec<String>,
    before_past: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Text(String),
    Entries(Vec<String>),
}

impl List {
    fn words(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.split_whitespace().map(fold).collect(),
            Self::Entries(entries) => entries.iter().map(|entry| fold(entry)).collect(),
        }
    }
}

const ENGLISH: &str = include_str!("../../lexicon/effects/en.toml");
const OTHERS: [&str; 16] = [
    include_str!("../../lexicon/effects/cs.toml"),
    include_str!("../../lexicon/effects/de.toml"),
    include_str!("../../lexicon/effects/es.toml"),
    include_str!("../../lexicon/effects/fi.toml"),
    include_str!("../../lexicon/effects/fr.toml"),
    include_str!("../../lexicon/effects/hu.toml"),
    include_str!("../../lexicon/effects/id.toml"),
    include_str!("../../lexicon/effects/it.toml"),
    include_str!("../../lexicon/effects/nl.toml"),
    include_str!("../../lexicon/effects/pl.toml"),
    include_str!("../../lexicon/effects/pt.toml"),
    include_str!("../../lexicon/effects/ro.toml"),
    include_str!("../../lexicon/effects/ru.toml"),
    include_str!("../../lexicon/effects/sv.toml"),
    include_str!("../../lexicon/effects/tr.toml"),
    include_str!("../../lexicon/effects/uk.toml"),
];
const STEMS: &str = include_str!("../../lexicon/effects/cjk.toml");

static WORDS: LazyLock<English> = LazyLock::new(|| English::read(&lists(ENGLISH)));
static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |text: &&str| {
        let lists = lists(text);
        let set =
            |key: &str| lists.get(key).map(List::words).unwrap_or_default().into_iter().collect();
        Language { verbs: set("verbs"), negations: set("negations"), marks: set("marks") }
    };
    OTHERS.iter().map(read).collect()
});
static WITHOUT_SPACES: LazyLock<Stems> = LazyLock::new(|| {
    let lists = lists(STEMS);
    let all = |key: &str| lists.get(key).map(List::words).unwrap_or_default();
    Stems { stems: all("stems"), past: all("past"), before_past: all("before_past") }
});

fn lists(text: &str) -> HashMap<String, List> {
    toml::from_str(text).expect("the shipped words can be read")
}

pub(super) fn english() -> &'static English {
    &WORDS
}

/// The other languages with spaces.
pub(super) fn languages() -> &'static [Language] {
    &LANGUAGES
}

/// The languages without spaces, and Arabic.
pub(super) fn stems() -> &'static Stems {
    &WITHOUT_SPACES
}

/// Irregular past forms.
const IRREGULAR: [(&str, &str); 16] = [
    ("overwrite", "overwritten"),
    ("rewrite", "rewritten"),
    ("write", "written"),
    ("send", "sent"),
    ("resend", "resent"),
    ("pay", "paid"),
    ("sell", "sold"),
    ("undo", "undone"),
    ("withdraw", "withdrawn"),
    ("put", "put"),
    ("set", "set"),
    ("reset", "reset"),
    ("unset", "unset"),
    ("cut", "cut"),
    ("rebuild", "rebuilt"),
    ("shred", "shredded"),
];

impl English {
    fn read(lists: &HashMap<String, List>) -> Self {
        let all = |key: &str| lists.get(key).map(List::words).unwrap_or_default();
        let strong: HashSet<String> = all("strong").into_iter().collect();
        let mut verbs = HashMap::new();
        for (key, noun) in [("verbs", false), ("also_nouns", true)] {
            for verb in all(key) {
                let strong = strong.contains(&verb);
                for (word, form) in forms(&verb) {
                    verbs.entry(word).or_insert(Verb { form, noun, strong });
                }
            }
        }
        for act in all("acts") {
            verbs.entry(act).or_insert(Verb { form: Form::Base, noun: true, strong: false });
        }
        const CLASSES: [&str; 21] = [
            "messages",
            "reading",
            "about",
            "determiners",
            "prepositions",
            "conjunctions",
            "be",
            "perfect",
            "modals",
            "negations",
            "questions",
            "relatives",
            "adverbs",
            "marks",
            "homographs",
            "places",
            "widening",
            "destinations",
            "objects",
            "listed",
            "imperatives",
        ];
        let classes = CLASSES.map(|class| (class, all(class).into_iter().collect()));
        Self { verbs, phrases: all("phrases"), classes: classes.into() }
    }

    /// The phrase of a text that says that something is gone afterwards.
    pub(super) fn phrase(&self, text: &str) -> Option<&str> {
        self.phrases.iter().find(|phrase| text.contains(phrase.as_str())).map(String::as_str)
    }

    /// The form of a verb of change that a word is, if any.
    /// What reverses a change is one: `unarchive`.
    pub(super) fn verb(&self, word: &str) -> Option<Verb> {
        let reversed = || word.strip_prefix("un").filter(|base| base.len() >= 3);
        self.verbs.get(word).or_else(|| self.verbs.get(reversed()?)).copied()
    }

    pub(super) fn is(&self, class: &'static str, word: &str) -> bool {
        self.classes.get(class).is_some_and(|words| words.contains(word))
    }

    /// Whether a word is a reading verb, in any form.
    pub(super) fn reads(&self, word: &str) -> bool {
        let base = word.strip_suffix('s').unwrap_or(word);
        let shorter = base.strip_suffix('e').unwrap_or(base);
        [word, base, shorter].iter().any(|form| self.is("reading", form))
    }
}

fn forms(verb: &str) -> Vec<(String, Form)> {
    let third = match verb {
        y if y.ends_with('y') && !y.ends_with("ay") && !y.ends_with("oy") => {
            format!("{}ies", &y[..y.len() - 1])
        }
        s if ["s", "x", "sh", "ch", "z", "o"].iter().any(|end| s.ends_with(end)) => {
            format!("{s}es")
        }
        plain => format!("{plain}s"),
    };
    let doubled = doubles(verb);
    let stem = match verb {
        e if e.ends_with('e') && !e.ends_with("ee") => &e[..e.len() - 1],
        plain => plain,
    };
    let last = if doubled { verb.chars().next_back() } else { None };
    let last: String = last.into_iter().collect();
    let gerund = format!("{stem}{last}ing");
    let past = IRREGULAR.iter().find(|(base, _)| *base == verb).map(|(_, past)| (*past).to_owned());
    let past = past.unwrap_or_else(|| match verb {
        y if y.ends_with('y') && !y.ends_with("ay") => format!("{}ied", &y[..y.len() - 1]),
        _ => format!("{stem}{last}ed"),
    });
    vec![
        (verb.to_owned(), Form::Base),
        (third, Form::Third),
        (gerund, Form::Gerund),
        (past, Form::Past),
    ]
}

/// Whether the last consonant is doubled: `drop`, `submit`, not `open` or `cancel`.
fn doubles(verb: &str) -> bool {
    const DOUBLED: [&str; 20] = [
        "drop", "ban", "pop", "cut", "set", "put", "stop", "submit", "reset", "unset", "tag",
        "plug", "pin", "ship", "commit", "mv", "swap", "scrub", "shred", "dim",
    ];
    DOUBLED.contains(&verb)
}

impl Language {
    /// Whether a word is a form of a verb of change.
    pub(super) fn changes(&self, word: &str) -> bool {
        self.verbs.contains(word)
    }

    /// Whether a word negates what follows.
    pub(super) fn negates(&self, word: &str) -> bool {
        self.negations.contains(word)
    }

    /// The number of words that identify this language.
    pub(super) fn marks(&self, words: &[&str]) -> usize {
        words
            .iter()
            .filter(|word| self.marks.contains(**word) || self.verbs.contains(**word))
            .count()
    }
}

impl Stems {
    /// Whether the text has a stem of change that does not only refer to the past.
    pub(super) fn change(&self, text: &str) -> bool {
        self.stems.iter().any(|stem| {
            text.match_indices(stem.as_str()).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + stem.len()..]);
                let past = self.past.iter().any(|past| after.starts_with(past.as_str()));
                !past && !self.before_past.iter().any(|past| before.ends_with(past.as_str()))
            })
        })
    }

    /// Whether a letter is of a script that the stems cover.
    pub(super) fn cover(&self, letter: char) -> bool {
        matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
            | '\u{600}'..='\u{6ff}' | '\u{590}'..='\u{5ff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_known_in_all_their_forms() {
        let form = |word: &str| english().verb(word).map(|verb| (verb.form, verb.noun));
        assert_eq!(form("deletes"), Some((Form::Third, false)));
        assert_eq!(form("modifies"), Some((Form::Third, false)));
        assert_eq!(form("overwriting"), Some((Form::Gerund, false)));
        assert_eq!(form("dropped"), Some((Form::Past, true)));
        assert_eq!(form("sent"), Some((Form::Past, false)));
        assert_eq!(form("posts"), Some((Form::Third, true)));
        assert_eq!(form("address"), None);
    }

    #[test]
    fn what_was_done_already_is_no_act() {
        assert!(stems().change("指定したファイルを完全に削除します"));
        assert!(!stems().change("削除されたファイルを表示します"));
        assert!(!stems().change("列出已删除的文件"));
    }
}
