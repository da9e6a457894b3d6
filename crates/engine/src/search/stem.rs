//! Porter's stemmer: `connected`, `connecting` and `connection` become `connect`.
//!
//! The 1980 algorithm for English, on lower-case ASCII words; other words are unchanged. A stem is a matching key
//! and never shown.

pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = Stem(word.as_bytes().to_vec());
    stem.plurals();
    stem.past_and_progressive();
    stem.final_y();
    stem.replace_first(&DOUBLE_SUFFIXES, 0);
    stem.replace_first(&SINGLE_SUFFIXES, 0);
    stem.drop_suffix();
    stem.final_e();
    String::from_utf8(stem.0).expect("a stem of an ASCII word is ASCII")
}

/// Step 2: double suffixes become single ones.
const DOUBLE_SUFFIXES: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3: derivational suffixes.
const SINGLE_SUFFIXES: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4: suffixes removed if enough of the word is left. Longer ones first if they end alike.
const DROPPED_SUFFIXES: [&str; 18] = [
    "ement", "ment", "ent", "ance", "ence", "able", "ible", "ant", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic",
];

struct Stem(Vec<u8>);

impl Stem {
    fn ends(&self, suffix: &str) -> bool {
        self.0.ends_with(suffix.as_bytes())
    }

    fn cut(&mut self, length: usize) {
        self.0.truncate(self.0.len() - length);
    }

    fn is_consonant(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.is_consonant(at - 1),
            _ => true,
        }
    }

    /// Porter's measure: the number of vowel-consonant sequences in the first `length` letters.
    fn measure(&self, length: usize) -> usize {
        (1..length).filter(|&at| self.is_consonant(at) && !self.is_consonant(at - 1)).count()
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| !self.is_consonant(at))
    }

    fn ends_in_double_consonant(&self) -> bool {
        let last = self.0.len() - 1;
        last > 0 && self.0[last] == self.0[last - 1] && self.is_consonant(last)
    }

    /// Ends in consonant, vowel, consonant, the last not w, x or y: `hop`, not `snow`.
    fn ends_short(&self, length: usize) -> bool {
        length >= 3
            && self.is_consonant(length - 3)
            && !self.is_consonant(length - 2)
            && self.is_consonant(length - 1)
            && !matches!(self.0[length - 1], b'w' | b'x' | b'y')
    }

    fn plurals(&mut self) {
        if self.ends("sses") || self.ends("ies") {
            self.cut(2);
        } else if self.ends("s") && !self.ends("ss") {
            self.cut(1);
        }
    }

    fn past_and_progressive(&mut self) {
        if self.ends("eed") {
            if self.measure(self.0.len() - 3) > 0 {
                self.cut(1);
            }
            return;
        }
        let suffix = if self.ends("ed") {
            2
        } else if self.ends("ing") {
            3
        } else {
            return;
        };
        if !self.has_vowel(self.0.len() - suffix) {
            return;
        }
        self.cut(suffix);
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.0.push(b'e');
        } else if self.ends_in_double_consonant()
            && !(self.ends("l") || self.ends("s") || self.ends("z"))
        {
            self.cut(1);
        } else if self.measure(self.0.len()) == 1 && self.ends_short(self.0.len()) {
            self.0.push(b'e');
        }
    }

    fn final_y(&mut self) {
        let last = self.0.len() - 1;
        if self.0[last] == b'y' && self.has_vowel(last) {
            self.0[last] = b'i';
        }
    }

    fn replace_first(&mut self, suffixes: &[(&str, &str)], measure_over: usize) {
        if let Some((suffix, replacement)) = suffixes.iter().find(|(suffix, _)| self.ends(suffix))
            && self.measure(self.0.len() - suffix.len()) > measure_over
        {
            self.cut(suffix.len());
            self.0.extend_from_slice(replacement.as_bytes());
        }
    }

    fn drop_suffix(&mut self) {
        let Some(suffix) = DROPPED_SUFFIXES.iter().find(|suffix| self.ends(suffix)) else {
            return;
        };
        let left = self.0.len() - suffix.len();
        let fits = *suffix != "ion" || (left > 0 && matches!(self.0[left - 1], b's' | b't'));
        if fits && self.measure(left) > 1 {
            self.cut(suffix.len());
        }
    }

    fn final_e(&mut self) {
        let last = self.0.len() - 1;
        if self.0[last] == b'e' {
            let measure = self.measure(last);
            if measure > 1 || (measure == 1 && !self.ends_short(last)) {
                self.cut(1);
            }
        }
        if self.ends("ll") && self.measure(self.0.len() - 1) > 1 {
            self.cut(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for (words, expected) in [
            ("connect connected connecting connection connections", "connect"),
            ("run running runs", "run"),
            ("paint paints painted painting", "paint"),
            ("relational relate", "relat"),
            ("hope hoped hoping", "hope"),
            ("hop hopped hopping", "hop"),
            ("agree agreed", "agre"),
            ("happy happiness", "happi"),
            ("adoption adopted adopt", "adopt"),
            ("replacement", "replac"),
            ("controlling", "control"),
            ("vietnamization", "vietnam"),
            ("sky", "sky"),
            ("caresses", "caress"),
            ("ponies", "poni"),
        ] {
            for word in words.split(' ') {
                assert_eq!(stem(word), expected, "{word}");
            }
        }
    }

    #[test]
    fn what_is_no_english_word_stays() {
        for word in ["", "a", "10.0.0.1", "über", "地址", "vlan42", "is"] {
            assert_eq!(stem(word), word);
        }
    }
}
