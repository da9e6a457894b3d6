//! The built-in packs, and how an invalid pack is refused.

use super::Kind;
use super::{Action, PackSet};

#[test]
fn the_shipped_packs_hold_the_types_of_the_three_domains() {
    let packs = PackSet::builtin();
    let of = |name: &str| packs.only(&[name]).types().len();
    assert_eq!((of("netbox"), of("sdelements"), of("workflow")), (48, 6, 1));
    let bonus = |kind: &str| packs.bonus(&Kind::new(kind));
    let bonuses = ["device", "site", "rack", "ip_address", "interface"].map(bonus);
    assert_eq!(bonuses, [3.0, 2.0, 2.0, 1.0, 1.0]);
}

#[test]
fn every_parent_is_a_type_of_the_same_pack() {
    let packs = PackSet::builtin();
    for entity_type in packs.types() {
        for parent in &entity_type.parents {
            let known = packs.entity_type(parent).map(|parent| parent.pack.clone());
            assert_eq!(
                known.as_ref(),
                Some(&entity_type.pack),
                "{} of {}",
                parent,
                entity_type.kind
            );
        }
    }
}

fn refused(text: &str) -> String {
    let (packs, problems) = PackSet::load(vec![("mine.toml".to_owned(), text.to_owned())]);
    assert_eq!(packs.packs().count(), 4, "a refused pack leaves nothing behind");
    problems.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_wrong_pack_is_refused_with_file_line_and_reason() {
    let check = |text: &str, expected: &str| {
        let problem = refused(text);
        assert!(problem.starts_with(expected), "{problem}\ninstead of\n{expected}");
    };
    let head = "name = \"mine\"\n[[type]]\nname = \"ticket\"\nsingular = [\"ticket\"]\n";
    let head = format!("{head}plural = [\"tickets\"]\n");
    check("name = 5", "mine.toml:1: invalid type");
    check("name = \"Mine!\"", "mine.toml:1: the name \"Mine!\" must be");
    check(&format!("{head}colour = 1\n"), "mine.toml:6: unknown field `colour`");
    check(
        &format!("{head}[[type.pattern]]\nregex = '('\n"),
        "mine.toml:7: the pattern does not compile",
    );
    check(
        &format!("{head}[[type.pattern]]\nregex = '(\\w{{1,1000}}){{1,100}}'\n"),
        "mine.toml:7: the pattern does not compile",
    );
    check(
        &format!("{head}[[type.pattern]]\nregex = 'a*'\n"),
        "mine.toml:7: the pattern matches the empty text",
    );
    check(
        &format!("{head}aliases = [\"my thing\"]\n"),
        "mine.toml:6: alias rule \"my thing\" does not depend on the name",
    );
    check(
        &format!("{head}[[type.resolve]]\ntool = \"get_ticket\"\narguments = {{ limit = 1 }}\n"),
        "mine.toml:7: a resolver needs a tool and an argument",
    );
    check(
        "name = \"mine\"\n[[type]]\nname = \"device\"\nsingular = [\"d\"]\nplural = [\"ds\"]\n",
        "mine.toml:3: the type \"device\" is already defined by the pack \"netbox\"",
    );
    check(&"#".repeat(super::PACK_BYTES_MAX + 1), "mine.toml:1: the pack is longer than");
}

#[test]
fn a_resolver_that_changes_something_is_refused() {
    let text = "name = \"mine\"\nactions = { created = [\"create\"] }\n[[type]]\nname = \"ticket\"\n\
                singular = [\"ticket\"]\nplural = [\"tickets\"]\n[[type.resolve]]\n\
                tool = \"create_ticket\"\narguments = { name = \"{name}\" }\n";
    assert_eq!(
        refused(text),
        "mine.toml:8: the tool \"create_ticket\" cannot resolve a type: \"create\" changes something"
    );
}

#[test]
fn a_pack_of_a_users_own_works_beside_the_shipped_ones() {
    let text = "name = \"tickets\"\n[[type]]\nname = \"ticket\"\nsingular = [\"ticket\"]\n\
                plural = [\"tickets\"]\n[[type.pattern]]\nregex = 'INC[0-9]{4,}'\n";
    let (packs, problems) = PackSet::load(vec![("tickets.toml".to_owned(), text.to_owned())]);
    assert_eq!(problems, []);
    let found = packs.pattern_of("INC12345", 1).map(|(found, _)| found.kind.as_str());
    assert_eq!(found, Some("ticket"));
}

#[test]
fn aliases_are_made_from_the_name() {
    let packs = PackSet::builtin();
    let aliases = packs.aliases(&Kind::new("workflow"), "Task Management");
    for alias in ["task management", "my task", "task management workflow", "my task workflow"] {
        assert!(aliases.iter().any(|known| known == alias), "{alias} in {aliases:?}");
    }
    let host = packs.aliases(&Kind::new("device"), "core-sw-01.example.net");
    assert_eq!(host, ["core-sw-01"]);
}

#[test]
fn tool_names_tell_their_subject_and_what_they_do() {
    let packs = PackSet::builtin();
    let check = |tool: &str, kind: &str, action: Action| {
        let found = packs.type_of_tool(tool).expect("a type");
        assert_eq!((found.kind.as_str(), found.action_of(tool)), (kind, action), "{tool}");
    };
    check("get_device_interfaces", "interface", Action::Discussed);
    check("netbox_list_ip_addresses", "ip_address", Action::Discussed);
    check("createWorkflow", "workflow", Action::Created);
    check("update_device", "device", Action::Modified);
    check("device_search_by_name", "device", Action::Discussed);
    assert!(packs.type_of_tool("weather_today").is_none());
}

#[test]
fn a_question_is_steered_to_lists_and_only_a_wish_for_a_report_to_reports() {
    let packs = PackSet::builtin();
    let check = |message: &str, better: &str, worse: &str| {
        let steering = packs.steering(message);
        assert!(steering.weight(better) > steering.weight(worse), "{message}");
    };
    check("list projects that are not compliant", "list_projects", "create_advanced_report");
    check("generate a report of all projects", "create_advanced_report", "list_projects");
    check("rename device core-sw-01", "update_device", "create_device");
    check("delete rack R12", "delete_rack", "list_racks");
}

#[test]
fn the_documented_pack_is_read() {
    let document = include_str!("../../../../docs/packs.md");
    let blocks = document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let text: String = blocks.collect::<Vec<_>>().join("\n");
    let (packs, problems) = PackSet::load(vec![("harbour.toml".into(), text)]);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(packs.entity_type(&Kind::new("vessel")).is_some());
    assert_eq!(packs.only(&["harbour"]).generic().count(), 1);
}
