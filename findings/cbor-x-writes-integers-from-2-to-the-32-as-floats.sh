#!/usr/bin/env bash
# WHAT: the JavaScript encoder cbor-x writes a plain integer of 4294967296 or more as a 64-bit float, with default options.
# VERSIONS: cbor-x 1.6.9; @atcute/cbor 2.3.6 for comparison.
# WHAT THE DOCS SAY: cbor-x lists an option (alwaysUseFloat, off by default) that forces numbers including integers into floats,
#       which reads as "otherwise integers stay integers"; its float section speaks of non-integer numbers only. The AT
#       Protocol data model has no floats, and seq is an integer (com.atproto.sync.subscribeRepos).
# GUESS: 4294967296 is written as 1b0000000100000000, as every other encoder does.
# SEEN: fb41f0000000000000. Integers below 2^32 and bigints are written as integers, so the same code changes its wire format when
#       a counter passes 2^32.
# WHY IT HURTS: the sequence numbers of the large relays passed 2^32 long ago and microsecond cursors are far above it. A
#       re-framed or stored event then holds a float where an integer belongs: strict readers of AT Protocol data refuse it,
#       typed languages fail to decode it, and its hash differs. A test with small numbers shows nothing.
# INSTEAD: use a DAG-CBOR encoder for anything that others read, or hand such numbers over as bigint.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund cbor-x@1.6.9 @atcute/cbor@2.3.6
cat > probe.js <<'JS'
import * as x from 'cbor-x';
import * as atcute from '@atcute/cbor';
const hex = (b) => Buffer.from(b).toString('hex');
console.log('cbor-x 1.6.9');
const kinds = [];
for (const n of [4294967295, 4294967296, 4621317030, 1783175888384849, -4294967297]) {
	const want = hex(atcute.encode(n)), got = hex(x.encode(n));
	kinds.push(got.startsWith('fb') ? 'float' : got === want ? 'int' : 'other');
	console.log(String(n).padStart(17), 'expected', want.padEnd(18), 'observed', got, kinds.at(-1));
}
const big = hex(x.encode(4621317030n)) === hex(atcute.encode(4621317030));
console.log('the same value as bigint is written as an integer:', big);
process.exit(kinds.join() === 'int,float,float,float,float' && big ? 0 : 1);
JS
if node probe.js; then echo 'STILL SO: integers turn into floats at 2^32'; else echo 'CHANGED'; exit 1; fi
