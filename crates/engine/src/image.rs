//! Pictures that come with a message.
//!
//! A picture travels as a data URL, the form in which it is also kept, and becomes a [`Block::Image`] when the
//! request is laid out. It is not read here: only its type and size in pixels are, from its first bytes.
//!
//! Invariant: an [`Image`] is of a type that providers accept, and its data is valid base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model::Block;

/// The types that providers accept.
pub const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Pixels a token stands for, as Anthropic counts them; others are within a factor of two.
const PIXELS_PER_TOKEN: u64 = 750;
/// Providers shrink larger pictures.
const TOKENS_MAX: u64 = 1600;

/// A picture as a data URL, with its size in pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    url: String,
    /// 0 × 0 where its first bytes do not tell.
    pixels: (u32, u32),
    bytes: usize,
}

impl Image {
    /// Reads a data URL such as `data:image/png;base64,iVBOR…`; the error is a sentence for people.
    pub fn of_data_url(url: String) -> Result<Self, String> {
        let types =
            || format!("must be a data URL of one of {}, in base64", MEDIA_TYPES.join(", "));
        let (media_type, data) = split(&url).ok_or_else(types)?;
        let bytes = STANDARD.decode(data).map_err(|_| types())?;
        let found = sniff(&bytes).ok_or_else(types)?;
        if found != media_type {
            return Err(format!("is said to be {media_type} and is {found}"));
        }
        let (pixels, bytes) = (pixels(found, &bytes).unwrap_or_default(), bytes.len());
        Ok(Self { url, pixels, bytes })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its size, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// About what a provider counts for it.
    pub fn tokens(&self) -> u32 {
        let (width, height) = self.pixels;
        let counted = u64::from(width) * u64::from(height) / PIXELS_PER_TOKEN;
        let counted = if counted == 0 && width == 0 { TOKENS_MAX } else { counted.max(1) };
        u32::try_from(counted.min(TOKENS_MAX)).unwrap_or(u32::MAX)
    }
}

/// The block of a text that is a picture's data URL.
pub fn block(text: &str) -> Option<Block> {
    let (media_type, data) = split(text)?;
    Some(Block::Image { media_type: media_type.to_owned(), data: data.to_owned() })
}

fn split(url: &str) -> Option<(&str, &str)> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    MEDIA_TYPES.contains(&media_type).then_some((media_type, data))
}

fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Width and height, where they stand at a fixed place or, in a JPEG, in one of its segments.
fn pixels(media_type: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let pair = |at: usize| Some([*bytes.get(at)?, *bytes.get(at + 1)?]);
    let big = |at: usize| pair(at).map(|pair| u32::from(u16::from_be_bytes(pair)));
    let little = |at: usize| pair(at).map(|pair| u32::from(u16::from_le_bytes(pair)));
    match media_type {
        // The upper halves are zero in every picture that a provider takes.
        "image/png" => Some((big(18)?, big(22)?)),
        "image/gif" => Some((little(6)?, little(8)?)),
        "image/jpeg" => {
            let mut at = 2;
            loop {
                let marker = *bytes.get(at + 1)?;
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    return Some((big(at + 7)?, big(at + 5)?));
                }
                at += 2 + usize::try_from(big(at + 2)?).ok()?.max(2);
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(media_type: &str, bytes: &[u8]) -> String {
        format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
    }

    fn png(width: u16, height: u16) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(height.to_be_bytes());
        bytes
    }

    #[test]
    fn a_picture_is_counted_by_its_pixels_not_by_its_letters() {
        let tokens = |url| Image::of_data_url(url).expect("a picture").tokens();
        assert_eq!(tokens(url("image/png", &png(750, 100))), 100);
        assert_eq!(tokens(url("image/png", &png(1, 1))), 1);
        assert_eq!(tokens(url("image/png", &png(9000, 9000))), 1600);
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 9, 8, 0, 75, 0, 100, 1];
        assert_eq!(tokens(url("image/jpeg", &jpeg)), 10);
        assert_eq!(tokens(url("image/gif", b"GIF89a\x4b\0\x64\0")), 10);
        assert_eq!(tokens(url("image/webp", b"RIFF....WEBP")), 1600);
    }

    #[test]
    fn only_pictures_that_providers_take_are_taken() {
        let refused = |url: String| Image::of_data_url(url).expect_err("refused");
        assert!(refused(url("image/svg+xml", b"<svg/>")).contains("image/png"));
        assert!(refused(url("image/png", b"GIF89a")).contains("is image/gif"));
        assert!(refused("data:image/png;base64,???".to_owned()).contains("base64"));
        assert!(refused("https://pictures.example/a.png".to_owned()).contains("data URL"));
        for cut in 0..png(9, 9).len() {
            let _ = Image::of_data_url(url("image/png", &png(9, 9)[..cut]));
            let _ = Image::of_data_url(url(
                "image/jpeg",
                &[0xff, 0xd8, 0xff, 0xe0, 0, 0][..cut.min(6)],
            ));
        }
    }

    #[test]
    fn a_text_is_a_picture_only_as_a_whole_data_url() {
        assert!(block(&url("image/png", &png(9, 9))).is_some());
        assert!(block("<data from=\"a\">data:image/png;base64,AAAA</data>").is_none());
    }
}
