//! A small NetBox behind its official server: five sites' worth of things, filtered as NetBox filters.

use serde_json::{Map, Value, json};

use crate::bench::{Answer, Server, writing};

/// The inventory as a server that its operator says only reads.
pub(crate) fn inventory() -> Vec<Server> {
    let list = json!({"object_type": {"type": "string"}, "filters": {"type": "object"},
        "fields": {"type": "array", "items": {"type": "string"}}, "brief": {"type": "boolean"},
        "limit": {"type": "integer"}, "offset": {"type": "integer"}, "ordering": {"type": "string"}});
    let get = json!({"object_type": {"type": "string"}, "object_id": {"type": "integer"},
        "fields": {"type": "array", "items": {"type": "string"}}, "brief": {"type": "boolean"}});
    let search = json!({"query": {"type": "string"}, "limit": {"type": "integer"},
        "object_types": {"type": "array", "items": {"type": "string"}},
        "fields": {"type": "array", "items": {"type": "string"}}});
    let filters = json!({"filters": {"type": "object"}});
    let tools = vec![
        writing(
            "netbox_get_objects",
            "Get objects of a type",
            list,
            json!(["object_type", "filters"]),
        ),
        writing(
            "netbox_get_object_by_id",
            "Get one object",
            get,
            json!(["object_type", "object_id"]),
        ),
        writing("netbox_search_objects", "Search objects", search, json!(["query"])),
        writing("netbox_get_changelogs", "Get changes", filters, json!(["filters"])),
    ];
    vec![Server { name: "netbox", reads_only: true, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let object = arguments["object_type"].as_str().unwrap_or_default();
    match tool {
        "netbox_get_objects" => Ok(page(filtered(rows(object), &arguments["filters"]), arguments)),
        "netbox_get_changelogs" => {
            Ok(page(filtered(rows("core.objectchange"), &arguments["filters"]), arguments))
        }
        "netbox_get_object_by_id" => rows(object)
            .into_iter()
            .find(|row| row["id"] == arguments["object_id"])
            .ok_or_else(|| "404 Not Found".to_owned()),
        _ => {
            let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
            let types = arguments["object_types"].as_array().cloned().unwrap_or_default();
            let found = types.iter().filter_map(Value::as_str).map(|object| {
                let all = rows(object).into_iter();
                let fits = |row: &Value| row.to_string().to_lowercase().contains(&query);
                (object.to_owned(), all.filter(fits).collect::<Value>())
            });
            Ok(Value::Object(found.collect::<Map<String, Value>>()))
        }
    }
}

fn page(rows: Vec<Value>, arguments: &Value) -> Value {
    let offset = arguments["offset"].as_u64().unwrap_or_default() as usize;
    let limit = arguments["limit"].as_u64().unwrap_or(100) as usize;
    let count = rows.len();
    let results: Vec<Value> = rows.into_iter().skip(offset).take(limit).collect();
    json!({"count": count, "next": null, "previous": null, "results": results})
}

/// The rows that have all values; a filter that is not known is ignored, as NetBox does.
fn filtered(rows: Vec<Value>, filters: &Value) -> Vec<Value> {
    let filters = filters.as_object().cloned().unwrap_or_default();
    let fits = |row: &Value| filters.iter().all(|(key, wanted)| holds(row, key, wanted));
    rows.into_iter().filter(fits).collect()
}

fn holds(row: &Value, key: &str, wanted: &Value) -> bool {
    if let Value::Array(any) = wanted {
        return any.iter().any(|one| holds(row, key, one));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
    if let Some(name) = key.strip_suffix("__ic") {
        return text(&row[name]).contains(&text(wanted));
    }
    if key == "q" {
        return row.to_string().to_lowercase().contains(&text(wanted));
    }
    match key.strip_suffix("_id") {
        Some("") => true,
        Some(name) => row[name]["id"] == *wanted,
        None if row.get(key).is_none() => true,
        None => row[key] == *wanted || row[key]["value"] == *wanted,
    }
}

fn link(path: &str, id: u64, name: &str) -> Value {
    json!({"id": id, "url": format!("http://netbox/api/{path}/{id}/"), "display": name, "name": name})
}

fn choice(value: &str) -> Value {
    json!({"value": value, "label": format!("{}{}", value[..1].to_uppercase(), &value[1..])})
}

const REGIONS: [&str; 3] = ["Iberia", "Baltics", "Nova Scotia"];
const SITES: [(&str, u64); 5] =
    [("Lisbon", 1), ("Porto", 1), ("Tallinn", 2), ("Halifax North", 3), ("Halifax South", 3)];
const ROLES: [&str; 3] = ["Core Router", "Firewall", "Server"];
const RACKS: [(&str, u64); 6] =
    [("A01", 1), ("A02", 1), ("A01", 2), ("TLL-R1", 3), ("TLL-R2", 3), ("HN-1", 4)];
const PROVIDERS: [&str; 2] = ["Telia", "NTT"];
const CIRCUITS: [(&str, u64); 4] = [("TEL-1001", 1), ("TEL-1002", 1), ("NTT-77", 2), ("NTT-78", 2)];

fn rows(object: &str) -> Vec<Value> {
    let named = |path: &'static str, names: &[&str]| -> Vec<Value> {
        let all = names.iter().zip(1..);
        all.map(|(name, id)| link(path, id, name)).collect()
    };
    let site = |id: u64| link("dcim/sites", id, SITES[id as usize - 1].0);
    match object {
        "dcim.region" => named("dcim/regions", &REGIONS),
        "dcim.devicerole" => named("dcim/device-roles", &ROLES),
        "dcim.devicetype" => named("dcim/device-types", &["MX204", "PowerEdge R750"]),
        "circuits.provider" => named("circuits/providers", &PROVIDERS),
        "tenancy.tenant" => named("tenancy/tenants", &["Nordwind Bank"]),
        "dcim.site" => {
            let all = SITES.iter().zip(1..);
            let row = |((name, region), id): (&(&str, u64), u64)| {
                let mut row = link("dcim/sites", id, name);
                row["status"] = choice("active");
                row["region"] = link("dcim/regions", *region, REGIONS[*region as usize - 1]);
                row
            };
            all.map(row).collect()
        }
        "dcim.rack" => {
            let all = RACKS.iter().zip(1..);
            let row = |((name, at), id): (&(&str, u64), u64)| {
                let mut row = link("dcim/racks", id, name);
                (row["site"], row["status"]) = (site(*at), choice("active"));
                row
            };
            all.map(row).collect()
        }
        "dcim.device" => devices(site),
        "ipam.prefix" => (1..=5)
            .map(|id| {
                let prefix = format!("10.{id}.0.0/16");
                let mut row = link("ipam/prefixes", id, &prefix);
                (row["prefix"], row["site"], row["scope"]) = (prefix.into(), site(id), site(id));
                row["status"] = choice("active");
                row
            })
            .collect(),
        "circuits.circuit" => {
            let all = CIRCUITS.iter().zip(1..);
            let row = |((cid, by), id): (&(&str, u64), u64)| {
                let mut row = link("circuits/circuits", id, cid);
                row["provider"] = link("circuits/providers", *by, PROVIDERS[*by as usize - 1]);
                (row["cid"], row["status"]) = ((*cid).into(), choice("active"));
                row
            };
            all.map(row).collect()
        }
        "core.objectchange" => [("hfs-srv-01", "ines", "03-01"), ("por-fw-01", "jukka", "03-06")]
            .iter()
            .zip(1..)
            .map(|((name, user, day), id)| {
                let mut row = link("core/object-changes", id, name);
                (row["user_name"], row["action"]) = ((*user).into(), choice("update"));
                row["time"] = format!("2026-{day}T09:00:00Z").into();
                row
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// A router, a firewall and two servers at each site; Halifax South has servers only.
fn devices(site: impl Fn(u64) -> Value) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    let codes = ["lis", "por", "tll", "hfn", "hfs"];
    for (at, code) in (1_u64..).zip(codes) {
        let kinds = [("core-01", 1), ("fw-01", 2), ("srv-01", 3), ("srv-02", 3)];
        for (name, role) in kinds.into_iter().filter(|(_, role)| at < 5 || *role == 3) {
            let mut row = link("dcim/devices", rows.len() as u64 + 1, &format!("{code}-{name}"));
            row["role"] = link("dcim/device-roles", role, ROLES[role as usize - 1]);
            let types = ["MX204", "MX204", "PowerEdge R750"];
            row["device_type"] = link("dcim/device-types", role, types[role as usize - 1]);
            (row["site"], row["status"]) = (site(at), choice("active"));
            let rack = RACKS.iter().position(|(_, held)| *held == at);
            row["rack"] =
                rack.map_or(Value::Null, |rack| link("dcim/racks", rack as u64 + 1, RACKS[rack].0));
            rows.push(row);
        }
    }
    rows
}
