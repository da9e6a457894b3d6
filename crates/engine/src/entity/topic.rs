//! The topic of a message: its main entity, and what about it.

use super::mention::Topic;
use super::notice::Reading;

/// The topic of a message; `None` if it names nothing and asks about no type.
pub(super) fn of(reading: &Reading<'_>) -> Option<Topic> {
    let noticed = &reading.noticed;
    let sure = || noticed.mentions.iter().filter(|mention| mention.is_sure());
    let corrected = noticed.correction.as_ref().and_then(|correction| correction.right.clone());
    let describes = |mention: &super::Mention| {
        reading.packs.entity_type(&mention.kind).is_some_and(|found| found.describes)
    };
    let main = sure()
        .find(|mention| !reading.is_placed(mention) && !describes(mention))
        .or_else(|| sure().find(|mention| !describes(mention)))
        .or_else(|| sure().next());
    let entity = corrected.or_else(|| main.map(super::Mention::target));
    let own = entity.as_ref().map(|entity| &entity.kind);
    let about = noticed.asked_about.iter().find(|kind| Some(*kind) != own).cloned();
    (entity.is_some() || about.is_some()).then_some(Topic { entity, about })
}
