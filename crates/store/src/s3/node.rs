//! The sealed part of a log: a tree of immutable objects, named by what they hold.
//!
//! Level 0 is a segment of entries; level n + 1 is an index of [`FAN_OUT`] nodes of level n. The head
//! carries the roots only, fewer than [`FAN_OUT`] of each level, so its size grows with the logarithm
//! of the log's length. A name ends in a random part: a writer that loses a race leaves its own
//! object behind and never touches the winner's.

use std::ops::Range;

use uuid::Uuid;

/// Nodes of one level that are gathered into an index.
pub(super) const FAN_OUT: usize = 16;

/// One sealed object, as its name tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// 0 for entries, more for indexes.
    pub level: u8,
    /// The entries it covers.
    pub range: Range<u64>,
    /// The last part of the object's path.
    pub name: String,
}

impl Node {
    /// A fresh name for what covers `range`.
    pub(super) fn new(incarnation: u32, level: u8, range: Range<u64>) -> Self {
        let random = Uuid::now_v7().simple();
        let name = format!("{incarnation:08x}-{level}-{}-{}-{random}", range.start, range.end);
        Self { level, range, name }
    }

    /// Reads a name; `None` for an object that is not ours.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-').skip(1);
        let level = parts.next()?.parse().ok()?;
        let range = parts.next()?.parse().ok()?..parts.next()?.parse().ok()?;
        (range.start < range.end).then(|| Self { level, range, name: name.to_owned() })
    }

    /// Which life of the key a node was made in.
    pub(super) fn incarnation(name: &str) -> Option<u32> {
        u32::from_str_radix(name.split('-').next()?, 16).ok()
    }

    /// Whether any of `range` is in here.
    pub(super) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.range.start < range.end && range.start < self.range.end
    }
}

/// The last [`FAN_OUT`] roots when they are of one level and so belong into an index.
pub(super) fn full_level(roots: &[Node]) -> Option<&[Node]> {
    let last = roots.last()?;
    let run = roots.iter().rev().take_while(|node| node.level == last.level).count();
    (run >= FAN_OUT).then(|| &roots[roots.len() - FAN_OUT..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_is_inside() {
        let node = Node::new(0xbeef, 2, 64..128);
        assert_eq!(Node::parse(&node.name), Some(node.clone()));
        assert_eq!(Node::incarnation(&node.name), Some(0xbeef));
        assert_eq!(Node::parse("something else"), None);
    }

    #[test]
    fn only_a_full_run_of_one_level_is_gathered() {
        let mut roots = vec![Node::new(1, 1, 0..16)];
        roots.extend((16..31).map(|i| Node::new(1, 0, i..i + 1)));
        assert_eq!(full_level(&roots), None);
        roots.push(Node::new(1, 0, 31..32));
        assert_eq!(full_level(&roots).map(|run| run[0].range.clone()), Some(16..17));
    }
}
