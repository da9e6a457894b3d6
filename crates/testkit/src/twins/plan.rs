//! Steps derived from a seed: few keys with awkward names, so that they collide often.

use std::ops::Range;

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::store::{Change, Key, Kind, Scope};

use crate::seeded::Seeded;

/// One step of a plan.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A commit at the version `back` commits ago.
    Commit { key: Key, back: usize, change: Change },
    /// A read of the head, with the version `back` commits ago as known.
    Head { key: Key, back: usize },
    /// A range of the log.
    Entries { key: Key, range: Range<u64> },
    /// All pages of the key's listing.
    List { key: Key, limit: usize },
    /// One page of the scan.
    Scan { after: Option<Key>, limit: usize },
    /// An erasure.
    Erase { key: Key },
}

/// An endless plan.
pub(super) struct Plan {
    seeded: Seeded,
    tenants: [String; 2],
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        // Names are unique per seed, because plans run one after the other on the same stores.
        let tenants = [format!("s{seed}"), format!("s{seed}-x")];
        Self { seeded: Seeded::new(seed), tenants }
    }

    pub(super) fn next_step(&mut self) -> Step {
        let key = self.key();
        match self.seeded.below(100) {
            0..50 => Step::Commit { back: self.back(), change: self.change(), key },
            50..62 => Step::Head { back: self.back(), key },
            62..78 => {
                let start = self.seeded.below(12);
                Step::Entries { key, range: start..start + self.seeded.below(12) }
            }
            78..86 => Step::List { key, limit: 1 + self.seeded.below(5) as usize },
            86..92 => {
                let after = self.seeded.happens(700).then(|| self.key());
                Step::Scan { after, limit: 1 + self.seeded.below(20) as usize }
            }
            _ => Step::Erase { key },
        }
    }

    fn key(&mut self) -> Key {
        let tenant = self.seeded.one_of(&self.tenants).clone();
        let user = *self.seeded.one_of(&["u", "u-1"]);
        let id = *self.seeded.one_of(&["a", "a-b", "a.b", "A"]);
        let scope = Scope {
            tenant: TenantId::new(tenant).expect("made of letters and digits"),
            user: UserId::new(user).expect("made of letters and digits"),
        };
        let kind = *self.seeded.one_of(&[Kind::Session, Kind::Session, Kind::Preset]);
        Key { scope, kind, id: ThreadId::new(id).expect("made of letters and digits") }
    }

    /// Mostly the newest version; sometimes a stale one, or absence.
    fn back(&mut self) -> usize {
        if self.seeded.happens(850) { 0 } else { self.seeded.below(4) as usize }
    }

    fn change(&mut self) -> Change {
        let second = 1_790_000_000 + self.seeded.below(8) as i64;
        let nanosecond = [0, 1, 999_999_999][self.seeded.below(3) as usize];
        let at = Timestamp::new(second, nanosecond).expect("a time in 2026");
        let mut change = super::empty_change(at);
        change.head = self.bytes();
        for _ in 0..self.seeded.below(4) {
            change.append.push(self.bytes());
        }
        while self.seeded.happens(120) {
            let place = self.seeded.below(10);
            // With two overwrites of one entry it would be undefined which comes last.
            if change.overwrite.iter().all(|(taken, _)| *taken != place) {
                change.overwrite.push((place, self.bytes()));
            }
        }
        change
    }

    fn bytes(&mut self) -> Bytes {
        let length = [0, 1, 9, 40, 600][self.seeded.below(5) as usize];
        let first = self.seeded.next_u64();
        Bytes::from((0..length).map(|at| (first >> (at % 57)) as u8).collect::<Vec<u8>>())
    }
}
