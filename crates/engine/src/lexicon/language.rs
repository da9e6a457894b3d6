//! A language: word classes, numbers, plurals, verbs, and sentences to reply with.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{Class, Family};
use super::cues::Cues;
use super::file::{LanguageFile, Script};
use super::say::Say;

/// Number of words at the start of a message searched for its verb or question word.
const LEADING_WORDS: usize = 4;

/// Bytes of a message used to detect its language and whether it asks.
const MESSAGE_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub struct Language {
    /// `en`.
    pub code: String,
    pub name: String,
    script: Script,
    /// Whether a capital letter inside a sentence indicates a name.
    pub(crate) names_capitalised: bool,
    words: FxHashMap<Class, FxHashSet<String>>,
    /// Phrases of a class by their first word, longest first.
    phrases: FxHashMap<Class, FxHashMap<String, Vec<Vec<String>>>>,
    families: FxHashMap<String, Family>,
    /// The English nouns of a word, and whether it is a plural.
    nouns: FxHashMap<String, Vec<(String, bool)>>,
    ordinals: Vec<Vec<String>>,
    cardinals: Vec<String>,
    plurals: Vec<(String, String)>,
    fields: BTreeMap<String, Vec<Vec<String>>>,
    weekdays: Vec<Vec<String>>,
    months: Vec<Vec<String>>,
    synonyms: Vec<Vec<String>>,
    measures: Vec<Vec<String>>,
    /// Whether a comma separates the decimals of a number.
    pub(crate) decimal_comma: bool,
    /// Superlatives: the words, the field that they compare, and whether its largest value is meant.
    orders: Vec<(Vec<String>, String, bool)>,
    degrees: Vec<String>,
    /// The English value of a word.
    values: FxHashMap<String, String>,
    say: HashMap<Say, String>,
    pub cues: Cues,
    /// Words used to review a persona's prompt.
    pub review: super::file::Review,
}

impl Language {
    /// Parses a language file, or returns the reason it cannot.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: LanguageFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let cues = Cues::new(&file);
        let mut language = Self {
            code: file.code,
            name: file.name,
            script: file.script,
            names_capitalised: file.names_capitalised,
            words: FxHashMap::default(),
            phrases: FxHashMap::default(),
            families: FxHashMap::default(),
            nouns: FxHashMap::default(),
            ordinals: file.ordinals.into_iter().map(|forms| forms.0).collect(),
            cardinals: file.cardinals.0,
            plurals: file.plurals,
            fields: BTreeMap::new(),
            weekdays: file.weekdays.into_iter().map(|forms| forms.0).collect(),
            months: file.months.into_iter().map(|forms| forms.0).collect(),
            synonyms: file.synonyms.into_iter().map(|group| group.0).collect(),
            measures: file.measures.into_iter().map(|group| group.0).collect(),
            decimal_comma: file.decimal_comma,
            orders: Vec::new(),
            degrees: file.degrees.0,
            values: FxHashMap::default(),
            say: file.say.into_iter().collect(),
            cues,
            review: file.review,
        };
        for (class, list) in file.words {
            for entry in list.0 {
                language.add(class, &entry);
            }
        }
        for (noun, list) in file.nouns {
            for (at, form) in list.0.into_iter().enumerate() {
                language.nouns.entry(form).or_default().push((noun.clone(), at > 0));
            }
        }
        for (family, list) in file.verbs {
            for verb in list.0 {
                language.families.insert(verb, family);
            }
        }
        for (orders, is_most) in [(file.orders.most, true), (file.orders.least, false)] {
            for (field, list) in orders {
                let said = list.0.iter().map(|entry| (words(entry), field.clone(), is_most));
                language.orders.extend(said);
            }
        }
        for (value, list) in file.values {
            for form in list.0 {
                language.values.insert(form, value.clone());
            }
        }
        for (field, list) in file.fields {
            let phrases = list.0.iter().map(|entry| words(entry));
            language.fields.insert(field, phrases.collect());
        }
        Ok(language)
    }

    fn add(&mut self, class: Class, entry: &str) {
        let mut split: Vec<String> = entry.split_whitespace().map(str::to_lowercase).collect();
        if let [word] = split.as_mut_slice() {
            self.words.entry(class).or_default().insert(std::mem::take(word));
        } else if let Some(first) = split.first().cloned() {
            let phrases = self.phrases.entry(class).or_default().entry(first).or_default();
            phrases.push(split);
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        }
    }

    /// Whether a text speaks to its reader.
    pub fn addresses(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| self.is(Class::You, &word.to_lowercase()))
    }

    /// Whether a lower-case word is of a class.
    pub fn is(&self, class: Class, word: &str) -> bool {
        self.words.get(&class).is_some_and(|words| words.contains(word))
    }

    /// The number of words of the longest entry of a class at the start of `words`, in lower case.
    pub fn starts<'a>(
        &self,
        class: Class,
        words: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<usize> {
        let first = words.clone().next()?;
        let phrases = self.phrases.get(&class).and_then(|phrases| phrases.get(first));
        let fits = |phrase: &&Vec<String>| {
            let mut given = words.clone();
            phrase.iter().all(|word| given.next() == Some(word.as_str()))
        };
        let phrase = phrases.and_then(|phrases| phrases.iter().find(fits)).map(Vec::len);
        phrase.or_else(|| self.is(class, first).then_some(1))
    }

    /// Whether a word is a verb or of any class.
    pub fn knows(&self, word: &str) -> bool {
        self.families.contains_key(word) || self.words.values().any(|words| words.contains(word))
    }

    pub(crate) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.families.keys().map(String::as_str)
    }

    /// The single words of a class.
    pub(crate) fn words(&self, class: Class) -> impl Iterator<Item = &str> {
        self.words.get(&class).into_iter().flatten().map(String::as_str)
    }

    pub fn family(&self, verb: &str) -> Option<Family> {
        self.families.get(verb).copied()
    }

    /// The nouns that tools have for a word of another language, and whether it is a plural.
    pub(crate) fn nouns(&self, word: &str) -> &[(String, bool)] {
        self.nouns.get(word).map_or(&[], Vec::as_slice)
    }

    /// The number of an ordinal, from 1; 0 is the last.
    pub fn ordinal(&self, word: &str) -> Option<usize> {
        self.ordinals.iter().position(|forms| forms.iter().any(|form| form == word))
    }

    /// The number of a numeral or digits, up to a hundred.
    pub fn cardinal(&self, word: &str) -> Option<usize> {
        let spelt = self.cardinals.iter().position(|form| form == word);
        spelt.or_else(|| word.parse().ok().filter(|number| (1..=100).contains(number)))
    }

    /// The number of a day of the week, Monday being 0.
    pub(crate) fn weekday(&self, word: &str) -> Option<usize> {
        self.weekdays.iter().position(|forms| forms.iter().any(|form| form == word))
    }

    /// The number of a month, from 1.
    pub(crate) fn month(&self, word: &str) -> Option<usize> {
        let found = self.months.iter().position(|forms| forms.iter().any(|form| form == word));
        found.map(|at| at + 1)
    }

    /// Whether two words for fields mean the same: "cost" and "price".
    pub(crate) fn is_synonym(&self, one: &str, two: &str) -> bool {
        let has = |group: &Vec<String>, word: &str| group.iter().any(|own| own == word);
        one == two || self.synonyms.iter().any(|group| has(group, one) && has(group, two))
    }

    /// The English word for a unit of measurement, however it is written: "km" is "kilometer".
    pub(super) fn measure(&self, text: &str) -> Option<&str> {
        let group = self.measures.iter().find(|group| group.iter().any(|own| own == text))?;
        group.first().map(String::as_str)
    }

    /// The fields that a superlative at the start of these words compares, each with whether its largest value is
    /// meant, and the number of its words.
    pub(crate) fn superlative<'a>(
        &self,
        words: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<(usize, Vec<(&str, bool)>)> {
        let fits = |phrase: &[String]| {
            let mut given = words.clone();
            phrase.iter().all(|word| given.next() == Some(word.as_str()))
        };
        let found = || self.orders.iter().filter(|(phrase, ..)| fits(phrase));
        let longest = found().map(|(phrase, ..)| phrase.len()).max()?;
        let fields = found().filter(|(phrase, ..)| phrase.len() == longest);
        Some((longest, fields.map(|(_, field, is_most)| (field.as_str(), *is_most)).collect()))
    }

    /// The place of a degree on its scale: "high" is more than "low".
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    pub(crate) fn degree(&self, word: &str) -> Option<f64> {
        self.degrees.iter().position(|own| own == word).map(|at| at as f64)
    }

    /// The English value that a word means: "offenen" is "open".
    pub(crate) fn value(&self, word: &str) -> Option<&str> {
        self.values.get(word).map(String::as_str)
    }

    pub fn plural(&self, word: &str) -> String {
        let before = |ending: &str| word.strip_suffix(ending)?.chars().next_back();
        // "days", but "activities".
        let fits = |(many, one): &&(String, String)| {
            let vowel = |c: char| "aeiou".contains(c);
            many != one && !one.is_empty() && before(one).is_some_and(|c| !vowel(c) || one != "y")
        };
        match self.plurals.iter().find(fits) {
            Some((many, one)) => format!("{}{many}", &word[..word.len() - one.len()]),
            None if word.ends_with(['s', 'z']) => format!("{word}es"),
            None => format!("{word}s"),
        }
    }

    pub fn singular(&self, word: &str) -> String {
        let rule = self.plurals.iter().find(|(ending, _)| word.ends_with(ending.as_str()));
        match rule {
            Some((ending, instead)) if word.len() > ending.len() + 1 => {
                format!("{}{instead}", &word[..word.len() - ending.len()])
            }
            _ => word.to_owned(),
        }
    }

    /// The field that words ask about, and their number: "how tall" asks for the height.
    pub fn field<'a>(&self, words: impl Iterator<Item = &'a str> + Clone) -> Option<(&str, usize)> {
        let all = self.fields.iter().flat_map(|(field, list)| list.iter().map(move |p| (field, p)));
        let fits = |phrase: &Vec<String>| {
            let mut given = words.clone();
            phrase.iter().all(|word| given.next() == Some(word.as_str()))
        };
        let found = all.filter(|(_, phrase)| fits(phrase)).max_by_key(|(_, phrase)| phrase.len());
        found.map(|(field, phrase)| (field.as_str(), phrase.len()))
    }

    /// Whether a message is a question or a request.
    pub fn asks_for_something(&self, message: &str) -> bool {
        let words = words(&message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)]);
        let asks = |word: &String| {
            [Class::What, Class::Count, Class::Who, Class::Where, Class::When, Class::Looking]
                .iter()
                .any(|class| self.is(*class, word))
                || self.family(word).is_some()
        };
        words.iter().any(|word| word == "?")
            || words.iter().take(LEADING_WORDS).any(asks)
            || self.cues.mode(message).is_some()
    }

    /// A sentence with its placeholders filled in; `None` if the language lacks it.
    pub fn say(&self, what: Say, with: &[(&str, &str)]) -> Option<String> {
        let mut text = self.say.get(&what)?.clone();
        for (place, value) in with {
            text = text.replace(&format!("{{{place}}}"), value);
        }
        Some(text)
    }

    /// The number of function words of this language in a message.
    pub(super) fn function_words(&self, message: &str, words: &[String]) -> usize {
        match self.script {
            Script::Spaced => {
                let stop = self.words.get(&Class::Stop);
                stop.map_or(0, |stop| words.iter().filter(|word| stop.contains(*word)).count())
            }
            Script::Kana => 2 * message.chars().filter(|c| is_kana(*c)).count(),
            Script::Han => message.chars().filter(|c| is_han(*c)).count(),
        }
    }
}

fn is_kana(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}')
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}')
}

/// The lower-case words of a text; punctuation that ends a sentence counts as a word.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        let letter = if letter == '’' { '\'' } else { letter };
        if letter.is_alphanumeric() || matches!(letter, '\'' | '-' | '&' | '+' | '#' | '@') {
            word.push(letter);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if matches!(letter, '?' | '!' | '？' | '！') {
            words.push(if matches!(letter, '?' | '？') { "?" } else { "!" }.into());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
