//! Tools that change devices, reports and workflows, and the one that resets everything.
//!
//! Invariant: a rejected call changes nothing; all checks precede the first change.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::records::{Inventory, Refusal, Workflow, missing, same};

/// Maximum number of reports and workflows.
const CREATED_MAX: usize = 1_000;

impl Inventory {
    /// Resets the inventory to its initial state.
    pub(super) fn reset(&mut self) -> Result<Value, Refusal> {
        *self = Self::load().map_err(|error| format!("the inventory cannot be read: {error:#}"))?;
        Ok(json!({"reset": true, "devices": self.devices.len(), "projects": self.projects.len()}))
    }

    pub(super) fn update_device(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        let device = self.device(arguments.required("device")?)?.clone();
        let rack = arguments.text("rack").map(|rack| self.rack(rack)).transpose()?;
        if let Some(rack) = rack.filter(|rack| rack.site != device.site) {
            return Err(format!(
                "{} cannot move to {}: the device is at {} and the rack at {}",
                device.name, rack.name, device.site, rack.site
            ));
        }
        let rack = rack.map_or(device.rack.clone(), |rack| rack.name.clone());
        let status = arguments.text("status").unwrap_or(&device.status).to_owned();
        let changes = [("status", &device.status, &status), ("rack", &device.rack, &rack)];
        let changes: Vec<Value> = (changes.iter())
            .filter(|(_, before, after)| before != after)
            .map(|(field, before, after)| json!({"field": field, "from": before, "to": after}))
            .collect();
        for known in self.devices.iter_mut().filter(|known| known.id == device.id) {
            known.status.clone_from(&status);
            known.rack.clone_from(&rack);
        }
        Ok(json!({"changes": changes, "device": self.device_view(self.device(&device.name)?)}))
    }

    pub(super) fn delete_device(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        let device = self.device(arguments.required("device")?)?.clone();
        let view = self.device_view(&device);
        let addresses = self.addresses.len();
        self.addresses.retain(|address| address.device != device.name);
        self.devices.retain(|known| known.id != device.id);
        Ok(json!({
            "deleted": true, "device": view, "interfaces_deleted": view["interface_count"],
            "ip_addresses_deleted": addresses - self.addresses.len(),
        }))
    }

    pub(super) fn create_report(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        if self.reports.len() >= CREATED_MAX {
            return Err(format!("there are already {CREATED_MAX} reports"));
        }
        let (title, kind) = (arguments.required("title")?, arguments.required("kind")?);
        let summary = match kind {
            "devices" => self.device_counts(self.asked_site(arguments)?),
            _ => json!({
                "compliant": self.projects.iter().filter(|project| project.risk_compliant).count(),
                "not_compliant": self.projects.iter().filter(|project| !project.risk_compliant)
                    .map(|project| self.project_brief(project)).collect::<Vec<_>>(),
            }),
        };
        let id = self.reports.len() as u64 + 1;
        let report = json!({
            "id": id, "url": Self::report_url(id), "name": title, "slug": format!("report-{id}"),
            "kind": kind, "summary": summary,
        });
        self.reports.push(report.clone());
        Ok(report)
    }

    fn device_counts(&self, site: Option<&str>) -> Value {
        let (mut by_status, mut by_role) = (BTreeMap::new(), BTreeMap::new());
        let counted =
            self.devices.iter().filter(|device| site.is_none_or(|site| device.site == site));
        let mut devices = 0;
        for device in counted {
            devices += 1;
            *by_status.entry(device.status.as_str()).or_insert(0) += 1;
            *by_role.entry(device.role.as_str()).or_insert(0) += 1;
        }
        json!({"devices": devices, "by_status": by_status, "by_role": by_role})
    }

    pub(super) fn create_workflow(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        let name = arguments.required("name")?;
        self.check_new_name(name, None)?;
        if self.workflows.len() >= CREATED_MAX {
            return Err(format!("there are already {CREATED_MAX} workflows"));
        }
        let workflow = Workflow {
            id: self.workflows.len() as u64 + 1,
            name: name.to_owned(),
            description: arguments.text("description").unwrap_or_default().to_owned(),
            steps: arguments.texts("steps").unwrap_or_default(),
        };
        self.workflows.push(workflow.clone());
        Ok(self.workflow_view(&workflow))
    }

    pub(super) fn update_workflow(&mut self, arguments: &Arguments) -> Result<Value, Refusal> {
        let asked = arguments.required("workflow")?;
        let known =
            |workflow: &Workflow| same(&workflow.name, asked) || same(&workflow.spec_id(), asked);
        let place = self.workflows.iter().position(known).ok_or_else(|| {
            missing("workflow", asked, self.workflows.iter().map(|workflow| workflow.name.as_str()))
        })?;
        let mut workflow = self.workflows[place].clone();
        if let Some(name) = arguments.text("name") {
            self.check_new_name(name, Some(workflow.id))?;
            workflow.name = name.to_owned();
        }
        if let Some(description) = arguments.text("description") {
            workflow.description = description.to_owned();
        }
        workflow.steps = arguments.texts("steps").unwrap_or(workflow.steps);
        workflow.steps.extend(arguments.texts("add_steps").unwrap_or_default());
        let view = self.workflow_view(&workflow);
        self.workflows[place] = workflow;
        Ok(view)
    }

    fn check_new_name(&self, name: &str, except: Option<u64>) -> Result<(), Refusal> {
        let taken =
            |workflow: &&Workflow| Some(workflow.id) != except && same(&workflow.name, name);
        match self.workflows.iter().find(taken) {
            None => Ok(()),
            Some(other) => {
                Err(format!("there is already a workflow {:?} ({})", other.name, other.spec_id()))
            }
        }
    }
}
