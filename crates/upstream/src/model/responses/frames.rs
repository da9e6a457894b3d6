//! Splits a stream of server-sent events into complete events.
//!
//! Invariant: the bytes of an event are unchanged, so that one which is not understood can be forwarded as it is.

use bytes::{Bytes, BytesMut};
use serde_json::Value;

/// A buffer of received bytes.
#[derive(Debug, Default)]
pub struct Frames(BytesMut);

/// One event, with the empty line after it.
#[derive(Debug, Clone)]
pub struct Frame(pub Bytes);

impl Frames {
    /// Adds bytes and returns the events that are now complete.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let from = self.0.len().saturating_sub(3);
        self.0.extend_from_slice(bytes);
        let (mut frames, mut from) = (Vec::new(), from);
        while let Some(end) = end_of_event(&self.0[from..]) {
            frames.push(Frame(self.0.split_to(from + end).freeze()));
            from = 0;
        }
        frames
    }

    /// Returns the bytes after the last complete event.
    pub fn rest(&mut self) -> Option<Frame> {
        let rest = std::mem::take(&mut self.0).freeze();
        (!rest.trim_ascii().is_empty()).then_some(Frame(rest))
    }
}

impl Frame {
    /// Its data, if that is a single line.
    pub fn data(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.0).ok()?;
        let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let first = data.next()?.trim();
        data.next().is_none().then_some(first)
    }

    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(self.data()?).ok()
    }
}

/// The end of the first empty line.
fn end_of_event(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find_map(|at| {
        let rest = &bytes[at..];
        let ends: [&[u8]; 2] = [b"\n\n", b"\r\n\r\n"];
        ends.iter().find(|end| rest.starts_with(end)).map(|end| at + end.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_wherever_the_bytes_are_cut() {
        let text = "event: a\r\ndata: 1\r\n\r\ndata: 2\n\ndata: 3";
        for cut in 0..text.len() {
            let mut frames = Frames::default();
            let mut found = frames.take(&text.as_bytes()[..cut]);
            found.extend(frames.take(&text.as_bytes()[cut..]));
            found.extend(frames.rest());
            let data: Vec<_> = found.iter().map(|frame| frame.data().unwrap_or("?")).collect();
            assert_eq!(data, ["1", "2", "3"], "cut at {cut}");
            let whole: Vec<u8> = found.iter().flat_map(|frame| frame.0.to_vec()).collect();
            assert_eq!(whole, text.as_bytes());
        }
    }
}
