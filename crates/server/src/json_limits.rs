//! The shape of a JSON text, measured on its bytes before anything is built from them.
//!
//! A parser that builds values first and counts afterwards has already spent the memory. This scan
//! allocates nothing and stops at the first bound that is passed. Whether the text is valid JSON is the
//! parser's business.
//!
//! Invariant: a text that passes has at most the allowed depth and elements.

/// How deep and how large a JSON text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeLimits {
    /// Arrays and objects within each other.
    pub depth_max: usize,
    /// Values in arrays and objects, all together.
    pub elements_max: usize,
}

/// Which bound a text passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverShape {
    /// Too many arrays and objects within each other.
    Depth,
    /// Too many values.
    Elements,
}

/// Measures `text`.
pub fn check(text: &[u8], limits: ShapeLimits) -> Result<(), OverShape> {
    let (mut depth, mut elements) = (0_usize, 1_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                elements += 1;
                if depth > limits.depth_max {
                    return Err(OverShape::Depth);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => elements += 1,
            _ => continue,
        }
        if elements > limits.elements_max {
            return Err(OverShape::Elements);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> Result<(), OverShape> {
        check(text.as_bytes(), ShapeLimits { depth_max: 3, elements_max: 6 })
    }

    #[test]
    fn depth_and_elements_are_bounded_and_strings_do_not_count() {
        assert_eq!(measured("[[[1]]]"), Ok(()));
        assert_eq!(measured("[[[[1]]]]"), Err(OverShape::Depth));
        assert_eq!(measured("[1,2,3,4,5]"), Ok(()));
        assert_eq!(measured("[1,2,3,4,5,6]"), Err(OverShape::Elements));
        assert_eq!(measured(r#"{"a":"[[[[,,,,,,,,\"[[["}"#), Ok(()));
        assert_eq!(measured("]]]]]]["), Ok(()));
    }
}
