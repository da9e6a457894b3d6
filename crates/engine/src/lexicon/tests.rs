//! Language detection, validity of each file, and reading in a second language.

use super::{AsksBack, Class, Family, Lexicon};

#[track_caller]
fn check(message: &str, code: &str) {
    assert_eq!(Lexicon::load(&[]).0.of(message).code, code, "{message:?}");
}

#[test]
fn every_shipped_language_can_be_read() {
    let (lexicon, problems) = Lexicon::load(&[]);
    assert_eq!(problems, [""; 0]);
    let codes: Vec<&str> = lexicon.languages().iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["en", "de", "fr", "es", "it", "pt", "ja", "zh"]);
}

#[test]
fn a_message_is_read_in_the_language_of_its_small_words() {
    check("how many devices are there in Tallinn?", "en");
    check("Wie viele Geräte gibt es in Tallinn?", "de");
    check("Comment s'appelle le serveur que tu as dit ?", "fr");
    check("¿Cuál era el nombre de la sede?", "es");
    check("Come si chiama il server che ti ho detto?", "it");
    check("Qual era o nome do servidor que eu te disse?", "pt");
    check("前に言ったサーバーの名前は？", "ja");
    check("我上次说的服务器叫什么？", "zh");
    check("leaf-21", "en");
}

#[test]
fn a_file_of_an_operator_adds_or_replaces_a_language_and_a_wrong_one_is_named() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let dutch =
        "code = \"nl\"\nname = \"Dutch\"\n[words]\nstop = \"de het een hoeveel zijn er in\"\n";
    let wrong = "code = \"xx\"\nname = \"X\"\n[words]\nnonsense = \"a\"\n";
    let files = [file("nl.toml", dutch), file("xx.toml", wrong)];
    let (lexicon, problems) = Lexicon::load(&files);
    assert_eq!(lexicon.of("hoeveel apparaten zijn er in het gebouw?").code, "nl");
    assert!(
        problems[0].starts_with("xx.toml: ") && problems[0].contains("nonsense"),
        "{problems:?}"
    );
    assert_eq!(problems.len(), 1);
}

#[test]
fn numbers_verbs_and_plurals_are_read() {
    let (lexicon, _) = Lexicon::load(&[]);
    let [english, german, ..] = lexicon.languages() else { panic!("two languages") };
    assert_eq!((english.ordinal("third"), english.ordinal("last")), (Some(3), Some(0)));
    assert_eq!((german.ordinal("zweiten"), german.cardinal("drei")), (Some(2), Some(3)));
    assert_eq!(english.family("delete"), Some(Family::Remove));
    assert_eq!(german.family("lösche"), Some(Family::Remove));
    for (plural, singular) in [
        ("switches", "switch"),
        ("addresses", "address"),
        ("properties", "property"),
        ("bus", "bus"),
    ] {
        assert_eq!(english.singular(plural), singular);
    }
    let words = ["for", "example", "this"];
    assert_eq!(english.starts(Class::Hypothetical, words.into_iter()), Some(2));
}

#[test]
fn a_message_that_tells_what_it_needs_asks_in_passing() {
    let asks = |said: &str| super::asks_back(said, false);
    let long = "I moved the printer to the second floor, and since then it wants a new address every morning. The \
        switch there is an old one with a fixed table. Which setting would stop that?";
    assert_eq!(asks(long), AsksBack::InPassing);
    assert_eq!(super::asks_back(long, true), AsksBack::InPassing);
    assert_eq!(asks(&format!("{long} You said something about it.")), AsksBack::Yes);
    assert_eq!(asks("How do I sharpen a knife?"), AsksBack::InPassing);
    assert!(asks("Which floor has the printer?") > AsksBack::InPassing);
    assert_eq!(asks("The printer is on the second floor."), AsksBack::No);
}
