//! The demo inventory as an MCP server, with tool definitions from `tools.json`.
//!
//! Invariant: arguments reach a tool only after they passed its published schema.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use jsonschema::Validator;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::arguments::Arguments;
use super::records::{Inventory, Refusal};

const TOOLS: &str = include_str!("tools.json");
const INSTRUCTIONS: &str = "A demo inventory of sites, racks, devices, interfaces, IP addresses and \
    VLANs, with security surveys and workflows. Changes last until the server ends.";

/// The demo inventory as an MCP server.
pub struct DemoInventory {
    tools: Vec<Tool>,
    schemas: HashMap<String, Validator>,
    inventory: Mutex<Inventory>,
}

impl DemoInventory {
    /// The initial inventory and its tools.
    pub fn load() -> anyhow::Result<Self> {
        let tools: Vec<Tool> = serde_json::from_str(TOOLS).context("tools.json")?;
        let mut schemas = HashMap::new();
        for tool in &tools {
            let schema = jsonschema::validator_for(&tool.schema_as_json_value())
                .with_context(|| format!("the schema of {}", tool.name))?;
            schemas.insert(tool.name.to_string(), schema);
        }
        let inventory = Inventory::load().context("inventory.toml")?;
        Ok(Self { tools, schemas, inventory: Mutex::new(inventory) })
    }

    /// The published tools, in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Runs a call; `None` if there is no such tool.
    pub fn call(
        &self,
        name: &str,
        arguments: serde_json::Map<String, Value>,
    ) -> Option<Result<Value, Refusal>> {
        let schema = self.schemas.get(name)?;
        let arguments = match Arguments::check(schema, arguments) {
            Ok(arguments) => arguments,
            Err(refusal) => return Some(Err(refusal)),
        };
        // A panic in one call must not end the demo; every change follows all checks.
        let mut inventory = self.inventory.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match name {
            "list_sites" => inventory.list_sites(&arguments),
            "get_site" => inventory.get_site(&arguments),
            "list_racks" => inventory.list_racks(&arguments),
            "list_devices" => inventory.list_devices(&arguments),
            "get_device" => inventory.get_device(&arguments),
            "list_interfaces" => inventory.list_interfaces(&arguments),
            "list_ip_addresses" => inventory.list_ip_addresses(&arguments),
            "list_vlans" => inventory.list_vlans(&arguments),
            "update_device" => inventory.update_device(&arguments),
            "delete_device" => inventory.delete_device(&arguments),
            "list_projects" => inventory.list_projects(&arguments),
            "get_project" => inventory.get_project(&arguments),
            "get_survey" => inventory.get_survey(&arguments),
            "add_survey_answers" => inventory.add_survey_answers(&arguments),
            "create_report" => inventory.create_report(&arguments),
            "list_workflows" => inventory.list_workflows(&arguments),
            "create_workflow" => inventory.create_workflow(&arguments),
            "update_workflow" => inventory.update_workflow(&arguments),
            "reset_inventory" => inventory.reset(),
            _ => return None,
        })
    }
}

impl ServerHandler for DemoInventory {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                "throughline-demo-inventory",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.call(&request.name, request.arguments.unwrap_or_default());
        match answer {
            Some(Ok(value)) => Ok(CallToolResult::structured(value).into()),
            Some(Err(refusal)) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(refusal)]).into())
            }
            None => {
                Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None))
            }
        }
    }
}
