//! Guesses the language of a text, to stem its words.
//!
//! A heuristic from script and function words, not a language detector: it costs microseconds, and a wrong guess
//! only means that an inflected form is found by its exact spelling.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::Algorithm;
use throughline_engine::search::stem::by_script;

/// Number of words examined to guess a language.
const WORDS_MAX: usize = 80;
/// Number of function words required for a guess.
const HITS_MIN: u32 = 2;

/// Function words that distinguish languages; a shared one counts for each of its languages.
const FUNCTION_WORDS: [(Algorithm, &str); 14] = [
    (Algorithm::English, "the and of to is in that it for you with are this was not on what have"),
    (
        Algorithm::German,
        "der die das und ist nicht ich ein eine mit zu auf für von den wir sind im auch",
    ),
    (
        Algorithm::French,
        "le la les des et est une un dans pour pas que qui sur avec ce je vous nous du",
    ),
    (Algorithm::Spanish, "el la los las de y es en un una que por con no para del se al más está"),
    (Algorithm::Italian, "il lo la gli di e è che un una per con non del della sono si nel anche"),
    (Algorithm::Portuguese, "o a os as de e é em um uma que não para com do da no na por mais"),
    (Algorithm::Dutch, "de het een en is van niet dat ik in op te zijn met voor die er aan"),
    (Algorithm::Swedish, "och det att en ett är som på i för av inte med den till har jag de"),
    (Algorithm::Danish, "og det at en et er som på i for af ikke med den til har jeg de der"),
    (Algorithm::Norwegian, "og det at en et er som på i for av ikke med den til har jeg de å"),
    (Algorithm::Finnish, "ja on ei se että oli hän mutta ovat kun niin myös joka tämä sen minä"),
    (Algorithm::Hungarian, "a az és hogy nem egy is van ez azt meg de csak már volt ha"),
    (Algorithm::Romanian, "și de în la cu nu este un o pe că din care mai să pentru sunt ce"),
    (Algorithm::Turkish, "ve bir bu da de için ile ne çok değil var daha gibi olarak mı ama"),
];

/// The languages of the Latin script that have a stemmer, for queries whose language is unknown.
pub(super) fn all() -> impl Iterator<Item = Algorithm> {
    FUNCTION_WORDS.iter().map(|(language, _)| *language)
}

/// The prefix of a language's terms, so that a stem matches only texts in its own language: the Dutch stem of
/// "open" is "op". English and languages with their own script need none.
pub(super) fn prefix(language: Algorithm) -> Option<char> {
    let number = all().position(|known| known == language).filter(|number| *number > 0)?;
    char::from_u32(u32::from('α') + u32::try_from(number).ok()?)
}

static LANGUAGES_OF_WORD: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut words: HashMap<&str, u32> = HashMap::new();
    for (number, (_, listed)) in FUNCTION_WORDS.iter().enumerate() {
        for word in listed.split(' ') {
            *words.entry(word).or_default() |= 1 << number;
        }
    }
    words
});

/// Guesses the language of a text from its lower-case words.
pub(super) fn guess<'a>(words: impl Iterator<Item = &'a str>) -> Algorithm {
    let mut hits = [0_u32; FUNCTION_WORDS.len()];
    for word in words.take(WORDS_MAX) {
        if let Some(algorithm) = by_script(word) {
            return algorithm;
        }
        let languages = LANGUAGES_OF_WORD.get(word).copied().unwrap_or_default();
        for (number, hits) in hits.iter_mut().enumerate() {
            *hits += (languages >> number) & 1;
        }
    }
    // Of equals, the first wins: English is the most likely, and the rest is ordered by speakers.
    let best = (0..hits.len()).rev().max_by_key(|number| hits[*number]);
    match best.filter(|number| hits[*number] >= HITS_MIN) {
        Some(number) => FUNCTION_WORDS[number].0,
        None => Algorithm::English,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_tells_its_language() {
        for (text, expected) in [
            ("the switch in the rack is not reachable", Algorithm::English),
            ("reboot core-sw1", Algorithm::English),
            ("der switch im rack ist nicht erreichbar", Algorithm::German),
            ("le commutateur dans la baie est en panne", Algorithm::French),
            ("el conmutador del armario no está disponible", Algorithm::Spanish),
            ("switchen i racket är inte tillgänglig och det är ett problem", Algorithm::Swedish),
            ("коммутатор в стойке недоступен", Algorithm::Russian),
            ("ο διακόπτης δεν λειτουργεί", Algorithm::Greek),
        ] {
            assert_eq!(guess(text.split(' ')), expected, "{text}");
        }
    }
}
