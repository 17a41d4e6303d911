#!/usr/bin/env bash
# Four readers of the AT Protocol refuse a whole DID document, handle, host and key included, for an entry that is none of their business: a
# service of another kind, or @context as one string. No two refuse the same ones.
#
# What it is: @atcute/identity, @atproto/did and @atproto/common-web (JavaScript) and indigo (Go) read the document of a did:web.
# Versions: @atcute/identity 2.0.2, valibot 1.2.0, @atproto/did 0.5.5, @atproto/common-web 0.5.17 (npm), indigo v0.0.0-20260605210604-af2fec94f34c (Go).
# What the spec says: W3C DID Core 1.0: @context is a string or a list of strings and maps; the type of a service is a string or a set of
#   strings; serviceEndpoint "MUST be a string, a map, or a set composed of one or more strings and/or maps". The DIF's LinkedDomains
#   service has {"origins": [...]}, DIDComm messaging a list of maps. atproto.com, DID: the first #atproto_pds entry counts.
# Guess: each reader finds https://pds.example.com in all six documents, which have the same AT Protocol entries.
# Seen: one string as @context: refused by @atcute. A map in @context: by all three of JavaScript. LinkedDomains: by @atcute, @atproto/did
#   and indigo. DIDComm: by all four. A list of types: by common-web and indigo. The plain one is read by all.
# Wrong for a user: who keeps a did:web for other protocols too has an account that one service shows and the next calls unresolvable;
#   the message names a field that has nothing to do with the account.
# Instead: readers: take JSON and look at id, alsoKnownAs and the entries with the two ids only; owners: keep the document plain.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atcute/identity@2.0.2 valibot@1.2.0 @atproto/did@0.5.5 @atproto/common-web@0.5.17 2>/dev/null
go mod init probe 2>/dev/null; go get github.com/bluesky-social/indigo@v0.0.0-20260605210604-af2fec94f34c 2>/dev/null
cat > main.go <<'GO'
package main
import ("encoding/json"; "fmt"; "os"; "github.com/bluesky-social/indigo/atproto/identity")
func main() {
	var docs []json.RawMessage; out := []string{}
	if err := json.NewDecoder(os.Stdin).Decode(&docs); err != nil { panic(err) }
	for _, raw := range docs {
		var doc identity.DIDDocument
		if err := json.Unmarshal(raw, &doc); err != nil { out = append(out, err.Error()); continue }
		ident := identity.ParseIdentity(&doc); out = append(out, ident.PDSEndpoint())
	}
	b, _ := json.Marshal(out); fmt.Println(string(b)) }
GO
go mod tidy 2>/dev/null; go build -o reader .; cat > run.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { defs, getPdsEndpoint } from '@atcute/identity';
import { didDocumentValidator } from '@atproto/did';
import * as web from '@atproto/common-web';
for (const name of ['@atcute/identity', '@atproto/did', '@atproto/common-web']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const did = 'did:web:example.com', base = { '@context': ['https://www.w3.org/ns/did/v1'], id: did, alsoKnownAs: ['at://alice.example.com'],
  verificationMethod: [{ id: did + '#atproto', type: 'Multikey', controller: did, publicKeyMultibase: 'zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF' }],
  service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: 'https://pds.example.com' }] };
const more = (type, serviceEndpoint) => ({ ...base, service: [...base.service, { id: did + '#other', type, serviceEndpoint }] });
const docs = { plain: base, 'context a string': { ...base, '@context': base['@context'][0] }, 'map in context': { ...base, '@context': [...base['@context'], { '@base': did }] },
  LinkedDomains: more('LinkedDomains', { origins: ['https://example.com'] }), DIDComm: more('DIDCommMessaging', [{ uri: 'https://example.com/c', accept: ['didcomm/v2'] }]),
  'list of types': more(['A', 'B'], 'https://example.com') };
const indigo = JSON.parse(execFileSync('./reader', { input: JSON.stringify(Object.values(docs)) }));
const seen = Object.entries(docs).map(([name, doc], i) => {
  const a = v.safeParse(defs.didDocument, doc), b = didDocumentValidator.safeParse(doc), c = web.didDocument.safeParse(doc);
  const found = [a.success && getPdsEndpoint(a.output), b.success && b.data.service[0].serviceEndpoint, c.success && web.getPdsEndpoint(c.data), indigo[i]].map((s) => s === 'https://pds.example.com');
  console.log(name.padEnd(17), ['@atcute', '@atproto/did', 'common-web', 'indigo'].map((lib, n) => `${lib} ${found[n] ? 'reads' : 'REFUSES'}`).join(', '));
  return found.map(Number).join('');
});
console.log(readFileSync('go.mod', 'utf8').match(/indigo \S+/)[0], 'says:', indigo[3]);
const same = seen.join() === '1111,0111,0001,0010,0000,1100';
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
