import { falseAnswers } from '../../sim/identity/directory.ts';
import type { Sim } from '../../sim/index.ts';
import { type DeclaredValues, plainDefinitions } from '../../sim/labelers/declarations.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { oddKinds } from '../../sim/labelers/odd-labels.ts';
import { type Ailment, ailments, dialects, type LabelerProfile, type Software } from '../../sim/labelers/profile.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { second } from '../../src/store/time.ts';
import { until } from '../process/until.ts';
import { type MovedClock, slowness } from './clock.ts';

/** Scripted events of a labeler during a proof, in addition to its ailment. */
export interface Role {
  readonly name: string;
  readonly profile: Partial<LabelerProfile>;
  /** Reasons of the expected gaps, in chronological order. */
  readonly gaps: readonly StoredGap['reason'][];
  /**
   * True if the fault affects a single stream. If two instruments read the labeler, the instrument with the other
   * stream can read the missed labels, and there may be no gap.
   */
  readonly affectsOneStream?: boolean;
  /** Part of the proof in which the events happen. */
  readonly act: 'waits' | 'faults' | 'outage' | 'found' | 'leaves' | 'denied' | 'none';
  /** Number of additional labels that the labeler emits before its events. */
  readonly earlier?: number;
  /** Simulates the role's events. */
  readonly happens: (labeler: Labeler, context: RoleContext) => unknown;
  /** Records that replace the labeler's first record on the second and third day. */
  readonly records?: readonly DeclaredValues[];
}

/** Objects that a role's events act on. */
export interface RoleContext {
  readonly sim: Sim;
  readonly clock: Pick<MovedClock, 'advance'>;
  /**
   * Waits until a labeler has been read up to the time of the call, and returns the number of its stored resets. Null if
   * a standby also reads the labeler, because the store does not show what a standby has read.
   */
  readonly resetsOnceRead: ((did: string) => Promise<number>) | null;
}

const softwares: readonly Software[] = ['ozone', 'skyware'];
const nothing = (): void => undefined;

/** Returns true if the role ends its labeler's enrolment during a proof. */
export function departs(role: Role | null): boolean {
  return role?.act === 'leaves' || role?.act === 'denied';
}

/** Returns a role for a labeler without an ailment. The labeler emits only the labels that the role defines. */
function well(name: string, software: Software, act: Role['act'], happens: Role['happens'], more: Partial<Role> = {}) {
  const profile = { ...quiet, software, ailment: 'none', ...more.profile } as const;
  return { name: `${name}, ${software}`, gaps: [], act, happens, ...more, profile };
}

/** Profile of a labeler without regular traffic. Separate roles cover odd labels and unordered pages. */
const quiet = { rate: 0, oddShare: 0, unordered: false, didWeb: false, seeded: true } as const;
/** Profile of a labeler without a stream, which is read by poll. */
const byPoll = { ailment: 'no_stream' } as const;
const reset: Partial<Role> = { gaps: ['cursor_reset'] };
const oneStream: Partial<Role> = { affectsOneStream: true };

/** Emits two labels with every oddity. */
function oddities({ faults }: Labeler): void {
  for (const kind of oddKinds) faults.labels(kind, { count: 2, bytes: 1_000_000 });
}

/** Returns the time after which a proof gives up waiting, in milliseconds of real time. */
const patienceMs = (): number => 60_000 * slowness();

/** Number of resets of one labeler. It exceeds the number of gaps that the artifact lists separately. */
const manyResets = 20;
/** Number of page requests after which two instruments have each detected a reset and read all pages. */
const pagesAfterReset = 12;

/**
 * Recreates the database many times. After each reset, waits until the reader has caught up, so that each reset
 * becomes a separate gap. The clock advances between resets because the reader backs off after two resets within a
 * second.
 */
async function resetOften(labeler: Labeler, { clock, resetsOnceRead }: RoleContext): Promise<void> {
  const { did } = labeler;
  for (let reset = 0; reset < manyResets; reset += 1) {
    clock.advance(2 * second);
    labeler.faults.recreate();
    labeler.faults.emit(1);
    const { edge } = labeler;
    await until('the label after a reset is read', () => labeler.served.has(edge), patienceMs());
    const { queries } = labeler;
    const isRead = async (): Promise<boolean> =>
      resetsOnceRead === null ? labeler.queries >= queries + pagesAfterReset : (await resetsOnceRead(did)) > reset;
    await until('the pages after a reset are read', isRead, patienceMs());
  }
}

/**
 * Returns a `happens` function that prepares a fault and then ends the open stream, so that the fault affects the next
 * stream.
 */
function nextStream(meets: (labeler: Labeler) => void): Role['happens'] {
  return (labeler) => {
    meets(labeler);
    labeler.faults.drop('end');
    labeler.faults.emit(2);
  };
}

function rolesOf(software: Software): Role[] {
  const stay = (name: string, happens: Role['happens'], more: Partial<Role> = {}): Role =>
    well(name, software, 'faults', happens, more);
  const start = (name: string, happens: Role['happens'], more: Partial<Role> = {}): Role =>
    stay(name, happens, { ...reset, ...more });
  return [
    stay('a connection that ends', ({ faults }) => faults.drop('end')),
    stay('a connection that is reset', ({ faults }) => faults.drop('reset')),
    stay('malformed frames', ({ faults }) => faults.garbage()),
    ...dialects.map((dialect) =>
      stay(`the dialect ${dialect}`, ({ faults }) => faults.emit(9), { profile: { dialect } }),
    ),
    stay('frames of several labels', ({ faults }) => faults.several(3)),
    stay('an endpoint that moves', ({ faults }) => faults.move()),
    stay(
      'a consumer that is too slow',
      nextStream(({ faults }) => faults.nextCursor('too_slow')),
    ),
    stay('a silent stream', ({ faults }) => faults.silence()),
    stay('a half-open stream', ({ faults }) => faults.halfOpen()),
    stay(
      'streams that are refused',
      nextStream(({ faults }) => faults.answer({ kind: 'reset' }, { on: 'stream', times: 2 })),
    ),
    stay(
      'pages that are refused',
      ({ faults }) => faults.answer({ kind: 'status', status: 503 }, { on: 'query', times: 2 }),
      { profile: byPoll },
    ),
    stay('slow pages', ({ faults }) => faults.delayed(300), { profile: byPoll }),
    stay('pages from a cache', ({ faults }) => faults.stale(3)),
    stay('pages from a cache, by poll', ({ faults }) => faults.stale(5), { profile: byPoll }),
    stay('a short outage', async ({ faults }) => {
      await faults.dead();
      faults.emit(3);
      await faults.revive();
    }),
    stay('odd labels by stream', oddities),
    stay('odd labels by poll', oddities, { profile: byPoll }),
    start(
      'a cursor in the future',
      nextStream(({ faults }) => faults.nextCursor('future')),
      oneStream,
    ),
    start(
      'a cursor that is too old',
      nextStream(({ faults }) => faults.nextCursor('outdated')),
      oneStream,
    ),
    start('a recreated database', ({ faults }) => faults.recreate()),
    start('a restored older database', ({ faults }) => faults.loseTail(2)),
    start('a recreated database, by poll', ({ faults }) => faults.recreate(), { profile: byPoll }),
    start('a restored older database, by poll', ({ faults }) => faults.loseTail(2), { profile: byPoll }),
    start(
      'labels missed between replay and live',
      nextStream(({ faults }) => faults.missAtCutover(3)),
      oneStream,
    ),
    well('a long outage', software, 'outage', ({ faults }) => faults.dead()),
    well('a long outage, by poll', software, 'outage', ({ faults }) => faults.dead(), { profile: byPoll }),
    well('found late', software, 'found', nothing, { gaps: ['not_observed'], profile: { ailment: 'no_service' } }),
  ];
}

/** Role of a labeler without a stream that is discovered late. */
const foundByPoll: Role = {
  name: 'found late, by poll',
  profile: { ...quiet, software: 'skyware', ailment: 'no_service' },
  gaps: ['not_observed'],
  act: 'found',
  happens: ({ faults }) => faults.answer({ kind: 'status', status: 501 }, { on: 'stream' }),
};

/**
 * Returns the role of a labeler that drops one value permanently, drops a second value and declares it again, and
 * adds a third value late.
 */
function redefines(): Role {
  const [kept, dropped, redeclared, late, never] = ['spam', 'rude', 'bot', 'scam', 'screenshot'] as const;
  const profile = { values: [kept, dropped, redeclared, late, never], declared: [kept, dropped, redeclared] };
  const changed = plainDefinitions([kept, redeclared, late]).map((one) => ({ ...one, severity: 'alert' }));
  return well('definitions that change', 'skyware', 'none', nothing, {
    profile,
    earlier: 90,
    records: [{ values: [kept, dropped, late] }, { values: [kept, redeclared, late], definitions: changed }],
  });
}

/** Waits until the directory's primary and a replica have answered a request for a labeler's document once more. */
async function whenAsked({ did }: Labeler, { labelers: { directory, replicas } }: Sim): Promise<void> {
  const asked = () => replicas.reduce((sum, replica) => sum + (replica.asked.get(did) ?? 0), 0);
  const [primary, before] = [directory.asked.get(did) ?? 0, asked()];
  const isAsked = (): boolean => (directory.asked.get(did) ?? 0) > primary && asked() > before;
  await until('a document is requested from the primary and a replica', isAsked, patienceMs());
}

/**
 * Returns the roles of labelers whose documents cannot be read as they are: the primary of the directory answers with
 * something else, or a cache in front of it and its replicas serve a former document. None of them may lose a label.
 */
function rolesOfDocuments(): Role[] {
  const stay = (name: string, happens: Role['happens']): Role => well(name, 'skyware', 'waits', happens);
  return [
    // The replicas have not received the labeler's service yet.
    ...falseAnswers.map((answer) =>
      stay(`a directory that answers with ${answer}`, async (labeler, { sim }) => {
        const { directory, replicas } = sim.labelers;
        for (const replica of replicas) replica.set(labeler.did, 'no_service');
        directory.set(labeler.did, answer);
        sim.labelers.announceIdentity(labeler.did);
        await whenAsked(labeler, sim);
      }),
    ),
    stay('a move that the replicas do not know', async (labeler, { sim }) => {
      const { directory, replicas } = sim.labelers;
      for (const replica of replicas) await replica.freeze(labeler.did);
      directory.set(labeler.did, 'html');
      await labeler.faults.move();
      sim.labelers.announceIdentity(labeler.did);
      await whenAsked(labeler, sim);
      directory.set(labeler.did, 'whole');
    }),
    stay('a move that a cache hides', async (labeler, { sim }) => {
      const { directory } = sim.labelers;
      const { endpoint } = labeler;
      await labeler.faults.move();
      directory.lag(labeler.did, { requests: 2, state: 'whole', endpoint });
      sim.labelers.announceIdentity(labeler.did);
      await until('the former document is requested', () => !directory.lags(labeler.did), patienceMs());
    }),
  ];
}

/** All roles of a proof. Together they cover every ailment and every fault. */
export const roles: readonly Role[] = [
  ...ailments
    .filter((ailment) => ailment !== 'none')
    .map((ailment: Ailment, at): Role => {
      const profile = { ...quiet, ailment, software: softwares[at % 2] ?? 'ozone' };
      const gaps = ailment === 'no_query' ? (['source_unavailable'] as const) : [];
      return { name: `has the ailment ${ailment}`, profile, gaps, act: 'none', happens: nothing };
    }),
  ...softwares.flatMap(rolesOf),
  well('a key that changes', 'skyware', 'faults', ({ faults }) => faults.rotateKey()),
  well('labels that are signed again with a new key', 'skyware', 'faults', ({ faults }) => faults.signAgain(4)),
  well('many labels that are signed again', 'skyware', 'faults', ({ faults }) => faults.signAgain(120), {
    earlier: 130,
  }),
  well('a document that is removed', 'skyware', 'leaves', nothing, { gaps: ['source_unavailable'] }),
  well('a labeler that the operator denies', 'skyware', 'denied', nothing, {
    gaps: ['source_unavailable'],
    earlier: 6,
  }),
  well('pages without an order', 'ozone', 'faults', ({ faults }) => faults.withoutOrder(), { profile: byPoll }),
  well('many resets, by poll', 'skyware', 'waits', resetOften, {
    // Declare few values, so that all gaps fit into the labeler's line.
    profile: { ...byPoll, values: ['spam', 'rude'] },
    gaps: Array.from({ length: manyResets }, () => 'cursor_reset'),
  }),
  redefines(),
  ...rolesOfDocuments(),
  foundByPoll,
];
