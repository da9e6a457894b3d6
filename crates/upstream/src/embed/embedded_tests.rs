//! Compares the built-in table with a reference made from the original one.
//!
//! `embedded_reference.json` contains pairs of texts with the cosine that the unpacked table, the original tokenizer
//! and double precision give; `scripts/embedder-reference` generates it.

use sha2::{Digest, Sha256};

use super::*;

const ASSET_SHA256: &str = "8767e5de57ef86e81cfb38785e064721525c0adb160d83f4a9031a2d18bfb74e";
/// Tolerance for the rounding to bytes.
const ROUNDING: f32 = 0.005;

#[derive(serde::Deserialize)]
struct Pair {
    left: String,
    right: String,
    cosine: f32,
}

fn cosine(left: &str, right: &str) -> f32 {
    let (left, right) = (Embedded.vector(left), Embedded.vector(right));
    left.iter().zip(&right).map(|(left, right)| left * right).sum()
}

#[test]
fn the_asset_is_the_one_that_its_notice_names() {
    let found: String = Sha256::digest(ASSET).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, ASSET_SHA256);
    let notice = include_str!("../../assets/README.md");
    assert!(notice.contains(ASSET_SHA256));
}

#[test]
fn cosines_agree_with_the_original_table_and_tokenizer() {
    let pairs: Vec<Pair> = serde_json::from_str(include_str!("embedded_reference.json")).unwrap();
    assert!(pairs.len() >= 40);
    for Pair { left, right, cosine: expected } in pairs {
        let found = cosine(&left, &right);
        assert!((found - expected).abs() < ROUNDING, "{found} for {expected}: {left:?} {right:?}");
    }
}

#[test]
fn what_holds_no_known_word_has_no_direction() {
    for text in ["", " \n", "\u{200d}", "\u{e000}"] {
        assert_eq!(Embedded.vector(text), vec![0.0; 256], "{text:?}");
    }
}

#[tokio::test]
async fn vectors_have_unit_length_and_the_order_of_their_texts() {
    let texts = ["The switch is down", "Zürich ❤️ café naïve", "地址 10.0.0.1/24"];
    let vectors = Embedded::load().embed(&texts).await.unwrap();
    for (vector, text) in vectors.iter().zip(texts) {
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-4, "{text}: {length}");
        assert_eq!(*vector, Embedded.vector(text));
        assert_eq!(vector.len(), Embedded.dimensions());
    }
}
