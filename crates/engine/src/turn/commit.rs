//! The end of a turn: writes the record and the new head in one versioned commit, or pauses.
//!
//! Invariant: the head's change is a pure function of the turn and the head, so it may run again on a newer head.

use std::sync::Arc;
use std::time::Instant;

use tracing::Instrument;

use super::draft::TurnDraft;
use super::{Pipeline, Turn, TurnOutcome, checks};
use crate::access::Caller;
use crate::creation::keep_late_items;
use crate::entity::{EntityRef, Harvest, KnownEntities, Mention, Moment, Noticed, harvest};
use crate::error::{Error, Result};
use crate::events::{Events, TurnEvent};
use crate::notice::Understanding;
use crate::permission::Named;
use crate::reply::{Answer, CANCELLED, INTERRUPTED, ReplyForm, ReplyOutcome};
use crate::session::apply::{self, RequestKey};
use crate::session::dialogue::Dialogue;
use crate::session::head::SessionHead;
use crate::session::record::{TurnError, TurnKind, TurnRecord, TurnStatus};
use crate::session::redact::{redact_begun, redact_request};
use crate::session::sessions::Step;
use crate::session::{LoadedSession, usage};
use crate::shared::SessionFigures;
use crate::store::{Key, Version};
use crate::trace;

#[derive(Debug, Clone)]
pub struct Recorded {
    pub turn: u64,
    /// The session's version.
    pub version: u64,
    /// The record, unless the same key had made it before.
    pub record: Option<Arc<TurnRecord>>,
}

impl Recorded {
    /// Whether the same key had made it before.
    pub fn repeated(&self) -> bool {
        self.record.is_none()
    }
}

/// The entity introduced by the reply: shown, or suggested for a name that was not found.
fn newly_spoken_of(head: &SessionHead, dialogue: Option<&Dialogue>) -> Option<EntityRef> {
    let before = head.dialogue.as_ref().and_then(|dialogue| dialogue.focus.first());
    let now = dialogue?.focus.first().filter(|now| before != Some(*now))?;
    Some(EntityRef { kind: now.kind.clone(), name: now.label.clone(), id: now.id.clone() })
}

impl Pipeline {
    /// **commit**: the turn, or the pause that the reply ended in.
    pub(super) async fn conclude(
        &self,
        caller: &Caller,
        turn: &Turn,
        draft: TurnDraft,
        ended: ReplyOutcome,
        key: Option<&RequestKey>,
        events: &Events,
    ) -> Result<TurnOutcome> {
        match ended {
            ReplyOutcome::Finished(answer) => {
                let recorded = self.commit(caller, turn, draft, answer, key, None).await?;
                self.finished(caller, turn, recorded).await
            }
            ReplyOutcome::Paused(answer, awaited) => {
                let until = (self.clock.now(), self.limits.approval_seconds_max);
                let pending = draft.pending(answer, awaited, key, until).ok_or_else(|| {
                    let session = turn.session.head.id.clone();
                    Error::NotKept { session, turn: 0, what: "context data" }
                })?;
                let mut named = Named::default();
                pending.calls.iter().for_each(|call| named.answer(call));
                let (session, ()) = self
                    .sessions
                    .update(&turn.session.key, |head, _| {
                        head.unsettled.retain(|other| other.id != turn.id);
                        named.remember(&mut head.tool_words);
                        let mut pending = pending.clone();
                        if head.erased_turns > turn.session.head.erased_turns {
                            redact_request(&mut pending.receipt, &mut pending.contents);
                            pending.noticed = Noticed::default();
                        }
                        head.pending = Some(Box::new(pending));
                        Ok(Step::Commit(None, ()))
                    })
                    .await?;
                self.work.look_later(&session.key, self.time_left(&pending));
                // Not before it is stored: whoever is told may decide at once.
                for call in &pending.awaited {
                    events.tell(TurnEvent::Approval(call.clone()));
                }
                Ok(TurnOutcome::Paused { session, pending: Box::new(pending) })
            }
        }
    }

    /// Names the server as the cause, if its stop broke off the reply.
    fn told_of_stop(&self, kind: TurnKind, mut answer: Answer) -> Answer {
        let broken_off = match &answer.error {
            Some(error) => error.code == CANCELLED,
            None => kind == TurnKind::DropIn && answer.status == TurnStatus::Partial,
        };
        if broken_off && self.stopped.is_cancelled() {
            let words = "the server stopped before the reply was whole";
            answer.error = Some(TurnError::new(INTERRUPTED, words));
        }
        answer
    }

    /// Appends a turn to the session, or finds it there.
    pub(super) async fn commit(
        &self,
        caller: &Caller,
        turn: &Turn,
        draft: TurnDraft,
        answer: Answer,
        key: Option<&RequestKey>,
        expected: Option<u64>,
    ) -> Result<Recorded> {
        let answer = self.told_of_stop(draft.kind, answer);
        self.learn_factor(&draft, &answer);
        let dialogue = answer.dialogue.clone();
        let (sent, summary, said_at) = (draft.sent.clone(), draft.summary.clone(), draft.at);
        let (id_of_turn, ends_pause, withheld) = (draft.id, draft.ends_pause, draft.withheld);
        let (mut record, understanding) = draft.record(answer, self.clock.now());
        usage::mark(&mut record, sent.as_ref().map_or(&[], |sent| sent.as_slice()));
        let harvests = self.harvests(&record);
        let named = Named::of(&record);
        let id = &turn.session.head.id;
        let step = |head: &mut SessionHead, version: Version| {
            if let Some(number) = checks::answered(head, key)? {
                let at = head.answered.iter().find(|answered| answered.turn == number);
                let version = at.map_or(version.number, |answered| answered.version);
                return Ok(Step::Leave((number, Some(version), None)));
            }
            let now = self.clock.now();
            checks::active(head, now)?;
            checks::check_version(id, expected, version.number)?;
            checks::room(head, &self.limits)?;
            checks::said_at(head, said_at, now)?;
            let mut record = TurnRecord { at: said_at.unwrap_or(now), ..record.clone() };
            let erased_meanwhile = head.erased_turns > turn.session.head.erased_turns;
            if erased_meanwhile {
                redact_begun(&mut record);
            }
            apply::turn(head, &mut record, key, self.limits.idempotency_keys, now);
            keep_late_items(&turn.agent, head, &turn.tools);
            if let Some(answered) = head.answered.back_mut().filter(|_| key.is_some()) {
                answered.version = version.number + 1;
            }
            head.unsettled.retain(|turn| turn.id != id_of_turn);
            head.pending = head.pending.take().filter(|pending| Some(pending.at) != ends_pause);
            named.remember(&mut head.tool_words);
            let dialogue = dialogue.clone().filter(|_| !erased_meanwhile);
            let spoken_of = newly_spoken_of(head, dialogue.as_ref());
            head.dialogue = dialogue.filter(|dialogue| !dialogue.is_empty()).map(|mut dialogue| {
                dialogue.number(record.turn);
                Box::new(dialogue)
            });
            let at = Moment { turn: record.turn, now };
            // What the message means may rest on what is gone.
            if !erased_meanwhile {
                self.remember(head, &record.message, &understanding, &harvests, at);
            }
            if let Some(thing) = spoken_of.filter(|t| self.packs.entity_type(&t.kind).is_some()) {
                head.entities.speak_of(thing, at.turn);
            }
            head.condense(summary.clone().filter(|_| !erased_meanwhile));
            if withheld {
                head.withhold_last(&record.message);
            }
            let record = Arc::new(record);
            Ok(Step::Commit(Some(record.clone()), (record.turn, None, Some(record))))
        };
        let session = caller.session_key(id);
        let span = trace::commit(self.sessions.store().as_ref());
        let committing = async {
            match expected {
                None => self.sessions.commit_batched(&session, step).await,
                // A caller who expects a version wants no turn between it and this one.
                Some(_) => {
                    let (loaded, answer) = self.sessions.update(&session, step).await?;
                    Ok((loaded.version, answer))
                }
            }
        };
        let begun = Instant::now();
        let committed = committing.instrument(span.clone()).await;
        let (version, (number, answered_at, record)) =
            committed.inspect_err(|error| trace::failed(&span, error.code()))?;
        if let Some(record) = &record {
            self.commit_times.note(&session, number, begun.elapsed());
            if let Some(observer) = self.observer.get() {
                observer(record, sent.as_ref().map_or(&[], |sent| sent.as_slice()));
            }
            if let (Some(receipt), Some(sent)) = (&record.receipt, sent.clone()) {
                self.prefixes.keep(&turn.session, receipt.request_hash, sent);
            }
            self.publish_figures(&session, record).await;
            self.note_facts_used(caller, sent.as_ref().map_or(&[], |sent| sent.as_slice())).await;
            self.gather_facts(caller, turn, record).await;
            self.work.add(&session);
        }
        Ok(Recorded { turn: number, version: answered_at.unwrap_or(version.number), record })
    }

    /// Publishes figures of the session before anybody can erase it; a failure costs only the figures.
    async fn publish_figures(&self, session: &Key, record: &TurnRecord) {
        let (Some(shared), Some(receipt)) = (&self.shared, &record.receipt) else { return };
        let entities = self.sessions.cached(session);
        let entities = entities.map_or(0, |loaded| loaded.head.entities.tracked.len());
        let figures = SessionFigures { context_tokens: receipt.budget.used_tokens, entities };
        if let Err(error) = shared.publish(session, figures).await {
            tracing::debug!(%error, "cannot publish figures of a session");
        }
    }

    /// A committed turn as an outcome, without reading what is in hand.
    async fn finished(
        &self,
        caller: &Caller,
        turn: &Turn,
        recorded: Recorded,
    ) -> Result<TurnOutcome> {
        let key = caller.session_key(&turn.session.head.id);
        let session = match self.sessions.cached(&key) {
            Some(session) => session,
            None => self.sessions.load(&key).await?,
        };
        let repeated = recorded.repeated();
        let record = match recorded.record {
            Some(record) => record,
            None => self.stored_turn(&session, recorded.turn).await?,
        };
        Ok(TurnOutcome::Finished { session, record, repeated })
    }

    pub(super) async fn stored_turn(
        &self,
        session: &LoadedSession,
        turn: u64,
    ) -> Result<Arc<TurnRecord>> {
        let found = self.sessions.turn(session, turn).await?;
        let (id, turns) = (&session.head.id, session.head.turns);
        found.ok_or_else(|| Error::NoTurn { session: id.clone(), turn, turns })
    }

    /// Learns from a reply's usage how the model counts tokens.
    fn learn_factor(&self, draft: &TurnDraft, answer: &Answer) {
        if let (Some(usage), ReplyForm::Model { model }) = (answer.usage, &answer.form)
            && answer.calls.is_empty()
            && matches!(draft.kind, super::TurnKind::Chat | super::TurnKind::Query)
            && let Some(receipt) = &draft.receipt
        {
            self.factors.learn(model, receipt.budget.used_tokens, usage.input_tokens);
        }
    }

    /// The entities in the results of a turn's calls.
    fn harvests(&self, record: &TurnRecord) -> Vec<Harvest> {
        let results = record.calls.iter().filter(|call| call.ok()).filter_map(|call| {
            let json = call.output.as_ref()?.json.as_ref()?;
            Some(harvest(&call.tool, &call.arguments, json, &self.packs, self.clock.now()))
        });
        results.collect()
    }

    /// Adds the entities of a turn to the head.
    fn remember(
        &self,
        head: &mut SessionHead,
        message: &str,
        understanding: &Understanding,
        harvests: &[Harvest],
        at: Moment,
    ) {
        let Understanding { noticed, known, found } = understanding;
        let meant = noticed.mentions.iter().map(Mention::target);
        let in_results = harvests.iter().flat_map(|h| h.entities.iter().map(|e| e.entity.clone()));
        let mut known =
            KnownEntities::of(meant.chain(in_results).filter_map(|e| known.get(&e).cloned()));
        head.entities.apply_noticed(noticed, message, &mut known, &self.packs, at);
        let looked_up = Harvest { entities: found.clone(), ..Harvest::default() };
        head.entities.apply_harvest(&looked_up, &mut known, &self.packs, at);
        for harvest in harvests {
            head.entities.apply_harvest(harvest, &mut known, &self.packs, at);
        }
    }
}
