//! Sixty-four writers on one session through two server processes, compared with the same writers using the
//! approach of the seeds.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use bytes::Bytes;
use futures::future::join_all;
use throughline_testkit::crash::{self, ledger};
use throughline_testkit::served::{Launch, Served};

use super::Failure;
use super::naive::Naive;

const WRITERS: usize = 64;
const TURNS_EACH: usize = 8;
const SESSION: &str = "race";

/// Prints one row: our store, and the approach of the seeds.
pub(crate) async fn compare(name: &str, launch: &Launch, naive: &dyn Naive) -> Result<(), Failure> {
    let total = WRITERS * TURNS_EACH;
    let (found, ours_per_second) = ours(launch).await?;
    let (lost, doubled) = count(&found, total);

    let start = Instant::now();
    let writers = (0..WRITERS).map(|writer| async move {
        for number in 0..TURNS_EACH {
            naive.append(&entry(writer, number)).await?;
        }
        Ok::<_, Failure>(())
    });
    for done in join_all(writers).await {
        done?;
    }
    let naive_per_second = total as f64 / start.elapsed().as_secs_f64();
    let (naive_lost, _) = count(&naive.all().await?, total);
    println!(
        "| {name}, {WRITERS} writers, 2 servers | {total} | {ours_per_second:.0} | {lost} | {doubled} | {naive_per_second:.0} | {naive_lost} |"
    );
    Ok(())
}

async fn ours(launch: &Launch) -> Result<(Vec<Bytes>, f64), Failure> {
    let servers = [Served::start(launch).await, Served::start(launch).await];
    let http = reqwest::Client::new();
    servers[0].create(&http, SESSION).await;
    let start = Instant::now();
    let (writers, turns_each) = (WRITERS as u64, TURNS_EACH as u64);
    let sent = crash::write_together(&servers, SESSION, writers, turns_each).await;
    let per_second = (WRITERS * TURNS_EACH) as f64 / start.elapsed().as_secs_f64();
    let history = servers[1].history(&http, SESSION).await;
    let found = history.iter().map(|(_, message)| Bytes::from(message.clone())).collect();
    let histories = BTreeMap::from([(SESSION.to_owned(), history)]);
    match ledger::compare(&sent, &histories).first() {
        Some(wrong) => Err(wrong.clone().into()),
        None => Ok((found, per_second)),
    }
}

fn entry(writer: usize, number: usize) -> Bytes {
    Bytes::from(format!("{writer}.{number} {}", "word ".repeat(200)))
}

/// Counts missing turns and duplicated ones.
fn count(found: &[Bytes], total: usize) -> (usize, usize) {
    let mut times: HashMap<&Bytes, usize> = HashMap::new();
    for entry in found {
        *times.entry(entry).or_default() += 1;
    }
    (total - times.len(), times.values().filter(|count| **count > 1).count())
}
