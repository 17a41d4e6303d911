#!/usr/bin/env bash
# WHAT: the usual JavaScript DAG-CBOR decoders silently remove U+FEFF from the beginning of every text
#       string, map keys included, so decoding and encoding a valid block yields another block.
# VERSIONS: @ipld/dag-cbor 10.0.2, @atproto/lex-cbor 0.1.6 (both on cborg); @atcute/cbor 2.3.6 for comparison.
# WHAT THE SPEC SAYS: a DAG-CBOR text string is any valid UTF-8 and nothing may be lost between decode and
#       encode (IPLD DAG-CBOR spec, "Strictness"); the AT Protocol data model does not normalise or trim strings
#       (data model spec, "Data Types"). U+FEFF is an ordinary character there.
# GUESS: decode then encode is the identity for a valid block.
# SEEN: the character is gone after decode (and two keys that differ only by it fall together), because the
#       platform's text decoder is used with its byte-order-mark handling left on. @atcute/cbor keeps it.
# WHY IT HURTS: text pasted from some editors begins with U+FEFF. A post, a display name or a label value of
#       that kind gets another CID and another signature input after a round trip: "invalid signature" or
#       "CID mismatch" for a good object, and JSON exports disagree with those of Go or Python readers.
# INSTEAD: check hashes and signatures on the received bytes, or decode with a library that keeps the character.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @ipld/dag-cbor@10.0.2 @atproto/lex-cbor@0.1.6 @atcute/cbor@2.3.6 multiformats@14.0.5
cat > probe.js <<'JS'
import * as ipld from '@ipld/dag-cbor';
import * as lex from '@atproto/lex-cbor';
import * as atcute from '@atcute/cbor';
import { createHash } from 'node:crypto';
// {"text": U+FEFF "hello", "$type": "com.example.note"}
const block = Buffer.from('a26474657874' + '68efbbbf68656c6c6f' + '652474797065' + '70' + Buffer.from('com.example.note').toString('hex'), 'hex');
const sha = (b) => createHash('sha256').update(b).digest('hex').slice(0, 16);
const libs = { '@ipld/dag-cbor 10.0.2': ipld, '@atproto/lex-cbor 0.1.6': lex, '@atcute/cbor 2.3.6': atcute };
console.log('valid block, sha256', sha(block), 'length', block.length);
const out = {};
for (const [name, l] of Object.entries(libs)) {
	const v = l.decode(new Uint8Array(block));
	const again = Buffer.from(l.encode(v));
	out[name] = { kept: v.text.charCodeAt(0) === 0xfeff, same: again.equals(block) };
	console.log(name.padEnd(25), 'expected length', block.length, 'sha', sha(block), '| observed length', again.length, 'sha', sha(again), out[name].same ? 'same' : 'OTHER BLOCK');
}
const lost = (n) => !out[n].kept && !out[n].same;
process.exit(lost('@ipld/dag-cbor 10.0.2') && lost('@atproto/lex-cbor 0.1.6') && out['@atcute/cbor 2.3.6'].same ? 0 : 1);
JS
if node probe.js; then echo 'STILL SO: the leading U+FEFF is lost'; else echo 'CHANGED'; exit 1; fi
