//! The rows of a list in an order: the cheapest first, or only the cheapest.
//!
//! Invariant: all rows were read, and the field that they are ordered by is one that they have.

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;

use super::super::rows;
use super::super::scene::{Said, Scene, Table};
use crate::lexicon::{self, Class, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::reply::wording;
use crate::session::dialogue::{Missing, Order, Query, RowAt};

/// Words for a time that something was made, in an order.
const MADE: &str = "created";

impl Scene<'_> {
    /// The rows in the order of a query; a question if they have no such field.
    pub(super) fn told_ordered(
        &self,
        query: Query,
        kind: &Kind,
        mut table: Table,
        order: &Order,
    ) -> Said {
        let nouns = self.nouns(&query, kind);
        if table.rows.is_empty() {
            return self.told_list(query, kind, &table);
        }
        if !table.is_whole() {
            return self.read_in_part(kind, &table, &order.text);
        }
        let Some((key, falling)) = field_of(&table, order) else {
            let with = [("understood", nouns.as_str()), ("left", order.text.as_str())];
            let text = self.say(Say::NotUnderstood, &with);
            return self.asked(text, query, Missing::Words, Vec::new());
        };
        let all = table.rows.len();
        let mut rows: Vec<(Option<f64>, (RowAt, Value))> =
            table.rows.drain(..).map(|row| (row.1.get(&key).and_then(degree), row)).collect();
        rows.sort_by(|(one, _), (two, _)| match (one, two) {
            (Some(one), Some(two)) if falling => two.total_cmp(one),
            (Some(one), Some(two)) => one.total_cmp(two),
            (one, two) => one.is_none().cmp(&two.is_none()),
        });
        if let Some(last) = order.most.checked_sub(1).and_then(|at| rows.get(at)) {
            // Those that are as good as the last one.
            let last = last.0;
            let kept = rows.iter().enumerate();
            let kept = kept.take_while(|(at, (own, _))| *at < order.most || *own == last).count();
            rows.truncate(kept);
        }
        table.rows = rows.into_iter().map(|(_, row)| row).collect();
        table.count = table.rows.len();
        let filters = self.filters(&query.terms);
        let (count, of, field) = (table.count.to_string(), all.to_string(), rows::spoken(&key));
        let with = [
            ("count", count.as_str()),
            ("all", &of),
            ("kinds", &nouns),
            ("filters", &filters),
            ("field", &field),
        ];
        let head = self.say(if falling { Say::Falling } else { Say::Rising }, &with);
        let mut said = self.told_list(query, kind, &table);
        said.text = wording::list(&head, &super::values(&table), table.count);
        said
    }
}

/// The field that an order means, and whether its largest value comes first.
fn field_of(table: &Table, order: &Order) -> Option<(String, bool)> {
    let compares = |key: &str| {
        let known = |(_, row): &&(RowAt, Value)| row.get(key).is_some_and(|v| degree(v).is_some());
        table.rows.iter().filter(known).count() * 2 > table.rows.len()
    };
    let named = |field: &str| {
        let mut rows = table.rows.iter();
        let key = rows.find_map(|(_, row)| rows::field(row, field)).map(|(key, _)| key.to_owned());
        key.filter(|key| compares(key))
    };
    let timed = |field: &str| {
        let row = table.rows.first()?.1.as_object()?;
        let is_time = |key: &&String| {
            let words = words_of_identifier(key);
            let last = words.last().map(String::as_str).unwrap_or_default();
            lexicon::english().is(Class::FieldTime, last) && compares(key)
        };
        row.keys().filter(|_| field == MADE).find(is_time).cloned()
    };
    let mut fields = order.fields.iter();
    fields.find_map(|(field, falling)| Some((named(field).or_else(|| timed(field))?, *falling)))
}

/// A value as a number: a number, a day, or a degree such as "high".
fn degree(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text.trim(),
        Value::Object(choice) => return choice.get("value").and_then(degree),
        _ => return None,
    };
    let day = || {
        let day = text.get(..10).unwrap_or(text).parse::<Date>().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    if let Some(time) = text.parse::<Timestamp>().ok().or_else(day) {
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
        return Some(time.as_second() as f64);
    }
    let lower = text.to_lowercase();
    text.parse::<f64>().ok().or_else(|| lexicon::english().degree(&lower))
}
