//! Tests of the turn index.

use super::*;

/// A small stand-in for an embedder: one dimension a topic.
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

#[test]
fn nothing_is_found_in_an_empty_index() {
    assert_eq!(TurnIndex::default().search("anything", &[1.0], 5, |_| false), []);
}
