//! What a word or phrase can be. The names are the keys of a language file.

use serde::{Deserialize, Serialize};

/// A class of words and phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Says nothing about what a text is about; also tells the language.
    Stop,

    // --- names
    /// Never a name by itself, even with a capital letter.
    Ordinary,
    /// Makes a compound with a word for a type instead of naming one: "site visit".
    Compound,
    /// Days, months, seasons.
    Calendar,
    /// Something that a number before it counts: "2 weeks".
    Unit,
    /// Begins a name but says nothing of it: "the", "new".
    Leading,
    /// Abbreviations with a dot that ends no sentence.
    Abbreviation,
    /// After these, names are made up for the sake of the argument.
    Hypothetical,
    /// Says that an id follows.
    Id,
    /// Says that a name follows: "named".
    Named,

    /// Announces a name that somebody gives: "called".
    Called,

    // --- small words
    /// Begins a phrase about something particular.
    Article,
    /// "a", "an".
    A,
    /// "the".
    The,
    /// Places something inside something else: what follows is not the main thing.
    Placing,
    /// "in", "at": what follows is a place.
    In,
    /// "from": what follows may be a place.
    From,
    /// "of", "for": what follows owns it.
    Of,
    /// "with".
    With,
    /// "to", "into": what follows is where it goes, or what it becomes.
    To,
    /// Joins things.
    And,
    /// Begins a clause.
    Clause,
    /// Denies what follows.
    Not,
    /// "but".
    But,
    /// "all".
    All,

    // --- references
    /// "it".
    It,
    /// "its".
    Its,
    /// "they", "them".
    They,
    /// "their".
    Their,
    /// "that", "this".
    This,
    /// "those", "these".
    These,
    /// "one", after "the second".
    One,
    /// "ones".
    Ones,
    /// "both".
    Both,
    /// "same".
    Same,
    /// "my".
    My,
    /// "I", "me".
    I,
    /// Words for who is spoken to.
    You,
    /// "other".
    Other,
    /// "there": a place spoken of.
    There,
    /// After "the site" these ask for one instead of pointing at one: "of", "where".
    Asking,
    /// May follow "the second" where that is all there is.
    Ending,
    /// Words beside an "it" that means nothing: "it is raining".
    ItFiller,
    /// What such an "it" is.
    ItIs,
    /// What such an "it" does.
    ItDoes,
    /// Before such an "it": "got it".
    ItIdiom,
    /// Forms of "to be" before or after such an "it".
    ItBe,
    /// What may follow "got it".
    ItEnd,
    /// "does".
    Does,
    /// "does it matter".
    DoesIt,

    // --- corrections and answers
    /// At the start: the message before was understood wrongly.
    No,
    /// After that, at once: "no wait".
    Wait,
    /// At the start, where more follows after a pause: "sorry".
    Sorry,
    /// "i mean".
    Mean,
    /// "i meant", "not that": a correction anywhere.
    Meant,
    /// Agrees.
    Yes,
    /// Gives up what was asked.
    Cancel,

    // --- what a message does
    /// Greets, thanks, praises, says goodbye.
    SmallTalk,
    /// Asks what can be done.
    Abilities,
    /// Asks what was asked before.
    AskedBefore,
    /// Makes a request polite, or says nothing in one.
    Filler,
    /// Asks for a number.
    Count,
    /// Asks for a thing: "which", "what".
    What,
    /// Asks for a person.
    Who,
    /// Reports that something was said, not what.
    Saying,
    /// Asks for a place.
    Where,
    /// Asks for a time.
    When,
    /// Asks whether there is one: "any".
    Any,
    /// Asks for all that is known.
    Details,
    /// Goes on with what was asked: "and", "what about".
    Continue,
    /// "the same for".
    SameFor,
    /// "only": narrows what was shown.
    Only,
    /// Goes back to something spoken of before.
    BackTo,
    /// "else": apart from what was shown.
    Else,
    /// Compares with a value that follows.
    Compare,
    /// How things stand to each other: "has", "belongs".
    Relates,
    /// "last", "latest" before a number: the newest ones.
    Latest,
    /// The signs of sums in words: "plus".
    Plus,
    /// "minus".
    Minus,
    /// "times".
    Times,
    /// "divided by".
    Over,
    /// "to the power of".
    Power,

    /// Asks for something to be made or changed.
    Changing,
    /// Asks for something to be looked at.
    Looking,

    // --- words in the names of a tool's parameters
    /// The most that are wanted.
    SlotLimit,
    /// Where a page begins.
    SlotOffset,
    /// A free text to search for.
    SlotSearch,
    /// A parameter that takes a pattern.
    SlotPattern,
    /// A path in a file system.
    SlotPath,
    /// A time zone.
    SlotZone,
    /// Where something comes from.
    SlotFrom,
    /// Where something goes.
    SlotTo,
    /// What is written into something.
    SlotContent,
    /// A sum that is worked out.
    SlotExpression,
    /// Phrases of an error that says that there is no such thing.
    NotFound,
}

/// What kind of act a verb asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Several things are shown.
    List,
    /// One thing is shown.
    Show,
    /// Things are looked for.
    Find,
    /// Something is made.
    Create,
    /// Something is put into something that exists.
    Add,
    /// Something goes.
    Remove,
    /// Something becomes different.
    Change,
}

impl Family {
    /// Whether it only looks.
    pub fn reads(self) -> bool {
        matches!(self, Self::List | Self::Show | Self::Find)
    }
}

/// A sentence to answer with. Places in braces are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// A greeting, thanks or praise is returned.
    SmallTalk,
    /// What was asked for is given up.
    Cancelled,
    /// What can be done: `{what}`.
    Abilities,
    /// What was asked first: `{message}`.
    AskedFirst,
    /// The earliest message at hand, which is not the first: `{message}`.
    AskedEarliest,
    /// What was asked last: `{message}`.
    AskedLast,
    /// Several things fit: `{text}`.
    WhichOne,
    /// One is nearly like it: `{text}`, `{name}`.
    DidYouMean,
    /// Nothing of that name: `{kinds}`, `{text}`.
    NothingCalled,
    /// A value that a field cannot have: `{text}`, `{field}`, `{choices}`.
    NoChoice,
    /// A word that nothing can be filtered by: `{kinds}`, `{text}`, `{hint}`.
    UnknownWord,
    /// A kind of thing that a list cannot be filtered by: `{kinds}`, `{what}`, `{hint}`.
    NotBy,
    /// A comparison that cannot be made: `{kinds}`, `{text}`.
    NoComparison,
    /// A reference without anything before it: `{text}`.
    NoReference,
    /// A list is empty: `{kinds}`, `{filters}`.
    NoneMatch,
    /// A number: `{count}`, `{kinds}`, `{filters}`.
    Counted,
    /// Nothing fits, and what can be done: `{what}`.
    Lost,
    /// What is needed: `{what}`.
    NeedsSlot,
    /// The values that are possible: `{choices}`.
    Possible,
    /// Nothing can do that: `{what}`.
    Cannot,
    /// Words that were not understood: `{understood}`, `{left}`.
    NotUnderstood,
    /// A thing lacks a field: `{thing}`, `{field}`.
    NoField,
    /// A thing has an empty field: `{thing}`, `{field}`.
    EmptyField,
    /// Servers that could not be asked: `{servers}`.
    Unavailable,
    /// Several servers have the same tool: `{servers}`.
    WhichServer,
    /// What the user stated is there to be used: `{what}`.
    Noted,
    /// What the user told before answers the message: `{what}`.
    Told,
    /// What the user told before is about the same thing and may not answer the message: `{what}`.
    ToldNear,
    /// Where something was told: `{session}`, `{turn}`.
    ToldIn,
    /// What is no longer remembered: `{what}`.
    Forgotten,
    /// Nothing is remembered that could be forgotten: `{what}`.
    NothingToForget,
    /// Several things are remembered of which one may be meant: `{what}`, `{known}`.
    ForgetWhich,
    /// There is no way to look for such a thing: `{kinds}`, `{text}`.
    CannotLook,
    /// A list that has to be searched could not be read whole: `{read}`, `{count}`, `{kinds}`, `{text}`.
    ReadInPart,
}
