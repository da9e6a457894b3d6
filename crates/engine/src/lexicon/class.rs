//! Classes of words and phrases. The names are the keys of a language file.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Stop word; also identifies the language.
    Stop,

    // --- names
    /// Never a name by itself, even if capitalised.
    Ordinary,
    /// Forms a compound with a type word instead of being a name: "site visit".
    Compound,
    /// Days, months, seasons.
    Calendar,
    /// A unit counted by a number: "2 weeks".
    Unit,
    /// Starts a name but is not part of it: "the", "new".
    Leading,
    /// Abbreviations whose dot does not end a sentence.
    Abbreviation,
    /// Marks the names that follow as made up.
    Hypothetical,
    /// Announces an id.
    Id,
    /// Announces a name: "named".
    Named,

    /// Announces a name that somebody gives: "called".
    Called,

    // --- small words
    /// Starts a phrase about something particular.
    Article,
    /// "a", "an".
    A,
    /// "the".
    The,
    /// Locates something inside something else: what follows is not the main entity.
    Placing,
    /// "in", "at": what follows is a place.
    In,
    /// "from": what follows may be a place.
    From,
    /// "of", "for": what follows is the owner.
    Of,
    /// "with".
    With,
    /// "to", "into": what follows is the destination or new value.
    To,
    And,
    /// Starts a clause.
    Clause,
    /// Leads to the next request: "then".
    Then,
    /// Negates what follows.
    Not,
    /// "isn't": negates what follows, unless a question begins with it.
    Isnt,
    /// "but".
    But,
    /// "all".
    All,
    /// Leaves out what follows: "except".
    Except,
    /// What follows is taken one by one: "each", "per".
    Each,
    /// Each thing of a kind: "every".
    Every,
    /// One of several is meant: "or", "one of".
    Or,
    /// Begins a question to oneself: "should I".
    Deliberates,
    /// Words that hand over a statement to run: "run this".
    Runs,

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
    /// Addresses the assistant.
    You,
    /// "other".
    Other,
    /// "there": a place mentioned before.
    There,
    /// After "the site" these ask for one instead of referring to one: "of", "where".
    Asking,
    /// May follow "the second" without a noun.
    Ending,
    /// Words next to an expletive "it": "it is raining".
    ItFiller,
    /// What an expletive "it" is.
    ItIs,
    /// What an expletive "it" does.
    ItDoes,
    /// Before an expletive "it": "got it".
    ItIdiom,
    /// Forms of "to be" before or after an expletive "it".
    ItBe,
    /// What may follow "got it".
    ItEnd,
    /// "does".
    Does,
    /// "does it matter".
    DoesIt,

    // --- corrections and answers
    /// At the start: the previous message was misunderstood.
    No,
    /// Directly after that: "no wait".
    Wait,
    /// At the start, if more follows after a pause: "sorry".
    Sorry,
    /// "i mean".
    Mean,
    /// "i meant", "not that": a correction anywhere.
    Meant,
    Yes,
    /// Withdraws a request.
    Cancel,

    // --- what a message does
    /// Greets, thanks, praises, says goodbye.
    SmallTalk,
    /// Asks what the assistant can do.
    Abilities,
    /// Asks what was asked before.
    AskedBefore,
    /// Politeness or filler in a request.
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
    /// Asks whether something exists: "any".
    Any,
    /// Asks for all details.
    Details,
    /// Continues the previous request: "and", "what about".
    Continue,
    /// "the same for".
    SameFor,
    /// "only": narrows the last result.
    Only,
    /// Returns to an earlier topic.
    BackTo,
    /// "else": other than what was shown.
    Else,
    /// Compares with the value that follows.
    Compare,
    /// More than the number that follows.
    More,
    /// Less than the number that follows.
    Less,
    /// "at least", "at most": that number too.
    OrEqual,
    /// What a number measures, before a comparison: "worth".
    Measure,
    /// The least value, in the name of a parameter.
    SlotLeast,
    /// The most.
    SlotMost,
    /// "she", "him".
    Person,
    /// A kind of people: "contact".
    PersonKind,
    /// A relation between things: "has", "belongs".
    Relates,
    /// "last", "latest" before a number: the newest ones.
    Latest,
    /// An order by time, the newest first.
    Newest,
    /// In the name of a field: when something was done.
    FieldTime,
    /// Arithmetic in words: "plus".
    Plus,
    /// "minus".
    Minus,
    /// "times".
    Times,
    /// "divided by".
    Over,
    /// "to the power of".
    Power,

    /// Asks to create or change something.
    Changing,
    /// Asks to look at something.
    Looking,

    // --- words in the names of a tool's parameters
    /// Maximum number of results.
    SlotLimit,
    /// Start of a page.
    SlotOffset,
    /// Free text to search for.
    SlotSearch,
    /// A pattern.
    SlotPattern,
    /// A path in a file system.
    SlotPath,
    /// A person: who something is assigned to.
    SlotPerson,
    /// A folder.
    Folder,
    /// A word for a file.
    File,
    /// Things of one sort taken together: "board".
    Collection,
    /// The first part of a time zone's name.
    ZoneArea,
    /// Adds numbers up.
    Sum,
    /// A time zone.
    SlotZone,
    /// A source.
    SlotFrom,
    /// A destination.
    SlotTo,
    /// Content to write.
    SlotContent,
    /// The sort of a thing: "type".
    SlotSort,
    /// What a tool does: "mode".
    SlotMode,
    /// Says how a thing is called or what it contains, so it does not identify the thing.
    SlotPlain,
    /// Makes a word say that something is not so: "unavailable".
    NegativePrefix,
    /// Who has something, besides the kinds of people.
    Holder,
    /// The end of a verb that is written in two parts: "lies … vor".
    Particle,
    /// An arithmetic expression.
    SlotExpression,
    /// After "no" and a few words: "no tasks found".
    Found,
    /// Phrases of a "not found" error.
    NotFound,
    /// Before a colon: what follows went wrong.
    Error,
}

/// The kind of action a verb asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Show several things.
    List,
    /// Show one thing.
    Show,
    /// Search.
    Find,
    Create,
    /// Add to something that exists.
    Add,
    Remove,
    Change,
}

impl Family {
    /// Whether it is read-only.
    pub fn reads(self) -> bool {
        matches!(self, Self::List | Self::Show | Self::Find)
    }
}

/// A sentence to reply with. Placeholders in braces are filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// Returns a greeting, thanks or praise.
    SmallTalk,
    /// The request is withdrawn.
    Cancelled,
    /// What the assistant can do: `{what}`.
    Abilities,
    /// The first message: `{message}`.
    AskedFirst,
    /// The earliest message available, which is not the first: `{message}`.
    AskedEarliest,
    /// The last message: `{message}`.
    AskedLast,
    /// Several things match: `{text}`.
    WhichOne,
    /// One is similar: `{text}`, `{name}`.
    DidYouMean,
    /// Nothing of that name: `{kinds}`, `{text}`.
    NothingCalled,
    /// A value that a field does not allow: `{text}`, `{field}`, `{choices}`.
    NoChoice,
    /// A word that cannot be used as a filter: `{kinds}`, `{text}`, `{hint}`.
    UnknownWord,
    /// A type that a list cannot be filtered by: `{kinds}`, `{what}`, `{hint}`.
    NotBy,
    /// A comparison that cannot be made: `{kinds}`, `{text}`.
    NoComparison,
    /// A reference without an antecedent: `{text}`.
    NoReference,
    /// A list is empty: `{kinds}`, `{filters}`.
    NoneMatch,
    /// A number: `{count}`, `{kinds}`, `{filters}`.
    Counted,
    /// The newest of a list: `{count}`, `{all}`, `{kinds}`, `{filters}`.
    NewestOf,
    /// Numbers by group: `{kinds}`, `{group}`, `{filters}`.
    CountedBy,
    /// Nothing matches; lists what can be done: `{what}`.
    Lost,
    /// A missing value: `{what}`.
    NeedsSlot,
    /// Possible values: `{choices}`.
    Possible,
    /// No tool can do that: `{what}`.
    Cannot,
    /// Tools can do something of the sort, but the words do not fit them: `{what}`, `{can}`.
    CannotSo,
    /// The message forbids a change.
    Forbidden,
    /// The message weighs a change and does not ask for it.
    Deliberated,
    /// A change that leaves something out.
    Excepted,
    /// A change of one of several.
    WhichOfThem,
    /// Words that were not understood: `{understood}`, `{left}`.
    NotUnderstood,
    /// A thing lacks a field: `{thing}`, `{field}`.
    NoField,
    /// A thing has an empty field: `{thing}`, `{field}`.
    EmptyField,
    /// Servers that are unavailable: `{servers}`.
    Unavailable,
    /// Several servers have the same tool: `{servers}`.
    WhichServer,
    /// A statement of the user was stored: `{what}`.
    Noted,
    /// It was not stored, because there is no room: `{limit}`.
    MemoryFull,
    /// An earlier statement of the user answers the message: `{what}`.
    Told,
    /// An earlier statement of the user is related but may not answer the message: `{what}`.
    ToldNear,
    /// The message asks for something about the user that was never stated.
    NotTold,
    /// Where it was stated: `{session}`, `{turn}`.
    ToldIn,
    /// What was forgotten: `{what}`.
    Forgotten,
    /// What the message before stated was forgotten.
    ForgottenThat,
    /// Nothing to forget was found: `{what}`.
    NothingToForget,
    /// Several facts may be meant: `{what}`, `{known}`.
    ForgetWhich,
    /// No tool can search for such a thing: `{kinds}`, `{text}`.
    CannotLook,
    /// A list could not be read completely: `{read}`, `{count}`, `{kinds}`, `{text}`.
    ReadInPart,
}
