//! Plans the next step of a reply.

use super::ask::{Ask, Follow};
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use crate::lexicon::{Class, Family, Say};
use crate::session::dialogue::Want;

impl Scene<'_> {
    /// The reply, or the call that must come first.
    pub fn plan(&self) -> Flow<Said> {
        let (from, cancels) = self.opening();
        let mut parts: Vec<Part> =
            self.parts.iter().filter(|part| part.span.start >= from).cloned().collect();
        let mut ask = self.ask(&parts);
        if self.dialogue.open.is_some()
            && !cancels
            && !self.only_greets(from)
            && let Some(said) = self.answered(&ask, &parts)?
        {
            return Ok(said);
        }
        if let Some(said) = self.social(from) {
            return Ok(said);
        }
        if let Some(said) = self.noted(&ask) {
            return Ok(said);
        }
        let corrects = self.corrects(&parts);
        if corrects {
            parts.retain(|part| !is_correcting(part));
            ask = self.ask(&parts);
            if let Some(said) = self.chosen_again(&ask, &parts)? {
                return Ok(said);
            }
        }
        if let Some(said) = self.calculation(&parts)? {
            return Ok(said);
        }
        if let Some(said) = self.among_shown(&ask, &parts) {
            return Ok(said);
        }
        if let Some(said) = self.act_again(&ask, &parts, corrects)? {
            return Ok(said);
        }
        if !corrects
            && ask.follows != Some(Follow::Same)
            && self
                .dialogue
                .spoken
                .first()
                .is_some_and(|spoken| matches!(spoken.query.want, Want::Act(_)))
            && let Some(said) = self.earlier()
        {
            return Ok(said);
        }
        if let Some(said) = self.statement()? {
            return Ok(said);
        }
        let changes = ask.verb.filter(|(family, _)| !family.reads());
        if let Some((family, at)) = changes {
            return match self.act(&ask, &parts)? {
                Some(said) => Ok(said),
                None => Ok(self.cannot(family, &parts[at..])),
            };
        }
        let commands = parts.iter().any(|part| part.role == Role::Command);
        let acts = commands || has_literal(&ask) || self.is_valued(&ask);
        if (acts || self.is_command(&ask, &parts))
            && let Some(said) = self.act(&ask, &parts)?
        {
            return Ok(said);
        }
        if let Some(said) = self.serve(&ask, corrects)? {
            return Ok(said);
        }
        if let Some(said) = self.act(&ask, &parts)? {
            return Ok(said);
        }
        let earlier = self.earlier().filter(|_| ask.follows != Some(Follow::Same));
        Ok(earlier.unwrap_or_else(|| {
            let mut said = self.lost();
            let asks = self.language.asks_for_something(self.message) && !self.offers.is_empty();
            if asks {
                said.hint = self.say(Say::Lost, &[("what", &self.abilities())]);
            }
            said
        }))
    }

    /// Whether a message says that the previous one was misunderstood.
    fn corrects(&self, parts: &[Part]) -> bool {
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let opens = first.is_some_and(|part| {
            matches!(part.role, Role::Word(Class::No | Class::Sorry | Class::Wait))
        });
        let more = parts.iter().any(|part| !is_correcting(part) && part.role != Role::Filler);
        more && (opens || parts.iter().any(|part| part.is(Class::Meant)))
    }

    /// The answer in an earlier result.
    fn earlier(&self) -> Option<Said> {
        let found = crate::reply::earlier::find(self.message, &[], self.recent)?;
        let text = format!("From turn {}: {}", found.turn, found.text);
        Some(Said { text, dialogue: self.dialogue.clone(), ..Said::default() })
    }

    /// The reply if no tool can carry out a verb.
    fn cannot(&self, family: Family, parts: &[Part]) -> Said {
        let end = parts.last().map_or(0, |part| part.span.end);
        let start = parts.first().map_or(0, |part| part.span.start);
        let what = self.message.get(start..end).unwrap_or(self.message);
        let mut said = self.lost();
        said.text = self.say(Say::Cannot, &[("what", what)]);
        said.unanswered = Some(if family.reads() { "no_tool" } else { "cannot" });
        said
    }
}

fn is_correcting(part: &Part) -> bool {
    matches!(
        part.role,
        Role::Word(
            Class::No | Class::Sorry | Class::Wait | Class::Meant | Class::Mean | Class::Yes
        )
    )
}

fn has_literal(ask: &Ask) -> bool {
    ask.phrases.iter().any(|phrase| phrase.is_literal)
}
