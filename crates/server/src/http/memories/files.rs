//! `POST /memories/tool`: runs commands of Anthropic's memory tool, so that an application needs one call.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::fact::files::{FileAnswer, FileCommand};
use utoipa::ToSchema;

use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;

/// Input of the tool, as the model wrote it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolCommand {
    /// Lists a folder, or shows a file with line numbers.
    View {
        /// Path of the file or folder, below `/memories`.
        path: String,
        /// First and last line, from 1; -1 is the end. Default: the whole file.
        #[serde(default)]
        #[schema(value_type = Option<Vec<i64>>)]
        view_range: Option<[i64; 2]>,
    },
    /// Creates a file.
    Create {
        /// Path of the file, below `/memories`.
        path: String,
        /// Content of the file, at most 128 KiB.
        file_text: String,
    },
    /// Replaces a text that occurs exactly once.
    StrReplace {
        /// Path of the file.
        path: String,
        /// Text to replace.
        old_str: String,
        /// New text; default: empty, which removes the old one.
        #[serde(default)]
        new_str: String,
    },
    /// Inserts a text after a line.
    Insert {
        /// Path of the file.
        path: String,
        /// Line to insert after; 0 for the beginning.
        insert_line: i64,
        /// Text to insert.
        insert_text: String,
    },
    /// Erases a file, or a folder with all its files.
    Delete {
        /// Path of the file or folder.
        path: String,
    },
    /// Renames a file or folder.
    Rename {
        /// Current path.
        old_path: String,
        /// New path.
        new_path: String,
    },
}

impl From<ToolCommand> for FileCommand {
    fn from(command: ToolCommand) -> Self {
        match command {
            ToolCommand::View { path, view_range } => Self::View { path, view_range },
            ToolCommand::Create { path, file_text } => Self::Create { path, file_text },
            ToolCommand::StrReplace { path, old_str, new_str } => {
                Self::StrReplace { path, old_str, new_str }
            }
            ToolCommand::Insert { path, insert_line, insert_text } => {
                Self::Insert { path, insert_line, insert_text }
            }
            ToolCommand::Delete { path } => Self::Delete { path },
            ToolCommand::Rename { old_path, new_path } => Self::Rename { old_path, new_path },
        }
    }
}

/// Result of the tool, for a `tool_result` block.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ToolResult {
    /// Text for the model.
    content: String,
    /// Whether the command failed; `content` says why.
    is_error: bool,
}

/// Runs a command of Anthropic's memory tool (`memory_20250818`) on the caller's files below `/memories`.
#[utoipa::path(post, path = "/memories/tool", tag = "memories", request_body = ToolCommand,
    responses((status = 200, body = ToolResult), (status = 400, body = Problem),
        (status = 413, body = Problem)))]
pub(super) async fn run(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    body: Body<ToolCommand>,
) -> Result<Json<ToolResult>, Problem> {
    let FileAnswer { content, is_error } =
        app.engine().memory_files().run(&caller, body.value.into()).await?;
    Ok(Json(ToolResult { content, is_error }))
}
