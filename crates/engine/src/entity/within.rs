//! Names recognised by location: "devices in Amsterdam", "which projects are there in Retail".
//!
//! The pack says what things of a type are located in. Nothing else in the message tells the type of the place,
//! so this applies only to words that look like a name, after known names. If not even the things are named
//! ("what do we have in Amsterdam?"), it is a guess for a look-up.

use super::mention::{Guess, How, Mention};
use super::notice::Reading;
use super::token::{Gap, Shape};
use crate::lexicon::Class;
use crate::pack::Kind;
use crate::weights;

/// Maximum words between a cue or name and its place.
const REACH_WORDS: usize = 6;
const PLACE_WORDS_MAX: usize = 3;
/// Maximum guesses per message, because each costs a look-up.
const GUESSES_MAX: usize = 2;

pub(super) fn read(reading: &mut Reading<'_>) {
    let bare = reading.bare_cues.iter().map(|cue| (cue.at + cue.words, cue.entity_type));
    let named = reading.noticed.mentions.iter().filter_map(|mention| {
        let after = reading.tokens.partition_point(|token| token.span.start < mention.span.end);
        Some((after, reading.packs.entity_type(&mention.kind)?))
    });
    let mut found = Vec::new();
    for (from, entity_type) in bare.chain(named) {
        let Some(kind) = &entity_type.within else { continue };
        let to = (from + REACH_WORDS).min(reading.tokens.len());
        let clause = (from..to).take_while(|at| reading.tokens[*at].gap == Gap::Space);
        // Only function words may separate things and their place: not "the firewall scene in".
        let small = |at: &usize| reading.is_at(*at, Class::Ordinary);
        let mut places = clause.take_while(small).filter(|at| reading.is_at(*at, Class::In));
        if let Some((first, words)) = places.find_map(|at| place_after(reading, at)) {
            found.push((kind.clone(), first, words));
        }
    }
    for (kind, first, words) in found {
        if !reading.taken[first] {
            mention(reading, kind, first, words);
        }
    }
}

/// Places without a word for what is in them: recorded as guesses, not as mentions.
pub(super) fn guess(reading: &mut Reading<'_>) {
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in reading.packs.types().iter().filter_map(|entity_type| entity_type.within.as_ref()) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    let mut guesses = Vec::new();
    for at in 0..reading.tokens.len() {
        let placing = reading.is_at(at, Class::In) || reading.is_at(at, Class::From);
        if !placing || reading.is_hypothetical(at) || guesses.len() == GUESSES_MAX {
            continue;
        }
        let Some((first, words)) = place_after(reading, at) else { continue };
        let span = reading.span(first, words);
        let text = reading.message[span.start..span.end].to_owned();
        guesses.push(Guess { text, span, kinds: kinds.clone() });
    }
    reading.noticed.guesses = guesses;
}

/// The place after the preposition at `at`: its first word and its number of words.
fn place_after(reading: &Reading<'_>, at: usize) -> Option<(usize, usize)> {
    let first = at + 1;
    let looks = |at: usize| {
        let token = reading.tokens.get(at).filter(|token| token.gap == Gap::Space)?;
        reading.work(1);
        let free = !reading.taken[at] && reading.is_own(at) && reading.cue_at(at).is_none();
        let calendar = reading.is(Class::Calendar, &token.lower);
        (free && !calendar && token.shape == Shape::Capitalised).then_some(token)
    };
    let words = (first..first + PLACE_WORDS_MAX).take_while(|at| looks(*at).is_some()).count();
    if words == 0 {
        let token = reading.tokens.get(first).filter(|token| token.gap == Gap::Space)?;
        let free = !reading.taken[first] && reading.is_own(first);
        return (free && is_short_code(token.text)).then_some((first, 1));
    }
    let ordinary = words == 1 && reading.is_at(first, Class::Ordinary);
    (!ordinary).then_some((first, words))
}

/// A site code: a few letters, then one or two digits.
fn is_short_code(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = text.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    (3..=5).contains(&letters) && (1..=2).contains(&digits) && letters + digits == text.len()
}

fn mention(reading: &mut Reading<'_>, kind: Kind, first: usize, words: usize) {
    let span = reading.span(first, words);
    let name = reading.message[span.start..span.end].to_owned();
    reading.take(first, words);
    let (how, confidence) = (How::Cue, weights::NAME_PLACE);
    reading.mention(Mention { kind, name, id: None, entity: None, span, how, confidence });
}
