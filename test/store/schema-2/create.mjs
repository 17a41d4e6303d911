/**
 * Writes the store of this directory with the code of an earlier commit, whose state file has schema 2:
 *
 *     git worktree add /tmp/earlier COMMIT # any commit before schema 3 of the state file
 *     npm ci --prefix /tmp/earlier
 *     node test/store/schema-2/create.mjs /tmp/earlier
 *
 * The files are compressed copies of the files that remain after the earlier program has closed the store.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const earlier = resolve(process.argv[2] ?? '.');
const load = (path) => import(join(earlier, 'src', path));
const { openSqliteWriter } = await load('store/sqlite/write/writer.ts');
const { RefusedMemory } = await load('labels/ingest/refused-memory.ts');
const { writePosition } = await load('labels/label/position.ts');

const day = 86_400_000_000;
const noon = 20_000 * day + day / 2;
const labelers = ['did:plc:labelerlabelerlabelerlab', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', 'did:web:mod.example'];
const account = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

const observation = (n) => ({
  signature: 'verified',
  label: {
    ...{ ver: 1, src: labelers[n % 3], uri: account, val: n % 5 === 0 ? 'spam' : 'porn' },
    ...{ cts: new Date(noon / 1000 + n).toISOString(), sig: Buffer.alloc(64, n) },
  },
});

/** Returns the changes of positions that store the refused rows of two labelers. */
function refusedPositions(memory, at, count) {
  return labelers.slice(0, 2).flatMap((source) => {
    const take = memory.take(source, at, { way: 'stream' });
    for (let i = 0; i < count; i++) {
      const start = ((i * 2_657) % 65_536).toString(16).padStart(4, '0');
      take.counts(`${start}${'0123456789ab'.repeat(2)}0000`);
    }
    const changes = [...take.changes];
    take.committed();
    return changes;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-earlier-'));
const writer = openSqliteWriter({
  ...{ folder, at: noon, generationId: () => '11111111-2222-4333-8444-555555555555' },
});
const memory = new RefusedMemory();
for (const [n, days] of [0, 4, 5].entries()) {
  const at = noon + days * day;
  const position = writePosition({ seq: 10 * n, seqTail: 'tail', cursor: null, cursorTail: null });
  await writer.append({
    at,
    observations: Array.from({ length: 12 }, (_, i) => observation(100 * n + i)),
    refusals: [{ source: labelers[0], reason: 'late', count: 3 }],
    positions: [
      { source: labelers[0], endpoint: 'https://one.example', value: position },
      ...refusedPositions(memory, at, 20 * (n + 1)),
    ],
  });
}
await writer.maintain(noon + 5 * day);
await writer.recordGap({ source: labelers[0], reason: 'ingest_paused', start: noon, end: noon + day });
await writer.beat(noon + 5 * day);
await writer.putKey({ did: labelers[0], key: 'zQ3shone', firstSeen: noon, lastSeen: noon + day });
await writer.putDefinitions({ did: labelers[0], seenAt: noon, content: '{"labelValues":["spam"]}' });
await writer.putNote(
  'day-bytes',
  JSON.stringify({
    day: 20_005,
    bytes: [
      [labelers[0], 4_096],
      [labelers[1], 17],
    ],
  }),
);
await writer.putNote('directory-position', JSON.stringify({ host: 'plc.example', seq: 12_345 }));
await writer.putNote('origin', 'live');

const known = { origin: 'discovered', provenance: ['relay one.example', 'jetstream'], enrolled: true };
const row = (did, detail, more = {}) => ({
  ...{ did, ...known, endpoint: 'https://one.example', state: 'established', stateSince: noon, ...more },
  detail: typeof detail === 'string' ? detail : JSON.stringify(detail),
});
const times = {
  ...{ firstAsked: noon + 1, firstAnswered: noon + 2, lastAnswered: noon + 3, failingSince: noon + 4 },
  ...{ completeThrough: noon + 5, dated: true, undated: true },
};
await writer.putRoster([
  row(labelers[0], { finding: 'labeler', ...times, handle: 'one.example', confirmed: true }, { origin: 'seeded' }),
  row(labelers[1], { finding: 'labeler', ...times, failingSince: null, handle: 'UPPER', confirmed: false }),
  row(labelers[2], { finding: 'bad_endpoint', ...times, dated: false, handle: 'two.example', confirmed: false }),
  // These rows have the form of earlier versions, which lack some of the fields, or a form that no version had.
  row('did:web:early.example', { finding: 'labeler', firstAsked: noon + 1, lastAnswered: noon + 3 }),
  row('did:web:first.example', { lastAnswered: noon + 3, completeThrough: null }),
  row('did:web:new.example', { finding: 'unresolved', firstAsked: null }, { endpoint: null, enrolled: false }),
  row('did:web:odd.example', { finding: 7, lastAnswered: 'then', failingSince: -1.5, handle: null, dated: 1 }),
  row('did:web:text.example', 'not JSON', { provenance: [] }),
  row('did:web:list.example', '[1,2]', { state: 'asleep' }),
]);
await writer.close();

for (const name of readdirSync(folder, { recursive: true })) {
  if (!name.endsWith('.sqlite')) continue;
  const file = name.replaceAll('/', '-');
  writeFileSync(new URL(`${file}.gz`, import.meta.url), gzipSync(readFileSync(join(folder, name)), { level: 9 }));
}
rmSync(folder, { recursive: true });
