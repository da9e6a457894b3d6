//! What a user said in one session is found in another: only theirs, and only while it stands.

use std::collections::BTreeSet;

use throughline_engine::access::{Caller, Grants};
use throughline_engine::agent::{Agent, AgentBook, MemoryScope};
use throughline_engine::clock::Clock as _;
use throughline_engine::creation::NewSession;
use throughline_engine::engine::SessionPatch;
use throughline_engine::error::Error;
use throughline_engine::fact::FactDraft;
use throughline_engine::fact::files::FileCommand;
use throughline_engine::id::{AgentName, SessionId, TenantId, UserId};
use throughline_engine::piece::Source;
use throughline_engine::request::{AssembledRequest, TurnInput};
use throughline_engine::session::head::Settings;
use throughline_engine::store::Scope;
use throughline_engine::turn::{ReceiptId, RecordedTurn};

use crate::bench::{Bench, bench};

const SAID: &str = "My sister Marta lives in Gdansk.";
const QUESTION: &str = "Where does my sister Marta live?";

pub(crate) async fn open(
    bench: &Bench,
    caller: &Caller,
    id: &str,
    settings: Settings,
) -> SessionId {
    let id = SessionId::new(id).unwrap();
    let new = NewSession { id: Some(id.clone()), settings, ..NewSession::default() };
    bench.engine.create_session(caller, new).await.unwrap();
    id
}

pub(crate) async fn say(bench: &Bench, caller: &Caller, id: &SessionId, message: &str) {
    bench.engine.record(caller, id, said(message)).await.unwrap();
}

async fn ask(bench: &Bench, caller: &Caller, id: &SessionId) -> AssembledRequest {
    let input = TurnInput { message: QUESTION.into(), ..TurnInput::default() };
    (*bench.engine.prepare(caller, id, &input).await.unwrap()).clone()
}

fn knows(request: &AssembledRequest) -> bool {
    format!("{:?}", request.request.messages).contains("Gdansk")
}

fn remembering(memory: MemoryScope) -> Settings {
    Settings { memory: Some(memory), ..Settings::default() }
}

#[tokio::test]
async fn another_session_of_the_same_user_is_remembered_with_its_source() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    let asked = ask(&bench, caller, &summer).await;
    assert!(knows(&asked));
    let named = asked.receipt.pieces.iter().any(|piece| {
        piece.sent()
            && matches!(&piece.source, Source::Elsewhere { session, turn: 1, .. } if *session == spring)
    });
    assert!(named, "{:#?}", asked.receipt.pieces);
    for (scope, expected) in [
        (MemoryScope::Off, false),
        (MemoryScope::Session, false),
        (MemoryScope::Agent, true),
        (MemoryScope::User, true),
    ] {
        let id = open(&bench, caller, &format!("{scope:?}"), remembering(scope)).await;
        assert_eq!(knows(&ask(&bench, caller, &id).await), expected, "{scope:?}");
    }
}

#[tokio::test]
async fn an_agent_with_a_memory_of_its_own_knows_nothing_of_what_was_said_to_others() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let home = bench.engine.agents().get(None).unwrap().as_ref().clone();
    let shop = Agent { name: AgentName::new("shop").unwrap(), ..home.clone() };
    let default = home.name.clone();
    bench.engine.replace_agents(AgentBook::new(default.clone(), [home, shop.clone()]));
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    for (id, agent, scope, expected) in [
        ("shop-alone", Some(shop.name.clone()), MemoryScope::Agent, false),
        ("shop", Some(shop.name.clone()), MemoryScope::User, true),
        ("home-alone", None, MemoryScope::Agent, true),
        ("home-by-name", Some(default), MemoryScope::Agent, true),
    ] {
        let id = SessionId::new(id).unwrap();
        let new = NewSession {
            id: Some(id.clone()),
            agent,
            settings: remembering(scope),
            ..NewSession::default()
        };
        bench.engine.create_session(caller, new).await.unwrap();
        assert_eq!(knows(&ask(&bench, caller, &id).await), expected, "{id}");
    }
}

/// The sessions that a request takes turns from.
fn sources(request: &AssembledRequest) -> BTreeSet<SessionId> {
    let sent = request.receipt.pieces.iter().filter(|piece| piece.sent());
    sent.filter_map(|piece| match &piece.source {
        Source::Elsewhere { session, .. } => Some(session.clone()),
        _ => None,
    })
    .collect()
}

#[tokio::test]
async fn a_fork_and_its_origin_are_not_told_of_each_other() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let other = open(&bench, caller, "other", Settings::default()).await;
    say(&bench, caller, &other, SAID).await;
    let origin = open(&bench, caller, "origin", Settings::default()).await;
    say(&bench, caller, &origin, "Hello there.").await;
    say(&bench, caller, &origin, "Does my sister Marta live in Gdynia or in Gdansk?").await;
    let mut family = vec![origin.clone()];
    for name in ["edited", "edited-again"] {
        let (from, id) = (family.last().unwrap(), SessionId::new(name).unwrap());
        bench.engine.fork(caller, from, Some(1), Some(id.clone())).await.unwrap();
        say(&bench, caller, &id, &format!("Marta, my sister, {name}: where does she live?")).await;
        family.push(id);
    }
    for id in &family {
        let asked = ask(&bench, caller, id).await;
        assert_eq!(sources(&asked), BTreeSet::from([other.clone()]), "{id}");
    }
}

#[tokio::test]
async fn what_is_not_to_be_remembered_stays_in_its_session() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    for (number, lead) in
        ["Don't remember this: ", "Off the record: ", "Bitte nicht merken: "].iter().enumerate()
    {
        let spring = open(&bench, caller, &format!("spring-{number}"), Settings::default()).await;
        say(&bench, caller, &spring, &format!("{lead}{SAID}")).await;
        assert!(knows(&ask(&bench, caller, &spring).await), "{lead}: its own session");
    }
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(!knows(&ask(&bench, caller, &summer).await));
}

#[tokio::test]
async fn a_session_that_asked_first_is_found_from_another() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    for message in [SAID, "It rains."] {
        say(&bench, caller, &spring, message).await;
        ask(&bench, caller, &spring).await;
    }
    assert!(knows(&ask(&bench, caller, &summer).await));
    say(&bench, caller, &summer, "The tram was late.").await;
    ask(&bench, caller, &summer).await;
    assert!(knows(&ask(&bench, caller, &summer).await));
}

#[tokio::test]
async fn nobody_is_told_what_another_user_said() {
    let bench = bench().start().await;
    let spring = open(&bench, &bench.caller, "spring", Settings::default()).await;
    say(&bench, &bench.caller, &spring, SAID).await;
    for (tenant, user) in [("local", "eve"), ("other", "local"), ("other", "eve")] {
        let scope =
            Scope { tenant: TenantId::new(tenant).unwrap(), user: UserId::new(user).unwrap() };
        let other = Caller { scope, grants: Grants::Write };
        let summer = open(&bench, &other, "summer", Settings::default()).await;
        assert!(!knows(&ask(&bench, &other, &summer).await), "{tenant}/{user}");
        // A session of the same name is their own.
        let own = open(&bench, &other, "spring", Settings::default()).await;
        assert!(!knows(&ask(&bench, &other, &own).await), "{tenant}/{user}");
    }
}

#[tokio::test]
async fn what_is_private_erased_or_put_aside_is_not_remembered() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let private = Settings { private: true, ..Settings::default() };
    let hidden = open(&bench, caller, "hidden", private).await;
    say(&bench, caller, &hidden, SAID).await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(!knows(&ask(&bench, caller, &summer).await), "private");

    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    assert!(knows(&ask(&bench, caller, &summer).await));
    bench.engine.erase_turns(caller, &spring, &BTreeSet::from([1])).await.unwrap();
    assert!(!knows(&ask(&bench, caller, &summer).await), "the turn was erased");

    let autumn = open(&bench, caller, "autumn", Settings::default()).await;
    say(&bench, caller, &autumn, SAID).await;
    assert!(knows(&ask(&bench, caller, &summer).await));
    bench.engine.erase(caller, &autumn).await.unwrap();
    assert!(!knows(&ask(&bench, caller, &summer).await), "the session was erased");
}

#[tokio::test]
async fn a_request_that_quoted_another_session_is_made_again_while_that_stands() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    let asked = ask(&bench, caller, &summer).await;
    let turn = RecordedTurn {
        message: QUESTION.into(),
        reply: "She told you.".into(),
        receipt: Some(ReceiptId::of(&asked.receipt).to_string()),
        ..RecordedTurn::default()
    };
    bench.engine.record(caller, &summer, turn).await.unwrap();
    let again = crate::bench::bench().on(bench.store.clone()).start().await;
    let rebuilt = again.engine.request(caller, &summer, 1).await.unwrap();
    assert_eq!(rebuilt, asked.request);
    let next = ask(&bench, caller, &summer).await;
    assert_eq!(next.receipt.continues, Some(1), "what was quoted stays in the prefix");

    bench.engine.erase(caller, &spring).await.unwrap();
    assert!(!knows(&ask(&bench, caller, &summer).await), "not from a cached prefix either");
    assert!(again.engine.request(caller, &summer, 1).await.is_err());
    let kept = again.engine.export(caller, &summer).await.unwrap();
    assert!(!serde_json::to_string(&kept).unwrap().contains("Gdansk"), "no copy of it was kept");
}

/// Keeps an exchange with the receipt of its request.
pub(crate) async fn exchange(bench: &Bench, id: &SessionId, message: &str) -> AssembledRequest {
    let input = TurnInput { message: message.into(), ..TurnInput::default() };
    let prepared = bench.engine.prepare(&bench.caller, id, &input).await.unwrap();
    let receipt = Some(ReceiptId::of(&prepared.receipt).to_string());
    let turn = RecordedTurn {
        message: message.into(),
        reply: "Noted.".into(),
        receipt,
        ..RecordedTurn::default()
    };
    bench.engine.record(&bench.caller, id, turn).await.unwrap();
    (*prepared).clone()
}

pub(crate) fn text(request: &AssembledRequest) -> String {
    format!("{:?}", request.request.messages)
}

#[tokio::test]
async fn what_a_user_states_is_known_in_later_sessions_until_it_is_forgotten() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "Hi! I'm allergic to nuts. What is on the menu today?").await;
    let known = bench.engine.facts().current(caller).await.unwrap();
    let [fact] = known.as_slice() else { panic!("one fact: {known:?}") };
    assert!(fact.text.contains("allergic to nuts"), "{fact:?}");
    let source = fact.source.as_ref().unwrap();
    assert_eq!((source.session.as_str(), source.turn), ("spring", 1));

    let summer = open(&bench, caller, "summer", Settings::default()).await;
    let first = exchange(&bench, &summer, "Good morning.").await;
    assert!(text(&first).contains("<remembered>") && text(&first).contains("allergic to nuts"));
    let second = exchange(&bench, &summer, "Suggest a dessert.").await;
    assert_eq!(second.receipt.continues, Some(1), "it stays where it came in");
    assert_eq!(text(&second).matches("<remembered>").count(), 1, "and comes once");
    let used = bench.engine.facts().get(caller, &fact.id).await.unwrap().last_used_at;
    assert_eq!(used, Some(bench.clock.now()), "when it was shown is noted");
    bench.clock.advance(std::time::Duration::from_secs(90));
    exchange(&bench, &summer, "And a drink?").await;
    let used = bench.engine.facts().get(caller, &fact.id).await.unwrap().last_used_at;
    assert_eq!(used, Some(bench.clock.now()), "also when it was shown again");
    let again = crate::bench::bench().on(bench.store.clone()).start().await;
    let rebuilt = again.engine.request(caller, &summer, 2).await.unwrap();
    assert_eq!(rebuilt, second.request);

    for settings in [remembering(MemoryScope::Session), remembering(MemoryScope::Off)] {
        let id = format!("{:?}", settings.memory.unwrap());
        let other = open(&bench, caller, &id, settings).await;
        assert!(!text(&exchange(&bench, &other, "Good morning.").await).contains("nuts"), "{id}");
    }
    bench.engine.facts().forget(caller, &fact.id).await.unwrap();
    let third = exchange(&bench, &summer, "And a drink.").await;
    assert!(!text(&third).contains("<remembered>"), "not from a cached prefix either");
    assert!(again.engine.request(caller, &summer, 2).await.is_err());
    let kept = again.engine.export(caller, &summer).await.unwrap();
    assert!(!serde_json::to_string(&kept).unwrap().contains("nuts"), "no copy of it was kept");
}

#[tokio::test]
async fn nothing_is_gathered_from_private_sessions_or_from_other_speakers() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let private = Settings { private: true, ..Settings::default() };
    let hidden = open(&bench, caller, "hidden", private).await;
    say(&bench, caller, &hidden, "I'm allergic to nuts.").await;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "Caroline: I'm allergic to nuts.").await;
    let own = open(&bench, caller, "own", remembering(MemoryScope::Session)).await;
    say(&bench, caller, &own, "I'm allergic to nuts.").await;
    assert!(bench.engine.facts().current(caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_question_later_in_a_session_finds_other_sessions_too() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "The violin teacher is called Matteo.").await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    say(&bench, caller, &summer, "hello").await;
    let message = "what is the violin teacher called?".into();
    let input = TurnInput { message, budget_tokens: Some(4_000), ..TurnInput::default() };
    let asked = bench.engine.prepare(caller, &summer, &input).await.unwrap();
    assert!(format!("{:?}", asked.request.messages).contains("Matteo"), "{:#?}", asked.receipt);
}

#[tokio::test]
async fn a_session_that_remembers_nothing_is_not_remembered_elsewhere() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", remembering(MemoryScope::Off)).await;
    say(&bench, caller, &spring, SAID).await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(!knows(&ask(&bench, caller, &summer).await));
}

#[tokio::test]
async fn a_session_with_a_memory_of_its_own_gives_nothing_to_others() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", remembering(MemoryScope::Session)).await;
    say(&bench, caller, &spring, SAID).await;
    assert!(knows(&ask(&bench, caller, &spring).await), "it remembers itself");
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(!knows(&ask(&bench, caller, &summer).await));
}

#[tokio::test]
async fn facts_of_an_archived_session_come_back_only_with_it() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    assert_eq!(bench.engine.facts().current(caller).await.unwrap().len(), 1);
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(text(&exchange(&bench, &summer, "Good morning.").await).contains("Gdansk"));

    bench.engine.put_aside(caller, &spring).await.unwrap();
    let next = exchange(&bench, &summer, "Good evening.").await;
    assert!(!text(&next).contains("Gdansk"), "not from a cached prefix either");
    let autumn = open(&bench, caller, "autumn", Settings::default()).await;
    assert!(!text(&exchange(&bench, &autumn, "Good morning.").await).contains("Gdansk"));
    assert!(!knows(&ask(&bench, caller, &autumn).await));
    let found = bench.engine.search_facts(caller, "sister Marta", 10).await.unwrap();
    assert!(found.is_empty(), "{found:?}");

    let restored = SessionPatch { active: Some(true), ..SessionPatch::default() };
    bench.engine.change_session(caller, &spring, restored, None).await.unwrap();
    assert!(knows(&ask(&bench, caller, &autumn).await));
    assert_eq!(bench.engine.search_facts(caller, "sister Marta", 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_session_that_becomes_private_takes_its_facts_along() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    bench.engine.record(caller, &spring, said("I'm lactose intolerant.")).await.unwrap();
    assert_eq!(bench.engine.facts().export(caller).await.unwrap().memories.len(), 1);
    let settings = Some(Settings { private: true, ..Settings::default() });
    let patch = SessionPatch { settings, ..SessionPatch::default() };
    bench.engine.change_session(caller, &spring, patch, None).await.unwrap();
    assert_eq!(bench.engine.facts().export(caller).await.unwrap().memories, []);
}

#[tokio::test]
async fn a_title_that_was_made_of_an_erased_turn_goes_with_it() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "My badge number is B-5150.").await;
    let title = async || bench.engine.session(caller, &spring).await.unwrap().head.title.clone();
    assert_eq!(title().await.as_deref(), Some("My badge number is B-5150."));
    bench.engine.erase_turns(caller, &spring, &BTreeSet::from([1])).await.unwrap();
    assert_eq!(title().await, None);
}

#[tokio::test]
async fn everything_of_a_user_goes_in_one_call_and_nothing_of_another() {
    let bench = bench().start().await;
    let (admin, scope) = (&bench.caller, bench.caller.scope.clone());
    let of = |user: &str| Caller {
        scope: Scope { user: UserId::new(user).unwrap(), ..scope.clone() },
        grants: Grants::Write,
    };
    let (ann, ben) = (of("ann"), of("ben"));
    for caller in [&ann, &ben] {
        let spring = open(&bench, caller, "spring", Settings::default()).await;
        bench.engine.record(caller, &spring, said("I'm allergic to nuts.")).await.unwrap();
        bench.engine.facts().add(caller, FactDraft::told("My rack is R42")).await.unwrap();
        let path = "/memories/plans.md".into();
        let file = FileCommand::Create { path, file_text: "north".into() };
        bench.engine.memory_files().run(caller, file).await.unwrap();
    }
    let user = &ann.scope.user;
    assert!(matches!(bench.engine.erase_user(&ben, user).await, Err(Error::Forbidden { .. })));
    let data = bench.engine.user_data(admin, user).await.unwrap();
    assert_eq!((data.sessions.len(), data.memories.memories.len(), data.files.len()), (1, 2, 1));
    let erased = bench.engine.erase_user(admin, user).await.unwrap();
    assert_eq!((erased.sessions, erased.memories, erased.files), (1, 2, 1), "{erased:?}");
    assert!(bench.engine.erase_user(admin, user).await.unwrap().is_empty(), "something was left");
    let data = bench.engine.user_data(admin, &ben.scope.user).await.unwrap();
    assert_eq!((data.sessions.len(), data.memories.memories.len(), data.files.len()), (1, 2, 1));
}

fn said(message: &str) -> RecordedTurn {
    RecordedTurn { message: message.into(), reply: "Noted.".into(), ..RecordedTurn::default() }
}

/// The texts that a search answers, best first.
pub(crate) async fn searched(bench: &Bench, query: &str) -> Vec<String> {
    let found = bench.engine.search(&bench.caller, query, 10, 0).await.unwrap();
    found.hits.into_iter().map(|hit| hit.snippet.text).collect()
}

#[tokio::test]
async fn a_search_finds_words_of_languages_without_spaces() {
    let bench = bench().indexed().await.start().await;
    let id = open(&bench, &bench.caller, "spring", Settings::default()).await;
    let tulips = ["我昨天给办公室买了郁金香。", "昨日チューリップを二十本買いました。"];
    for text in tulips.iter().chain(&["今天会议推迟了。", "明日の会議は中止です。"])
    {
        say(&bench, &bench.caller, &id, text).await;
    }
    for (query, expected) in
        [("郁金香", tulips[0]), ("チューリップ", tulips[1]), ("買いました", tulips[1])]
    {
        let found = searched(&bench, query).await;
        assert!(found[0].contains(query) && expected.contains(query), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn a_search_finds_what_means_the_same_and_only_what_the_caller_may_see() {
    let bench = bench().indexed().await.start().await;
    let caller = &bench.caller;
    let private = Settings { private: true, ..Settings::default() };
    let hidden = open(&bench, caller, "hidden", private).await;
    say(&bench, caller, &hidden, "A purchase of tulips nobody is told about.").await;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "The purchase of twenty tulips arrived.").await;
    say(&bench, caller, &spring, "The meeting was moved to Monday.").await;
    // "bought" stands in no text: words alone find nothing.
    let found = searched(&bench, "bought").await;
    assert_eq!(found.first().map(String::as_str), Some("The purchase of twenty tulips arrived."));
    assert!(!found.iter().any(|text| text.contains("nobody")), "{found:?}");
    assert_eq!(searched(&bench, "\"bought\"").await, [""; 0], "a phrase is meant to the letter");

    let scope = Scope { user: UserId::new("eve").unwrap(), ..caller.scope.clone() };
    let eve = Caller { scope, grants: Grants::Write };
    let found = bench.engine.search(&eve, "bought", 10, 0).await.unwrap();
    assert_eq!(found.hits, []);

    bench.engine.erase_turns(caller, &spring, &BTreeSet::from([1])).await.unwrap();
    let found = searched(&bench, "bought").await;
    assert!(!found.iter().any(|text| text.contains("tulips")), "{found:?}");
}
