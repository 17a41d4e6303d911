import { hash } from '../random.ts';

/** Fields of a label without its signature. An odd label may have arbitrary fields. */
export type LabelFields = Readonly<Record<string, unknown>>;

/** Reason why an instrument must refuse a label regardless of its dates. */
export type Flaw = 'foreign' | 'malformed' | 'oversized' | 'space_uri';

/** Names of all label oddities. */
export const oddKinds = [
  'foreign',
  'malformed',
  'oversized',
  'huge',
  'undated',
  'pre_epoch',
  'late',
  'future',
  'duplicate',
  'space_uri',
  'odd_value',
  'unknown_field',
  'expired',
  'unsigned',
  'bad_signature',
  'high_s',
] as const;
/** Name of a label oddity. */
export type OddKind = (typeof oddKinds)[number];

/** The ordinary label that is made odd, and the parameters of the oddity. */
interface OddContext {
  readonly kind: OddKind;
  /** Fields of the ordinary label. */
  readonly fields: LabelFields;
  /** Number of the label. It selects the variant of the oddity. */
  readonly n: number;
  /** Emission time, in milliseconds since 1970. */
  readonly emittedMs: number;
  /** Size of a label of the kind `huge`, in bytes. */
  readonly hugeBytes: number;
}

/** An odd label, and the reason why it must be refused, or null. */
interface OddLabel {
  readonly label: unknown;
  readonly flaw: Flaw | null;
}

const dayMs = 86_400_000;

/**
 * Returns the odd variant of an ordinary label. Returns the fields of duplicates and of labels with odd signatures
 * unchanged, because the log creates the duplicates and `signed` creates the signatures.
 */
export function oddLabel({ kind, fields, n, emittedMs, hugeBytes }: OddContext): OddLabel {
  const dated = (ms: number): OddLabel => ({ label: { ...fields, cts: new Date(ms).toISOString() }, flaw: null });
  const chance = hash(n, 77);
  switch (kind) {
    case 'foreign':
      return { label: { ...fields, src: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' }, flaw: 'foreign' };
    case 'malformed':
      return { label: malformed(fields, n), flaw: 'malformed' };
    case 'oversized':
      return {
        label:
          n % 2 === 0
            ? { ...fields, val: 'long-'.repeat(60) }
            : { ...fields, uri: `at://${'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'}/app.bsky.feed.post/${'x'.repeat(70_000)}` },
        flaw: 'oversized',
      };
    case 'huge':
      return { label: { ...fields, val: 'x'.repeat(hugeBytes) }, flaw: 'oversized' };
    case 'undated':
      return { label: undated(fields, n), flaw: null };
    case 'pre_epoch':
      return dated(Date.UTC(2019, 0, 1) + (chance % 1000) * dayMs);
    case 'late':
      return dated(emittedMs - 2 * dayMs - 60_000 - (chance % 1000) * 60_000);
    case 'future':
      return dated(emittedMs + 3_600_000 + (chance % 500) * dayMs);
    case 'space_uri':
      return { label: { ...fields, uri: spaceAddress(n) }, flaw: 'space_uri' };
    case 'odd_value':
      return {
        label: { ...fields, val: ['Mixed Case', 'with spaces ', 'ÜMLAUT', '!Unknown-System'][n % 4] },
        flaw: null,
      };
    case 'unknown_field':
      return { label: { ...fields, reason: 'seen twice', score: 7, tags: ['a', 'b'] }, flaw: null };
    case 'expired':
      return { label: { ...fields, exp: new Date(emittedMs - 60_000).toISOString() }, flaw: null };
    case 'duplicate':
    case 'unsigned':
    case 'bad_signature':
    case 'high_s':
      return { label: fields, flaw: null };
  }
}

/** Returns the URI of a space, or of a record in a space. Neither is public. */
function spaceAddress(n: number): string {
  const space = `at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/space/com.example.forum/3mptbypluud${n}`;
  return n % 2 === 0 ? space : `${space}/did:plc:bbbbbbbbbbbbbbbbbbbbbbbb/app.bsky.feed.post/3mptbyplj5d2a`;
}

function malformed(fields: LabelFields, n: number): unknown {
  switch (n % 7) {
    case 0:
      return { ...fields, neg: 'yes' };
    case 1:
      return without(fields, 'val');
    case 2:
      return { ...fields, val: 17 };
    case 3:
      return without(fields, 'uri');
    case 4:
      return { ...fields, uri: 'https://example.com/a-page' };
    case 5:
      return without(fields, 'src');
    default:
      return 'spam';
  }
}

function undated(fields: LabelFields, n: number): unknown {
  switch (n % 4) {
    case 0:
      return without(fields, 'cts');
    case 1:
      return { ...fields, cts: '' };
    case 2:
      return { ...fields, cts: 'yesterday' };
    default:
      return { ...fields, cts: '2026-13-41T25:61:00Z' };
  }
}

function without(fields: LabelFields, name: string): LabelFields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

/** Names of the faults that can be injected into a labeler. Odd labels have separate names. */
export const labelerFaultNames = [
  'query_answer',
  'stream_answer',
  'no_cursor',
  'unordered',
  'delay',
  'stale_page',
  'dead',
  'drop',
  'silence',
  'half_open',
  'garbage',
  'several_per_frame',
  'miss_at_cutover',
  'future_cursor',
  'outdated_cursor',
  'consumer_too_slow',
  'recreate',
  'lose_tail',
  'rotate_key',
  'sign_again',
  'move',
] as const;
/** Name of a fault or of a label oddity. */
export type LabelerFault = (typeof labelerFaultNames)[number] | OddKind;

/** Record of a labeler's fault that took effect. */
export interface LabelerFaultRecord {
  readonly fault: LabelerFault;
  /** Time on the simulated clock, in microseconds. */
  readonly atUs: number;
  /** Number of the first affected label, or null if the fault affects no label. */
  readonly fromN: number | null;
  /**
   * Number after the last affected label. Null if the fault affects no label, or if it affects all labels from `fromN`.
   */
  readonly toN: number | null;
}
