//! Files that a message asks for without saying where they are: by a name anywhere, all of them, or one of those that a
//! folder was shown to have.
//!
//! Invariant: a folder that the message does not name is the only one that the server says may be used, or is asked for.

use serde_json::{Map, Value};

use super::ask::Ask;
use super::back::has_failed;
use super::fit::has_ending;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::rows;
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::Kind;
use crate::session::dialogue::{Query, Thing, Want};

impl Scene<'_> {
    /// Looks for a file by its name, or lists the files where none is named: "find bank.txt", "what files are there?".
    pub(super) fn files_asked(&self, ask: &Ask, parts: &[Part]) -> Flow<Option<Said>> {
        if let Some(name) = self.sought_file(ask, parts) {
            let fits = |offer: &Offer| {
                let mut needs = offer.slots.iter().filter(|slot| slot.shape.required);
                let sought =
                    |slot: &Slot| slot.means == Means::Path || is_sought(slot) && !slot.shape.many;
                needs.all(sought) && offer.slots.iter().any(is_sought)
            };
            let Some(offer) = self.offers.iter().find(|o| takes_folder(o) && fits(o)) else {
                return Ok(None);
            };
            let mut arguments = offer.fixed.clone();
            for slot in offer.slots.iter().filter(|slot| is_sought(slot) && slot.shape.required) {
                let pattern = slot.searched(&offer.described, &name);
                put(&mut arguments, &slot.shape.path, pattern.into());
            }
            return self.in_root(offer, arguments, Family::Find).map(Some);
        }
        if self.asks_for_files(ask) {
            let fits = |offer: &&Offer| {
                takes_folder(offer)
                    && offer.family == Some(Family::List)
                    && offer.is_about_folders()
                    && offer.slots.iter().filter(|slot| slot.shape.required).count() == 1
            };
            let plainest = self.offers.iter().filter(fits).min_by_key(|offer| offer.words.len());
            if let Some(offer) = plainest {
                return self.in_root(offer, offer.fixed.clone(), Family::List).map(Some);
            }
        }
        Ok(None)
    }

    /// The name of a file that is looked for, and nothing else: "is there a file called bank.txt?".
    fn sought_file(&self, ask: &Ask, parts: &[Part]) -> Option<String> {
        let [phrase] = ask.phrases.as_slice() else { return None };
        let path = parts.get(phrase.at)?;
        let said = &self.message[path.span.start..path.span.end];
        let named = path.role == Role::Literal(Literal::Path) && has_ending(said);
        let sought = match ask.verb {
            Some((family, _)) => family == Family::Find && !ask.counts,
            None => parts.iter().any(|part| part.is(Class::Any) || part.is(Class::Where)),
        };
        let file = |kind: &Kind| lexicon::english().is(Class::File, kind.as_str());
        let plain = ask.kinds.iter().all(|word| file(&word.kind))
            && ask.pointers.is_empty()
            && ask.fields.is_empty()
            && phrase.placed.is_none();
        (named && sought && plain && !said.contains(['/', '\\'])).then(|| said.to_owned())
    }

    /// Whether a message asks for all files: "what files do I have?".
    fn asks_for_files(&self, ask: &Ask) -> bool {
        let english = lexicon::english();
        let is_file = |word: &str| english.is(Class::File, word) || english.is(Class::Folder, word);
        // No list of its own answers, but for the folders that may be used.
        let unlisted = |kind: &Kind| self.list_of(kind).is_none_or(Offer::is_about_folders);
        let files = match (ask.kinds.as_slice(), ask.phrases.as_slice()) {
            ([word], []) => word.many && is_file(word.kind.as_str()) && unlisted(&word.kind),
            ([], [phrase]) => {
                let (said, one) = (phrase.text.to_lowercase(), english.singular(&phrase.text));
                said != one && is_file(&one.to_lowercase()) && phrase.placed.is_none()
            }
            _ => false,
        };
        let asks = match ask.verb {
            Some((family, _)) => matches!(family, Family::List | Family::Show),
            None => ask.questions,
        };
        let plain = ask.pointers.is_empty() && ask.fields.is_empty();
        let more = ask.counts || ask.of_shown || ask.there && !ask.questions || ask.when || ask.who;
        let narrowed = ask.order.is_some() || ask.newest.is_some() || ask.follows.is_some();
        files && asks && plain && !more && !narrowed
    }

    /// Calls a tool in the only folder that its server allows; asks for the folder if there are several.
    fn in_root(
        &self,
        offer: &Offer,
        mut arguments: Map<String, Value>,
        family: Family,
    ) -> Flow<Said> {
        let path = |slot: &&Slot| slot.means == Means::Path && slot.shape.required;
        let slot = offer.slots.iter().find(path);
        let roots = match slot {
            Some(_) => self.roots(&offer.tool.tool.server)?,
            None => Vec::new(),
        };
        if let (Some(slot), [root]) = (slot, roots.as_slice()) {
            put(&mut arguments, &slot.shape.path, root.as_str().into());
        }
        let (want, kind) = (Want::Act(family), offer.kind.clone());
        let call = Some((offer.tool.tool.clone(), arguments));
        let mut said = self.carry_out(Query { want, kind, call, ..Query::default() }, true)?;
        if roots.len() > 1 && said.dialogue.open.is_some() {
            let possible = self.say(Say::Possible, &[("choices", &roots.join(", "))]);
            said.text = format!("{} {possible}", said.text);
        }
        Ok(said)
    }

    /// The folders that a server says may be used.
    fn roots(&self, server: &str) -> Flow<Vec<String>> {
        let tells = |offer: &&Offer| {
            offer.tool.tool.server == server
                && offer.is_free
                && offer.slots.is_empty()
                && offer.is_about_folders()
        };
        let Some(offer) = self.offers.iter().find(tells) else { return Ok(Vec::new()) };
        let (_, record) = self.call(&offer.tool, offer.fixed.clone(), true)?;
        let output = record.output.as_ref().filter(|_| !has_failed(record));
        let text = output.map_or("", |output| output.plain_text());
        let is_path = |line: &&str| line.starts_with('/') || line.get(1..3) == Some(":\\");
        Ok(text.lines().map(str::trim).filter(is_path).map(str::to_owned).collect())
    }

    /// The listed file that words of its name mean, and their number of parts: "the plum cake one".
    pub(super) fn file_picked(&self, parts: &[Part], at: usize) -> Option<(usize, Vec<String>)> {
        let shows = parts.iter().any(|part| matches!(part.role, Role::Verb(Family::Show)));
        let file = |kind: &Kind| lexicon::english().is(Class::File, kind.as_str());
        let other = |part: &Part| matches!(&part.role, Role::Kind { kind, .. } if !file(kind));
        let count = match parts[at].role {
            Role::Pick => 2,
            Role::Content if shows && !parts.iter().any(other) => 1,
            _ => return None,
        };
        let path = |thing: &Thing| thing.keys.get("path")?.as_str().map(str::to_owned);
        let english = lexicon::english();
        let words = |text: &str| -> Vec<String> {
            rows::parts(text).iter().map(|word| english.singular(word)).collect()
        };
        let wanted = words(&parts[at].lower);
        let fits = |path: &String| {
            let name = words(path.rsplit('/').next().unwrap_or_default());
            let all = words(path);
            wanted.iter().all(|word| all.contains(word)) && wanted.iter().any(|w| name.contains(w))
        };
        let mut paths = self.listed().iter().filter_map(path).filter(fits);
        let only = paths.next().filter(|_| paths.next().is_none())?;
        (self.dialogue.open.is_none()).then(|| (count, vec![only]))
    }
}

fn is_sought(slot: &Slot) -> bool {
    slot.is_pattern() && !slot.shape.many
}

/// Whether a tool reads and needs a folder.
fn takes_folder(offer: &Offer) -> bool {
    offer.reads
        && offer.is_free
        && offer.slots.iter().any(|slot| slot.means == Means::Path && !slot.shape.many)
}
