//! Text for people: nothing in it moves a cursor, rings a bell or reverses what follows.
//!
//! Not for what a model or a program reads; that stays as it was written.

/// Text without control characters and without those that reverse the direction of what follows.
pub fn plain_text(text: &str) -> String {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !turns(c);
    text.chars().filter(shown).collect()
}
