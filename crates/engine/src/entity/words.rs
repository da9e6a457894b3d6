//! Words of the language, as opposed to words of a domain, which are in packs.
//!
//! English only: another language's function words are not in the way, because nothing here makes a
//! mention by itself; it only keeps ordinary words from being taken for names.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that are never a name by themselves, even with a capital letter at the start of a sentence.
pub(super) fn is_ordinary(lower: &str) -> bool {
    ORDINARY.contains(lower)
}

/// Nouns that make a compound with a cue instead of naming one: "site visit", "device manager".
pub(super) fn follows_as_noun(lower: &str) -> bool {
    COMPOUNDS.contains(lower)
}

/// Days and months, which "in" and "at" place in time.
pub(super) fn is_calendar(lower: &str) -> bool {
    let names = "monday tuesday wednesday thursday friday saturday sunday january february march april \
                 may june july august september october november december spring summer autumn winter";
    names.split_whitespace().any(|name| name == lower)
}

/// Prepositions that place something inside something else: what follows is not the main thing.
pub(super) fn is_placing(lower: &str) -> bool {
    matches!(
        lower,
        "in" | "at"
            | "on"
            | "from"
            | "of"
            | "within"
            | "inside"
            | "under"
            | "to"
            | "into"
            | "for"
            | "with"
            | "behind"
            | "via"
    )
}

/// Words that begin a phrase about something particular.
pub(super) fn is_article(lower: &str) -> bool {
    matches!(lower, "the" | "a" | "an" | "my" | "our" | "your" | "this" | "that" | "same" | "new")
}

/// Phrases after which names are made up for the sake of the argument.
pub(super) const HYPOTHETICAL: [&str; 19] = [
    "e.g",
    "eg",
    "for example",
    "for instance",
    "imagine",
    "suppose",
    "supposing",
    "hypothetical",
    "hypothetically",
    "let's say",
    "lets say",
    "say we had",
    "if there were",
    "if there was",
    "if we had",
    "if i had",
    "something like",
    "pretend",
    "such as",
];

/// The number that an ordinal means, from 1; 0 is the last.
pub(super) fn ordinal(lower: &str) -> Option<usize> {
    let words = [
        "last", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
        "ninth", "tenth",
    ];
    let figures = ["", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th"];
    let at = |list: &[&str]| list.iter().position(|word| *word == lower);
    at(&words).or_else(|| at(&figures))
}

/// The number that a word or figures mean, up to a hundred.
pub(super) fn cardinal(lower: &str) -> Option<usize> {
    let words =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelt = words.iter().position(|word| *word == lower);
    spelt.or_else(|| lower.parse().ok().filter(|number| (1..=100).contains(number)))
}

static ORDINARY: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ORDINARY_TEXT.split_whitespace().collect());
const ORDINARY_TEXT: &str = "
    a about above access across active actually add after again against ago all allocate
    already also always am an and another any anything are as ask assign at attach available
    away back be because been before behind being belong belongs best between both broken
    build but by call called can can't cannot change check compare configure connect
    connected contains correct could count create delete describe details did disable
    disconnect display do does don't done down draw during each edit eg either else empty
    enable every everything exactly exists failed failing fetch few find fine first fix for
    free from full get give go good great had has have having he hello help her here hey hi
    his hosts how however i if in inside into is isn't it its just keep know last later
    leave left let like list located look make many me might more most move much must my
    named need needs never new next no none nope not nothing now of off offline ok okay old
    on once one online only open or other our out over own per please print provision pull
    put reachable read ready really regarding remove rename replace report restart right run
    running said same save say says search second see select send set shall she should show
    since so some something soon sorry space start still stop such summarise summarize sure
    take tell than thank thanks that the their them then there these they things third this
    those through to today together tomorrow tonight too two under until up update us use
    used uses using very via visit want was we well were what whats when where whether which
    while who whose why will with within without won't would wrong yes yesterday yet you
    your
";

static COMPOUNDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| COMPOUNDS_TEXT.split_whitespace().collect());
const COMPOUNDS_TEXT: &str = "
    access admin answer answers area bay builder built capacity code config configuration
    connection count data design details diagram down driver drivers elevation engine
    engineer error errors failure farm feeds filled group groups id ids info information
    inventory issue issues layout lease list lists management manager managers map mask mode
    model models monitoring mounted mounts name names number numbers overview owner owners
    page per plan planning policy position power preparation problem problems queue rails
    range ranges reload report reports result results role roles room rooms scan scanner
    security side slot slots space speed status step steps summary support survey switch
    switches table template templates test tests tool tools traffic type types unit units
    update updates uplink usage user users utilisation utilization view visit visits walk
";
