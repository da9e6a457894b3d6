//! Sentences to reply with. The names are the keys of a language file.

use serde::Deserialize;

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
    /// There was no message before.
    AskedNothing,
    /// Today's date: `{date}`.
    Today,
    /// The time: `{time}`.
    Now,
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
    /// A list in an order, the largest first: `{count}`, `{all}`, `{kinds}`, `{filters}`, `{field}`.
    Falling,
    /// The same, the smallest first.
    Rising,
    /// Nothing matches; lists what can be done: `{what}`.
    Lost,
    /// A missing value: `{what}`.
    NeedsSlot,
    /// Possible values: `{choices}`.
    Possible,
    /// A tool can do that, with what it needs: `{what}`.
    Able,
    /// No tool can do that: `{what}`.
    Cannot,
    /// Tools can do something of the sort, but the words do not fit them: `{what}`, `{can}`.
    CannotSo,
    /// No tool answers a question: `{left}`, `{what}`.
    NoAnswer,
    /// A message goes on with one that was not understood.
    GoesOn,
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
    /// Words that were not understood, which may be left out: `{understood}`, `{left}`.
    LeftOut,
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
    /// No tool and no earlier message answers.
    NoTool,
    /// No earlier message answers.
    NothingEarlier,
    /// No model was used: `{why}`.
    WithoutModel,
    /// Leads to what was said earlier.
    SaidEarlier,
    /// A call was not approved.
    NotApproved,
    /// A file or folder does not exist: `{path}`.
    NoSuchPath,
    /// The rows of a table are read by a statement only: `{text}`, `{statement}`.
    RowsByStatement,
    /// No tool can search for such a thing: `{kinds}`, `{text}`.
    CannotLook,
    /// A list could not be read completely: `{read}`, `{count}`, `{kinds}`, `{text}`.
    ReadInPart,
}
