//! Counts by group: "how many racks does each site have".
//!
//! Invariant: all things were read, and every one of them is in exactly one group.

use serde_json::Value;

use super::ask::{Ask, KindWord};
use super::rows;
use super::scene::{Flow, Said, Scene, Table};
use super::serve::Meaning;
use crate::lexicon::{Class, Say};
use crate::pack::Kind;
use crate::session::dialogue::{Missing, Query, Term, What};

impl Scene<'_> {
    /// The number of things by group, if the message asks for that; a question if it cannot be told.
    pub(super) fn counted_by(
        &self,
        ask: &Ask,
        subject: &KindWord,
        meaning: &Meaning<'_>,
    ) -> Flow<Option<Said>> {
        let Some(group) = ask.kinds.iter().find(|word| word.after == Some(Class::Each)) else {
            return Ok(None);
        };
        let kinds = self.noun(&subject.kind, true);
        let other = ask.kinds.iter().any(|word| word.at != group.at && word.at != subject.at);
        let alone = meaning.phrases.is_empty() && meaning.things.is_empty() && !other;
        let (Some(list), true) = (self.list_of(&subject.kind), alone && ask.counts) else {
            return Ok(Some(self.not_by_each(&kinds, group)));
        };
        let query = Query {
            kind: Some(subject.kind.clone()),
            narrower: subject.narrower.clone(),
            ..Query::default()
        };
        let terms = match self.narrower_term(&query, list)? {
            Ok(terms) => terms,
            Err(record) => return Ok(Some(self.failed(&record))),
        };
        let (arguments, left) = self.arguments(list, &terms);
        let table = match self.table(list, &arguments, false)? {
            Ok(table) => table,
            Err(record) => return Ok(Some(self.failed(&record))),
        };
        let names = self.group_names(&group.kind)?;
        let counts = self.counts(&subject.kind, &group.kind, &table, names);
        let Some(counts) = counts.filter(|_| left.is_empty()) else {
            return Ok(Some(self.not_by_each(&kinds, group)));
        };
        let lines = counts.iter().map(|(name, count)| format!("\n- {name}: {count}"));
        let lines: String = lines.collect();
        let (by, filters) = (self.noun(&group.kind, false), self.filters(&terms));
        let with = [("kinds", kinds.as_str()), ("group", &by), ("filters", &filters)];
        let text = format!("{}{lines}", self.say(Say::CountedBy, &with));
        let mut said = Said { text, dialogue: self.dialogue.clone(), ..Said::default() };
        said.dialogue.open = None;
        Ok(Some(said))
    }

    fn not_by_each(&self, kinds: &str, group: &KindWord) -> Said {
        let group = format!("each {}", self.noun(&group.kind, false));
        let with = [("understood", kinds), ("left", group.as_str())];
        let text = self.say(Say::NotUnderstood, &with);
        self.asked(text, Query::default(), Missing::Words, Vec::new())
    }

    /// The names of all groups, if they can be listed, so that empty ones are told too.
    fn group_names(&self, kind: &Kind) -> Flow<Vec<String>> {
        let Some(list) = self.list_of(kind) else { return Ok(Vec::new()) };
        let table = self.table(list, &list.fixed, false)?;
        let table = table.ok().filter(Table::is_whole).unwrap_or_default();
        Ok(table.rows.iter().filter_map(|(_, row)| rows::label(row, self.known(kind))).collect())
    }

    /// The number of rows of each group; `None` where rows do not say theirs, or not all were read.
    fn counts(
        &self,
        own: &Kind,
        group: &Kind,
        table: &Table,
        names: Vec<String>,
    ) -> Option<Vec<(String, usize)>> {
        let key = table.rows.iter().find_map(|(_, row)| self.key_of_kind(row, own, group))?;
        let mut counts: Vec<(String, usize)> = names.into_iter().map(|name| (name, 0)).collect();
        for (_, row) in &table.rows {
            let value = row.get(&key).unwrap_or(&Value::Null);
            let name = rows::label(value, self.known(group)).unwrap_or_else(|| "none".into());
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        table.is_whole().then_some(counts)
    }

    /// The things that a negated word for a kind leaves out: "but not the servers".
    pub(super) fn left_out(&self, ask: &Ask, query: &Query) -> Flow<Result<Vec<Term>, Box<Said>>> {
        let mut out: Vec<Term> = Vec::new();
        for word in ask.kinds.iter().filter(|word| word.negated) {
            let (Some(kind), Some(narrower)) = (&query.kind, &word.narrower) else { continue };
            let Some(list) = self.list_of(kind) else { continue };
            let named = Query { narrower: Some(narrower.clone()), ..query.clone() };
            let mut terms = match self.narrower_term(&named, list)? {
                Ok(terms) => terms,
                Err(record) => return Ok(Err(Box::new(self.failed(&record)))),
            };
            terms.iter_mut().for_each(|term| term.negated = true);
            if terms.is_empty() {
                let table = Table::default();
                return Ok(Err(Box::new(self.unknown_word(kind, list, narrower, &table))));
            }
            out.extend(terms);
        }
        Ok(Ok(out))
    }

    /// What is not asked for again: "which other sites", where one was spoken of.
    pub(super) fn others(&self, ask: &Ask, kind: &Kind) -> Option<Term> {
        let beside = |word: &KindWord| word.kind == *kind && word.after == Some(Class::Else);
        let focus = self.dialogue.focus.first().filter(|thing| thing.kind == *kind)?;
        let (text, what) = (focus.label.clone(), What::Thing(focus.clone()));
        let other = ask.others && ask.kinds.iter().any(beside);
        other.then_some(Term { text, what, negated: true })
    }
}
