//! Input from a person: line editing, history, completion, inline approvals.

use std::borrow::Cow;

use console::style;
use reedline::{
    ColumnarMenu, Emacs, FileBackedHistory, History, HistoryItem, KeyCode, KeyModifiers,
    MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, default_emacs_keybindings,
};
use throughline_engine::session::pending::AwaitedCall;

use super::command::{ALLOW, Line};
use super::completion::{Names, Words};
use super::piped;
use super::screen::ShownOn;
use super::talk::{Ended, Talk};
use crate::assemble::Demo;
use crate::cli::output;
use crate::failure::Failure;

const HISTORY_LINES: usize = 1_000;
/// How many of them come from the continued session.
const ASKED_BEFORE: u64 = 200;
const MENU: &str = "completion";

/// Runs until the person leaves.
pub(super) async fn run(talk: &mut Talk, demo: Demo) -> Result<(), Failure> {
    let names = Names::default();
    let mut editor = Some(editor(names.clone(), talk.asked_before(ASKED_BEFORE).await)?);
    println!("{}", style("Say something; /help lists commands, Ctrl-D leaves.").dim());
    remind(talk).await;
    loop {
        names.set(talk.names().await);
        let signal = read(&mut editor, Mark("› ")).await?;
        let line = match signal {
            Signal::Success(text) => Line::read(&text),
            Signal::CtrlD => break,
            // An empty line does nothing; Ctrl-D or a second Ctrl-C leaves.
            _ => match read(&mut editor, Mark("(Ctrl-C again leaves) › ")).await? {
                Signal::Success(text) => Line::read(&text),
                _ => break,
            },
        };
        if line == Line::Quit {
            break;
        }
        match act(talk, line).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) => {
                eprintln!("{} {failure}", style("error:").red());
                if let Some(hint) = &failure.hint {
                    eprintln!("hint: {hint}");
                }
            }
        }
    }
    if let Some(id) = talk.session() {
        let flag = if demo == Demo::With { " --demo" } else { "" };
        println!(
            "{}",
            style(format!("continue this session with throughline chat{flag} {id}")).dim()
        );
    }
    Ok(())
}

/// Runs a line; returns `false` when the person leaves.
async fn act(talk: &mut Talk, line: Line) -> Result<bool, Failure> {
    let mut ended = match line {
        Line::Empty => return Ok(true),
        Line::Message(message) => talk.say(message, ShownOn::Terminal).await?,
        Line::Decide(approve) => match talk.waiting().await?.into_iter().next() {
            Some(call) => talk.decide(&call.id, approve, ShownOn::Terminal).await?,
            None => {
                return Err(Failure::new("no tool call waits", "pending approvals are shown here"));
            }
        },
        line => {
            println!("{}", piped::answer(talk, line).await?.trim_end());
            return Ok(true);
        }
    };
    loop {
        let reply = match &ended {
            Ended::Turn(reply) => reply,
            Ended::Stopped => return Ok(true),
            Ended::Left => return Ok(false),
        };
        let waiting: Vec<AwaitedCall> = output::read(reply["awaiting_approval"].clone())?;
        let Some(call) = waiting.into_iter().next() else { return Ok(true) };
        let question = format!(
            "run {}? [y]es, [n]o, [a]llow in this session:  ",
            output::plain(&call.tool.to_string())
        );
        // A separate editor, so that answers do not enter the history.
        let mut asking = Some(Reedline::create().with_ansi_colors(console::colors_enabled()));
        let answer = match read(&mut asking, Mark(&question)).await? {
            Signal::Success(answer) => answer.trim().to_lowercase(),
            _ => String::new(),
        };
        let approval = match answer.as_str() {
            "y" | "yes" | "/approve" => true.into(),
            "a" | "allow" | "/allow" => ALLOW,
            "n" | "no" | "/refuse" => false.into(),
            _ => {
                println!(
                    "{}",
                    style("  the call waits; decide with /approve, /allow or /refuse").dim()
                );
                return Ok(true);
            }
        };
        ended = talk.decide(&call.id, approval, ShownOn::Terminal).await?;
    }
}

async fn remind(talk: &Talk) {
    if let Ok(waiting) = talk.waiting().await {
        for call in waiting {
            println!(
                "{}",
                style(format!("{} waits; /approve, /allow or /refuse", call.tool)).yellow()
            );
        }
    }
}

/// Reads a line on a blocking thread, so that background work continues.
async fn read(editor: &mut Option<Reedline>, prompt: Mark<'_>) -> Result<Signal, Failure> {
    let Some(mut own) = editor.take() else {
        return Err(Failure::new("the terminal is gone", "start the chat again"));
    };
    let prompt = Owned(prompt.0.to_owned());
    let (own, signal) = tokio::task::spawn_blocking(move || {
        let signal = own.read_line(&prompt);
        (own, signal)
    })
    .await
    .map_err(|error| Failure::new(error.to_string(), "start the chat again"))?;
    *editor = Some(own);
    Ok(signal?)
}

fn editor(names: Names, asked_before: Vec<String>) -> Result<Reedline, Failure> {
    let fail = |error: reedline::ReedlineError| {
        Failure::new(format!("cannot keep the line history: {error}"), "start the chat again")
    };
    let mut history = FileBackedHistory::new(HISTORY_LINES).map_err(fail)?;
    for line in asked_before {
        history.save(HistoryItem::from_command_line(line)).map_err(fail)?;
    }
    let mut keys = default_emacs_keybindings();
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext]),
    );
    let menu = ColumnarMenu::default().with_name(MENU);
    Ok(Reedline::create()
        .with_history(Box::new(history))
        .with_completer(Box::new(Words(names)))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_ansi_colors(console::colors_enabled()))
}

/// Text before the cursor.
struct Mark<'a>(&'a str);

struct Owned(String);

impl Prompt for Owned {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("… ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}
