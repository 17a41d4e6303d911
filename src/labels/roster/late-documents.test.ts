import { expect, onTestFinished, test } from 'vitest';
import { answered, failed as failedAttempt } from '../../../harness/labels/label-reader.ts';
import type { Resolution } from '../../network/identity/identity.ts';
import { micros } from '../../store/time.ts';
import { Roster } from './roster.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const web = 'did:web:labeler.example';
const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const start = Date.UTC(2026, 5, 1);

const absent: Resolution = { kind: 'not_found', status: 404 };
const failed: Resolution = { kind: 'failed', answer: { kind: 'connect', code: 'ECONNREFUSED' } };
function documentAt(endpoint: string | null): Extract<Resolution, { kind: 'resolved' }> {
  const labelerDeclared = endpoint !== null;
  return {
    kind: 'resolved',
    document: { did, handle: null, labelerDeclared, labelerEndpoint: endpoint, pds: null, labelKeys: [] },
  };
}
const former = documentAt('https://former.example');
const current = documentAt('https://current.example');

/** Starts a roster over a directory whose answer depends on the milliseconds since the start. */
async function rosterOver(answer: (elapsed: number) => Resolution) {
  const stop = new AbortController();
  let now = start;
  let loops = 0;
  let release = () => {};
  /** Times of the look-ups since the start, in milliseconds, of each DID. */
  const asked = new Map<string, number[]>();
  const roster = new Roster({
    identities: {
      resolve: async (of) => {
        asked.set(of, [...(asked.get(of) ?? []), now - start]);
        return answer(now - start);
      },
    },
    clock: () => micros(now * 1000),
    wait: (_, signal) =>
      new Promise((resolve) => {
        loops += 1;
        release = resolve;
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    ...{ refreshMs: day, retryMs: minute, freshMs: minute, changed: () => undefined },
  });
  const running = roster.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  /** Waits until the roster has handled everything that is due. */
  const settle = async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const seen = loops;
      release();
      await expect.poll(() => loops > seen, { interval: 1 }).toBe(true);
    }
  };
  /** Moves the clock to this time since the start, in steps of a second at most. */
  const passTo = async (elapsed: number, step = second) => {
    await settle();
    while (now - start < elapsed) {
      now = Math.min(now + step, start + elapsed);
      await settle();
    }
  };
  await settle();
  const endpoint = (of = did) => roster.labeler(of)?.endpoint ?? null;
  return { roster, asked, settle, passTo, endpoint };
}

test.each([
  ['3 s', 3 * second, 5 * second],
  ['20 s', 20 * second, 30 * second],
  ['4 minutes', 4 * minute, 5 * minute],
])('a labeler whose document appears %s after a relay named it is found', async (_, appears, found) => {
  const { roster, asked, passTo, settle, endpoint } = await rosterOver((elapsed) =>
    elapsed < appears ? absent : current,
  );
  roster.add(did, 'discovered', 'relay r.example');
  await settle();
  await passTo(found - second);
  expect(endpoint()).toBe(null);
  await passTo(found);
  expect(endpoint()).toBe('https://current.example');
  expect(asked.get(did)?.at(-1)).toBe(found);
});

test('a document without a labeler service, as an account had before it became a labeler, is read again in the same way', async () => {
  const { roster, passTo, endpoint } = await rosterOver((elapsed) =>
    elapsed < 3 * second ? documentAt(null) : current,
  );
  roster.add(did, 'discovered', 'relay r.example');
  await passTo(5 * second);
  expect(endpoint()).toBe('https://current.example');
});

test('the former document of a known labeler is read again after an event, and no more than four times', async () => {
  const { roster, asked, passTo, settle, endpoint } = await rosterOver((elapsed) =>
    elapsed < 20 * minute + 3 * second ? former : current,
  );
  roster.add(did, 'seeded', 'seeds');
  await settle();
  await passTo(20 * minute, 20 * minute);
  expect(endpoint()).toBe('https://former.example');
  roster.documentChanged(did);
  await settle();
  expect(endpoint()).toBe('https://former.example');
  await passTo(20 * minute + 5 * second);
  expect(endpoint()).toBe('https://current.example');
  await passTo(60 * minute, 5 * second);
  const event = 20 * minute;
  expect(asked.get(did)).toEqual([0, event, event + 5 * second, event + 30 * second, event + 5 * minute]);
});

test('a did:web whose host fails when an event names it is read after 5 s', async () => {
  const { roster, passTo, endpoint } = await rosterOver((elapsed) => (elapsed < 3 * second ? failed : current));
  roster.add(web, 'discovered', 'jetstream');
  roster.documentChanged(web);
  await passTo(5 * second);
  expect(endpoint(web)).toBe('https://current.example');
});

test('a seed whose document is not read yet is looked up once, although a relay names it too', async () => {
  const { roster, asked, passTo, settle, endpoint } = await rosterOver(() => current);
  roster.add(did, 'seeded', 'seeds');
  roster.add(did, 'discovered', 'relay r.example');
  await settle();
  await passTo(10 * minute, 5 * second);
  expect([asked.get(did), endpoint()]).toEqual([[0], 'https://current.example']);
});

test('a did:web whose first look-up failed is read at once when a relay names it', async () => {
  const { roster, asked, passTo, settle, endpoint } = await rosterOver((elapsed) =>
    elapsed < 2 * second ? failed : current,
  );
  roster.add(web, 'seeded', 'seeds');
  await settle();
  await passTo(2 * second);
  roster.add(web, 'discovered', 'relay r.example');
  await passTo(6 * second);
  expect([asked.get(web), endpoint(web)]).toEqual([[0, 2 * second], 'https://current.example']);
});

test('the host of a seeded did:web that never serves its document is requested at intervals that grow to about an hour', async () => {
  const { roster, asked, passTo } = await rosterOver(() => failed);
  roster.add(web, 'seeded', 'seeds');
  await passTo(day, 10 * minute);
  // The waits double from 10 s to 64 minutes; the clock of this test has steps of ten minutes.
  const first = [0, 10, 20, 30, 40, 50, 70, 110];
  const later = Array.from({ length: 19 }, (_, n) => 180 + n * 70);
  expect(asked.get(web)).toEqual([...first, ...later].map((minutes) => minutes * minute));
});

test('the document of a seeded did:web that responds is read every minute for 15 minutes of an outage, and every 64 minutes after 7 days', async () => {
  const { roster, asked, passTo } = await rosterOver((elapsed) => (elapsed === 0 ? current : failed));
  roster.add(web, 'seeded', 'seeds');
  await passTo(minute, minute);
  const tracker = roster.labeler(web)?.tracker;
  const at = (elapsed: number) => micros((start + elapsed) * 1000);
  tracker?.apply(answered(at(minute), { dated: 1, undated: 0 }));
  await passTo(day, day);
  await passTo(day + 60 * minute, minute);
  const minutes = [...Array.from({ length: 16 }, (_, i) => i), 30, 45, 60];
  expect(asked.get(web)).toEqual([0, ...minutes.map((one) => day + one * minute)]);
  tracker?.apply(failedAttempt(at(day + 60 * minute), 'failed'));
  await passTo(9 * day, day / 2);
  await passTo(9 * day + 130 * minute, 2 * minute);
  const late = (asked.get(web) ?? []).filter((elapsed) => elapsed > 9 * day);
  expect(late).toEqual([64, 128].map((minutes) => 9 * day + minutes * minute));
});

test('a known account without a labeler service is read again when a further source names it', async () => {
  const { roster, asked, passTo, settle, endpoint } = await rosterOver((elapsed) =>
    elapsed < day / 2 ? absent : current,
  );
  roster.add(did, 'seeded', 'seeds');
  await passTo(10 * minute, 5 * second);
  expect(asked.get(did)).toEqual([0, 5 * second, 30 * second, 5 * minute]);
  await passTo(day / 2, day / 2);
  expect(endpoint()).toBe(null);
  roster.add(did, 'discovered', 'relay r.example');
  await settle();
  expect(endpoint()).toBe('https://current.example');
  // A source that names the labeler in each of its lists causes no further look-ups.
  const before = asked.get(did)?.length;
  roster.add(did, 'discovered', 'relay r.example');
  await settle();
  expect(asked.get(did)?.length).toBe(before);
});

test('a labeler whose document disappears for a few seconds returns after them, not after a day', async () => {
  const { roster, passTo, settle, endpoint } = await rosterOver((elapsed) => (elapsed === day ? absent : current));
  roster.add(did, 'seeded', 'seeds');
  await settle();
  await passTo(day, day);
  expect(endpoint()).toBe(null);
  await passTo(day + 5 * second);
  expect(endpoint()).toBe('https://current.example');
});

test('a restart in the first minutes of a labeler without a document does not end its look-ups', async () => {
  const first = await rosterOver(() => absent);
  first.roster.add(did, 'discovered', 'jetstream');
  await first.passTo(2 * second);
  const { roster, asked, passTo, endpoint } = await rosterOver((elapsed) => (elapsed < 3 * second ? absent : current));
  const stored = [...first.roster.changes(500)].flatMap((change) => (change?.kind === 'changed' ? change.rows : []));
  roster.load(stored, new Map());
  await passTo(5 * second);
  expect(endpoint()).toBe('https://current.example');
  await passTo(10 * minute, 5 * second);
  expect(asked.get(did)).toEqual([0, 5 * second, 30 * second, 5 * minute]);
});

const ofReplica = (resolution: Extract<Resolution, { kind: 'resolved' }>): Resolution => ({
  ...resolution,
  replica: true,
});

test('the old endpoint in the document of a lagging replica is replaced after a minute', async () => {
  const { roster, asked, passTo, endpoint } = await rosterOver((elapsed) =>
    elapsed < 40 * second ? ofReplica(former) : current,
  );
  roster.add(did, 'discovered', 'relay r.example');
  await passTo(59 * second);
  expect(endpoint()).toBe('https://former.example');
  await passTo(minute);
  expect(endpoint()).toBe('https://current.example');
  await passTo(10 * minute, 5 * second);
  expect(asked.get(did)).toEqual([0, minute]);
});

test('a document of a replica is read again every minute until the primary directory responds', async () => {
  const { roster, asked, passTo } = await rosterOver((elapsed) =>
    elapsed < 3 * minute ? ofReplica(current) : current,
  );
  roster.add(did, 'discovered', 'relay r.example');
  await passTo(10 * minute, 5 * second);
  expect(asked.get(did)).toEqual([0, minute, 2 * minute, 3 * minute]);
});

test('a replica cannot remove a labeler service that the primary directory reported, but the primary can', async () => {
  const { roster, passTo, settle, endpoint } = await rosterOver((elapsed) => {
    if (elapsed < day) return current;
    return elapsed < day + 2 * minute ? ofReplica(documentAt(null)) : documentAt(null);
  });
  roster.add(did, 'seeded', 'seeds');
  await settle();
  await passTo(day, day);
  await passTo(day + 2 * minute - second, 10 * second);
  expect([endpoint(), roster.labeler(did)?.resolutionStatus]).toEqual(['https://current.example', 'labeler']);
  await passTo(day + 2 * minute);
  expect([endpoint(), roster.labeler(did)?.resolutionStatus]).toEqual([null, 'no_labeler']);
});

test('a new labeler whose service a lagging replica does not have yet is found within the minute', async () => {
  const { roster, passTo, endpoint } = await rosterOver((elapsed) =>
    ofReplica(elapsed < 10 * second ? documentAt(null) : current),
  );
  roster.add(did, 'discovered', 'relay r.example');
  await passTo(30 * second);
  expect(endpoint()).toBe('https://current.example');
});

test.each(['other_id', 'not_an_object', 'malformed_list'] as const)(
  'a labeler stays enrolled while the directory responds with something else than its document (%s)',
  async (reason) => {
    const other: Resolution = { kind: 'failed', answer: { kind: 'not_the_document', reason } };
    const { roster, asked, passTo, settle, endpoint } = await rosterOver((elapsed) =>
      elapsed >= day && elapsed < day + 2 * minute ? other : current,
    );
    roster.add(did, 'seeded', 'seeds');
    await settle();
    await passTo(day, day);
    await passTo(day + 10 * minute, 10 * second);
    expect([endpoint(), roster.labeler(did)?.resolutionStatus]).toEqual(['https://current.example', 'labeler']);
    expect(asked.get(did)).toEqual([0, day, day + minute, day + 2 * minute]);
  },
);
