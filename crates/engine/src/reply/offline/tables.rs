//! Tables of a database that statements are run on: their columns are described, their rows are read by a statement of
//! the user. No statement is made up.
//!
//! Invariant: the table is one that the server lists.

use super::ask::{Ask, Phrase};
use super::offer::{Means, Offer};
use super::read::Part;
use super::rows;
use super::scene::{Flow, Said, Scene};
use crate::lexicon::{Class, Say};
use crate::pack::Kind;
use crate::session::dialogue::{RowAt, Thing};

impl Scene<'_> {
    /// A question about a table by its name: "which columns does boats have?", "show all boats".
    pub(super) fn about_table(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        let reads = ask.verb.is_none_or(|(family, _)| family.reads());
        let Some(list) = self.tables().filter(|_| reads && ask.pointers.is_empty()) else {
            return Ok(None);
        };
        let Some(kind) = &list.kind else { return Ok(None) };
        let others = ask.kinds.iter().any(|word| word.kind != *kind);
        let says = |class: Class| {
            let mut words = parts.iter().flat_map(|part| part.lower.split_whitespace());
            words.any(|word| self.language.is(class, word))
        };
        let columns = says(Class::Columns);
        let all = |phrase: &Phrase| {
            let before = phrase.at.checked_sub(1).map_or("", |at| parts[at].lower.as_str());
            self.language.is(Class::All, before)
        };
        let rows = says(Class::Rows)
            || ask.counts
            || ask.phrases.iter().any(all)
            || ask.verb.is_none() && ask.questions;
        if (others || !rows) && !columns {
            return Ok(None);
        }
        let Some(thing) = self.table_named(ask, kind, list)? else { return Ok(None) };
        if columns && !ask.counts {
            let own = |phrase: &Phrase| {
                let column = |word: &str| self.language.is(Class::Columns, &word.to_lowercase());
                is_named(&thing, phrase) || phrase.text.split_whitespace().all(column)
            };
            let certain = ask.phrases.iter().all(own) && self.view_of(kind).is_some();
            return if certain { self.show(vec![thing]).map(Some) } else { Ok(None) };
        }
        let what = if ask.counts { "COUNT(*)" } else { "*" };
        let statement = format!("SELECT {what} FROM {}", thing.label);
        let with = [("text", thing.label.as_str()), ("statement", statement.as_str())];
        let mut said = self.lost();
        (said.text, said.unanswered) = (self.say(Say::RowsByStatement, &with), Some("question"));
        Ok(Some(said))
    }

    /// What lists the things that a statement can be about: of a server that takes statements and describes such things.
    fn tables(&self) -> Option<&Offer> {
        let takes =
            |offer: &&Offer| offer.reads && offer.slots.iter().any(|slot| slot.means == Means::Sql);
        let sql = self.offers.iter().find(takes)?;
        let lists = |offer: &&Offer| {
            let described = offer.kind.as_ref().is_some_and(|kind| self.view_of(kind).is_some());
            offer.tool.tool.server == sql.tool.tool.server
                && offer.lists()
                && offer.is_free
                && described
        };
        self.offers.iter().find(lists)
    }

    /// The table that a phrase names.
    fn table_named(&self, ask: &Ask, kind: &Kind, list: &Offer) -> Flow<Option<Thing>> {
        let named = |thing: &&Thing| {
            thing.kind == *kind && ask.phrases.iter().any(|phrase| is_named(thing, phrase))
        };
        let known = self.shown().find(named).cloned();
        if known.is_some() || ask.phrases.is_empty() {
            return Ok(known);
        }
        let Ok(table) = self.table(list, &list.fixed, false)? else { return Ok(None) };
        let thing = |(at, row): &(RowAt, serde_json::Value)| {
            Some(Thing { row: Some(*at), ..rows::thing(row, kind, self.known(kind))? })
        };
        Ok(table.rows.iter().filter_map(thing).find(|thing| named(&thing)))
    }
}

fn is_named(thing: &Thing, phrase: &Phrase) -> bool {
    thing.label.eq_ignore_ascii_case(&phrase.text)
}
