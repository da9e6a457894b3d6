//! Sixty-four writers on one session, through two stores as two copies of the server would have them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures::future::join_all;
use throughline_engine::store::{Expected, Found, Store, StoreError};
use throughline_testkit::seeded::Seeded;

use super::naive::Naive;
use super::{Failure, key, turn};

const WRITERS: usize = 64;
const TURNS_EACH: usize = 8;

/// Prints one row: ours, and the way of the seeds.
pub async fn compare(
    name: &str,
    stores: &[Arc<dyn Store>],
    naive: &dyn Naive,
) -> Result<(), Failure> {
    let total = WRITERS * TURNS_EACH;
    let start = Instant::now();
    let found = ours(name, stores).await?;
    let ours_per_second = total as f64 / start.elapsed().as_secs_f64();
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
        "| {name}, {WRITERS} writers, 2 copies | {total} | {ours_per_second:.0} | {lost} | {doubled} | {naive_per_second:.0} | {naive_lost} |"
    );
    Ok(())
}

async fn ours(name: &str, stores: &[Arc<dyn Store>]) -> Result<Vec<Bytes>, Failure> {
    let key = key(&format!("race-{name}"));
    let mut words = Seeded::new(2);
    stores[0].commit(&key, Expected::Absent, turn(&mut words)).await?;
    let tasks = (0..WRITERS).map(|writer| {
        let (store, key) = (Arc::clone(&stores[writer % stores.len()]), key.clone());
        tokio::spawn(async move {
            let mut words = Seeded::new(writer as u64);
            for number in 0..TURNS_EACH {
                loop {
                    let Found::Head(head) = store.head(&key, None).await? else {
                        return Err(Failure::from("the session is gone"));
                    };
                    let mut change = turn(&mut words);
                    change.append = vec![entry(writer, number)];
                    match store.commit(&key, Expected::At(head.version), change).await {
                        Ok(_) => break,
                        Err(StoreError::Conflict { .. }) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Ok(())
        })
    });
    for task in join_all(tasks).await {
        task??;
    }
    Ok(stores[0].entries(&key, 1..u64::MAX).await?)
}

fn entry(writer: usize, number: usize) -> Bytes {
    Bytes::from(format!("{writer}.{number} {}", "word ".repeat(200)))
}

/// How many turns are missing, and how many are there more than once.
fn count(found: &[Bytes], total: usize) -> (usize, usize) {
    let mut times: HashMap<&Bytes, usize> = HashMap::new();
    for entry in found {
        *times.entry(entry).or_default() += 1;
    }
    (total - times.len(), times.values().filter(|count| **count > 1).count())
}
