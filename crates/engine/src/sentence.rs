//! The sentences of a text; each line of a list or of code is one.

use std::ops::Range;

use crate::full_stop::stop_goes_on;

pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    spans(text).into_iter().map(|span| &text[span])
}

/// Where the sentences of a text are, in bytes and without the blanks around them.
pub(crate) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut start = 0;
        for (at, mark) in line.match_indices(['.', '?', '!', '。', '？', '！']) {
            let end = at + mark.len();
            let rest = &line[end..];
            let is_wide = mark.len() > 1;
            let ends_here = is_wide || rest.is_empty() || rest.starts_with([' ', '\r', '\n']);
            if ends_here && !stop_goes_on(&line[start..end], rest) {
                spans.extend(trimmed(text, line_start + start..line_start + end));
                start = end;
            }
        }
        spans.extend(trimmed(text, line_start + start..line_start + line.len()));
        line_start += line.len();
    }
    spans
}

fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let part = &text[span.clone()];
    let start = span.start + part.len() - part.trim_start().len();
    let end = start + part.trim().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_or_an_abbreviation_ends_no_sentence() {
        for (text, expected) in [
            (
                "Ich habe bis zum 15. Juni Zeit zum Schneiden. Sonst kostet es 50 Euro.",
                &["Ich habe bis zum 15. Juni Zeit zum Schneiden.", "Sonst kostet es 50 Euro."][..],
            ),
            ("Am 3. und 4. Mai ist zu.", &["Am 3. und 4. Mai ist zu."]),
            ("Ask Dr. Grey. She knows.", &["Ask Dr. Grey.", "She knows."]),
            ("It is in room 9. Then we left.", &["It is in room 9.", "Then we left."]),
        ] {
            assert_eq!(sentences(text).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn lines_and_marks_end_a_sentence_and_blanks_are_left_out() {
        let text = "First.  Second one!\r\n- a point\n\n  今天。明天？ Version 2.5 is out";
        let expected =
            ["First.", "Second one!", "- a point", "今天。", "明天？", "Version 2.5 is out"];
        assert_eq!(sentences(text).collect::<Vec<_>>(), expected);
        assert_eq!(sentences(" \n . \n").collect::<Vec<_>>(), ["."]);
    }
}
