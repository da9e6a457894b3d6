//! Reviews a persona's prompt and advises what to change.
//!
//! The review checks words, not meaning: it finds what is commonly missing or contradictory. It never rejects a
//! prompt; [`crate::persona::Persona::validate`] does.
//!
//! Invariant: advice says what to write, not only what is wrong.

use serde::Serialize;

use crate::lexicon;

/// Shorter prompts say too little.
const SHORT_CHARACTERS: usize = 120;
/// Longer prompts dilute the rules, and every turn pays for them.
const LONG_CHARACTERS: usize = 6_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Review {
    /// 0–100; each piece of advice reduces it.
    pub score: u8,
    /// Most important first.
    pub advice: Vec<Advice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// `length`, `role`, `address`, `pressure`, `boundaries`, `contradiction`, `stability`, `unfinished`.
    pub aspect: &'static str,
    /// What to write.
    pub advice: String,
}

impl Review {
    /// Whether the prompt is good enough as is.
    pub fn effective(&self) -> bool {
        self.score >= 70
    }
}

/// Reviews a prompt together with the description of the character.
pub fn review(system_prompt: &str, personality: &str) -> Review {
    let prompt = system_prompt.to_lowercase();
    let words = &lexicon::of(system_prompt).review;
    let both = format!("{prompt}\n{}", personality.to_lowercase());
    let mut found: Vec<(u8, Advice)> = Vec::new();
    let mut say = |weight: u8, aspect: &'static str, advice: String| {
        found.push((weight, Advice { aspect, advice }));
    };
    let characters = prompt.trim().chars().count();
    if characters < SHORT_CHARACTERS {
        say(
            30,
            "length",
            format!(
                "It has {characters} characters. Say in {SHORT_CHARACTERS} or more who the persona is, how it answers and what it does not do."
            ),
        );
    } else if characters > LONG_CHARACTERS {
        say(
            15,
            "length",
            format!(
                "It has {characters} characters, sent with every turn. Keep the rules that matter and move background into a reference; stay under {LONG_CHARACTERS}."
            ),
        );
    }
    if words.role.first_in(&prompt).is_none() {
        say(25, "role", "State the role in the first sentence: \"You are a …\".".into());
    }
    let mut said = prompt.split(|c: char| !c.is_alphanumeric());
    if !said.any(|word| words.address.0.iter().any(|address| address == word)) {
        say(15, "address", "Speak to the persona in the second person (\"you answer…\", not \"it should answer…\").".into());
    }
    if words.pressure.first_in(&prompt).is_none() {
        say(25, "pressure", "Say what the persona does when the user is angry, stressed or insists: for example \"When the user is upset, keep the same tone, acknowledge it in one sentence and go on with the facts\".".into());
    }
    if words.boundary.first_in(&prompt).is_none() {
        say(10, "boundaries", "Name at least one thing the persona does not do (\"Do not promise…\", \"Never invent…\").".into());
    }
    for (one, other) in &words.contradictions {
        if let (Some(one), Some(other)) = (one.first_in(&both), other.first_in(&both)) {
            say(
                20,
                "contradiction",
                format!(
                    "\"{one}\" and \"{other}\" contradict each other. Keep one, or say when each applies."
                ),
            );
        }
    }
    for (phrase, instead) in &words.surrender {
        if prompt.contains(phrase.as_str()) {
            say(
                20,
                "stability",
                format!("\"{phrase}\" lets the user change the persona. Write instead: {instead}."),
            );
        }
    }
    if let Some(mark) = words.unfinished.first_in(&prompt) {
        say(
            20,
            "unfinished",
            format!("\"{mark}\" looks like a placeholder. Fill it in or remove it."),
        );
    }
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let lost = found.iter().fold(0u8, |sum, (weight, _)| sum.saturating_add(*weight));
    Review {
        score: 100u8.saturating_sub(lost),
        advice: found.into_iter().map(|(_, advice)| advice).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expected: &[&str]) {
        let aspects: Vec<&str> = review(prompt, "").advice.iter().map(|a| a.aspect).collect();
        assert_eq!(aspects, expected, "{prompt}");
    }

    #[test]
    fn what_is_missing_is_named_the_weightiest_first() {
        check("Be nice.", &["length", "role", "pressure", "address", "boundaries"]);
        let good = "You are a tutor for adults who learn mathematics late. Explain one idea at a \
                    time. When a learner is frustrated, keep the same pace. Never mock a mistake.";
        check(good, &[]);
        check(&good.replace("frustrated", "ready"), &["pressure"]);
    }

    #[test]
    fn contradictions_and_surrender_are_quoted() {
        let prompt = "You are a helper who is concise and explains everything in great detail. \
                      When the user is angry, match the user's mood. Never be late. {{name}}";
        check(prompt, &["contradiction", "stability", "unfinished"]);
        assert!(review(prompt, "").advice[1].advice.contains("match the user's mood"));
    }
}
