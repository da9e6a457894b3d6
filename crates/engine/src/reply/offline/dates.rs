//! Days in words: "tomorrow", "next Monday", "in 3 days", "5 March", "this week", "before Friday".
//!
//! Invariant: every day is computed from today's date in UTC; a day of the week is the next one after today.

use jiff::civil::{Date, Weekday, date};
use jiff::{Span, ToSpan};

use crate::lexicon::{Class, Language};

/// Words that a day in words has at most.
const WORDS_MAX: usize = 6;
/// Days of the week.
const WEEKDAYS: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];

/// The days from one to another, both included; without an end on a side that is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub from: Option<Date>,
    pub to: Option<Date>,
}

impl Days {
    fn one(day: Date) -> Self {
        Self { from: Some(day), to: Some(day) }
    }

    /// The day, if it is only one.
    pub(super) fn single(self) -> Option<Date> {
        self.from.filter(|_| self.from == self.to)
    }

    pub(super) fn holds(self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }
}

/// The days at the start of these words in lower case, and the number of words.
pub(super) fn days_at<'w>(
    words: impl Iterator<Item = &'w str>,
    language: &Language,
    today: Date,
) -> Option<(usize, Days)> {
    let words: Vec<&str> = words.take(WORDS_MAX).collect();
    let reading = Reading { words: &words, language, today };
    let bounded = [Class::Before, Class::After, Class::Since].into_iter().find_map(|class| {
        let count = language.starts(class, words.iter().copied())?;
        let small = usize::from(reading.is(count, Class::The));
        let (more, days) = reading.plain(count + small)?;
        let days = match class {
            Class::Before => Days { from: None, to: days.from?.yesterday().ok() },
            Class::After => Days { from: days.to?.tomorrow().ok(), to: None },
            _ => Days { from: days.from, to: None },
        };
        Some((count + small + more, days))
    });
    bounded.or_else(|| reading.plain(0))
}

/// The day that a text in words or digits names.
pub(super) fn days_of(text: &str, language: &Language, today: Date) -> Option<Days> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let (count, days) = days_at(words.iter().copied(), language, today)?;
    (count == words.len()).then_some(days)
}

struct Reading<'a> {
    words: &'a [&'a str],
    language: &'a Language,
    today: Date,
}

impl Reading<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn is(&self, at: usize, class: Class) -> bool {
        self.language.is(class, self.word(at))
    }

    /// Days without a bound, from the word at `at` on.
    fn plain(&self, at: usize) -> Option<(usize, Days)> {
        let rest = || self.words[at.min(self.words.len())..].iter().copied();
        let said = |class: Class| self.language.starts(class, rest());
        let shifted = |days: i64| Some(Days::one(self.moved(days.days())?));
        if let Ok(day) = self.word(at).parse::<Date>() {
            return Some((1, Days::one(day)));
        }
        if let Some(count) = said(Class::DayAfterNext) {
            return Some((count, shifted(2)?));
        }
        for (class, days) in [(Class::Today, 0), (Class::Tomorrow, 1), (Class::Yesterday, -1)] {
            if let Some(count) = said(class) {
                return Some((count, shifted(days)?));
            }
        }
        for (class, weeks) in [(Class::Next, 1), (Class::Current, 0), (Class::Previous, -1)] {
            if self.is(at, class)
                && let Some(days) = self.period(at + 1, weeks)
            {
                return Some((2, days));
            }
        }
        if self.is(at, Class::In) {
            if let Some(month) = self.language.month(self.word(at + 1)) {
                return Some((2, self.month(month)?));
            }
            let (count, span) = self.span(at + 1)?;
            return Some((1 + count, Days::one(self.moved(span)?)));
        }
        if let Some((count, span)) = self.span(at)
            && self.is(at + count, Class::Ago)
        {
            return Some((count + 1, Days::one(self.moved(span.negate())?)));
        }
        if let Some(day) = self.language.weekday(self.word(at)) {
            return Some((1, Days::one(self.next(day)?)));
        }
        self.of_month(at)
    }

    /// "5 March", "March 5th", "the 5th of March 2027".
    fn of_month(&self, at: usize) -> Option<(usize, Days)> {
        if self.is(at, Class::The) {
            let (count, days) = self.of_month(at + 1)?;
            return Some((count + 1, days));
        }
        let number = |at: usize| day_number(self.word(at));
        let of = usize::from(self.is(at + 1, Class::Of));
        let (day, month, count) = match (number(at), self.language.month(self.word(at + 1 + of))) {
            (Some(day), Some(month)) => (day, month, 2 + of),
            _ => (number(at + 1)?, self.language.month(self.word(at))?, 2),
        };
        let year = self.word(at + count).parse::<i16>().ok().filter(|year| *year > 1900);
        let month = i8::try_from(month).ok()?;
        let in_year = |year: i16| Date::new(year, month, day).ok();
        let day = in_year(year.unwrap_or_else(|| self.today.year()))?;
        Some((count + usize::from(year.is_some()), Days::one(day)))
    }

    /// "next Monday", "this week", "last month".
    fn period(&self, at: usize, ahead: i64) -> Option<Days> {
        if self.is(at, Class::UnitDay) && ahead > 0 {
            return Some(Days::one(self.moved(ahead.days())?));
        }
        if self.is(at, Class::UnitWeek) {
            let back = i64::from(self.today.weekday().to_monday_zero_offset());
            let from = self.moved((ahead * 7 - back).days())?;
            return Some(Days { from: Some(from), to: from.checked_add(6.days()).ok() });
        }
        if self.is(at, Class::UnitMonth) {
            let first = self.today.first_of_month().checked_add(ahead.months()).ok()?;
            return Some(Days { from: Some(first), to: Some(first.last_of_month()) });
        }
        let day = self.next(self.language.weekday(self.word(at))?)?;
        match ahead {
            -1 => Some(Days::one(day.checked_sub(7.days()).ok()?)),
            _ => Some(Days::one(day)),
        }
    }

    /// "3 days", "two weeks".
    fn span(&self, at: usize) -> Option<(usize, Span)> {
        let number = i64::try_from(self.language.cardinal(self.word(at))?).ok()?;
        let span = match () {
            () if self.is(at + 1, Class::UnitDay) => number.days(),
            () if self.is(at + 1, Class::UnitWeek) => number.weeks(),
            () if self.is(at + 1, Class::UnitMonth) => number.months(),
            () => return None,
        };
        Some((2, span))
    }

    fn moved(&self, span: Span) -> Option<Date> {
        self.today.checked_add(span).ok()
    }

    fn next(&self, weekday: usize) -> Option<Date> {
        self.today.nth_weekday(1, *WEEKDAYS.get(weekday)?).ok()
    }

    fn month(&self, month: usize) -> Option<Days> {
        let first = date(self.today.year(), i8::try_from(month).ok()?, 1);
        Some(Days { from: Some(first), to: Some(first.last_of_month()) })
    }
}

/// The number of a day in a month: "5", "5th".
fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
    digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon;

    #[track_caller]
    fn check(text: &str, from: &str, to: &str) {
        // A Tuesday.
        let found = days_of(text, lexicon::of(text), date(2026, 11, 17));
        let shown = |day: Option<Date>| day.map_or("-".to_owned(), |day| day.to_string());
        let found = found.map(|days| (shown(days.from), shown(days.to)));
        assert_eq!(found, Some((from.to_owned(), to.to_owned())), "{text}");
    }

    #[test]
    fn days_are_told_from_today() {
        check("tomorrow", "2026-11-18", "2026-11-18");
        check("the day after tomorrow", "2026-11-19", "2026-11-19");
        check("next monday", "2026-11-23", "2026-11-23");
        check("friday", "2026-11-20", "2026-11-20");
        check("in two weeks", "2026-12-01", "2026-12-01");
        check("3 days ago", "2026-11-14", "2026-11-14");
        check("5 march", "2026-03-05", "2026-03-05");
        check("March 5th 2027", "2027-03-05", "2027-03-05");
        check("the 5th of may", "2026-05-05", "2026-05-05");
        let german = lexicon::of("und was ist das");
        let found = days_of("übermorgen", german, date(2026, 11, 17)).and_then(Days::single);
        assert_eq!(found, Some(date(2026, 11, 19)));
    }

    #[test]
    fn periods_have_two_ends_or_one() {
        check("this week", "2026-11-16", "2026-11-22");
        check("next week", "2026-11-23", "2026-11-29");
        check("last month", "2026-10-01", "2026-10-31");
        check("in november", "2026-11-01", "2026-11-30");
        check("before friday", "-", "2026-11-19");
        check("since 2026-11-01", "2026-11-01", "-");
    }

    #[test]
    fn other_words_are_no_days() {
        for text in ["may", "march on", "in march street", "3 dogs", "next", "in 3 rooms"] {
            assert_eq!(days_of(text, lexicon::english(), date(2026, 11, 17)), None, "{text}");
        }
    }
}
