//! Tools that do several things, chosen by a parameter whose values are verbs: `git_branch` with the mode "list",
//! "create" or "delete". Each value is an offer of its own.
//!
//! Invariant: whether such a call runs without approval is a matter of the tool, not of the mode.

use super::offer::Offer;
use super::schema::shapes;
use crate::lexicon::{self, Class, Family};
use crate::pack::words_of_identifier;
use crate::tool::ToolDefinition;

/// Verbs among the values of a parameter from which on it says what a tool does.
const VERBS_MIN: usize = 2;

/// The parameter that says what a tool does, and its values.
pub(super) fn mode(tool: &ToolDefinition) -> Option<(String, Vec<String>)> {
    let english = lexicon::english();
    let shapes = shapes(&tool.input_schema);
    let shape = shapes.iter().find(|shape| {
        let words = words_of_identifier(shape.name());
        let verbs = shape.choices.iter().filter_map(|choice| family(choice.as_str()?)).count();
        shape.path.len() == 1
            && verbs >= VERBS_MIN
            && words.last().is_some_and(|word| english.is(Class::SlotMode, word))
    })?;
    let values = shape.choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned));
    Some((shape.name().to_owned(), values.collect()))
}

/// The family of a value that begins with a verb: "show-current".
fn family(value: &str) -> Option<Family> {
    lexicon::english().family(words_of_identifier(value).first()?)
}

/// What a tool offers in each of its modes; itself if it has none.
pub(super) fn split(offer: Offer) -> Vec<Offer> {
    let Some((name, values)) = mode(&offer.tool) else { return vec![offer] };
    let one = |value: String| {
        let mut own = offer.clone();
        own.slots.retain(|slot| slot.name() != name);
        own.family = family(&value);
        own.reads = own.family.is_some_and(Family::reads);
        own.words.extend(words_of_identifier(&value));
        own.fixed.insert(name.clone(), value.into());
        own
    };
    values.into_iter().map(one).collect()
}
