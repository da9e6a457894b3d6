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
    /// Says that a text has what follows: "mentions".
    Mentions,
    /// Before a number that identifies something: "number 3".
    Numbered,
    /// Makes several of a kind: "todo list".
    Listing,
    /// Asks for today's date.
    AsksDay,
    /// Asks for the time.
    AsksTime,
    /// Hands something over: "give it to Tom".
    Gives,
    /// Gives something other values, whatever it is: "set", "make".
    Alters,
    /// Says that something can be had: "free".
    Available,
    /// What follows is a reason.
    Because,
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
    /// Asks whether the assistant is able to do something.
    CanYou,
    /// Asks what was asked before.
    AskedBefore,
    /// Politeness or filler in a request.
    Filler,
    /// Asks for a number.
    Count,
    /// Asks for a thing: "which", "what".
    What,
    /// Begins a question that is answered by yes or no: "does".
    Auxiliary,
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
    /// Asks to write a text down: "note down".
    NotesDown,
    /// Before a text that is written down: "that".
    Introduces,
    /// In the name of a tool: a text that is kept.
    NoteKind,
    /// What a table has: "columns".
    Columns,
    /// What is in a table: "rows".
    Rows,
    /// "last", "latest" before a number: the newest ones.
    Latest,
    /// Gives a thing other values, and needs them: "update".
    Sets,
    /// Makes something new, before "a": "open".
    Opens,
    /// A verb that also says how things are: "the open ones".
    Adjective,
    /// An order by time, the newest first.
    Newest,
    /// In the name of a field: when something was done.
    FieldTime,
    /// In the name of a field: when its record was written.
    FieldRecord,
    /// The largest value of the field that follows: "highest".
    Highest,
    /// The smallest.
    Lowest,
    /// What follows is the field that things are ordered by: "sorted by".
    Sorted,
    /// The same, where the message asks for an order.
    By,
    /// Asks for an order: "sort".
    Sorts,
    /// The largest first.
    Falling,
    /// The smallest first.
    Rising,

    // --- days
    Today,
    Tomorrow,
    Yesterday,
    /// "day after tomorrow".
    DayAfterNext,
    /// "next", before a day or a week.
    Next,
    /// "this", before a week.
    Current,
    /// "last", before a week.
    Previous,
    /// Up to the day that follows.
    Before,
    /// From the day after the one that follows.
    After,
    /// From the day that follows.
    Since,
    /// After a number of days: they have passed.
    Ago,
    UnitDay,
    UnitWeek,
    UnitMonth,

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
    /// What a limit counts: "results".
    SlotCounted,
    /// Start of a page.
    SlotOffset,
    /// Free text to search for.
    SlotSearch,
    /// A pattern.
    SlotPattern,
    /// A path in a file system.
    SlotPath,
    /// A reason or a remark.
    SlotReason,
    /// A person: who something is assigned to.
    SlotPerson,
    /// A place: the town that something is in.
    SlotPlace,
    /// An e-mail address.
    SlotEmail,
    /// In the name of a flag, besides what it says: "open_only", "is_open".
    SlotFlag,
    /// A remark about something, which may be left out: "note", "description".
    SlotRemark,
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
    /// A day.
    SlotDate,
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
    /// What is left out: "exclude".
    SlotWithout,
    /// In the name of a field: how many there are of a thing.
    FieldQuantity,
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
    /// The key of what was made, in a result: "created".
    ResultMade,
    /// After "no" and a few words: "no tasks found".
    Found,
    /// Phrases of a "not found" error.
    NotFound,
    /// Before a word for a thing: there is none of that name.
    Unknown,
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
