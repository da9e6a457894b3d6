//! Markdown: our own export, or a text whose headings or bold words name the speaker.
//!
//! Our export writes a turn as `## N · TIME`, with the message as a quotation and the reply after it.

use jiff::Timestamp;

use super::{Chat, Exchanges, Speaker};

pub(super) fn read(text: &str) -> Chat {
    let mut exchanges = Exchanges::default();
    let mut title = None;
    let mut part = Part::Preface;
    let mut said = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = if fenced { None } else { heading(line) };
        match heading {
            Some(Heading::Title(text)) if title.is_none() && part == Part::Preface => {
                title = Some(text.to_owned());
            }
            Some(Heading::Turn(at)) => {
                part.end(&mut exchanges, &mut said);
                part = Part::Turn(at);
            }
            Some(Heading::Speaker(speaker, rest)) => {
                part.end(&mut exchanges, &mut said);
                part = Part::Said(speaker);
                said.push_str(rest);
                said.push('\n');
            }
            _ => {
                said.push_str(line);
                said.push('\n');
            }
        }
    }
    part.end(&mut exchanges, &mut said);
    Chat { id: String::new(), title, created_at: None, exchanges: exchanges.0 }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Preface,
    Turn(Option<Timestamp>),
    Said(Speaker),
}

impl Part {
    fn end(self, exchanges: &mut Exchanges, said: &mut String) {
        let said = std::mem::take(said);
        match self {
            Self::Preface => {}
            Self::Said(speaker) => exchanges.say(speaker, &said, None),
            Self::Turn(at) => {
                let quoted = |line: &&str| line.starts_with('>');
                let body = said.trim_start_matches('\n');
                let message: Vec<&str> = body
                    .lines()
                    .take_while(quoted)
                    .map(|line| line[1..].strip_prefix(' ').unwrap_or(&line[1..]))
                    .collect();
                let reply: Vec<&str> = body.lines().skip_while(quoted).collect();
                exchanges.say(Speaker::User, &message.join("\n"), at);
                exchanges.say(Speaker::Assistant, &reply.join("\n"), at);
            }
        }
    }
}

enum Heading<'a> {
    Title(&'a str),
    Turn(Option<Timestamp>),
    Speaker(Speaker, &'a str),
}

fn heading(line: &str) -> Option<Heading<'_>> {
    if let Some(title) = line.strip_prefix("# ") {
        return Some(
            speaker(title)
                .map_or(Heading::Title(title.trim()), |speaker| Heading::Speaker(speaker, "")),
        );
    }
    if let Some(text) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
        if let Some((number, at)) = text.split_once(" · ")
            && number.trim().parse::<u64>().is_ok()
        {
            return Some(Heading::Turn(at.trim().parse().ok()));
        }
        return speaker(text).map(|speaker| Heading::Speaker(speaker, ""));
    }
    let bold = line.strip_prefix("**")?;
    let (name, rest) = bold.split_once("**")?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    speaker(name).map(|speaker| Heading::Speaker(speaker, rest.trim_start()))
}

fn speaker(name: &str) -> Option<Speaker> {
    match name.trim().trim_end_matches(':').to_ascii_lowercase().as_str() {
        "user" | "you" | "human" | "me" => Some(Speaker::User),
        "assistant" | "chatgpt" | "claude" | "ai" | "model" => Some(Speaker::Assistant),
        _ => None,
    }
}
