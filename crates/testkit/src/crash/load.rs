//! A client of the crash driver: sends turns one after the other and records the replies.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::ledger::Sent;

/// Number of consecutive failures after which a client gives up.
const REFUSALS_MAX: u64 = 50;
/// Maximum length of a reply.
const REPLY_CHARACTERS_MAX: u64 = 2_000;

/// Shared by the clients of a round.
pub(super) struct Round {
    /// Number of acknowledged turns in this round.
    pub acknowledged: AtomicU64,
    /// Responses that were neither a success nor a lost connection.
    pub refused: AtomicU64,
    /// Number of acknowledgements before the kill.
    pub enough: u64,
    /// Notified when there are enough.
    pub reached: Notify,
}

pub(super) struct Client {
    /// Makes its texts unique in the run.
    pub name: String,
    /// The session it writes to.
    pub session: String,
    /// What it has sent so far, in all rounds.
    pub sent: Vec<Sent>,
    pub http: reqwest::Client,
}

impl Client {
    /// Sends turns to the server at `base` until it is gone.
    pub(super) async fn write_until_gone(&mut self, base: &str, round: &Round) {
        while self.write(base, round).await {}
    }

    /// Sends one more turn; returns `false` if the server is gone.
    pub(super) async fn write(&mut self, base: &str, round: &Round) -> bool {
        let message = format!("{} says {}", self.name, self.sent.len());
        self.sent.push(Sent { session: self.session.clone(), message, told: None });
        self.send_last(base, round).await
    }

    /// Sends the last turn (again, if it was sent before) until it is acknowledged; returns `false` if the server
    /// is gone.
    pub(super) async fn send_last(&mut self, base: &str, round: &Round) -> bool {
        let Some(number) = self.sent.len().checked_sub(1) else { return true };
        for _ in 0..REFUSALS_MAX {
            match self.send(base, number).await {
                Answer::Acknowledged(turn) => {
                    self.sent[number].told = Some(turn);
                    if round.acknowledged.fetch_add(1, Ordering::Relaxed) + 1 == round.enough {
                        round.reached.notify_one();
                    }
                    return true;
                }
                Answer::Refused => round.refused.fetch_add(1, Ordering::Relaxed),
                Answer::Gone => return false,
            };
        }
        panic!("{} was refused {REFUSALS_MAX} times", self.name);
    }

    async fn send(&self, base: &str, number: usize) -> Answer {
        let Sent { session, message, .. } = &self.sent[number];
        // Lengths differ, so that pages and segments fill up at different positions; they depend only on the number,
        // because a repeated request must be the same.
        let length = (number as u64).wrapping_mul(7_919) % REPLY_CHARACTERS_MAX;
        let reply = "r".repeat(usize::try_from(length).unwrap_or(0));
        let key = message.replace(' ', "-");
        let sent = self.http.post(format!("{base}/conversations/{session}/turns"));
        let body = json!({ "message": message, "reply": reply });
        let Ok(answer) = sent.header("idempotency-key", key).json(&body).send().await else {
            return Answer::Gone;
        };
        if !answer.status().is_success() {
            return Answer::Refused;
        }
        // A response cut off in its body acknowledges nothing.
        match answer.json::<Value>().await.ok().and_then(|body| body["turn"].as_u64()) {
            Some(turn) => Answer::Acknowledged(turn),
            None => Answer::Gone,
        }
    }
}

enum Answer {
    Acknowledged(u64),
    Refused,
    Gone,
}
