//! Renders Markdown on a terminal while it is streamed.
//!
//! A line is shown as it arrives, and again with styles once it is complete; a table is shown after its last
//! row. Only the Markdown that models commonly write is supported.
//!
//! Invariant: no word is lost; only recognised marks are removed.

use console::measure_text_width;

/// Columns if the terminal does not report them.
const COLUMNS: usize = 80;

/// A style: the codes that begin and end it.
type Style = (&'static str, &'static str);
const BOLD: Style = ("1", "22");
const DIM: Style = ("2", "22");
const ITALIC: Style = ("3", "23");
const UNDERLINED: Style = ("4", "24");
const CODE: Style = ("36", "39");

/// A text being streamed.
#[derive(Debug)]
pub(super) struct Markdown {
    colours: bool,
    columns: usize,
    /// The current line, and how many bytes of it are on the screen.
    line: String,
    shown: usize,
    in_code: bool,
    table: Vec<String>,
}

impl Markdown {
    /// For the terminal at standard output.
    pub(super) fn for_terminal() -> Self {
        let columns =
            console::Term::stdout().size_checked().map_or(COLUMNS, |(_, columns)| columns.into());
        Self::new(console::colors_enabled(), columns)
    }

    fn new(colours: bool, columns: usize) -> Self {
        let (line, table) = (String::new(), Vec::new());
        Self { colours, columns: columns.max(1), line, shown: 0, in_code: false, table }
    }

    /// Adds text; returns what to send to the terminal.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for part in text.split_inclusive('\n') {
            self.line.push_str(part.trim_end_matches('\n'));
            if part.ends_with('\n') {
                self.end_line(&mut out, "\n");
            } else if !self.line.trim_start().starts_with('|') || self.in_code {
                out.push_str(&self.line[self.shown..]);
                self.shown = self.line.len();
            }
        }
        out
    }

    /// Ends the text; returns what is left to show.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.line.is_empty() {
            self.end_line(&mut out, "");
        }
        self.end_table(&mut out);
        self.in_code = false;
        out
    }

    fn end_line(&mut self, out: &mut String, end: &str) {
        let (line, shown) = (std::mem::take(&mut self.line), std::mem::take(&mut self.shown));
        if !self.in_code && line.trim_start().starts_with('|') {
            self.table.push(line);
            return;
        }
        self.end_table(out);
        let whole = self.whole_line(&line);
        if whole == line {
            out.push_str(&line[shown..]);
        } else {
            out.push_str(&self.wiped(&line[..shown]));
            out.push_str(&whole);
        }
        out.push_str(end);
    }

    /// Erases the shown part of a line from the screen.
    fn wiped(&self, shown: &str) -> String {
        if shown.is_empty() {
            return String::new();
        }
        let rows = measure_text_width(shown).saturating_sub(1) / self.columns;
        let up = if rows > 0 { format!("\u{1b}[{rows}A") } else { String::new() };
        format!("\r{up}\u{1b}[J")
    }

    fn whole_line(&mut self, line: &str) -> String {
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        if text.starts_with("```") || text.starts_with("~~~") {
            self.in_code = !self.in_code;
            return self.paint(DIM, line);
        }
        if self.in_code {
            return self.paint(CODE, line);
        }
        let hashes = text.len() - text.trim_start_matches('#').len();
        if (1..=6).contains(&hashes)
            && let Some(title) = text[hashes..].strip_prefix(' ')
        {
            let title = self.paint(BOLD, &self.inline(title.trim()));
            return if hashes == 1 { self.paint(UNDERLINED, &title) } else { title };
        }
        let rule = |mark| text.len() >= 3 && text.chars().all(|c| c == mark);
        if rule('-') || rule('*') || rule('_') {
            return self.paint(DIM, &"─".repeat(self.columns.min(40)));
        }
        for mark in ["- ", "* ", "+ "] {
            if let Some(point) = text.strip_prefix(mark) {
                return format!("{indent}• {}", self.inline(point));
            }
        }
        if let Some(quoted) = text.strip_prefix('>') {
            return format!("{}{}", self.paint(DIM, "│ "), self.inline(quoted.trim_start()));
        }
        format!("{indent}{}", self.inline(text))
    }

    /// Inline marks: code, bold, italic, links.
    fn inline(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let (shown, taken) =
                self.marked(rest, before).unwrap_or_else(|| (first.to_string(), first.len_utf8()));
            out.push_str(&shown);
            before = rest[..taken].chars().next_back().unwrap_or(' ');
            rest = &rest[taken..];
        }
        out
    }

    /// The marked text at the beginning of `text`, and its length in bytes.
    fn marked(&self, text: &str, before: char) -> Option<(String, usize)> {
        if let Some(escaped) = text.strip_prefix('\\') {
            let next = escaped.chars().next().filter(char::is_ascii_punctuation)?;
            return Some((next.to_string(), 1 + next.len_utf8()));
        }
        if let Some(code) = text.strip_prefix('`') {
            let end = code.find('`').filter(|end| *end > 0)?;
            return Some((self.paint(CODE, &code[..end]), end + 2));
        }
        for (mark, style) in [("**", BOLD), ("__", BOLD), ("*", ITALIC), ("_", ITALIC)] {
            if let Some(inner) = text.strip_prefix(mark) {
                let within_word = mark.starts_with('_') && before.is_alphanumeric();
                let end = inner.find(mark).filter(|end| *end > 0 && !within_word)?;
                let spaced = inner.starts_with(' ') || inner[..end].ends_with(' ');
                let goes_on = inner[end + mark.len()..].starts_with(char::is_alphanumeric);
                if spaced || (mark.starts_with('_') && goes_on) {
                    return None;
                }
                let shown = self.paint(style, &self.inline(&inner[..end]));
                return Some((shown, end + 2 * mark.len()));
            }
        }
        let (label, address) = text.strip_prefix('[')?.split_once("](")?;
        let address = &address[..address.find(')')?];
        if label.contains(['[', ']']) {
            return None;
        }
        let shown = self.paint(UNDERLINED, &self.inline(label));
        let address_shown = self.paint(DIM, &format!("({address})"));
        Some((format!("{shown} {address_shown}"), label.len() + address.len() + 4))
    }

    fn end_table(&mut self, out: &mut String) {
        let lines = std::mem::take(&mut self.table);
        let split = |line: &String| -> Vec<String> {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| self.inline(cell.trim())).collect()
        };
        let ruled = |row: &Vec<String>| {
            row.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':')))
        };
        let rows: Vec<Vec<String>> = lines.iter().map(split).collect();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter(|row| !ruled(row)).filter_map(|row| row.get(column));
            cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        for (number, row) in rows.iter().enumerate() {
            if ruled(row) {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                out.push_str(&self.paint(DIM, &rules.join("  ")));
            } else {
                let padded = row.iter().zip(&widths).map(|(cell, width)| {
                    let cell_width = measure_text_width(cell);
                    let cell = if number == 0 { self.paint(BOLD, cell) } else { cell.clone() };
                    format!("{cell}{}", " ".repeat(width - cell_width))
                });
                out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            }
            out.push('\n');
        }
    }

    fn paint(&self, (begin, end): Style, text: &str) -> String {
        match self.colours {
            true => format!("\u{1b}[{begin}m{text}\u{1b}[{end}m"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The final screen, with styles as `<code>`.
    fn check(text: &str, expected: &str) {
        let mut whole = Markdown::new(true, 80);
        let mut out = whole.push(text);
        out.push_str(&whole.finish());
        assert_eq!(out.replace("\u{1b}[", "<").replace('m', ">"), expected.replace('m', ">"));
    }

    #[test]
    fn marks_become_styles_and_other_text_stays() {
        check("plain 2 * 3 * 4, a_b_c\n", "plain 2 * 3 * 4, a_b_c\n");
        check("**a `b`**\n", "<1>a <36>b<39><22>\n");
        check("# T\n- *x*\n> q\n", "<4><1>T<22><24>\n• <3>x<23>\n<2>│ <22>q\n");
        check("```rust\n**x**\n```\n", "<2>```rust<22>\n<36>**x**<39>\n<2>```<22>\n");
        check("see [it](http://x)\n", "see <4>it<24> <2>(http://x)<22>\n");
        check("\\*no\\*\n", "*no*\n");
    }

    #[test]
    fn a_table_is_aligned_when_it_is_whole() {
        check(
            "| a | long |\n|---|---|\n| wide | b |\nend\n",
            "<1>a<22>     <1>long<22>\n<2>────  ────<22>\nwide  b\nend\n",
        );
    }

    #[test]
    fn a_line_under_way_is_shown_and_replaced_when_it_is_whole() {
        let mut text = Markdown::new(true, 10);
        assert_eq!(text.push("**bold and"), "**bold and");
        assert_eq!(text.push(" more** x\n"), "\r\u{1b}[J\u{1b}[1mbold and more\u{1b}[22m x\n");
        assert_eq!(text.push("twelve *wide"), "twelve *wide");
        assert_eq!(text.push("*\n"), "\r\u{1b}[1A\u{1b}[Jtwelve \u{1b}[3mwide\u{1b}[23m\n");
        assert_eq!(text.push("plain"), "plain");
        assert_eq!(text.push(" end"), " end");
        assert_eq!(text.finish(), "");
    }

    #[test]
    fn without_colours_only_the_marks_go() {
        let mut text = Markdown::new(false, 80);
        let out = text.push("**b** `c`\n");
        assert_eq!(out, "b c\n");
    }
}
