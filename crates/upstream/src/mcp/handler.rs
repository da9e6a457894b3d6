//! Our side of a connection: what a server may tell us and ask of us.
//!
//! A server may say that its tools have changed. It may not make our model speak, ask our user or see
//! our folders: a tool call runs unattended, and text from a server is data. We offer none of it, and the
//! defaults of the trait refuse a server that asks all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

/// Tells the server who we are; remembers that its tools have changed.
pub struct Handler {
    /// Set when the server says that its tools have changed.
    pub changed: Arc<AtomicBool>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("throughline", env!("CARGO_PKG_VERSION"));
        // What is asked for in a handshake. The newer era has none, and a server that agrees to
        // everything would be taken for one of it.
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
