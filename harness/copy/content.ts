import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { CopiedRow } from '../../src/store/copy/parts.ts';
import { unfit } from '../../src/store/label.ts';
import { openCopySource } from '../../src/store/open.ts';
import type { NewObservation, StoreReader, StoreWriter } from '../../src/store/port.ts';
import { day, dayName, micros } from '../../src/store/time.ts';
import { anyLabel, labelers, noon } from '../conformance/labels.ts';
import { rosterRow } from '../store/roster-row.ts';
import { everyRow } from '../store/scan.ts';

/** Number of rows of one day, and a hash over all fields of all rows in order. */
interface HashedDay {
  readonly day: string;
  readonly rows: number;
  readonly hash: string;
}

/**
 * Returns a hash over every field of every row of each day. The function does not use the copy's own digest, so it can
 * detect an error in that digest.
 */
export async function hashedDays(url: string): Promise<HashedDay[]> {
  const source = await openCopySource(url);
  const found: HashedDay[] = [];
  for (const { day } of (await source.look()).days) {
    const hash = createHash('sha256');
    let rows = 0;
    await source.rows(day, -1, (chunk) => {
      rows += chunk.length;
      hash.update(chunk.map(textOf).join('\n'));
      return Promise.resolve();
    });
    found.push({ day: dayName(day), rows, hash: hash.digest('hex') });
  }
  await source.close();
  return found;
}

function textOf({ at, observation, identity }: CopiedRow): string {
  const { label, signature, live } = observation;
  const { ver, src, uri, cid, val, neg, cts, exp, sig, extra } = label;
  const bytes = (some: Uint8Array | undefined) => (some ? Buffer.from(some).toString('hex') : null);
  const fields = [ver, src, uri, cid, val, neg, cts, exp, bytes(sig), bytes(extra)];
  return JSON.stringify([at, signature, live, identity.toString('hex'), ...fields]);
}

/** Fills stores for copy tests, and reads everything that a store returns. */

const verdicts = ['verified', 'invalid', 'unsigned', 'unverified', 'verified_earlier_key'] as const;

/**
 * Returns observations of arbitrary valid labels. They cover every signature verdict, and some of them were received
 * live.
 */
export function observations(count: number, seed: number): NewObservation[] {
  const labels = fc.sample(anyLabel, { numRuns: count * 2, seed }).filter((label) => unfit(label) === null);
  return labels.slice(0, count).map((label, i) => ({
    label,
    signature: verdicts[i % verdicts.length] ?? 'unverified',
    live: i % 3 === 0,
  }));
}

/** Number of days over which `fill` spreads the rows. The first two are old enough to be sealed. */
export const filledDays = 5;

/** Fills a store with every kind of content. Returns the acceptance time of the last row. */
export async function fill(store: StoreWriter, seed: number): Promise<number> {
  const [first = '', second = ''] = labelers;
  const gone = 'did:plc:gonegonegonegonegonegone';
  const rows = observations(400, seed);
  for (let i = 0; i < rows.length; i += 20) {
    const at = micros(noon + Math.floor((i / rows.length) * filledDays) * day + i * 1_000_000);
    await store.append({
      at,
      observations: rows.slice(i, i + 20),
      refusals: [{ source: first, reason: 'late', count: 1 + (i % 3) }],
      positions: [{ source: second, endpoint: 'wss://b.example', value: String(i) }],
      refusedRows: [{ source: first, bucket: i % 16, rows: `rows of ${i}` }],
    });
  }
  const at = micros(noon + filledDays * day);
  const label = { src: gone, uri: 'did:web:alice.example', val: 'unwanted', cts: '2026-01-01T00:00:00Z' };
  await store.append({ at, observations: [{ label, signature: 'unsigned' }], refusals: [], positions: [] });
  await store.beat(at);
  await store.recordGap({ source: null, reason: 'ingest_paused', start: noon, end: micros(noon + 60_000_000) });
  await store.recordGap({ source: first, reason: 'unknown', start: noon, end: micros(noon + 1) });
  await store.putRoster([rosterRow(first), rosterRow(second)]);
  await store.putKeys([{ did: first, key: 'zKey', firstSeen: noon, lastSeen: at }]);
  for (const content of ['{"one":1}', '{"two":"\u0000"}'])
    await store.putDefinitions([{ did: first, seenAt: at, content }]);
  await store.putNote('origin', 'live');
  await store.putDailyBytes({ day: 20_000, bytes: new Map([[first, 12]]) });
  await store.putDirectoryPosition({ host: 'plc.example', seq: 7 });
  await store.requestPurge({ source: gone, at: micros(at + 1) });
  while (await store.purge(micros(at + 2)));
  await store.maintain(at);
  return at;
}

/**
 * Returns everything that a reader finds in a store. If `writer` is given, the result includes the data that only a
 * writer can read.
 */
export async function everything(store: StoreReader, through: number, writer?: StoreWriter) {
  const [did = ''] = labelers;
  const span = { start: noon, end: micros(through + day) };
  return {
    epoch: await store.epoch(),
    frontier: await store.frontier(),
    heartbeat: await store.heartbeat(),
    rows: await everyRow(store, span),
    counts: await store.countsByLabeler(span),
    counters: await store.labelerCounters(span),
    refusals: (await store.refusals(span)).sort((a, b) =>
      `${a.source}${a.reason}`.localeCompare(`${b.source}${b.reason}`),
    ),
    positions: await store.positions(),
    gaps: await store.gaps(span),
    roster: await store.roster(),
    keys: await store.keys(did),
    definitions: await store.definitions(did),
    note: await store.note('origin'),
    purges: await store.purges(),
    ...(writer && {
      refusedRows: await writer.refusedRows(),
      bytes: await writer.dailyBytes(20_000),
      directory: await writer.directoryPosition('plc.example'),
    }),
  };
}
