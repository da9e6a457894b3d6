//! Read-only tools: lists with filters, and single records.
//!
//! Invariant: nothing here changes the inventory.

use serde_json::Value;

use super::arguments::Arguments;
use super::records::{Inventory, Refusal, contains, same};

impl Inventory {
    pub(super) fn list_sites(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let (status, q) = (arguments.text("status"), arguments.text("q"));
        let found = (self.sites.iter())
            .filter(|site| status.is_none_or(|status| site.status == status))
            .filter(|site| q.is_none_or(|q| contains(&site.name, q) || contains(&site.slug, q)))
            .map(|site| self.site_view(site));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn get_site(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let site = self.site(arguments.required("site")?)?;
        let mut view = self.site_view(site);
        let racks = self.racks.iter().filter(|rack| rack.site == site.slug);
        view["racks"] = racks.map(|rack| self.rack_view(rack)).collect();
        Ok(view)
    }

    pub(super) fn list_racks(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let site = self.asked_site(arguments)?;
        let q = arguments.text("q");
        let found = (self.racks.iter())
            .filter(|rack| site.is_none_or(|site| rack.site == site))
            .filter(|rack| q.is_none_or(|q| contains(&rack.name, q)))
            .map(|rack| self.rack_view(rack));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn list_devices(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let site = self.asked_site(arguments)?;
        let rack = arguments.text("rack").map(|rack| self.rack(rack)).transpose()?;
        let (role, status) = (arguments.text("role"), arguments.text("status"));
        let q = arguments.text("q");
        let found = (self.devices.iter())
            .filter(|device| site.is_none_or(|site| device.site == site))
            .filter(|device| rack.is_none_or(|rack| device.rack == rack.name))
            .filter(|device| role.is_none_or(|role| device.role == role))
            .filter(|device| status.is_none_or(|status| device.status == status))
            .filter(|device| q.is_none_or(|q| contains(&device.name, q)))
            .map(|device| self.device_view(device));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn get_device(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        Ok(self.device_view(self.device(arguments.required("device")?)?))
    }

    pub(super) fn list_interfaces(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let device = self.device(arguments.required("device")?)?;
        Ok(arguments.page(self.interface_views(device)))
    }

    pub(super) fn list_ip_addresses(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let device = arguments.text("device").map(|device| self.device(device)).transpose()?;
        let site = self.asked_site(arguments)?;
        let (vlan, q) = (arguments.number("vlan"), arguments.text("q"));
        let in_site = |device: &str, site: &str| {
            self.devices.iter().any(|known| known.name == device && known.site == site)
        };
        let found = (self.addresses.iter())
            .filter(|address| device.is_none_or(|device| same(&device.name, &address.device)))
            .filter(|address| site.is_none_or(|site| in_site(&address.device, site)))
            .filter(|address| vlan.is_none_or(|vlan| address.vlan == Some(vlan)))
            .filter(|address| q.is_none_or(|q| contains(&address.address, q)))
            .map(|address| self.address_view(address));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn list_vlans(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let site = self.asked_site(arguments)?;
        let q = arguments.text("q");
        let found = (self.vlans.iter())
            .filter(|vlan| site.is_none_or(|site| vlan.site == site))
            .filter(|vlan| q.is_none_or(|q| contains(&vlan.name, q) || vlan.vid.to_string() == q))
            .map(|vlan| self.vlan_view(vlan));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn list_projects(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let (compliant, q) = (arguments.flag("risk_compliant"), arguments.text("q"));
        let found = (self.projects.iter())
            .filter(|project| compliant.is_none_or(|asked| project.risk_compliant == asked))
            .filter(|project| q.is_none_or(|q| contains(&project.name, q)))
            .map(|project| self.project_view(project));
        Ok(arguments.page(found.collect()))
    }

    pub(super) fn get_project(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        Ok(self.project_view(self.project(arguments.required_number("project_id")?)?))
    }

    pub(super) fn list_workflows(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let q = arguments.text("q");
        let found = (self.workflows.iter())
            .filter(|workflow| q.is_none_or(|q| contains(&workflow.name, q)))
            .map(|workflow| self.workflow_view(workflow));
        Ok(arguments.page(found.collect()))
    }

    /// Slug of the requested site, if any.
    pub(super) fn asked_site(&self, arguments: &Arguments) -> Result<Option<&str>, Refusal> {
        let site = arguments.text("site").map(|site| self.site(site)).transpose()?;
        Ok(site.map(|site| site.slug.as_str()))
    }
}
