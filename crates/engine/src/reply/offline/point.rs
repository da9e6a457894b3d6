//! Resolves references to what was shown and mentioned in this session.

use super::ask::Pointer;
use super::rows;
use super::scene::Scene;
use crate::entity::Number;
use crate::pack::Kind;
use crate::session::dialogue::{Spoken, Thing, Want};

pub(super) enum Meant {
    Things(Vec<Thing>),
    /// One of these; nothing says which.
    OneOf(Vec<Thing>),
    Nothing,
}

impl Scene<'_> {
    /// What a reference means. "Those" are the things of the last list as a whole: see [`Scene::last_list`].
    pub(super) fn meant(&self, pointer: &Pointer) -> Meant {
        let narrower = self.narrower_of(pointer);
        let fits = |thing: &Thing| {
            pointer.kinds.as_ref().is_none_or(|kinds| kinds.contains(&thing.kind))
                && narrower.is_none_or(|roles| self.has_role(thing, roles))
        };
        let listed = self.listed();
        match pointer.number {
            Number::One => {
                let newest = self.dialogue.focus.first().filter(|_| pointer.is_possessive);
                let held = newest.filter(|one| !fits(one)).and_then(|t| self.held_by(t, &fits));
                // "its circuits" of a device: of its tenant rather than of one spoken of before.
                held.map_or_else(|| self.one(&fits), |thing| Meant::Things(vec![thing]))
            }
            Number::Many | Number::Both => {
                let things: Vec<Thing> =
                    listed.iter().filter(|thing| fits(thing)).cloned().collect();
                let enough = pointer.number == Number::Many || things.len() == 2;
                if things.is_empty() || !enough { Meant::Nothing } else { Meant::Things(things) }
            }
            Number::Other => {
                let current = self.dialogue.focus.first();
                let rest = |thing: &&Thing| current.is_none_or(|one| !one.is(thing)) && fits(thing);
                let others: Vec<Thing> = listed.iter().filter(rest).cloned().collect();
                match others.len() {
                    0 => Meant::Nothing,
                    1 => Meant::Things(others),
                    _ => Meant::OneOf(others),
                }
            }
            Number::Counted { from, count } => {
                let listed: Vec<Thing> =
                    listed.iter().filter(|thing| fits(thing)).cloned().collect();
                let from = if from == 0 { listed.len().saturating_sub(count) } else { from - 1 };
                match listed.get(from..from + count) {
                    Some(counted) if !counted.is_empty() => Meant::Things(counted.to_vec()),
                    _ => Meant::Nothing,
                }
            }
            Number::Within => Meant::Nothing,
        }
    }

    /// The roles that a more specific word means: "that router" is no switch.
    fn narrower_of(&self, pointer: &Pointer) -> Option<&[String]> {
        let text = &self.message[pointer.span.start..pointer.span.end];
        let word = self.language.singular(&text.split_whitespace().next_back()?.to_lowercase());
        let known = pointer.kinds.iter().flatten().filter_map(|kind| self.known(kind));
        let mut roles = known.filter_map(|known| known.narrows.get(&word));
        roles.next().map(Vec::as_slice).filter(|roles| !roles.is_empty())
    }

    /// Whether a thing has one of these roles; one with an unknown role may have it.
    fn has_role(&self, thing: &Thing, roles: &[String]) -> bool {
        let by = self.known(&thing.kind).and_then(|known| known.narrowed_by.as_ref());
        let row = self.row_of(thing);
        let key = row.as_ref().zip(by).and_then(|(row, by)| self.key_of_kind(row, &thing.kind, by));
        let Some(own) = row.as_ref().zip(key).and_then(|(row, key)| row.get(&key)) else {
            return true;
        };
        let english = crate::lexicon::english();
        let own: Vec<String> =
            rows::parts(&rows::shown(own)).iter().map(|part| english.singular(part)).collect();
        roles.iter().any(|role| rows::parts(role).iter().all(|part| own.contains(part)))
    }

    fn one(&self, fits: &dyn Fn(&Thing) -> bool) -> Meant {
        if let Some(thing) = self.dialogue.focus.iter().find(|thing| fits(thing)) {
            return Meant::Things(vec![thing.clone()]);
        }
        // Something that belongs to the thing in focus: "that rack" of the device.
        let held = self.dialogue.focus.iter().find_map(|thing| self.held_by(thing, fits));
        if let Some(thing) = held {
            return Meant::Things(vec![thing]);
        }
        let listed: Vec<Thing> =
            self.listed().iter().filter(|thing| fits(thing)).cloned().collect();
        match listed.len() {
            0 => Meant::Nothing,
            1 => Meant::Things(listed),
            _ => Meant::OneOf(listed),
        }
    }

    /// The only thing of a matching kind in a thing's row.
    fn held_by(&self, thing: &Thing, fits: &dyn Fn(&Thing) -> bool) -> Option<Thing> {
        let row = self.row_of(thing)?;
        let object = row.as_object()?;
        object.iter().find_map(|(key, value)| {
            let known = self.packs.type_of_key_in(Some(&thing.kind), key)?;
            let held = rows::thing(value, &known.kind, Some(known))?;
            fits(&held).then_some(held)
        })
    }

    /// The things that positions refer to: the candidates of the open question, else the last list.
    pub(super) fn listed(&self) -> &[Thing] {
        if let Some(open) = self.dialogue.open.as_ref().filter(|open| !open.candidates.is_empty()) {
            return &open.candidates;
        }
        // A list of one is a list, too; one thing that was shown is none.
        let several = self.dialogue.spoken.iter().find(|spoken| {
            let lists = matches!(spoken.query.want, Want::List | Want::Act(_));
            spoken.shown.len() > 1 || lists && !spoken.shown.is_empty()
        });
        let any = || self.dialogue.spoken.iter().find(|spoken| !spoken.shown.is_empty());
        several.or_else(any).map_or(&[], |spoken| spoken.shown.as_slice())
    }

    /// The last query whose result was a list, optionally of a kind.
    pub(super) fn last_list(&self, kind: Option<&Kind>) -> Option<&Spoken> {
        self.dialogue.spoken.iter().find(|spoken| {
            let of_kind = kind.is_none_or(|kind| spoken.query.kind.as_ref() == Some(kind));
            let text = matches!(spoken.query.want, Want::List | Want::Count)
                && spoken.query.kind.is_some();
            // Files that a search printed cannot be listed again.
            let files = spoken.shown.iter().any(|thing| thing.keys.contains_key("path"));
            of_kind && !files && (!spoken.shown.is_empty() || spoken.count.is_some() || text)
        })
    }

    /// The things shown that have these words: of the latest list that has any.
    pub(super) fn picked(&self, words: &str) -> Vec<Thing> {
        let wanted = rows::parts(words);
        let open = self.dialogue.open.iter().map(|open| open.candidates.as_slice());
        let lists = self.dialogue.spoken.iter().map(|spoken| spoken.shown.as_slice());
        for list in open.chain(lists).filter(|list| !list.is_empty()) {
            let has = |thing: &&Thing| {
                let mut own = rows::parts(&thing.label);
                own.extend(self.row_of(thing).iter().flat_map(rows::words));
                wanted.iter().all(|word| own.contains(word))
            };
            let found: Vec<Thing> = list.iter().filter(has).cloned().collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The place in focus.
    pub(super) fn place(&self) -> Option<Thing> {
        let is_place = |thing: &&Thing| self.known(&thing.kind).is_some_and(|known| known.place);
        let spoken = self.dialogue.spoken.iter().flat_map(|spoken| {
            let named = spoken.query.terms.iter().filter_map(|term| match &term.what {
                crate::session::dialogue::What::Thing(thing) => Some(thing),
                _ => None,
            });
            let single = spoken.shown.iter().filter(move |_| spoken.shown.len() == 1);
            single.chain(named)
        });
        spoken.chain(&self.dialogue.focus).find(is_place).cloned()
    }
}
