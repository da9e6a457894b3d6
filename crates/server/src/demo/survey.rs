//! The survey of a project: its questions, and adding answers.
//!
//! Adding an answer adds what it implies and deselects what conflicts with it; the result names all of them
//! with their ids, so that later questions can refer to them.
//!
//! Invariant: no two answers added by a call conflict with each other.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::records::{Answer, Inventory, Refusal, Survey, missing, same};

impl Inventory {
    pub(super) fn get_survey(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let project = self.project(arguments.required_number("project_id")?)?;
        let selected = &self.survey(project.id)?.selected;
        let mut questions: Vec<(&str, Vec<Value>)> = Vec::new();
        for answer in &self.answers {
            let view = json!({"id": answer.id, "text": answer.text, "selected": selected.contains(&answer.id)});
            match questions.iter_mut().find(|(question, _)| *question == answer.question) {
                Some((_, answers)) => answers.push(view),
                None => questions.push((&answer.question, vec![view])),
            }
        }
        let questions: Vec<Value> = (questions.into_iter())
            .map(|(question, answers)| json!({"question": question, "answers": answers}))
            .collect();
        Ok(json!({
            "project": self.project_brief(project), "selected_count": selected.len(),
            "questions": questions,
        }))
    }

    pub(super) fn add_survey_answers(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        let project = self.project(arguments.required_number("project_id")?)?.clone();
        let asked = arguments.texts("answers").unwrap_or_default();
        let wanted = self.wanted(&asked)?;
        check_agreement(&wanted)?;
        let before = self.survey(project.id)?.selected.clone();
        let (known, added): (Vec<&Answer>, Vec<&Answer>) =
            wanted.iter().partition(|answer| before.contains(&answer.id));
        let deselected: Vec<(&Answer, &Answer)> = (self.answers.iter())
            .filter(|answer| before.contains(&answer.id))
            .filter_map(|answer| Some((answer, *wanted.iter().find(|new| conflict(new, answer))?)))
            .collect();

        let mut after = before.clone();
        after.retain(|id| !deselected.iter().any(|(gone, _)| gone.id == *id));
        after.extend(added.iter().map(|answer| answer.id.clone()));
        let result = json!({
            "project": self.project_brief(&project),
            "message": sentence(added.len(), deselected.len()),
            "added_count": added.len(),
            "added": added.iter().map(|answer| view(answer)).collect::<Vec<_>>(),
            "already_selected": known.iter().map(|answer| view(answer)).collect::<Vec<_>>(),
            "deselected_count": deselected.len(),
            "deselected": deselected.iter().map(|(gone, by)| {
                let mut gone = view(gone);
                gone["reason"] = json!(format!("conflicts with {}", by.text));
                gone
            }).collect::<Vec<_>>(),
            "selected_count": after.len(),
        });
        for survey in self.surveys.iter_mut().filter(|survey| survey.project == project.id) {
            survey.selected.clone_from(&after);
        }
        Ok(result)
    }

    fn survey(&self, project: u64) -> Result<&Survey, Refusal> {
        let survey = self.surveys.iter().find(|survey| survey.project == project);
        survey.ok_or_else(|| format!("project {project} has no survey"))
    }

    /// The answers with these texts or ids, each followed by what it implies, without duplicates.
    fn wanted(&self, asked: &[String]) -> Result<Vec<&Answer>, Refusal> {
        let mut wanted: Vec<&Answer> = Vec::new();
        for text in asked {
            let answer = (self.answers.iter())
                .find(|answer| same(&answer.text, text) || same(&answer.id, text))
                .ok_or_else(|| {
                    missing("answer", text, self.answers.iter().map(|a| a.text.as_str()))
                })?;
            let implied = self.answers.iter().filter(|other| answer.implies.contains(&other.id));
            for answer in std::iter::once(answer).chain(implied) {
                if !wanted.iter().any(|known| known.id == answer.id) {
                    wanted.push(answer);
                }
            }
        }
        Ok(wanted)
    }
}

fn conflict(one: &Answer, other: &Answer) -> bool {
    one.conflicts.contains(&other.id) || other.conflicts.contains(&one.id)
}

fn check_agreement(wanted: &[&Answer]) -> Result<(), Refusal> {
    for (place, one) in wanted.iter().enumerate() {
        if let Some(other) = wanted[place + 1..].iter().find(|other| conflict(one, other)) {
            return Err(format!(
                "{} ({}) and {} ({}) conflict; add only one of them",
                one.text, one.id, other.text, other.id
            ));
        }
    }
    Ok(())
}

fn view(answer: &Answer) -> Value {
    json!({"id": answer.id, "text": answer.text, "question": answer.question})
}

fn sentence(added: usize, deselected: usize) -> String {
    let answers = |count: usize| if count == 1 { "answer" } else { "answers" };
    let first = format!("Added {added} {} to the survey.", answers(added));
    match deselected {
        0 => first,
        1 => format!("{first} 1 conflicting answer was automatically deselected."),
        n => format!("{first} {n} conflicting answers were automatically deselected."),
    }
}
