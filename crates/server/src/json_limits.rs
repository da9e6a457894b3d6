//! Limits the shape of a JSON text before it is parsed.
//!
//! A parser that builds values first has already spent the memory. This scan allocates nothing and stops at the
//! first exceeded limit; it does not validate the JSON.
//!
//! Invariant: a text that passes has at most the allowed depth and elements.

/// Limits of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeLimits {
    /// Nested arrays and objects.
    pub depth_max: usize,
    /// Values in arrays and objects, in total.
    pub elements_max: usize,
}

/// Which limit is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverShape {
    /// Nested too deeply.
    Depth,
    /// Too many values.
    Elements,
}

/// Checks `text`.
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
