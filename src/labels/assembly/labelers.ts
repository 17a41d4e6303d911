import type { Micros } from '../../contract/timestamp.ts';
import type { Resolve } from '../../network/guard/address-policy.ts';
import type { DirectoryOperation } from '../../network/identity/did-document.ts';
import { errorFields } from '../../ops/log.ts';
import type { Position, StoreWriter } from '../../store/port.ts';
import type { Definitions, DirectoryPosition } from '../../store/roster.ts';
import { wait } from '../clock/clock.ts';
import { DirectoryStream } from '../discovery/directory-stream.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import type { RefusedMemory } from '../ingest/refused-memory.ts';
import { Denials } from '../operator/denials.ts';
import type { DenyEntry } from '../operator/deny-file.ts';
import { SourceRunner } from '../reading/source-runner.ts';
import { type RepeatMemory, repeatsName } from '../repeats/repeats.ts';
import { type KnownLabeler, Reachability } from '../roster/known-labeler.ts';
import { LabelerMetadata } from '../roster/labeler-metadata.ts';
import { Roster } from '../roster/roster.ts';
import { type ServiceEvent, ServiceEvents } from '../roster/service-events.ts';
import { GroupedCommits } from '../shares/commits.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import { definitionShares } from '../shares/fair-queue.ts';
import type { FilledIn } from '../state/filled-in.ts';
import { readPosition } from '../state/reading-events.ts';
import type { Foundation } from './foundation.ts';
import { numberNote } from './heartbeat.ts';
import type { Preconditions } from './preconditions.ts';

/** Parts that follow labelers: the roster, the denials, the records and the readers. */
export interface Labelers {
  readonly roster: Roster;
  readonly runner: SourceRunner;
  readonly denials: Denials;
  readonly metadata: LabelerMetadata;
  /** Reader of the Jetstream, or null if no Jetstream is configured. */
  readonly services: ServiceEvents | null;
  /** Reader of the directory's stream. */
  readonly operations: DirectoryOperations;
  readonly reachability: Reachability;
  /** Adds a labeler named by the seeds file, a relay or a stream, unless its DID is denied. */
  readonly add: Roster['add'];
  readonly stored: DefinitionsStored;
}

/** Reports each newly stored revision of a labeler's definitions to a receiver that is set later. */
class DefinitionsStored {
  /** Called with the labeler's DID. */
  notify: (did: string) => void = () => undefined;
}

/** Parts that `definitionCommits` uses. */
interface CommittingParts {
  readonly store: Pick<StoreWriter, 'putDefinitions'>;
  readonly shares: Pick<Foundation['shares'], 'shareOf'>;
}

/**
 * Creates the queue in which labelers' definitions wait for their commit. Does not store definitions of a labeler that
 * is no longer known when its turn comes; their result is false.
 */
export function definitionCommits(
  { store, shares }: CommittingParts,
  isKnown: (did: string) => boolean,
  signal: AbortSignal,
): GroupedCommits<Definitions, boolean> {
  const { shareOf } = shares;
  return new GroupedCommits({
    ...{ wait, signal, bytesOf: ({ content }) => Buffer.byteLength(content), shareOf: ({ did }) => shareOf(did) },
    commit: async (changes) => {
      // A labeler may be evicted while its definitions wait. Nothing would remove definitions that are stored afterwards.
      const known = changes.filter(({ did }) => isKnown(did));
      const added = known.length > 0 ? await store.putDefinitions(known, definitionShares(shareOf)) : [];
      const results = new Map(known.map((change, i) => [change, added[i] ?? false]));
      return changes.map((change) => results.get(change) ?? false);
    },
  });
}

/**
 * Creates the parts that follow labelers; no labeler is read yet. Calls `fail` if a reader fails because of the store.
 */
export async function createLabelers(
  base: Foundation,
  ports: ReaderPorts,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<Labelers> {
  const { settings, store, clocks, log, telemetry, outbound, shares, signatures, keyChanges, preconditions, purges } =
    base;
  const { resolveTxt = outbound.resolveTxt } = base;
  const { http, identities } = outbound;
  const clock = clocks.wall;
  const runner = new SourceRunner(ports, signal, fail, settings.maxLabelers);
  const roster: Roster = new Roster({
    ...{ identities, clock, wait },
    ...{ refreshMs: 86_400_000, retryMs: settings.timings.documentRetryMs, freshMs: 60_000 },
    lookupDelays: settings.timings.lookupDelays,
    mayResolve: (did) => !denials.deniesDid(did),
    waits: (labeler) => runner.waits(labeler),
    changed: (labeler) => {
      signatures.forget(labeler.did);
      // An eviction removes the stored keys.
      keyChanges.forget(labeler.did);
      denials.judge(labeler);
      follow(labeler);
    },
  });
  const denials: Denials = new Denials({
    ...{ folder: settings.folder, store, clock, log, telemetry, purges },
    labelers: () => roster.labelers,
    lifted: (entries) =>
      addAllowed(entries, { seeds: settings.seeds, isKnown: (did) => roster.labeler(did) !== undefined, add }),
    changed: (labeler) => follow(labeler),
  });
  const stored = new DefinitionsStored();
  const metadata = new LabelerMetadata({
    ...{ http, identities, clock, wait, log, shareOf: shares.shareOf, resolveTxt },
    revisions: definitionCommits(base, (did) => roster.labeler(did) !== undefined, signal),
    labeler: (did) => {
      const labeler = roster.labeler(did);
      return labeler?.denied ? undefined : labeler;
    },
    definitionsStored: (did) => stored.notify(did),
    sourceFailed: (part) => telemetry.sourceFailed(part),
    timeoutMs: settings.timings.requestMs,
  });
  const follow = (labeler: KnownLabeler): void => followLabeler(labeler, { roster, runner, metadata, cap: shares.cap });
  const add: Roster['add'] = (did, origin, provenance) => {
    if (roster.labeler(did) || !denials.deniesDid(did)) roster.add(did, origin, provenance);
  };
  const named = { add, documentChanged: (did: string) => roster.documentChanged(did) };
  const services = await labelerEvents({ ...base, resolve: outbound.resolveOwn }, named, metadata, preconditions);
  const operations = await directoryOperations(base, named);
  const parts = { roster, runner, denials, metadata, services, operations };
  return { ...parts, reachability: new Reachability(log), add, stored };
}

/** Parts that `addAllowed` uses. */
interface AddingParts {
  readonly seeds: readonly string[];
  readonly isKnown: (did: string) => boolean;
  readonly add: Roster['add'];
}

/**
 * Adds the labelers that were not added because they were denied: the seeds, and unknown labelers whose DID the operator
 * allowed. The places that named the latter may not name them again.
 */
export function addAllowed(entries: readonly DenyEntry[], { seeds, isKnown, add }: AddingParts): void {
  for (const did of seeds) add(did, 'seeded', 'seeds');
  for (const { target } of entries) {
    if (target.kind === 'did' && !isKnown(target.did)) add(target.did, 'discovered', 'operator');
  }
}

/** Parts that `followLabeler` updates. */
interface FollowingParts {
  readonly roster: Pick<Roster, 'labeler'>;
  readonly runner: Pick<SourceRunner, 'follow'>;
  readonly metadata: Pick<LabelerMetadata, 'resolved' | 'forget' | 'left'>;
  readonly cap: Pick<DailyCap, 'forget'>;
}

/**
 * Starts, moves or ends the reading of a labeler and the fetches of its metadata. Must be called after the labeler's
 * document was read, after it was denied or allowed, and after the roster evicted it. Discards what is kept of an
 * evicted labeler, except its usage of the day and that an error was logged, because anyone can create any number of
 * labelers.
 */
export function followLabeler(labeler: KnownLabeler, { roster, runner, metadata, cap }: FollowingParts): void {
  const { did, denied, endpoint } = labeler;
  runner.follow(labeler);
  if (denied || endpoint === null) cap.forget(did);
  if (roster.labeler(did) !== labeler) metadata.left(did);
  else if (denied) metadata.forget(did);
  else metadata.resolved(labeler);
}

/** Reader of the directory's stream, which runs while the instrument observes. */
interface DirectoryOperations {
  /** Position to resume from, or null before the first operation. */
  readonly position: DirectoryPosition | null;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Creates a reader that follows the directory's stream from the position of the last run. The reader adds accounts
 * that declare a labeler service, even without a labeler record, and reads the documents of known labelers again.
 * Added accounts are subject to the same limits as labelers named by relays or the Jetstream.
 */
async function directoryOperations(
  { settings, store, policy, outbound, random, log }: Foundation,
  roster: Pick<Roster, 'add' | 'documentChanged'>,
): Promise<DirectoryOperations> {
  const { plc: directory, userAgent } = settings;
  const { host } = new URL(directory);
  const position = await store.directoryPosition(host);
  const stream = new DirectoryStream({
    ...{ directory, policy, userAgent, random, wait, log, position },
    ...{ resolve: outbound.resolveOwn, http: outbound.directory, onOperation: operationHandler(roster, host) },
  });
  return {
    get position() {
      return stream.position === null ? null : { host, seq: stream.position };
    },
    run: (signal) => stream.run(signal),
  };
}

/** Creates the handler for operations from the directory on `host`. */
export function operationHandler(
  roster: Pick<Roster, 'add' | 'documentChanged'>,
  host: string,
): (operation: Pick<DirectoryOperation, 'did' | 'isLabeler'>) => void {
  return ({ did, isLabeler }) => {
    if (isLabeler) roster.add(did, 'discovered', `directory ${host}`);
    // Even a new labeler needs this call, because a replica of the directory may have the operation later.
    roster.documentChanged(did);
  };
}

/** Name of the store's note that holds the Jetstream cursor. */
export const cursorNote = 'jetstream-cursor';

/** Dependencies of `labelerEvents`. */
interface LabelerEventsOptions extends Pick<Foundation, 'policy' | 'random' | 'clocks' | 'log'> {
  readonly settings: Pick<Foundation['settings'], 'jetstream' | 'userAgent'>;
  readonly store: Pick<StoreWriter, 'note'>;
  readonly resolve: Resolve;
}

/**
 * Creates a follower of labelers' records on the Jetstream, without connecting it. Returns null if no Jetstream is
 * configured.
 */
export async function labelerEvents(
  { settings, store, policy, resolve, random, clocks, log }: LabelerEventsOptions,
  roster: Pick<Roster, 'add' | 'documentChanged'>,
  metadata: Pick<LabelerMetadata, 'written'>,
  preconditions: Pick<Preconditions, 'onUpstreamTime'>,
): Promise<ServiceEvents | null> {
  const { jetstream, userAgent } = settings;
  if (jetstream === null) return null;
  const onEvent = (event: ServiceEvent): void => {
    if (event.kind === 'service') roster.add(event.did, 'discovered', 'jetstream');
    // Even a new labeler needs this call, because the event may precede the document.
    roster.documentChanged(event.did);
    if (event.kind !== 'service' || event.definitions === null) return;
    metadata
      .written(event.did, event.definitions)
      .catch((error: unknown) => log.warn('the label definitions of a labeler were not stored', errorFields(error)));
  };
  return new ServiceEvents({
    ...{ jetstream, policy, userAgent, resolve, random, wait, log, onEvent },
    ...{ clock: clocks.wall, monotonic: clocks.monotonic },
    onUpstreamTime: (milliseconds) => preconditions.onUpstreamTime(milliseconds),
    cursor: await numberNote(store, cursorNote),
  });
}

/** The parts of the instrument that resume from the stored state. */
interface Readers {
  readonly roster: Pick<Roster, 'load' | 'labeler'>;
  readonly runner: Pick<SourceRunner, 'keep'>;
  readonly reachability: Pick<Reachability, 'load'>;
}

/** Memory that is stored together with the positions, under names of its own. */
interface LoadedMemory {
  readonly repeats: Pick<RepeatMemory, 'load'>;
  readonly filledIn: Pick<FilledIn, 'load'>;
}

/** Loads the state of the last run: the labelers, the position of each source, and recently refused rows. */
export async function loadRoster(
  store: Pick<StoreWriter, 'positions' | 'refusedRows' | 'roster'>,
  { roster, runner, reachability }: Readers,
  { refused, repeats, filledIn }: LoadedMemory & { readonly refused: Pick<RefusedMemory, 'load'> },
  now: Micros,
): Promise<void> {
  // Load the counts before the positions: while a standby reads, another process writes, and the counts must not
  // include rows after the positions.
  for (const rows of await store.refusedRows()) refused.load(rows);
  const texts: Parameters<RepeatMemory['load']>[] = [];
  const later: Pick<RepeatMemory, 'load'> = {
    load: (...text) => text[1] === repeatsName && texts.push(text) > 0,
  };
  const answered = loadPositions(await store.positions(), runner, { repeats: later, filledIn });
  const rows = await store.roster();
  roster.load(rows, answered);
  // Load the repeats after the roster, because the priority of a source decides which repeats are forgotten.
  for (const text of texts) repeats.load(...text);
  reachability.load(rows, (did) => roster.labeler(did), now);
}

/** Loads stored positions, repeats and catch-ups. Returns the time of the last accepted page of each source. */
export function loadPositions(
  stored: readonly Position[],
  runner: Pick<SourceRunner, 'keep'>,
  { repeats, filledIn }: LoadedMemory,
): Map<string, Micros> {
  const answered = new Map<string, Micros>();
  for (const { source, endpoint, value, acceptedAt } of stored.toSorted((a, b) => a.acceptedAt - b.acceptedAt)) {
    if (repeats.load(source, endpoint, value) || filledIn.load(source, endpoint, value)) continue;
    answered.set(source, Math.max(answered.get(source) ?? 0, acceptedAt) as Micros);
    const position = readPosition(value);
    if (position) runner.keep(source, endpoint, position);
  }
  return answered;
}
