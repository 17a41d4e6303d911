#!/usr/bin/env bash
# A moderator gives a label for 24 hours: the label server @skyware/labeler accepts the request, repeats the duration in its answer, and
# publishes a label that never expires.
#
# What it is: @skyware/labeler serves labels and takes moderation events (tools.ozone.moderation.emitEvent), as the Ozone app sends them.
# Versions: @skyware/labeler 0.2.0, @noble/curves 1.9.7 (signs the moderator's request) (npm).
# What the spec says: lexicon tools.ozone.moderation.defs#modEventLabel, durationInHours: "Indicates how long the label will remain on the subject.
#   Only applies on labels that are being added." com.atproto.label.defs#label, exp: "Timestamp at which this label expires (no longer applies)."
# Guess: the label has exp, 24 hours after cts, in queryLabels and in the stream; or the request is refused as unsupported.
# Seen: status 200, an answer that contains durationInHours 24, and a label without exp. A label that is made in the program, with
#   createLabel({ exp }), has it, so the server, its database and its signatures can do it; only this way in drops it.
# Wrong for a user: the interface says that the account is labelled for a day; every subscriber keeps the label for good, and nobody is
#   reminded to take it back.
# Instead: wrap server.createLabel for such events, or negate the label by a timer of your own.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund @skyware/labeler@0.2.0 @noble/curves@1.9.7
cat > run.mjs <<'JS'
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { secp256k1 } from '@noble/curves/secp256k1';
import { LabelerServer } from '@skyware/labeler';
console.log('@skyware/labeler', JSON.parse(readFileSync('node_modules/@skyware/labeler/package.json')).version);
const did = 'did:web:labels.example.com', moderator = 'did:web:moderator.example.com', secret = Buffer.alloc(32, 7), method = 'tools.ozone.moderation.emitEvent';
const base58 = (bytes) => { let n = BigInt('0x' + Buffer.from(bytes).toString('hex')), s = ''; for (; n; n /= 58n) s = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[n % 58n] + s; return s; };
const document = { id: moderator, verificationMethod: [{ id: moderator + '#atproto', type: 'Multikey', controller: moderator,
  publicKeyMultibase: 'z' + base58([0xe7, 0x01, ...secp256k1.getPublicKey(secret, true)]) }] };
const real = globalThis.fetch; // the moderator's DID document comes from here, not from the network
globalThis.fetch = (url, init) => String(url) === 'https://moderator.example.com/.well-known/did.json' ? Promise.resolve(Response.json(document)) : real(url, init);
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const text = part({ typ: 'JWT', alg: 'ES256K' }) + '.' + part({ iss: moderator, aud: did, lxm: method, exp: Math.floor(Date.now() / 1000) + 60 });
const token = text + '.' + Buffer.from(secp256k1.sign(createHash('sha256').update(text).digest(), secret, { lowS: true }).toCompactRawBytes()).toString('base64url');
const server = new LabelerServer({ did, signingKey: '11'.repeat(32), dbPath: 'labels.db', auth: (who) => who === moderator });
await new Promise((ok, no) => server.start({ port: 0, host: '127.0.0.1' }, (error) => (error ? no(error) : ok())));
const base = `http://127.0.0.1:${server.app.server.address().port}/xrpc/`;
const answer = await fetch(base + method, { method: 'POST', headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' }, body: JSON.stringify({
  event: { $type: 'tools.ozone.moderation.defs#modEventLabel', createLabelVals: ['rude'], negateLabelVals: [], durationInHours: 24 },
  subject: { $type: 'com.atproto.admin.defs#repoRef', did: 'did:web:someone.example.com' }, createdBy: moderator }) });
const said = await answer.json(); console.log('status', answer.status, 'answer', JSON.stringify(said.event));
await server.createLabel({ uri: 'did:web:someone.example.com', val: 'control', exp: '2030-01-01T00:00:00.000Z' });
const { labels } = await (await fetch(base + 'com.atproto.label.queryLabels?uriPatterns=*')).json();
for (const { val, cts, exp } of labels) console.log('label', val, 'cts', cts, 'exp', exp);
const same = answer.status === 200 && said.event.durationInHours === 24 && labels[0].val === 'rude' && !('exp' in labels[0]) && labels[1].exp === '2030-01-01T00:00:00.000Z';
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
