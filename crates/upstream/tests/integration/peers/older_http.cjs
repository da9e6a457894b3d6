// A server of the older era over HTTP with sessions, written with the official TypeScript SDK.
// It listens on a free port of the loopback interface and prints the port.

const { createServer } = require("node:http");
const { randomUUID } = require("node:crypto");
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");

const sessions = new Map();

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new McpServer({ name: "older", version: "1.0.0" });
  server.registerTool("hello", { description: "Says hello." }, async () => ({
    content: [{ type: "text", text: "hello" }],
  }));
  await server.connect(transport);
  return transport;
}

const listener = createServer(async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  await (known ?? (await open())).handleRequest(request, response);
});
listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
