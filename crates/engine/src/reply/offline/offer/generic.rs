//! What a generic server offers for a type that a pack describes.

use serde_json::{Map, Value, json};

use super::super::schema::{Form, Shape};
use super::{Freedom, Means, Offer, Page, Slot};
use crate::lexicon::Family;
use crate::pack::{EntityType, Field, Generic, Kind, words_of_identifier};
use crate::tool::ToolDefinition;

/// The list of a type on a generic server.
pub(super) fn listed(
    generic: &Generic,
    known: &EntityType,
    tools: &[ToolDefinition],
    freedom: &dyn Freedom,
) -> Option<Offer> {
    let objects = &known.objects;
    let own_tool = objects.list_tool.as_deref();
    let name = own_tool.unwrap_or(&generic.list);
    let tool = tools.iter().find(|tool| tool.tool.name == name)?;
    let mut fixed = Map::new();
    if own_tool.is_none() {
        fixed.insert(generic.type_parameter.clone(), objects.object.clone()?.into());
        if !objects.fields.is_empty() {
            fixed.insert(generic.fields.clone(), json!(objects.fields));
        }
    }
    fixed.insert(generic.filters.clone(), json!({}));
    let filter = |key: &str, means: Means| Slot {
        words: words_of_identifier(key),
        shape: filter_shape(&[generic.filters.as_str(), key], &means, objects.choices.get(key)),
        means,
    };
    let mut slots = vec![filter(&objects.name_filter, Means::Own(Some(Field::Name)))];
    slots
        .extend(objects.number_filter.as_ref().map(|key| filter(key, Means::Own(Some(Field::Id)))));
    for (kind, key) in &objects.filters {
        let field = if key.ends_with("_id") { Field::Id } else { Field::Name };
        slots.push(match kind.as_str() {
            "*" => filter(key, Means::AnyName),
            kind => filter(key, Means::Thing(Kind::new(kind), Some(field))),
        });
    }
    slots.extend(objects.choices.keys().map(|key| filter(key, Means::Choice)));
    slots.extend(
        objects
            .flags
            .iter()
            .map(|(word, key)| Slot { words: vec![word.clone()], ..filter(key, Means::Flag) }),
    );
    let page = own_tool.is_none().then(|| Page {
        limit: generic.limit.clone(),
        offset: Some(generic.offset.clone()),
        length: generic.page.into(),
    });
    Some(Offer { fixed, slots, page, ..offer(Family::List, known, tool, freedom) })
}

/// One thing of a type on a generic server, by id.
pub(super) fn shown(
    generic: &Generic,
    known: &EntityType,
    tools: &[ToolDefinition],
    freedom: &dyn Freedom,
) -> Option<Offer> {
    let tool = tools.iter().find(|tool| tool.tool.name == generic.get)?;
    let mut fixed = Map::new();
    fixed.insert(generic.type_parameter.clone(), known.objects.object.clone()?.into());
    let means = Means::Own(Some(Field::Id));
    let mut shape = filter_shape(&[generic.id.as_str()], &means, None);
    (shape.form, shape.required) = (Form::Integer, true);
    let slots = vec![Slot { words: words_of_identifier(&generic.id), shape, means }];
    Some(Offer { fixed, slots, ..offer(Family::Show, known, tool, freedom) })
}

/// What a tool that reads offers for a type, without parameters.
fn offer(
    family: Family,
    known: &EntityType,
    tool: &ToolDefinition,
    freedom: &dyn Freedom,
) -> Offer {
    Offer {
        family: Some(family),
        kind: Some(known.kind.clone()),
        words: words_of_identifier(known.kind.as_str()),
        shared: None,
        acts: None,
        also: None,
        described: Vec::new(),
        fixed: Map::new(),
        slots: Vec::new(),
        page: None,
        is_free: freedom.is_free(tool),
        reads: true,
        tool: tool.clone(),
    }
}

fn filter_shape(path: &[&str], means: &Means, choices: Option<&Vec<String>>) -> Shape {
    Shape {
        path: path.iter().map(|part| (*part).to_owned()).collect(),
        form: match means {
            Means::Flag => Form::Flag,
            Means::Thing(_, Some(Field::Id)) => Form::Integer,
            _ => Form::Any,
        },
        // A list as a value means any of them.
        many: false,
        hints: Vec::new(),
        choices: choices.into_iter().flatten().map(|choice| Value::from(choice.as_str())).collect(),
        format: None,
        minimum: None,
        maximum: None,
        required: false,
        description: String::new(),
    }
}
