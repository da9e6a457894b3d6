//! The sealed part of a log: a tree of immutable objects.
//!
//! Level 0 is a segment of entries; level n + 1 is an index of [`FAN_OUT`] nodes of level n. The head contains
//! only the roots, fewer than [`FAN_OUT`] per level, so its size grows with the logarithm of the log's length.
//! A name states what the object contains and ends with a random part: a writer that loses a race leaves its own
//! object behind and never touches the winner's.

use std::ops::Range;

use uuid::Uuid;

/// Number of nodes of one level that are merged into an index.
pub(super) const FAN_OUT: usize = 16;

/// A sealed object, as described by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// 0 for a segment, more for an index.
    pub level: u8,
    /// The entries it covers.
    pub range: Range<u64>,
    /// The last component of the object's path.
    pub name: String,
}

impl Node {
    /// A node with a fresh name.
    pub(super) fn new(incarnation: u32, level: u8, range: Range<u64>) -> Self {
        let random = Uuid::now_v7().simple();
        let name = format!("{incarnation:08x}-{level}-{}-{}-{random}", range.start, range.end);
        Self { level, range, name }
    }

    /// Parses a name; `None` for a foreign object.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-').skip(1);
        let level = parts.next()?.parse().ok()?;
        let range = parts.next()?.parse().ok()?..parts.next()?.parse().ok()?;
        (range.start < range.end).then(|| Self { level, range, name: name.to_owned() })
    }

    /// The incarnation of the thread that a node belongs to.
    pub(super) fn incarnation(name: &str) -> Option<u32> {
        u32::from_str_radix(name.split('-').next()?, 16).ok()
    }

    pub(super) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.range.start < range.end && range.start < self.range.end
    }
}

/// The last [`FAN_OUT`] roots if they are of one level and thus can be merged.
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
