// An OpenID Connect issuer on loopback for the tests: real keys, discovery, signed tokens.
// usage: node token_issuer.mjs      prints its address; ends when its standard input does
//
// Whoever asks for a token says in the field "claims" of the form what it holds, as JSON; null leaves a claim out.
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
server.service.on("beforeTokenSigning", (token, request) => {
  for (const [name, value] of Object.entries(JSON.parse(request.body.claims ?? "{}"))) {
    if (value === null) delete token.payload[name];
    else token.payload[name] = value;
  }
});
await server.start(0, "127.0.0.1");
console.log(server.issuer.url);
process.stdin.on("end", () => process.exit()).resume();
