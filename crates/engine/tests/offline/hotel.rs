//! A small hotel: rooms without names, a map instead of a list, nested and bounded parameters, decisions.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

/// The hotel as a server that says which tools read.
pub(crate) fn hotel() -> Vec<Server> {
    let string = || json!({"type": "string"});
    let optional = |inner: Value| json!({"anyOf": [inner, {"type": "null"}], "default": null});
    let date = || json!({"type": "string", "format": "date"});
    let guest = json!({"type": "object", "required": ["name"],
        "properties": {"name": string(), "email": optional(string())}});
    let tools = vec![
        reading("list_rooms", "List all rooms of the hotel.", json!({}), json!([])),
        reading(
            "get_room",
            "Get one room.",
            json!({"room_number": {"type": "integer"}}),
            json!(["room_number"]),
        ),
        reading(
            "list_bookings",
            "List bookings.",
            json!({"status": optional(string())}),
            json!([]),
        ),
        reading(
            "search_rooms",
            "Search free rooms.",
            json!({"check_in": date(), "check_out": date(), "max_price": optional(json!({"type": "number"})),
                "room_type": optional(json!({"type": "string", "enum": ["single", "double"]}))}),
            json!(["check_in", "check_out"]),
        ),
        writing(
            "create_booking",
            "Create a booking.",
            json!({"guest": guest, "room_number": {"type": "integer"}, "check_in": date(), "check_out": date(),
                "breakfast": {"type": "boolean", "default": false}}),
            json!(["guest", "room_number", "check_in", "check_out"]),
        ),
        writing(
            "decide_booking_request",
            "Accept or reject a booking request.",
            json!({"request_id": {"type": "integer"}, "decision": {"type": "string", "enum": ["accept", "reject"]},
                "comment": optional(string())}),
            json!(["request_id", "decision"]),
        ),
        reading("list_booking_requests", "List booking requests.", json!({}), json!([])),
        writing(
            "open_complaint",
            "Open a new complaint.",
            json!({"title": string(),
            "tags": {"type": "array", "items": string(), "default": []}}),
            json!(["title"]),
        ),
    ];
    vec![Server { name: "hotel", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let room = |number: u64, floor: u64, kind: &str, price: f64, balcony: bool, status: &str| {
        json!({"number": number, "floor": floor, "type": kind, "price": price, "balcony": balcony,
            "status": status})
    };
    let rooms = [
        room(101, 1, "single", 80.0, false, "free"),
        room(102, 1, "double", 120.0, true, "occupied"),
        room(201, 2, "suite", 250.0, true, "occupied"),
        room(202, 2, "double", 130.0, false, "cleaning"),
    ];
    Ok(match tool {
        "list_rooms" => json!({"result": rooms}),
        "get_room" => {
            let found = rooms.iter().find(|row| row["number"] == arguments["room_number"]);
            found.cloned().ok_or("no such room")?
        }
        "list_bookings" => json!({
            "BK-1": {"guest": "Ann Weber", "room": 102, "paid": true, "status": "confirmed", "breakfast": true},
            "BK-2": {"guest": "Luis Ortega", "room": 201, "paid": false, "status": "pending", "breakfast": false}}),
        "search_rooms" => json!({"result": [room(202, 2, "double", 110.0, false, "free")]}),
        "list_booking_requests" => json!({"result": [
            {"request_id": 51, "guest": "Mia Chen", "nights": 3}, {"request_id": 55, "guest": "Jo Park", "nights": 9}]}),
        _ => json!({"ok": true, "created": {"id": 7, "title": arguments["title"]}}),
    })
}
