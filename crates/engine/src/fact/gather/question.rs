//! Messages that ask about facts of the user, or ask to forget one.
//!
//! A question and a statement about the same thing have the same subject in every language. This reads one
//! message without knowing which facts exist.
//!
//! Invariant: a form matches the whole message, so that a question about something else is never mistaken for
//! one.

use super::lexicon::{self, Language};
use super::{Fact, FactKind, subject, without_leads};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The subject of facts that answer it; `*` at the end makes it a prefix.
    subject: String,
    /// Whether it asks for a property of the subject, which a fact about the subject may or may not contain.
    near: bool,
    /// Whether something else may answer it: the words of the subject are the user's own.
    open: bool,
    /// Whether nobody but the user knows the answer: a name, a home, an age.
    personal: bool,
    /// The kind of facts that it asks for, if it asks for one.
    kind: Option<FactKind>,
}

/// What a message asks to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwanted {
    /// What the message before stated.
    JustSaid,
    About {
        /// The thing in the user's words.
        what: String,
        /// The thing as subjects of facts.
        subjects: Vec<Question>,
    },
}

impl Question {
    /// A question about a subject in the user's own words.
    fn about(subject: String) -> Self {
        Self { subject, near: false, open: true, personal: false, kind: None }
    }

    /// Whether a fact answers it.
    pub(crate) fn is_answered_by(&self, fact: &Fact) -> bool {
        !self.near && self.is_about(fact)
    }

    /// Whether a fact is about the thing or a part of it, without certainly answering the question.
    pub(crate) fn is_near(&self, fact: &Fact) -> bool {
        if self.near {
            return self.is_about(fact);
        }
        self.is_narrowed_by(fact)
    }

    /// Whether a fact is about something else with the same words and more: "my name", "my mother's name".
    pub(crate) fn is_narrowed_by(&self, fact: &Fact) -> bool {
        let Some(other) = fact.subject.as_deref().filter(|_| self.open) else { return false };
        let (own, other) = (subject::words(&self.subject), subject::words(other));
        !own.is_empty() && own.len() < other.len() && own.is_subset(&other)
    }

    /// Whether only facts with its subject can answer it.
    pub(crate) fn is_closed(&self) -> bool {
        !self.open
    }

    /// Whether no tool can answer it.
    pub(crate) fn is_personal(&self) -> bool {
        self.personal
    }

    /// Whether it asks for everything that is known.
    pub(crate) fn is_for_all(&self) -> bool {
        self.subject == "*"
    }

    /// The user's own thing that it is about: "sister" for the name of a sister.
    pub(crate) fn thing(&self) -> Option<String> {
        let subject = self.subject.trim_end_matches('*');
        let thing = subject.rsplit_once(" for ").map_or(subject, |(_, thing)| thing);
        self.open.then(|| thing.to_owned())
    }

    fn is_about(&self, fact: &Fact) -> bool {
        if self.kind.is_some_and(|kind| kind != fact.kind) {
            return false;
        }
        if self.is_for_all() {
            return true;
        }
        let Some(other) = fact.subject.as_deref() else { return false };
        match self.subject.strip_suffix('*') {
            Some(start) => {
                other.starts_with(start) || subject::in_english(other).starts_with(start)
            }
            None => subject::same(&self.subject, other),
        }
    }
}

/// What a message asks about the user's own statements; empty if it asks for something else.
pub(crate) fn asked(message: &str) -> Vec<Question> {
    let found = lexicon::languages_of(message)
        .into_iter()
        .flat_map(|language| questions(language, message));
    let mut found: Vec<Question> = found.collect();
    if found.iter().any(Question::is_closed) {
        found.retain(Question::is_closed);
    }
    found
}

fn questions(language: &Language, text: &str) -> Vec<Question> {
    let text = bare(language, text);
    let found = language.questions.iter().filter_map(|form| {
        let groups = form.asks.captures(text)?;
        let mut subject = subject::from_template(language, &form.subject, &groups);
        if form.subject.ends_with('*') {
            subject = format!("{}*", subject.trim_end_matches([' ', '*']));
        }
        Some(Question {
            subject,
            near: form.near,
            open: form.subject.contains("{what}"),
            personal: !form.subject.contains('{'),
            kind: form.kind,
        })
    });
    found.collect()
}

/// What a message asks to forget, if it asks for nothing else.
pub(crate) fn unwanted(message: &str) -> Option<Unwanted> {
    lexicon::languages_of(message).into_iter().find_map(|language| {
        let text = bare(language, message);
        if language.forget_that.is_match(text) {
            return Some(Unwanted::JustSaid);
        }
        let groups = language.forget.iter().find_map(|form| form.captures(text))?;
        let what = groups.name("what")?.as_str().to_owned();
        let mut subjects = questions(language, &what);
        // "that I'm allergic to nuts" has the subject of the statement.
        let told = language.forget_told.iter().find_map(|told| told.of(&what));
        let stated = told.iter().flat_map(|told| super::claims(told)).filter_map(|it| it.subject);
        subjects.extend(stated.map(Question::about));
        subjects.extend(questions(language, &language.forget_asks.replace("{what}", &what)));
        subjects.push(Question::about(subject::normalised(language, &what)));
        Some(Unwanted::About { what, subjects })
    })
}

fn bare<'t>(language: &Language, text: &'t str) -> &'t str {
    without_leads(language, text.trim()).trim_end_matches(['.', '!', '?', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The subjects a question asks for, `~` before those of which it asks for a property.
    fn check(message: &str, expected: &str) {
        let mark = |it: &Question| if it.near { "~" } else { "" };
        let asked = asked(message);
        let shown: Vec<String> =
            asked.iter().map(|it| format!("{}{}", mark(it), it.subject)).collect();
        assert_eq!(shown.join(" | "), expected, "{message:?}");
    }

    #[test]
    fn a_question_has_the_subject_of_its_statement_in_any_language() {
        check("What's my name?", "user name");
        check("so what am I called?", "user name");
        check("Wie heiße ich?", "user name");
        check("Und wie ist mein Name?", "user name");
        check("Wo wohne ich denn?", "home");
        check("what do I do for a living?", "job | profession*");
        check("Wogegen bin ich allergisch?", "allergy*");
        check("How old am I?", "age");
        check("Wie heißt mein Hund?", "hund");
        check("What is my mother called?", "mother | name for mother");
        check("what colour is my car?", "~car");
        check("Which instrument do I play?", "i play*");
        check("Welches Instrument spiele ich?", "i play*");
        check("Where does my brother live?", "brother live*");
        check("Wo wohnt mein Bruder?", "bruder wohn*");
        check("where do we keep the spare fuses?", "place for spare fuses");
        check("how old is my daughter?", "daughter age | ~daughter");
        check("What is my daughter studying?", "daughter stud* | daughter studying");
        check("Who does my taxes?", "~accountant");
        check("Where did I spend my childhood?", "origin | ~birth");
        check("Is there anything I can't eat?", "~allergy* | ~having* | ~diet");
    }

    #[test]
    fn a_statement_in_another_language_answers_by_its_subject() {
        assert!(subject::in_english("tochter studiert medizin").starts_with("daughter stud"));
    }

    #[test]
    fn a_common_thing_is_the_same_in_two_languages() {
        assert!(subject::same("schwester", "sister"));
        assert!(!subject::same("schwester", "brother"));
    }

    #[test]
    fn other_questions_have_none() {
        for message in [
            "What is the name of my ship's captain and where is he?",
            "Who won?",
            "Where do they live?",
        ] {
            assert!(asked(message).iter().all(|it| it.open), "{message:?}");
        }
        check("where does my code fail?", "");
        check("Wie heißt die Hauptstadt?", "");
    }

    #[test]
    fn what_is_to_be_forgotten_is_named_or_was_just_said() {
        let what = |message: &str| match unwanted(message) {
            Some(Unwanted::JustSaid) => "that".to_owned(),
            Some(Unwanted::About { what, .. }) => what,
            None => "-".to_owned(),
        };
        let told = [
            ("forget my locker number", "my locker number"),
            ("Please forget that.", "that"),
            ("Forget what I told you about my knee, please", "my knee"),
            ("please forget where I live", "where I live"),
            ("Vergiss mein Lieblingsessen.", "mein Lieblingsessen"),
            ("Vergiss das bitte wieder", "that"),
            ("don't forget my birthday", "-"),
            ("I always forget my keys", "-"),
            ("forget everything about me", "-"),
            ("Vergiss nicht, dass ich Veganer bin", "-"),
        ];
        for (message, expected) in told {
            assert_eq!(what(message), expected, "{message:?}");
        }
        let asked = unwanted("Forget what I told you about my name");
        let Some(Unwanted::About { subjects, .. }) = asked else { panic!("{asked:?}") };
        assert!(subjects.iter().any(|subject| subject.subject == "user name"), "{subjects:?}");
    }
}
