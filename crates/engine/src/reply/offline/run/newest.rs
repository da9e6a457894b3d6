//! The newest rows of a list.
//!
//! Invariant: all rows were read, and every one of them says when it was.

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;

use super::super::rows;
use super::super::scene::{Said, Scene, Table};
use crate::lexicon::{self, Class, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::session::dialogue::{Query, Want};

impl Scene<'_> {
    /// The newest rows, all of them where `most` is 0; a question if that cannot be told.
    pub(super) fn told_newest(
        &self,
        query: Query,
        kind: &Kind,
        mut table: Table,
        most: usize,
    ) -> Said {
        let nouns = self.nouns(&query, kind);
        let key = table.rows.first().and_then(|(_, row)| time_key(row));
        let times = |key: &String| table.rows.iter().map(|(_, row)| time(row.get(key)?)).collect();
        let times: Option<Vec<Timestamp>> = key.as_ref().and_then(times);
        let (Some(times), true) = (times.filter(|_| table.is_whole()), query.want == Want::List)
        else {
            let said = self.parts.iter().find(|part| {
                let word = part.lower.split_whitespace().next_back().unwrap_or_default();
                self.language.is(Class::Newest, word)
            });
            let left = said.map_or(self.message, |part| part.text.as_str());
            let text = self.say(Say::NotUnderstood, &[("understood", &nouns), ("left", left)]);
            return self.asked(text, query, crate::session::dialogue::Missing::Words, Vec::new());
        };
        let all = table.rows.len();
        let mut rows: Vec<_> = times.into_iter().zip(std::mem::take(&mut table.rows)).collect();
        rows.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        rows.truncate(if most == 0 { all } else { most });
        table.rows = rows.into_iter().map(|(_, row)| row).collect();
        table.count = table.rows.len();
        let filters = self.filters(&query.terms);
        let (told, of) = (table.count.to_string(), all.to_string());
        let with =
            [("count", told.as_str()), ("all", &of), ("kinds", &nouns), ("filters", &filters)];
        let head = self.say(Say::NewestOf, &with);
        let mut said = self.told_list(query, kind, &table);
        if table.count > 0 && table.count < all {
            said.text = crate::reply::wording::list(&head, &super::values(&table), table.count);
        }
        said
    }
}

/// The field of a row that says when it was.
fn time_key(row: &Value) -> Option<String> {
    let is_time = |key: &str| {
        let words = words_of_identifier(key);
        words.last().is_some_and(|word| lexicon::english().is(Class::FieldTime, word))
    };
    let timed = |(key, value): &(&String, &Value)| is_time(key) && time(value).is_some();
    row.as_object()?.iter().find(timed).map(|(key, _)| key.clone())
}

fn time(value: &Value) -> Option<Timestamp> {
    let text = rows::scalar(value);
    let day = || text.parse::<Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse::<Timestamp>().ok().or_else(|| Some(day()?.timestamp()))
}
