//! Tests of the turn index.

use super::*;

/// A stand-in for an embedder: one dimension per topic.
fn vector(topics: [f32; 3]) -> Vec<f32> {
    let length = topics.iter().map(|value| value * value).sum::<f32>().sqrt();
    topics.iter().map(|value| if length > 0.0 { value / length } else { 0.0 }).collect()
}

fn session() -> TurnIndex {
    let mut index = TurnIndex::default();
    let said = [
        ("Which core switch do we have in Frankfurt at the moment?", [1.0, 0.1, 0.0]),
        ("Could you book a table for dinner on Friday evening please?", [0.0, 1.0, 0.1]),
        ("My daughter finished painting the garden fence last weekend", [0.0, 0.1, 1.0]),
        ("The Paris router was replaced after the thunderstorm", [0.9, 0.0, 0.2]),
    ];
    for (at, (text, topics)) in said.into_iter().enumerate() {
        let turn = at as u64 + 1;
        index.add(turn, Part::Message, "Ann", text, &vector(topics));
        index.add(turn, Part::Reply, "assistant", "Noted, thank you.", &vector([0.1, 0.1, 0.1]));
    }
    index
}

fn turns(index: &TurnIndex, query: &str, topics: [f32; 3]) -> Vec<u64> {
    index.search(query, &vector(topics), 1, |_| false).iter().map(|hit| hit.turn).collect()
}

#[test]
fn a_turn_is_found_by_its_words_by_its_meaning_or_by_both() {
    let index = session();
    assert_eq!(turns(&index, "thunderstorms", [0.0; 3]), [4]);
    assert_eq!(turns(&index, "something else entirely", [0.0, 1.0, 0.0]), [2]);
    assert_eq!(turns(&index, "paint", [0.0, 0.0, 1.0]), [3]);
    let without_query_vector = index.search("thunderstorms", &[], 1, |_| false);
    assert_eq!(without_query_vector[0].turn, 4);
}

#[test]
fn excluded_and_removed_turns_are_not_found() {
    let mut index = session();
    let found = index.search("painting", &vector([0.0, 0.0, 1.0]), 10, |turn| turn == 3);
    assert!(found.iter().all(|hit| hit.turn != 3));
    let nothing_fits = index.search("zebra", &[], 10, |turn| turn == 3);
    assert_eq!(nothing_fits.len(), 6, "what is excluded is not found where all are alike either");
    index.remove(3);
    index.remove(99);
    let found = index.search("painting", &vector([0.0, 0.0, 1.0]), 10, |_| false);
    assert!(found.iter().all(|hit| hit.turn != 3));
    assert_eq!((found.len(), index.len()), (6, 6));
}

#[test]
fn an_answer_is_found_through_the_question_before_it() {
    let mut index = TurnIndex::default();
    for turn in 1..=9 {
        index.add(turn, Part::Message, "Ann", "And what else is going on there?", &[]);
        index.add(turn, Part::Reply, "assistant", "It was quiet all day long", &[]);
    }
    index.add(5, Part::Message, "Ann", "Who is the owner of the harbour warehouse?", &[]);
    index.add(5, Part::Reply, "assistant", "That would be Rosa Lindgren", &[]);
    let found = index.search("owner of the warehouse", &[], 2, |_| false);
    let found: Vec<_> = found.iter().map(|hit| (hit.turn, hit.part)).collect();
    assert_eq!(found, [(5, Part::Message), (5, Part::Reply)]);
}

#[test]
fn an_index_filled_in_any_order_finds_the_same() {
    let said = ["red apple pie", "blue sky", "green apple tree", "the sky over the tree"];
    let fill = |order: &[u64]| {
        let mut index = TurnIndex::default();
        for turn in order {
            let vector = vector([*turn as f32, 1.0, 2.0]);
            index.add(*turn, Part::Message, "Ann", said[*turn as usize], &vector);
        }
        index
    };
    let mut mended = fill(&[2, 0, 3, 1]);
    mended.remove(1);
    mended.remove(3);
    mended.add(3, Part::Message, "Ann", said[3], &vector([3.0, 1.0, 2.0]));
    mended.add(1, Part::Message, "Ann", said[1], &vector([1.0, 1.0, 2.0]));
    let straight = fill(&[0, 1, 2, 3]);
    let query = vector([1.0, 0.0, 1.0]);
    let all = |index: &TurnIndex| index.search("apple sky", &query, 4, |_| false);
    assert_eq!(all(&mended), all(&straight));
}

/// Three people over two days; only words and speakers distinguish them.
fn talk() -> TurnIndex {
    let mut index = TurnIndex::default();
    let said = [
        (1, "Ada", "The ferry to Lisbon leaves at noon"),
        (1, "Bert", "Thanks Ada, I will pack the tent"),
        (1, "Cora", "My brother repairs old bicycles"),
        (2, "Bert", "Our neighbour plays the cello"),
        (2, "Cora", "The bakery closed for good"),
        (2, "Ada", "My sister moved into a lighthouse"),
    ];
    for (turn, (day, speaker, text)) in (1..).zip(said) {
        let date = jiff::civil::date(2024, 5, day);
        index.add_dated(turn, Part::Message, "User", &format!("{speaker}: {text}"), &[], date);
    }
    index
}

fn best(query: &str, keep: usize) -> Vec<u64> {
    talk().search(query, &[], keep, |_| false).iter().map(|hit| hit.turn).collect()
}

#[test]
fn what_somebody_said_is_all_that_they_said_and_not_what_was_said_to_them() {
    let hits = talk().search("What did Ada say?", &[], 6, |_| false);
    let fitting: Vec<u64> =
        hits.iter().filter(|hit| hit.score >= 0.5).map(|hit| hit.turn).collect();
    assert_eq!(fitting, [6, 1], "{hits:?}");
}

#[test]
fn every_named_speaker_comes_before_others() {
    let mut found = best("What do Ada and Cora like about their families?", 4);
    found.sort_unstable();
    assert_eq!(found, [1, 3, 5, 6]);
}

#[test]
fn a_name_that_is_no_speakers_is_found_by_its_word() {
    assert_eq!(best("Who goes to Lisbon?", 1), [1]);
}

#[test]
fn the_sitting_of_a_strong_hit_comes_before_another() {
    let mut index = TurnIndex::default();
    for turn in 1..=12 {
        let text = if turn == 1 { "The ferry leaves at noon" } else { "It was quiet there" };
        let date = jiff::civil::date(2024, 5, if turn <= 6 { 1 } else { 2 });
        index.add_dated(turn, Part::Message, "User", text, &[], date);
    }
    let mut found: Vec<u64> =
        index.search("ferry", &[], 6, |_| false).iter().map(|hit| hit.turn).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn nothing_is_found_in_an_empty_index() {
    assert_eq!(TurnIndex::default().search("anything", &[1.0], 5, |_| false), []);
}

#[test]
fn what_the_assistant_said_comes_after_what_the_user_said_unless_it_is_asked_for() {
    let mut index = TurnIndex::default();
    let reply =
        "For a lemon tree in a pot, take clay granules below and a lemon fertiliser in May.";
    index.add(1, Part::Message, "User", "My lemon tree stands in a blue pot on the stairs.", &[]);
    index.add(1, Part::Reply, "Assistant", reply, &[]);
    for turn in 2..8 {
        index.add(turn, Part::Message, "User", "It rained all day and we stayed in.", &[]);
        index.add(turn, Part::Reply, "Assistant", "Rain is good for the soil.", &[]);
    }
    let first = |query: &str| index.search(query, &[], 1, |_| false)[0].part;
    assert_eq!(first("Where is the lemon tree with its pot and fertiliser?"), Part::Message);
    assert_eq!(first("Which fertiliser for a lemon tree in a pot did you name?"), Part::Reply);
    // Somebody with a name is not an assistant.
    index.add(9, Part::Reply, "Assistant", "Ada: The lemon fertiliser for my tree came.", &[]);
    assert_eq!(index.search("Who got lemon fertiliser?", &[], 1, |_| false)[0].turn, 9);
}
