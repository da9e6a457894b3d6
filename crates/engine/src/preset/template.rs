//! Context templates: a preset, a few settings and a first message to fill in.
//!
//! Invariant: every template names a built-in preset.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::draft::PersonaDraft;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub id: String,
    /// Display name, also of contexts made from it.
    pub name: String,
    /// When to use it.
    pub description: String,
    pub preset: String,
    /// Tags of contexts made from it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// A first message with placeholders.
    pub opening: String,
    /// Overrides the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Overrides the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_days: Option<i64>,
}

#[derive(Deserialize)]
struct File {
    template: Vec<Template>,
}

static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let text = include_str!("../../presets/templates.toml");
    toml::from_str::<File>(text).expect("the built-in templates are valid TOML").template
});

pub fn all() -> &'static [Template] {
    &TEMPLATES
}

pub fn find(id: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.id == id)
}

impl Template {
    /// The changes to its preset's persona.
    pub fn draft(&self) -> PersonaDraft {
        PersonaDraft {
            name: Some(self.name.clone()),
            temperature: self.temperature,
            expiry_days: self.expiry_days,
            ..PersonaDraft::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::built_in;

    #[test]
    fn every_template_makes_a_valid_persona_from_a_built_in_preset() {
        for template in all() {
            let preset = built_in::find(&template.preset).expect("a built-in preset");
            template.draft().over(&preset.persona()).unwrap();
        }
    }
}
