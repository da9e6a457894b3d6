//! A vet's clinic as a FastMCP server writes it: nullable parameters, results under `result`, ids that rows refer to.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

/// The clinic as a server that says which tools read.
pub(crate) fn clinic() -> Vec<Server> {
    let text = || json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let number = || json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null});
    let (string, integer) = (|| json!({"type": "string"}), || json!({"type": "integer"}));
    let tools = vec![
        reading(
            "list_patients",
            "List animal patients.",
            json!({"species": text(), "ward": text()}),
            json!([]),
        ),
        reading(
            "get_patient",
            "One patient.",
            json!({"patient_id": integer()}),
            json!(["patient_id"]),
        ),
        writing(
            "register_patient",
            "Register a new patient.",
            json!({"name": string(), "species": string(), "owner": string()}),
            json!(["name", "species", "owner"]),
        ),
        writing(
            "delete_patient",
            "Delete a patient's record.",
            json!({"patient_id": integer()}),
            json!(["patient_id"]),
        ),
        reading("list_vets", "List vets.", json!({}), json!([])),
        reading(
            "list_appointments",
            "List appointments, optionally on a date (YYYY-MM-DD).",
            json!({"date": text(), "vet_id": number()}),
            json!([]),
        ),
        writing(
            "book_appointment",
            "Book an appointment.",
            json!({"patient_id": integer(), "vet_id": integer(), "date": string()}),
            json!(["patient_id", "vet_id", "date"]),
        ),
        writing(
            "cancel_appointment",
            "Cancel an appointment.",
            json!({"appointment_id": integer(), "reason": text()}),
            json!(["appointment_id"]),
        ),
    ];
    vec![Server { name: "clinic", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let patient =
        |id: u64, name: &str, species: &str, ward: &str, owner: &str, kg: f64, done: bool| {
            json!({"id": id, "name": name, "species": species, "ward": ward, "owner": owner,
            "weight_kg": kg, "vaccinated": done})
        };
    let patients = [
        patient(1, "Rex", "dog", "A", "Timo Kern", 31.5, true),
        patient(2, "Mimi", "cat", "B", "Ida Sun", 4.2, false),
        patient(3, "Bello", "dog", "B", "Timo Kern", 12.0, false),
        patient(4, "Coco", "parrot", "A", "Lea Roth", 0.4, true),
    ];
    let vets = [
        json!({"id": 1, "name": "Dr. Maria Ahlers", "speciality": "surgery"}),
        json!({"id": 2, "name": "Dr. Jan Petersen", "speciality": "birds"}),
    ];
    let appointments = [
        json!({"id": 201, "patient_id": 1, "vet_id": 1, "date": "1970-01-02", "reason": "vaccination"}),
        json!({"id": 202, "patient_id": 2, "vet_id": 2, "date": "1970-01-01", "reason": "check-up"}),
    ];
    let fits = |row: &&Value| {
        let given = arguments.as_object().into_iter().flatten();
        given.filter(|(_, value)| !value.is_null()).all(|(key, value)| row[key] == *value)
    };
    let listed =
        |rows: &[Value]| Ok(json!({"result": rows.iter().filter(fits).collect::<Vec<_>>()}));
    match tool {
        "list_patients" => listed(&patients),
        "list_vets" => listed(&vets),
        "list_appointments" => listed(&appointments),
        "get_patient" => {
            let found = patients.iter().find(|row| row["id"] == arguments["patient_id"]);
            found.cloned().ok_or_else(|| "no such patient".to_owned())
        }
        "register_patient" => {
            let mut made = json!({"id": 105});
            for (key, value) in arguments.as_object().into_iter().flatten() {
                made[key] = value.clone();
            }
            Ok(json!({"ok": true, "patient": made}))
        }
        "book_appointment" => Ok(json!({"result": "Booked with id 203"})),
        _ => Ok(json!({"result": "done"})),
    }
}
