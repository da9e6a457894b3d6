//! The built-in presets, read from `presets/*.toml`.
//!
//! Invariant: they are the same for everybody and never change while the program runs.

use std::sync::LazyLock;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Map;

use super::{Preset, PresetSettings};

const FILES: [&str; 6] = [
    include_str!("../../presets/calm-counselor.toml"),
    include_str!("../../presets/rational-advisor.toml"),
    include_str!("../../presets/supportive-guide.toml"),
    include_str!("../../presets/professional-assistant.toml"),
    include_str!("../../presets/decision-making-supporter.toml"),
    include_str!("../../presets/search-key-advisor.toml"),
];

/// 2026-11-15T00:00:00Z.
const WRITTEN_SECONDS: i64 = 1_794_700_800;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    name: String,
    description: String,
    personality: String,
    system_prompt: String,
    #[serde(default)]
    experimental: bool,
    settings: PresetSettings,
}

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| FILES.map(read).into());

/// All presets, stable ones first.
pub fn all() -> &'static [Preset] {
    &PRESETS
}

pub fn find(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}

fn read(text: &str) -> Preset {
    let file: File = toml::from_str(text).expect("a built-in preset is valid TOML");
    let written = Timestamp::from_second(WRITTEN_SECONDS).expect("a constant time is valid");
    Preset {
        id: file.id,
        name: file.name,
        description: file.description,
        system_prompt: file.system_prompt.trim().to_owned(),
        personality: file.personality,
        settings: file.settings,
        created_at: written,
        updated_at: written,
        active: true,
        experimental: file.experimental,
        metadata: Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::review;

    #[test]
    fn there_are_four_stable_and_two_experimental_ones_with_the_agreed_settings() {
        let shown: Vec<String> = all()
            .iter()
            .map(|p| {
                let s = p.settings;
                let kind = if p.experimental { "experimental" } else { "stable" };
                format!(
                    "{} {kind} {} {} {} {}",
                    p.id, s.temperature, s.max_tokens, s.max_history_tokens, s.expiry_days
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "preset-calm-counselor stable 0.6 1200 15000 14",
                "preset-rational-advisor stable 0.5 1000 15000 7",
                "preset-supportive-guide stable 0.8 1500 15000 10",
                "preset-professional-assistant stable 0.7 1000 15000 7",
                "preset-decision-making-supporter experimental 0.4 1500 15000 14",
                "preset-search-key-advisor experimental 0.6 1200 15000 10",
            ]
        );
    }

    #[test]
    fn each_is_valid_and_passes_our_own_review() {
        for preset in all() {
            preset.validate().unwrap();
            let review = review::review(&preset.system_prompt, &preset.personality);
            assert!(review.effective(), "{}: {:?}", preset.id, review.advice);
        }
    }
}
