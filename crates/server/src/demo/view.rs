//! Records in results: with id, name, URL, and related records nested, as in NetBox.
//!
//! [`super::listing`] and [`super::change`] decide what is shown.

use serde_json::{Value, json};

use super::records::{Address, Device, Inventory, Project, Rack, Site, Vlan, Workflow};

/// A domain reserved for examples, so that no link leads anywhere.
const ADDRESS: &str = "https://inventory.example";

fn url(path: &str, id: u64) -> String {
    format!("{ADDRESS}/{path}/{id}/")
}

fn choice(value: &str) -> Value {
    let mut label = value.to_owned();
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    json!({"value": value, "label": label})
}

impl Inventory {
    fn site_brief(&self, slug: &str) -> Value {
        self.sites.iter().find(|site| site.slug == slug).map_or(Value::Null, |site| {
            json!({"id": site.id, "url": url("dcim/sites", site.id), "name": site.name, "slug": site.slug})
        })
    }

    fn rack_brief(&self, name: &str) -> Value {
        self.racks.iter().find(|rack| rack.name == name).map_or(
            Value::Null,
            |rack| json!({"id": rack.id, "url": url("dcim/racks", rack.id), "name": rack.name, "slug": rack.name}),
        )
    }

    fn device_brief(&self, name: &str) -> Value {
        self.devices.iter().find(|device| device.name == name).map_or(Value::Null, |device| {
            json!({"id": device.id, "url": url("dcim/devices", device.id), "name": device.name, "slug": device.name})
        })
    }

    fn vlan_brief(&self, site: &str, vid: u64) -> Value {
        self.vlans.iter().find(|vlan| vlan.site == site && vlan.vid == vid).map_or(
            Value::Null,
            |vlan| json!({"id": vlan.id, "url": url("ipam/vlans", vlan.id), "vid": vid, "name": vlan.name}),
        )
    }

    /// A site with its counts.
    pub(super) fn site_view(&self, site: &Site) -> Value {
        json!({
            "id": site.id, "url": url("dcim/sites", site.id), "name": site.name, "slug": site.slug,
            "status": choice(&site.status), "region": site.region, "facility": site.facility,
            "physical_address": site.address,
            "rack_count": self.racks.iter().filter(|rack| rack.site == site.slug).count(),
            "device_count": self.devices.iter().filter(|device| device.site == site.slug).count(),
            "vlan_count": self.vlans.iter().filter(|vlan| vlan.site == site.slug).count(),
        })
    }

    /// A rack with its site.
    pub(super) fn rack_view(&self, rack: &Rack) -> Value {
        json!({
            "id": rack.id, "url": url("dcim/racks", rack.id), "name": rack.name, "slug": rack.name,
            "site": self.site_brief(&rack.site), "status": choice(&rack.status), "u_height": rack.units,
            "device_count": self.devices.iter().filter(|device| device.rack == rack.name).count(),
        })
    }

    /// A device with its role, type, site, rack and primary address.
    pub(super) fn device_view(&self, device: &Device) -> Value {
        let role = self.roles.iter().find(|role| role.slug == device.role);
        let kind = self.types.iter().find(|kind| kind.slug == device.kind);
        let primary = self.addresses.iter().find(|address| address.device == device.name);
        json!({
            "id": device.id, "url": url("dcim/devices", device.id), "name": device.name, "slug": device.name,
            "role": role.map(|role| json!({"id": role.id, "url": url("dcim/device-roles", role.id), "name": role.name, "slug": role.slug})),
            "device_type": kind.map(|kind| json!({
                "id": kind.id, "url": url("dcim/device-types", kind.id), "model": kind.model, "slug": kind.slug,
                "manufacturer": {"name": kind.manufacturer, "slug": kind.manufacturer.to_lowercase().replace(' ', "-")},
            })),
            "site": self.site_brief(&device.site), "rack": self.rack_brief(&device.rack),
            "position": device.position, "status": choice(&device.status), "serial": device.serial,
            "primary_ip4": primary.map(|address| json!({
                "id": address.id, "url": url("ipam/ip-addresses", address.id), "address": address.address,
            })),
            "interface_count": kind.map_or(0, |kind| kind.interfaces.len()),
        })
    }

    /// The interfaces of a device with their addresses; ids are derived from device and position.
    pub(super) fn interface_views(&self, device: &Device) -> Vec<Value> {
        const INTERFACES_PER_DEVICE_MAX: u64 = 100;
        let names = self.types.iter().find(|kind| kind.slug == device.kind);
        let names = names.map(|kind| kind.interfaces.as_slice()).unwrap_or_default();
        let view = |(name, place): (&String, u64)| {
            let id = device.id * INTERFACES_PER_DEVICE_MAX + place;
            let addresses: Vec<Value> = (self.addresses.iter())
                .filter(|address| address.device == device.name && address.interface == *name)
                .map(|address| {
                    json!({"id": address.id, "url": url("ipam/ip-addresses", address.id), "address": address.address})
                })
                .collect();
            json!({
                "id": id, "url": url("dcim/interfaces", id), "name": name,
                "device": self.device_brief(&device.name), "enabled": device.status == "active",
                "ip_addresses": addresses,
            })
        };
        names.iter().zip(1..).map(view).collect()
    }

    /// An address with its device, interface and VLAN.
    pub(super) fn address_view(&self, address: &Address) -> Value {
        let site = self.devices.iter().find(|device| device.name == address.device);
        let site = site.map_or("", |device| device.site.as_str());
        json!({
            "id": address.id, "url": url("ipam/ip-addresses", address.id), "address": address.address,
            "name": address.address, "status": choice("active"), "interface": address.interface,
            "device": self.device_brief(&address.device), "site": self.site_brief(site),
            "vlan": address.vlan.map(|vid| self.vlan_brief(site, vid)),
        })
    }

    /// A VLAN with its site.
    pub(super) fn vlan_view(&self, vlan: &Vlan) -> Value {
        json!({
            "id": vlan.id, "url": url("ipam/vlans", vlan.id), "vid": vlan.vid, "name": vlan.name,
            "slug": format!("{}-{}", vlan.site, vlan.name), "site": self.site_brief(&vlan.site),
            "status": choice(&vlan.status), "role": vlan.role,
        })
    }

    /// A project with the size of its survey.
    pub(super) fn project_view(&self, project: &Project) -> Value {
        let selected = self.surveys.iter().find(|survey| survey.project == project.id);
        json!({
            "id": project.id, "url": url("projects", project.id), "name": project.name, "slug": project.slug,
            "business_unit": {"name": project.business_unit, "slug": project.business_unit.to_lowercase()},
            "risk_compliant": project.risk_compliant, "created": project.created,
            "selected_answer_count": selected.map_or(0, |survey| survey.selected.len()),
        })
    }

    /// A project by name only.
    pub(super) fn project_brief(&self, project: &Project) -> Value {
        json!({"id": project.id, "url": url("projects", project.id), "name": project.name, "slug": project.slug})
    }

    /// A workflow with its steps.
    pub(super) fn workflow_view(&self, workflow: &Workflow) -> Value {
        json!({
            "id": workflow.id, "spec_id": workflow.spec_id(), "url": url("workflows", workflow.id),
            "name": workflow.name, "slug": workflow.name.to_lowercase().replace(' ', "-"),
            "description": workflow.description, "steps": workflow.steps, "step_count": workflow.steps.len(),
        })
    }

    pub(super) fn report_url(id: u64) -> String {
        url("reports", id)
    }
}

impl Workflow {
    /// The id for people and other systems.
    pub(super) fn spec_id(&self) -> String {
        format!("wf-{}", self.id)
    }
}
