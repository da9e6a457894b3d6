//! The client side of a connection: what a server may notify and request.
//!
//! A server may report that its tools have changed. It may not use our model, prompt our user or see our folders: a
//! tool call runs unattended, and text from a server is data. We advertise none of these capabilities, and the
//! trait's defaults reject such requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

/// Identifies us to the server and records that its tools have changed.
pub(super) struct Handler {
    /// Set when the server reports that its tools have changed.
    pub changed: Arc<AtomicBool>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("throughline", env!("CARGO_PKG_VERSION"));
        // The version offered in the legacy handshake. The current protocol has no handshake, and a server that
        // accepts any version would be taken for a current one.
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
