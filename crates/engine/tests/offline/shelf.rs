//! A small library: books, members and loans, with lists that can be filtered and changes that cannot be undone.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

/// The library as a server that says which tools read.
pub(crate) fn shelf() -> Vec<Server> {
    let text = || json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let flag = || json!({"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": null});
    let string = || json!({"type": "string"});
    let tools = vec![
        reading(
            "search_books",
            "Search the catalogue for books.",
            json!({"title": text(), "author": text(), "available": flag()}),
            json!([]),
        ),
        reading(
            "get_book",
            "Details of one book, with its loan.",
            json!({"book_id": string()}),
            json!(["book_id"]),
        ),
        reading("find_members", "Find members.", json!({"name": text()}), json!([])),
        reading("list_loans", "List current loans.", json!({"member": text()}), json!([])),
        writing(
            "lend_book",
            "Lend a book to a member.",
            json!({"book_id": string(), "card": string()}),
            json!(["book_id", "card"]),
        ),
        writing(
            "reserve_books",
            "Reserve books for a member.",
            json!({"card": string(), "book_ids": {"type": "array", "items": {"type": "string"}}}),
            json!(["card", "book_ids"]),
        ),
        writing(
            "add_member",
            "Register a new member.",
            json!({"name": string(), "city": string()}),
            json!(["name", "city"]),
        ),
        writing("delete_member", "Remove a member.", json!({"card": string()}), json!(["card"])),
    ];
    vec![Server { name: "library", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let book = |id: &str, title: &str, author: &str, available: bool| json!({"id": id, "title": title, "author": author, "available": available});
    let books = [
        book("B-101", "The Salt Road", "Mira Oduya", true),
        book("B-102", "Tide Tables", "Jonas Pell", false),
        book("B-103", "Glass Orchards", "Mira Oduya", true),
    ];
    let members = [
        json!({"card": "C-7", "name": "Tomas Reed", "city": "Bergen", "active": true}),
        json!({"card": "C-9", "name": "Ilse Brandt", "city": "Lund", "active": false}),
    ];
    let loans = [
        json!({"id": "L-1", "book_id": "B-102", "title": "Tide Tables", "card": "C-7", "member": "Tomas Reed"}),
    ];
    let fits = |row: &&Value| {
        let given = arguments.as_object().into_iter().flatten();
        given.filter(|(_, value)| !value.is_null()).all(|(key, value)| match value {
            Value::String(text) => row[key].as_str().is_some_and(|own| own.contains(text.as_str())),
            value => row[key] == *value,
        })
    };
    match tool {
        "search_books" => Ok(books.iter().filter(fits).cloned().collect()),
        "find_members" => Ok(members.iter().filter(fits).cloned().collect()),
        "list_loans" => Ok(loans.iter().filter(fits).cloned().collect()),
        "get_book" => {
            let book = books.iter().find(|row| row["id"] == arguments["book_id"]);
            let mut book = book.cloned().ok_or("no such book")?;
            let loan = loans.iter().find(|row| row["book_id"] == arguments["book_id"]);
            book["loan"] = loan.cloned().unwrap_or_default();
            Ok(book)
        }
        _ => Ok(json!({"done": true})),
    }
}
