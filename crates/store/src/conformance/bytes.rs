//! Guarantees about the content of heads and logs: any bytes, unchanged, in order.

use bytes::Bytes;
use throughline_engine::store::{Change, Expected, StoreError};

use super::fixture::{Fixture, change};
use super::{Broken, CheckResult, same};
use crate::limit::ENTRY_BYTES_MAX;

const MEBIBYTE: usize = 1024 * 1024;

pub(super) async fn ranges_answer_what_there_is(fixture: Fixture) -> CheckResult {
    let key = fixture.key("ranges");
    let mut at = fixture.create(&key, "0", &["0", "1", "2"]).await?;
    at = fixture.commit(&key, Expected::At(at), "0", &[]).await?;
    fixture.commit(&key, Expected::At(at), "0", &["3", "4"]).await?;
    let cases = [
        (0..5, "01234"),
        (0..0, ""),
        (1..3, "12"),
        (2..4, "23"),
        (4..5, "4"),
        (4..100, "4"),
        (5..6, ""),
        (7..u64::MAX, ""),
        (0..u64::MAX, "01234"),
        (u64::MAX - 1..u64::MAX, ""),
    ];
    for (range, expected) in cases {
        let seen: String = fixture
            .store
            .entries(&key, range.clone())
            .await?
            .iter()
            .map(|entry| String::from_utf8_lossy(entry).into_owned())
            .collect();
        same!(seen, expected.to_owned(), "entries {range:?}");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "a caller's mistake must not be a panic")]
    let backwards = fixture.store.entries(&key, 4..1).await?;
    same!(backwards, Vec::<Bytes>::new(), "a range that ends before it starts");
    Ok(())
}

pub(super) async fn single_entries_come_in_the_order_asked(fixture: Fixture) -> CheckResult {
    let key = fixture.key("single");
    let at = fixture.create(&key, "0", &["0", "1", "2"]).await?;
    fixture.commit(&key, Expected::At(at), "0", &["3", "4"]).await?;
    let cases: [(&[u64], &str); 4] =
        [(&[], ""), (&[4, 0, 2], "402"), (&[3, 3], "33"), (&[5, 1, u64::MAX], "1")];
    for (numbers, expected) in cases {
        let seen: String = fixture
            .store
            .entries_at(&key, numbers)
            .await?
            .iter()
            .map(|entry| String::from_utf8_lossy(entry).into_owned())
            .collect();
        same!(seen, expected.to_owned(), "entries {numbers:?}");
    }
    let missing = fixture.store.entries_at(&fixture.key("nowhere"), &[0]).await?;
    same!(missing, Vec::<Bytes>::new(), "an entry of a thread that is not there");
    Ok(())
}

pub(super) async fn empty_entries_and_heads_are_kept(fixture: Fixture) -> CheckResult {
    let key = fixture.key("empty");
    let first = fixture.create(&key, "", &["", "x", ""]).await?;
    let head = fixture.head(&key).await?;
    same!((head.bytes, head.entries), (Bytes::new(), 3), "head and length");
    same!(fixture.log(&key).await?, texts(&["", "x", ""]), "the log");
    fixture.commit(&key, Expected::At(first), "", &[]).await?;
    same!(fixture.head(&key).await?.entries, 3, "length after a commit without entries");
    Ok(())
}

pub(super) async fn any_bytes_come_back_as_they_were(fixture: Fixture) -> CheckResult {
    let mut samples: Vec<Bytes> = texts(&[
        r#"{"a":1}"#,
        " { \"spaced\" : [ 1 , 2 ] } ",
        "{\n  \"pretty\": true\n}\n",
        r#"{"entry":{"base64":"AAAA"},"turn":9}"#,
        r#""quoted \"text\" \\ \u0000 \ud83d\ude00""#,
        "1e400",
        "\"line\u{2028}separator\"",
        "not json at all",
        "\n",
        "\r\n",
        "\0",
        "null",
        "{\"dup\":1,\"dup\":2}",
        "\u{feff}{}",
        "😀",
    ]);
    samples.push(Bytes::from((0..=255_u8).collect::<Vec<_>>()));
    samples.push(Bytes::from(vec![0xff, 0xfe, b'\n', 0x00, 0xc3]));
    samples.push(Bytes::from("[".repeat(2000) + &"]".repeat(2000)));
    let key = fixture.key("bytes");
    let made = Change { append: samples.clone(), ..change("", &[]) };
    let mut at = fixture.store.commit(&key, Expected::Absent, made).await?;
    same!(fixture.log(&key).await?, samples, "the log");
    for sample in samples {
        let next = Change { head: sample.clone(), ..change("", &[]) };
        at = fixture.store.commit(&key, Expected::At(at), next).await?;
        same!(fixture.head(&key).await?.bytes, sample, "the head");
    }
    Ok(())
}

pub(super) async fn entries_of_a_mebibyte_are_kept(fixture: Fixture) -> CheckResult {
    let key = fixture.key("large");
    let json = Bytes::from(format!("\"{}\"", "x".repeat(MEBIBYTE)));
    let binary = Bytes::from((0..MEBIBYTE).map(|at| (at * 31 % 251) as u8).collect::<Vec<_>>());
    let append = vec![json.clone(), binary.clone()];
    let made = Change { head: json.clone(), append: append.clone(), ..change("", &[]) };
    fixture.store.commit(&key, Expected::Absent, made).await?;
    same!(fixture.head(&key).await?.bytes == json, true, "a large head comes back");
    same!(fixture.log(&key).await? == append, true, "large entries come back");
    same!(
        fixture.store.entries(&key, 1..2).await? == [binary],
        true,
        "the second comes back alone"
    );
    Ok(())
}

pub(super) async fn many_entries_in_one_change_keep_their_order(fixture: Fixture) -> CheckResult {
    let key = fixture.key("many");
    let entries = |from: u32, to: u32| -> Vec<Bytes> {
        (from..to).map(|number| format!("{{\"n\":{number}}}").into()).collect()
    };
    let made = Change { append: entries(0, 700), ..change("0", &[]) };
    let at = fixture.store.commit(&key, Expected::Absent, made).await?;
    let more = Change { append: entries(700, 1_001), ..change("0", &[]) };
    fixture.store.commit(&key, Expected::At(at), more).await?;
    same!(fixture.head(&key).await?.entries, 1_001, "length");
    same!(fixture.log(&key).await? == entries(0, 1_001), true, "the log is in order");
    same!(fixture.store.entries(&key, 690..710).await?, entries(690, 710), "a stretch of it");
    same!(fixture.store.entries(&key, 981..1_001).await?, entries(981, 1_001), "its end");
    Ok(())
}

pub(super) async fn an_overwrite_replaces_only_what_it_names(fixture: Fixture) -> CheckResult {
    let key = fixture.key("overwritten");
    let first = fixture.create(&key, "0", &["zero", "one", "two"]).await?;
    let blank = Change {
        overwrite: vec![(1, Bytes::from("{\"erased\":true}")), (0, Bytes::new())],
        ..change("1", &["three"])
    };
    let second = fixture.store.commit(&key, Expected::At(first), blank.clone()).await?;
    let expected = texts(&["", "{\"erased\":true}", "two", "three"]);
    same!(fixture.log(&key).await?, expected, "the log");
    let head = fixture.head(&key).await?;
    same!((head.version, head.entries), (second, 4), "version and length");
    match fixture.store.commit(&key, Expected::At(first), blank).await {
        Err(StoreError::Conflict { .. }) => {}
        other => return Err(Broken(format!("a stale overwrite answered {other:?}"))),
    }
    same!(fixture.log(&key).await?, expected, "the log after a stale overwrite");
    fixture.commit(&key, Expected::At(second), "2", &["four"]).await?;
    let expected = texts(&["", "{\"erased\":true}", "two", "three", "four"]);
    same!(fixture.log(&key).await?, expected, "the log after a later commit");
    Ok(())
}

pub(super) async fn an_overwrite_past_the_end_is_refused_and_changes_nothing(
    fixture: Fixture,
) -> CheckResult {
    let key = fixture.key("past");
    let first = fixture.create(&key, "0", &["zero"]).await?;
    let wrong = Change { overwrite: vec![(1, Bytes::from("x"))], ..change("1", &["one"]) };
    if let Ok(version) = fixture.store.commit(&key, Expected::At(first), wrong.clone()).await {
        return Err(Broken(format!("an overwrite past the end answered {version:?}")));
    }
    let absent = fixture.key("past-absent");
    if let Ok(version) = fixture.store.commit(&absent, Expected::Absent, wrong).await {
        return Err(Broken(format!("an overwrite of nothing answered {version:?}")));
    }
    same!(fixture.head(&key).await?.version, first, "the version");
    same!(fixture.log(&key).await?, texts(&["zero"]), "the log");
    Ok(())
}

pub(super) async fn a_change_over_the_limit_is_refused_and_changes_nothing(
    fixture: Fixture,
) -> CheckResult {
    let key = fixture.key("too-large");
    let first = fixture.create(&key, "0", &["zero"]).await?;
    let entry = Bytes::from(vec![b' '; ENTRY_BYTES_MAX + 1]);
    let wrong = Change { append: vec![entry], ..change("1", &[]) };
    match fixture.store.commit(&key, Expected::At(first), wrong).await {
        Err(StoreError::TooLarge { .. }) => {}
        other => return Err(Broken(format!("a change over the limit answered {other:?}"))),
    }
    same!(fixture.head(&key).await?.version, first, "the version");
    same!(fixture.log(&key).await?, texts(&["zero"]), "the log");
    Ok(())
}

/// A backend may store a large head as a delta; callers must not notice.
pub(super) async fn a_large_head_comes_back_whatever_changed_it(fixture: Fixture) -> CheckResult {
    let key = fixture.key("large-head");
    let head = |step: u32, lines: u32| -> String {
        (0..lines)
            .map(|n| format!("{n}: {} of step {}\n", n * 7_919 % 997, step / (n + 1)))
            .collect()
    };
    let mut at = fixture.create(&key, "{}", &[]).await?;
    for step in 0..40 {
        let lines = match step {
            0..30 => 200 + step,
            30..35 => 3,
            _ => 900,
        };
        let mut made = change(&head(step, lines), &["a turn"]);
        match step % 10 {
            // An edit without a turn.
            7 => made.append.clear(),
            // An erased turn, with and without a new one.
            8 => made.overwrite = vec![(0, Bytes::from("erased"))],
            9 => {
                made.append.clear();
                made.overwrite = vec![(1, Bytes::from("erased"))];
            }
            _ => {}
        }
        at = fixture.store.commit(&key, Expected::At(at), made).await?;
        let seen = fixture.head(&key).await?;
        same!(seen.version, at, "the version at step {step}");
        same!(seen.bytes == head(step, lines), true, "the head of step {step} is the one given");
    }
    same!(fixture.log(&key).await?.len(), 32, "turns");
    Ok(())
}

fn texts(texts: &[&str]) -> Vec<Bytes> {
    texts.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect()
}
