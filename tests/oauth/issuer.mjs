// A real authorization server, oidc-provider, for one test.
//
//   node tests/oauth/issuer.mjs NPM_FOLDER
//
// Listens on a free port of loopback and prints its address as the first line. Clients register themselves; whoever
// comes is logged in as `ann` and agrees to everything. The client `machine-ALG` gets tokens that are signed with ALG
// for its secret. Ends with its standard input.

import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPES = "throughline:read throughline:write";
const library = join(process.argv[2], "node_modules/oidc-provider/lib/index.js");
const { default: Provider } = await import(pathToFileURL(library));

const key = (alg, type, options) => {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: "jwk" }), alg, use: "sig", kid: `${alg}-1` };
};
const machine = (alg) => ({
  client_id: `machine-${alg}`,
  client_secret: "secret-of-the-machine",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: "client_secret_post",
});

const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: ["RS256", "ES256", "EdDSA"].map(machine),
  cookies: { keys: [randomBytes(16).toString("hex")] },
  jwks: {
    keys: [
      key("RS256", "rsa", { modulusLength: 2048 }),
      key("ES256", "ec", { namedCurve: "P-256" }),
      key("EdDSA", "ed25519"),
    ],
  },
  scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  extraTokenClaims: (_, token) => ({ tenant: "acme", ...(token.accountId ? {} : { sub: token.clientId }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource, client) => ({
        scope: SCOPES,
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 300,
        jwt: { sign: { alg: client.clientId.startsWith("machine-") ? client.clientId.slice(8) : "RS256" } },
      }),
    },
  },
});

/** Logs `ann` in and agrees to what is asked for. */
async function interact(request, response) {
  const details = await provider.interactionDetails(request, response);
  if (details.prompt.name === "login") {
    return provider.interactionFinished(request, response, { login: { accountId: "ann" } });
  }
  const grant = new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
  const missing = details.prompt.details;
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(" "));
  for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

const callback = provider.callback();
server.on("request", (request, response) => {
  if (!request.url.startsWith("/interaction/")) return callback(request, response);
  interact(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});
console.log(issuer);
process.stdin.resume().on("end", () => process.exit(0));
