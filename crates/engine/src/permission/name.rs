//! Evidence in names: of tools, titles and actions.
//!
//! Names are phrases without grammar. A verb of change counts, unless it is also a noun and in a noun's position:
//! after a reading verb (`get_post`), or before a word that it modifies (`order_status`).

use crate::pack::words_of_identifier;

use super::fold::fold;
use super::words::{Form, english, languages, stems};

/// The folded words of an identifier.
pub(super) fn words(identifier: &str) -> Vec<String> {
    // Split before folding, which loses the case that separates words.
    let words = words_of_identifier(identifier);
    words.iter().map(|word| fold(word)).filter(|word| !word.is_empty()).collect()
}

/// The word in a tool's name or title that indicates a change.
pub(super) fn change_in_name(name: &str) -> Option<String> {
    if stems().change(&fold(name)) {
        return Some(name.to_owned());
    }
    let words = words(name);
    // `ledger.entries.post`: the part after the last dot is the action.
    let called = name.rsplit_once('.').map(|(_, last)| self::words(last));
    let method = called.filter(|last| last.len() == 1).and_then(|last| last.into_iter().next());
    words
        .iter()
        .enumerate()
        .find(|(at, word)| changes(&words, *at, method.as_ref() == Some(*word)))
        .map(|(_, word)| word.clone())
}

fn changes(words: &[String], at: usize, is_method: bool) -> bool {
    let word = &words[at];
    let english = english();
    let Some(verb) = english.verb(word) else { return is_foreign(word) };
    if verb.form == Form::Past || (verb.noun && verb.form != Form::Base) {
        return false;
    }
    if !verb.noun || is_method {
        return true;
    }
    let joined = words[..at].iter().rposition(|word| english.is("conjunctions", word));
    let clause = &words[joined.map_or(0, |joined| joined + 1)..at];
    let read = clause.iter().any(|word| english.reads(word));
    // `order_status` is about an order; `drop_table` and `post_message` have an object.
    let is_about = |other: &String| {
        let object = english.is("objects", other)
            || (english.is("imperatives", word) && english.is("listed", other));
        english.is("about", other) && !object
    };
    let about = at == 0 && words[1..].iter().any(is_about);
    !read && !about
}

/// Whether a word is a verb of change in another language, and no English word.
pub(super) fn is_foreign(word: &str) -> bool {
    let english = english();
    let known = english.is("homographs", word) || english.is("marks", word);
    !known && word.chars().count() > 2 && languages().iter().any(|language| language.changes(word))
}

/// Whether an action of a general tool changes something: `delete`, `deleteAll`, `FLUSHALL`.
pub(super) fn acts(action: &str) -> bool {
    stems().change(&fold(action))
        || words(action).iter().any(|word| {
            let verb = english().verb(word).filter(|verb| verb.form == Form::Base);
            verb.is_some() || is_foreign(word)
        })
}

/// Whether an action of a general tool reads: `list`, `GET`, `describe-instances`.
pub(super) fn reads(action: &str) -> bool {
    let words = words(action);
    words.first().is_some_and(|word| english().reads(word)) && !acts(action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_that_change_something_are_found_wherever_they_stand() {
        let wrong = [
            "get_and_delete",
            "readAndAcknowledgeAlarm",
            "pop_message",
            "list-then-archive",
            "GetAndResetCounter",
            "kv_put",
            "search_and_replace",
            "git_push",
            "fs_rm",
            "lookup_upsert",
            "check_and_fix_permissions",
            "ledger.entries.post",
            "mcp__reader__grant_access",
            "Factory-reset device",
            "warteschlange_leeren",
            "obtener_y_borrar",
            "restartService",
            "account_deletion",
            "drop_table",
            "clear_logs",
            "post_message",
            "update_records",
            "set_name",
            "unarchiveThread",
            "usun_konto",
            "ta_bort_post",
            "видалити_запис",
            "kaydi_sil",
            "删除用户",
            "ファイル削除",
            "사용자_삭제",
            "מחק_משתמש",
        ]
        .into_iter()
        .filter(|name| change_in_name(name).is_none());
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn nouns_participles_and_parts_of_words_are_not() {
        let wrong = [
            "get_post",
            "list_orders",
            "retrieve_charge",
            "list_transfers",
            "get_update_status",
            "list_commits",
            "get_settings",
            "get_address",
            "list_computers",
            "get_deleted_users",
            "list_trash",
            "order_status",
            "order_items",
            "commit_log",
            "release_date",
            "release_notes",
            "preview_import",
            "get_close_price",
            "get_insert",
            "directory_tree",
            "list_active_users",
            "rechnungen_anzeigen",
            "lister_clients",
            "Safe disk viewer",
            "получить_список",
            "查询用户",
            "已删除文件列表",
            "gui_state",
            "unit_of_measure",
        ]
        .into_iter()
        .filter_map(|name| Some((name, change_in_name(name)?)));
        assert_eq!(wrong.collect::<Vec<_>>(), []);
    }
}
