//! The records of the demo inventory.
//!
//! Records refer to each other by name, as in the data file; [`super::view`] nests them.
//!
//! Invariant: ids are assigned once, when the data is read, and never reused.

use serde::Deserialize;

const DATA: &str = include_str!("inventory.toml");

/// Why a call was rejected, for the caller.
pub(super) type Refusal = String;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inventory {
    pub sites: Vec<Site>,
    pub racks: Vec<Rack>,
    pub roles: Vec<Role>,
    pub types: Vec<DeviceType>,
    pub devices: Vec<Device>,
    pub vlans: Vec<Vlan>,
    pub addresses: Vec<Address>,
    pub projects: Vec<Project>,
    pub answers: Vec<Answer>,
    pub surveys: Vec<Survey>,
    pub workflows: Vec<Workflow>,
    #[serde(skip)]
    pub reports: Vec<serde_json::Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Site {
    #[serde(default)]
    pub id: u64,
    pub name: String,
    pub slug: String,
    pub status: String,
    pub region: String,
    pub facility: String,
    pub address: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rack {
    #[serde(default)]
    pub id: u64,
    pub name: String,
    pub site: String,
    pub units: u32,
    pub status: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Role {
    #[serde(default)]
    pub id: u64,
    pub name: String,
    pub slug: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceType {
    #[serde(default)]
    pub id: u64,
    pub slug: String,
    pub model: String,
    pub manufacturer: String,
    pub interfaces: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    #[serde(default)]
    pub id: u64,
    pub name: String,
    pub role: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub site: String,
    pub rack: String,
    pub position: u32,
    pub status: String,
    pub serial: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vlan {
    #[serde(default)]
    pub id: u64,
    pub vid: u64,
    pub name: String,
    pub site: String,
    pub status: String,
    pub role: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Address {
    #[serde(default)]
    pub id: u64,
    pub address: String,
    pub device: String,
    pub interface: String,
    pub vlan: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    pub id: u64,
    pub name: String,
    pub slug: String,
    pub business_unit: String,
    pub risk_compliant: bool,
    pub created: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub id: String,
    pub text: String,
    pub question: String,
    pub implies: Vec<String>,
    pub conflicts: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Survey {
    pub project: u64,
    pub selected: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Workflow {
    #[serde(default)]
    pub id: u64,
    pub name: String,
    pub description: String,
    pub steps: Vec<String>,
}

impl Inventory {
    /// The initial inventory.
    pub(super) fn load() -> Result<Self, toml::de::Error> {
        let mut inventory: Self = toml::from_str(DATA)?;
        number(&mut inventory.sites, |record| &mut record.id);
        number(&mut inventory.racks, |record| &mut record.id);
        number(&mut inventory.roles, |record| &mut record.id);
        number(&mut inventory.types, |record| &mut record.id);
        number(&mut inventory.devices, |record| &mut record.id);
        number(&mut inventory.vlans, |record| &mut record.id);
        number(&mut inventory.addresses, |record| &mut record.id);
        number(&mut inventory.workflows, |record| &mut record.id);
        Ok(inventory)
    }

    /// The site with that name, slug or id.
    pub(super) fn site(&self, asked: &str) -> Result<&Site, Refusal> {
        self.sites
            .iter()
            .find(|site| same(&site.slug, asked) || same(&site.name, asked) || is(site.id, asked))
            .ok_or_else(|| missing("site", asked, self.sites.iter().map(|site| site.slug.as_str())))
    }

    /// The rack with that name or id.
    pub(super) fn rack(&self, asked: &str) -> Result<&Rack, Refusal> {
        self.racks
            .iter()
            .find(|rack| same(&rack.name, asked) || is(rack.id, asked))
            .ok_or_else(|| missing("rack", asked, self.racks.iter().map(|rack| rack.name.as_str())))
    }

    /// The device with that name or id.
    pub(super) fn device(&self, asked: &str) -> Result<&Device, Refusal> {
        self.devices
            .iter()
            .find(|device| same(&device.name, asked) || is(device.id, asked))
            .ok_or_else(|| {
                missing("device", asked, self.devices.iter().map(|device| device.name.as_str()))
            })
    }

    /// The project with that id.
    pub(super) fn project(&self, id: u64) -> Result<&Project, Refusal> {
        self.projects.iter().find(|project| project.id == id).ok_or_else(|| {
            let known: Vec<String> =
                self.projects.iter().map(|project| project.id.to_string()).collect();
            format!("there is no project {id}; known projects: {}", known.join(", "))
        })
    }
}

/// Whether the names are equal, ignoring case.
pub(super) fn same(name: &str, asked: &str) -> bool {
    name.to_lowercase() == asked.trim().to_lowercase()
}

fn is(id: u64, asked: &str) -> bool {
    asked.trim().parse() == Ok(id)
}

/// Whether `name` contains the text, ignoring case.
pub(super) fn contains(name: &str, asked: &str) -> bool {
    name.to_lowercase().contains(&asked.trim().to_lowercase())
}

/// An error that suggests up to five records.
pub(super) fn missing<'a>(
    kind: &str,
    asked: &str,
    known: impl Iterator<Item = &'a str>,
) -> Refusal {
    const SUGGESTIONS_MAX: usize = 5;
    let asked = asked.trim();
    let prefix: String = asked.to_lowercase().chars().take(3).collect();
    let all: Vec<&str> = known.collect();
    let mut near: Vec<&str> =
        all.iter().copied().filter(|name| name.to_lowercase().starts_with(&prefix)).collect();
    if near.is_empty() {
        near = all;
    }
    near.truncate(SUGGESTIONS_MAX);
    format!("there is no {kind} {asked:?}; did you mean one of: {}?", near.join(", "))
}

fn number<T>(records: &mut [T], id: impl Fn(&mut T) -> &mut u64) {
    for (record, next) in records.iter_mut().zip(1..) {
        *id(record) = next;
    }
}
