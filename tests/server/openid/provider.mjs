// A real provider for tests: argument 1 is the redirect address, 2 the secret of the client, 3 the port.
// A person whose name begins with "depot" is of the group depots, everybody else of shops.
import { Provider } from "oidc-provider";

const [redirect, secret, port] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "fathom", client_secret: secret, redirect_uris: [redirect] }],
  cookies: { keys: ["only for this test"] },
  claims: { email: ["email", "email_verified"], groups: ["groups"] },
  scopes: ["openid", "email", "groups"],
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
  async findAccount(_, id) {
    const groups = [id.startsWith("depot") ? "depots" : "shops"];
    const claims = { sub: id, email: `${id}@example.org`, email_verified: true, groups };
    return { accountId: id, claims: async () => claims };
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
