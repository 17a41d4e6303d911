import type { SignatureVerdict } from '../../src/contract/vocabulary.ts';
import type { ReceivedLabel } from '../../src/store/label.ts';
import type { NewObservation, StoreWriter } from '../../src/store/port.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros, minute } from '../../src/store/time.ts';
import { rosterRow } from '../store/roster-row.ts';

/** Creates a store with a history of labels for tests of account pages, using the store's own writer. */

const did = (name: string): string => `did:plc:${name.padEnd(24, '2')}`;

/** DIDs of the accounts in the history, by the role of the account in the tests. */
export const accounts = {
  plain: did('plain'),
  none: did('nobody'),
  hostile: did('hostile'),
  busy: did('busy'),
};

/** DIDs of the labelers in the history. */
export const labelers = {
  careful: did('careful'),
  hostile: did('mallory'),
  web: 'did:web:labels.example.com',
};

/** Strings for labels. Some are dangerous if a page does not escape them, others are very long or otherwise unusual. */
export const hostileTexts = [
  '<script>document.title = "taken"</script><img src=x onerror="document.title=\'taken\'">',
  '"><style>body{display:none}</style><a href="javascript:alert(1)">',
  'abc\u202Edesrever si siht\u202C \u2066isolated',
  '👩‍👩‍👧‍👦🏳️‍🌈🧪',
  `ten kilobytes ${'x'.repeat(10_000)}`,
  '</title></li></ol></main>&amp;&lt;\u0000\u0007',
];

/** Options for a history. */
interface HistoryOptions {
  readonly folder: string;
  /** End of the history, in microseconds since 1970. */
  readonly now: number;
  /** Time from the start of the epoch to the end of the history, in microseconds. */
  readonly age: number;
  /** Number of rows of the hot account, or 0 for a history without one. */
  readonly hotRows?: number;
}

/**
 * Writes the labelers and the labels of the last `age` microseconds into a new store, and closes it. A history of more
 * than 12 days also has three gaps.
 */
export async function writeHistory({ folder, now, age, hotRows = 0 }: HistoryOptions): Promise<void> {
  const began = now - age;
  const store = openSqliteWriter({ folder, at: micros(began) });
  await writeLabelers(store, began);
  const events = [...plainEvents(now), ...hostileEvents(now), ...hotEvents(now, hotRows)]
    .filter(({ at }) => at > began)
    .sort((a, b) => a.at - b.at);
  const positions = [
    { source: labelers.careful, endpoint: 'wss://careful.example', value: '1' },
    { source: labelers.web, endpoint: 'wss://labels.example.com', value: '1' },
  ];
  for (let from = 0; from < events.length; ) {
    const at = events[from]?.at ?? 0;
    let to = from;
    while (to < events.length && to - from < 2_000 && (events[to]?.at ?? 0) < at + minute) to += 1;
    const observations = events.slice(from, to).map(({ observation }) => observation);
    await store.append({ at: micros(at), observations, refusals: [], positions });
    from = to;
  }
  await store.append({ at: micros(now - 5_000_000), observations: [], refusals: [], positions });
  const gap = (source: string | null, start: number, end: number, reason: 'ingest_paused' | 'source_unavailable') =>
    store.recordGap({ source, start: micros(now - start), end: micros(now - end), reason });
  if (age > 12 * day) {
    await gap(null, 10 * day, 10 * day - 5 * hour, 'ingest_paused');
    // Make the gap longer than two days, so that it covers at least one whole UTC day.
    await gap(null, 6 * day, 4 * day - 4 * hour, 'ingest_paused');
    await gap(labelers.careful, 8 * day, 6 * day, 'source_unavailable');
  }
  await store.maintain(micros(now));
  await store.close();
}

async function writeLabelers(store: StoreWriter, at: number): Promise<void> {
  const row = (labeler: string, state: string, enrolled = true) =>
    rosterRow(labeler, {
      ...{ provenance: ['seeds'], enrolled, endpoint: 'https://labeler.example', state, stateSince: micros(at) },
    });
  await store.putRoster([
    row(labelers.careful, 'established'),
    row(labelers.web, 'established'),
    row(labelers.hostile, 'unavailable'),
    row(did('silent'), 'refused'),
    row(did('gone'), 'unstarted', false),
  ]);
  const define = (labeler: string, definitions: readonly object[]) =>
    store.putDefinitions([
      {
        did: labeler,
        seenAt: micros(at),
        content: JSON.stringify({ labelValues: [], labelValueDefinitions: definitions }),
      },
    ]);
  const english = (name: string, description: string) => ({ lang: 'en', name, description });
  await define(labelers.careful, [
    {
      identifier: 'spam',
      locales: [
        { lang: 'de', name: 'Unerwünscht', description: 'Unerwünschte Werbung in großer Zahl.' },
        english('Spam', 'Unwanted advertising, posted again and again.'),
      ],
    },
    { identifier: 'rude', locales: [english('Rude', 'Disrespectful, toward one person or many.')] },
  ]);
  await define(
    labelers.hostile,
    hostileTexts.map((text) => ({ identifier: text.slice(0, 100), locales: [english(text, text)] })),
  );
}

interface Event {
  readonly at: number;
  readonly observation: NewObservation;
}

let serial = 0;

function event(
  at: number,
  label: Partial<ReceivedLabel> & Pick<ReceivedLabel, 'uri' | 'val'>,
  signature: SignatureVerdict = 'verified',
): Event {
  serial += 1;
  const cts = new Date(at / 1000 - 1_500 - (serial % 1_000)).toISOString();
  return {
    at,
    observation: { signature, label: { ver: 1, src: labelers.careful, cts, sig: Buffer.alloc(64), ...label } },
  };
}

function plainEvents(now: number): Event[] {
  const account = accounts.plain;
  const post = `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`;
  const cid = 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454';
  return [
    event(now - 20 * day, { uri: account, val: 'spam' }),
    event(now - 12 * day, { uri: account, val: 'spam', neg: true }),
    event(now - 11 * day, { uri: account, val: 'spam', src: labelers.web, exp: '2027-01-01T00:00:00Z' }, 'unverified'),
    event(now - 2 * day, { uri: post, val: 'rude', cid }),
    event(now - 2 * day + 1, { uri: post, val: 'rude', cid, src: labelers.web }, 'unsigned'),
    event(now - day - 3 * hour, { uri: post, val: 'rude', cid, neg: true }),
    event(now - 14 * hour, { uri: `at://${account}/app.bsky.actor.profile/self`, val: 'rude' }, 'invalid'),
    event(now - 3 * hour, { uri: `at://${account}/app.bsky.graph.list/3lb5xpd2ank2v`, val: '!warn' }),
  ];
}

function hostileEvents(now: number): Event[] {
  return hostileTexts.flatMap((text, i) => [
    event(now - 30 * hour + i, { uri: accounts.hostile, val: text.slice(0, 100), src: labelers.hostile }),
    event(now - 29 * hour + i, {
      uri: `at://${accounts.hostile}/${text.slice(0, 60).replaceAll('/', '|')}/x`,
      val: `v${i}`,
      src: labelers.hostile,
      cid: text.slice(0, 200),
      cts: text.slice(0, 60),
      exp: text.slice(0, 60),
    }),
  ]);
}

/**
 * Returns the events of the hot account, in bursts over 29 days. One event in 40 concerns the account itself, and one
 * in 41 is a negation.
 */
function hotEvents(now: number, rows: number): Event[] {
  const account = accounts.busy;
  const uriOf = (i: number): string =>
    i % 40 === 0
      ? account
      : i % 40 === 1
        ? `at://${account}/app.bsky.feed.repost/${i.toString(36)}`
        : `at://${account}/app.bsky.feed.post/${i.toString(36)}`;
  return Array.from({ length: rows }, (_, i) => {
    const at = now - 29 * day + Math.floor(((i - (i % 250)) / rows) * 29 * day) - 60_000_000;
    const src = i % 3 === 0 ? labelers.web : labelers.careful;
    return event(at, {
      uri: uriOf(i),
      val: i % 7 === 0 ? 'rude' : 'spam',
      src,
      ...(i % 41 === 0 ? { neg: true } : {}),
    });
  });
}
