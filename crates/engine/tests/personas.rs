//! Personas end to end: presets, contexts, chat with a lent model, deletion, expiry.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use throughline_engine::access::{Caller, Grants};
use throughline_engine::agent::AgentBook;
use throughline_engine::clock::Clock;
use throughline_engine::embed::{Embedder, Vector};
use throughline_engine::engine::{
    BeforePurge, ContextPatch, Engine, EngineSettings, ExpiryState, Export, NewContext, Order,
    Parts, StartingPoint, Unwanted, expiry_state,
};
use throughline_engine::events::Events;
use throughline_engine::failure::UpstreamError;
use throughline_engine::id::{AgentName, TenantId, UserId};
use throughline_engine::limits::Limits;
use throughline_engine::model::LentModel;
use throughline_engine::model::{Model, ModelEvent, ModelRequest, StopReason};
use throughline_engine::models::ModelBook;
use throughline_engine::pack::PackSet;
use throughline_engine::piece::Source;
use throughline_engine::preset::PresetGone;
use throughline_engine::preset::{PersonaDraft, PresetDraft};
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::session::record::{ReplyForm, TurnRecord};
use throughline_engine::store::{Key, Scope};
use throughline_engine::tool::{ToolListing, ToolName, ToolOutput, Tools};
use throughline_engine::turn::{TurnOutcome, TurnRequest};
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;
use tokio_util::sync::CancellationToken;

struct Alike;

#[async_trait]
impl Embedder for Alike {
    fn name(&self) -> &str {
        "alike"
    }
    fn dimensions(&self) -> usize {
        2
    }
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, UpstreamError> {
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }
}

struct NoTools;

#[async_trait]
impl Tools for NoTools {
    async fn list(&self) -> ToolListing {
        ToolListing::default()
    }
    async fn call(
        &self,
        _: &ToolName,
        _: &serde_json::Value,
        _: CancellationToken,
    ) -> Result<ToolOutput, UpstreamError> {
        unreachable!("there are no tools")
    }
}

/// Says "calmly" to everything, and remembers what it was shown.
#[derive(Default)]
struct Client(Mutex<Vec<ModelRequest>>);

#[async_trait]
impl Model for Client {
    fn name(&self) -> &str {
        "client/model"
    }
    async fn stream(
        &self,
        request: &ModelRequest,
        _: CancellationToken,
    ) -> Result<BoxStream<'static, Result<ModelEvent, UpstreamError>>, UpstreamError> {
        self.0.lock().unwrap().push(request.clone());
        let events =
            [ModelEvent::Text("calmly".into()), ModelEvent::Done(StopReason::EndTurn)].map(Ok);
        Ok(stream::iter(events).boxed())
    }
}

struct World {
    engine: Engine,
    clock: Arc<FixedClock>,
    client: Arc<Client>,
    caller: Caller,
}

async fn place_with(limits: Limits) -> World {
    let clock = Arc::new(FixedClock::default());
    let name = AgentName::new("default").unwrap();
    let parts = Parts {
        store: Arc::new(Memory::new()),
        shared: None,
        index: None,
        tools: Arc::new(NoTools),
        models: ModelBook::default(),
        embedder: Arc::new(Alike),
        clock: clock.clone(),
        agents: AgentBook::new(name, []),
        packs: PackSet::builtin(),
        rules: Default::default(),
        limits,
        settings: EngineSettings::default(),
    };
    let engine = Engine::start(parts).await.unwrap();
    World { engine, clock, client: Arc::default(), caller: Caller::local() }
}

async fn place() -> World {
    place_with(Limits::default()).await
}

fn from_preset(id: &str) -> NewContext {
    NewContext { from: StartingPoint::Preset(id.into()), ..NewContext::default() }
}

impl World {
    async fn new_context(&self) -> String {
        let new = from_preset("preset-calm-counselor");
        self.engine.create_context(&self.caller, new).await.unwrap().head.id.to_string()
    }

    async fn say(&self, context: &str, message: &str) -> TurnRecord {
        let request = TurnRequest {
            session: Some(context.parse().unwrap()),
            agent: None,
            input: TurnInput { message: message.into(), ..TurnInput::default() },
            key: None,
            persona: None,
            preset: None,
            model: Some(LentModel(self.client.clone())),
        };
        let token = CancellationToken::new();
        match self.engine.converse(&self.caller, request, Events::nowhere(), token).await.unwrap() {
            TurnOutcome::Finished { record, .. } => TurnRecord::clone(&record),
            TurnOutcome::Paused { .. } => panic!("nothing waits for approval"),
        }
    }

    async fn ids(&self, context: &str) -> Vec<String> {
        let id = context.parse().unwrap();
        let page = self.engine.messages(&self.caller, &id, 1, 100, Order::Ascending).await.unwrap();
        assert_eq!(page.total, page.messages.len() as u64);
        page.messages.into_iter().map(|message| message.id).collect()
    }

    fn advance_days(&self, days: u64) {
        self.clock.advance(Duration::from_secs(days * 86_400));
    }
}

#[tokio::test]
async fn a_built_in_preset_can_be_changed_deactivated_and_restored_by_one_user_alone() {
    let place = place().await;
    let (engine, caller) = (&place.engine, &place.caller);
    let id = "preset-rational-advisor";
    let draft = PresetDraft { temperature: Some(0.1), ..PresetDraft::default() };
    let (changed, _) = engine.presets().update(caller, id, draft).await.unwrap();
    assert_eq!(changed.settings.temperature, 0.1);
    assert_eq!(engine.presets().delete(caller, id).await.unwrap(), PresetGone::Deactivated);
    assert_eq!(engine.presets().list(caller, 1, 100, false).await.unwrap().total, 5);
    assert_eq!(engine.presets().list(caller, 1, 100, true).await.unwrap().total, 6);
    let error = engine.create_context(caller, from_preset(id)).await.unwrap_err();
    assert!(error.to_string().contains("deactivated"), "{error}");

    let scope =
        Scope { tenant: TenantId::new("other").unwrap(), user: UserId::new("other").unwrap() };
    let other = Caller { scope, grants: Grants::Write };
    assert_eq!(engine.presets().get(&other, id).await.unwrap().settings.temperature, 0.5);

    let restored = engine.presets().restore(caller, id).await.unwrap();
    assert_eq!(engine.presets().get(caller, id).await.unwrap(), restored);
    assert_eq!(restored.settings.temperature, 0.5);
}

#[tokio::test]
async fn ones_own_preset_is_reviewed_made_once_per_key_and_erased() {
    let place = place().await;
    let (engine, caller) = (&place.engine, &place.caller);
    let draft = PresetDraft {
        name: Some("Night Owl".into()),
        system_prompt: Some("Be nice.".into()),
        ..PresetDraft::default()
    };
    let (preset, review) =
        engine.presets().create(caller, None, draft.clone(), None).await.unwrap();
    assert_eq!(preset.id, "preset-night-owl");
    assert!(!review.effective() && !review.advice.is_empty());

    let key = RequestKey::new("k", b"body");
    let (one, _) = engine.presets().create(caller, None, draft.clone(), Some(&key)).await.unwrap();
    let (same, _) = engine.presets().create(caller, None, draft.clone(), Some(&key)).await.unwrap();
    assert_eq!(one.id, same.id);
    let other = PresetDraft { name: Some("Other".into()), ..draft };
    let error = engine.presets().create(caller, None, other, Some(&key)).await.unwrap_err();
    assert_eq!(error.code(), "idempotency_key_reused");

    assert_eq!(
        engine.presets().delete(caller, "preset-night-owl").await.unwrap(),
        PresetGone::Erased
    );
    let error = engine.presets().get(caller, "preset-night-owl").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no preset preset-night-owl");
    assert!(error.hint().contains("preset-calm-counselor"), "{}", error.hint());
}

#[tokio::test]
async fn a_context_is_made_from_a_preset_with_overrides_listed_changed_and_put_aside() {
    let place = place().await;
    let (engine, caller) = (&place.engine, &place.caller);
    let draft = PersonaDraft {
        name: Some("Ada".into()),
        temperature: Some(0.2),
        ..PersonaDraft::default()
    };
    let new = NewContext { draft, ..from_preset("preset-calm-counselor") };
    let context = engine.create_context(caller, new).await.unwrap();
    let persona = context.head.persona.clone().unwrap();
    assert_eq!((persona.name.as_str(), persona.temperature), ("Ada", 0.2));
    assert_eq!(persona.expiry_days, 14);

    let id = context.head.id.to_string();
    let draft = PersonaDraft { max_tokens: Some(0), ..PersonaDraft::default() };
    let patch = ContextPatch { draft, ..ContextPatch::default() };
    let error = engine.update_context(caller, &id, patch).await.unwrap_err();
    assert_eq!(error.to_string(), "maxTokens is not valid: 0 is outside 1-200000");

    engine.delete_context(caller, &id).await.unwrap();
    assert_eq!(engine.list_contexts(caller, 1, 10, false).await.unwrap().total, 0);
    assert_eq!(engine.list_contexts(caller, 1, 10, true).await.unwrap().total, 1);
    let patch = ContextPatch { active: Some(true), ..ContextPatch::default() };
    engine.update_context(caller, &id, patch).await.unwrap();
    assert_eq!(engine.list_contexts(caller, 1, 10, false).await.unwrap().total, 1);
    let error = engine.context(caller, "nobody").await.unwrap_err();
    assert!(error.hint().contains(&format!("{id} (Ada)")), "{}", error.hint());
}

#[tokio::test]
async fn the_same_key_makes_one_context_and_the_limit_is_named() {
    let place = place_with(Limits { contexts_max: 1, ..Limits::default() }).await;
    let (engine, caller) = (&place.engine, &place.caller);
    let keyed = |body: &[u8]| NewContext {
        key: Some(RequestKey::new("k", body)),
        ..from_preset("preset-calm-counselor")
    };
    let one = engine.create_context(caller, keyed(b"a")).await.unwrap();
    let same = engine.create_context(caller, keyed(b"a")).await.unwrap();
    assert_eq!(one.head.id, same.head.id);
    let error = engine.create_context(caller, keyed(b"b")).await.unwrap_err();
    assert_eq!(error.code(), "idempotency_key_reused");
    let new = from_preset("preset-calm-counselor");
    let error = engine.create_context(caller, new).await.unwrap_err();
    assert_eq!(error.to_string(), "the number of contexts is 2; the limit contexts_max is 1");
}

#[tokio::test]
async fn a_heated_message_brings_the_reminder_and_the_lent_model_is_named() {
    let place = place().await;
    let context = place.new_context().await;
    let calm = |record: &TurnRecord| {
        let receipt = record.receipt.as_ref().unwrap();
        receipt.pieces.iter().any(|piece| piece.source == Source::Calm && piece.sent())
    };
    let record = place.say(&context, "THIS IS USELESS, YOU ARE USELESS!!").await;
    assert!(calm(&record));
    assert_eq!(record.form, ReplyForm::Sampling { model: "client/model".into() });
    assert_eq!(record.reply, "calmly");
    let record = place.say(&context, "Could you help me plan tomorrow?").await;
    assert!(!calm(&record));
    let shown = place.client.0.lock().unwrap();
    assert!(
        shown.iter().all(|request| request.system.iter().any(|s| s.text.contains("counselor")))
    );
}

#[tokio::test]
async fn deleting_a_message_deletes_its_pair_and_the_rest_stays() {
    let place = place().await;
    let context = place.new_context().await;
    for message in ["one", "two", "three"] {
        place.say(&context, message).await;
        place.clock.advance(Duration::from_secs(60));
    }
    let id = context.parse().unwrap();
    let delete = |unwanted| place.engine.delete_messages(&place.caller, &id, unwanted);
    assert_eq!(delete(Unwanted::Named(vec!["2-assistant".into()])).await.unwrap(), 2);
    assert_eq!(place.ids(&context).await, ["1-user", "1-assistant", "3-user", "3-assistant"]);
    assert_eq!(delete(Unwanted::Named(vec!["2-user".into()])).await.unwrap(), 0);
    let error = delete(Unwanted::Named(vec!["9-user".into()])).await.unwrap_err();
    assert!(error.to_string().contains("from 1-user to 3-assistant"), "{error}");

    let third = place.clock.now() - Duration::from_secs(90);
    assert_eq!(delete(Unwanted::OlderThan(third)).await.unwrap(), 2);
    assert_eq!(place.ids(&context).await, ["3-user", "3-assistant"]);
    let record = place.say(&context, "four").await;
    assert_eq!(record.turn, 4);
    assert_eq!(delete(Unwanted::All).await.unwrap(), 4);
    assert_eq!(place.ids(&context).await, Vec::<String>::new());
}

#[tokio::test]
async fn messages_are_paged_from_either_end() {
    let place = place().await;
    let context = place.new_context().await;
    for turn in 1..=5 {
        place.say(&context, &format!("message {turn}")).await;
    }
    let id = context.parse().unwrap();
    let page = async |page, size, order| -> Vec<String> {
        let page = place.engine.messages(&place.caller, &id, page, size, order).await.unwrap();
        page.messages.into_iter().map(|message| message.id).collect()
    };
    assert_eq!(page(1, 3, Order::Descending).await, ["5-assistant", "5-user", "4-assistant"]);
    assert_eq!(page(2, 3, Order::Descending).await, ["4-user", "3-assistant", "3-user"]);
    assert_eq!(page(4, 3, Order::Ascending).await, ["5-assistant"]);
    let erased = Unwanted::Named(vec!["3-user".into()]);
    place.engine.delete_messages(&place.caller, &id, erased).await.unwrap();
    assert_eq!(
        page(2, 4, Order::Ascending).await,
        ["4-user", "4-assistant", "5-user", "5-assistant"]
    );
}

/// Keeps what is purged, or refuses to.
struct Shelf(Mutex<Vec<String>>, bool);

#[async_trait]
impl BeforePurge for Shelf {
    async fn keep(&self, key: &Key, export: &Export) -> Result<(), String> {
        if self.1 {
            return Err("the shelf is full".into());
        }
        self.0.lock().unwrap().push(format!("{} {}", key.id, export.turns.len()));
        Ok(())
    }
}

#[tokio::test]
async fn an_expired_context_is_warned_of_put_aside_kept_and_only_then_purged() {
    let place = place().await;
    let context = place.new_context().await;
    place.say(&context, "hello").await;
    let (shelf, full) = (Shelf(Mutex::default(), false), Shelf(Mutex::default(), true));
    let state = async || {
        let loaded = place.engine.context(&place.caller, &context).await.unwrap();
        expiry_state(&loaded.head, place.clock.now())
    };
    let sweep =
        async |shelf: &Shelf| place.engine.sweep_expired(&place.caller, shelf).await.unwrap();

    place.advance_days(13);
    assert_eq!(state().await, ExpiryState::Near);
    assert_eq!(sweep(&shelf).await.warned, 1);
    place.say(&context, "still here").await;
    assert_eq!(state().await, ExpiryState::Far);

    place.advance_days(15);
    assert_eq!(state().await, ExpiryState::Expired);
    let swept = sweep(&shelf).await;
    assert_eq!((swept.put_aside, swept.purged), (1, 0));
    place.advance_days(6);
    assert_eq!(sweep(&shelf).await.purged, 0);
    place.advance_days(2);
    let swept = sweep(&full).await;
    assert_eq!((swept.purged, swept.problems.len()), (0, 1));
    assert_eq!(sweep(&shelf).await.purged, 1);
    assert_eq!(*shelf.0.lock().unwrap(), [format!("{context} 2")]);
    assert!(place.engine.context(&place.caller, &context).await.is_err());
}

#[tokio::test]
async fn chats_from_elsewhere_come_in_once() {
    let place = place().await;
    let file = serde_json::json!([{
        "uuid": "u-1", "name": "Garden", "created_at": "2026-01-02T03:04:05Z",
        "chat_messages": [
            {"sender": "human", "text": "Roses?"}, {"sender": "assistant", "text": "In spring."},
        ]
    }])
    .to_string();
    let report = place.engine.import_chats(&place.caller, &file, None).await.unwrap();
    assert_eq!((report.imported.len(), report.imported[0].turns), (1, 1));
    let again = place.engine.import_chats(&place.caller, &file, None).await.unwrap();
    assert_eq!((again.imported.len(), again.already_there.len()), (0, 1));
    let statistics =
        place.engine.statistics(&place.caller, &report.imported[0].session).await.unwrap();
    assert_eq!((statistics.turns, statistics.active_days), (1, 1));
    assert_eq!(statistics.first_at.unwrap().to_string(), "2026-01-02T03:04:05Z");
}
