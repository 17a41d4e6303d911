import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { artifactNames } from '../../artifact/write.ts';
import { formatMicros, formatTimestamp, type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import {
  changeDenyFile,
  type DenyEntry,
  DenyList,
  denyLimits,
  parseDenyOperand,
  parseDenyTarget,
  requireDenyList,
  targetText,
} from '../../labels/operator/deny-file.ts';
import { holdPath, readHold, releaseHold, setHold } from '../../labels/operator/hold.ts';
import { OperatorError } from '../../ops/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { StoreReader } from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type LabelsAction, opened, storeFolder } from './labels-action.ts';

/**
 * Withholds the label facts from publication for the given reason. Rejects with OperatorError if no reason is given
 * or the artifact directory does not exist.
 */
const hold: LabelsAction = async ({ artifacts, reason }, print) => {
  if (reason === null || reason.trim() === '') {
    throw new OperatorError('hold requires a reason: almanac labels hold --reason "…"');
  }
  assertFolder(artifacts);
  const before = await readHold(artifacts);
  await setHold(artifacts, artifactNames.labels, { reason, since: formatTimestamp(Date.now()) });
  if (before !== null) print(`replaces the hold since ${before.since || 'an unknown time'}: ${before.reason}`);
  print(`the label facts of ${artifacts} are held; almanac labels release ends the hold`);
  if (!existsSync(join(artifacts, artifactNames.labels)))
    print(`no ${artifactNames.labels} exists there yet: is it the directory that the facts API reads?`);
  return 0;
};

/** Ends a hold, so that the label facts are published again. */
const release: LabelsAction = async ({ artifacts }, print) => {
  assertFolder(artifacts);
  const released = await releaseHold(artifacts, artifactNames.labels);
  print(released ? `the label facts of ${artifacts} are released` : `the label facts of ${artifacts} were not held`);
  return 0;
};

/**
 * Throws if the directory does not exist, because a hold in a directory with a mistyped name would have no effect. Also
 * throws if root would replace the artifact of another user, who could not replace root's file in a sticky directory.
 */
function assertFolder(artifacts: string): void {
  if (statSync(artifacts, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new OperatorError(`${artifacts} is not a directory; set the artifact directory with --artifacts`);
  const path = join(artifacts, artifactNames.labels);
  const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.getuid?.() !== 0 || uid === 0) return;
  // In a sticky directory, that user could not delete a hold of root.
  const held = holdPath(artifacts);
  const first = statSync(held, { throwIfNoEntry: false })?.uid === 0 ? `delete ${held}, then ` : '';
  throw new OperatorError(`${path} belongs to the user ${uid}: ${first}run this command as that user`);
}

/** Maximum number of labelers listed below a denied domain, which may have thousands. */
const maxNamed = 10;

/** Denies labelers by DID or domain; without an operand, lists the denials. */
const deny: LabelsAction = async ({ store: url, state, reason }, print, operands) => {
  const folder = storeFolder({ store: url, state });
  if (operands.length === 0) {
    list(await requireDenyList(folder), print);
    return 0;
  }
  if (reason !== null && reason.length > denyLimits.reasonLength) {
    throw new OperatorError(`--reason takes at most ${denyLimits.reasonLength} characters`);
  }
  const targets = operands.map(parseDenyOperand);
  const since = formatTimestamp(Date.now());
  const { before } = await changeDenyFile(folder, (denied) =>
    targets.reduce((all, target) => {
      const old = all.entryOf(target);
      // Keep the time of an existing denial, because the gap of the denial began at that time.
      return all.with({
        target,
        reason: reason ?? old?.reason ?? null,
        since: old?.since ?? since,
        purge: old?.purge ?? null,
      });
    }, denied),
  );
  const known = await knownLabelers(url);
  for (const target of targets) {
    print(`${targetText(target)} ${before.entryOf(target) ? 'was already denied' : 'is denied'}`);
    if (known !== null) printMatches(new DenyList([{ target, reason: null, since, purge: null }]), known, print);
  }
  print('a running instrument stops reading denied labelers within 10 s; almanac labels allow ends a denial');
  return 0;
};

/**
 * Removes the denials of the given DIDs or domains, so that their labelers may be read again. Rejects with
 * OperatorError if no operand is given, or until the requested purge of one of these labelers is completed.
 */
const allow: LabelsAction = async ({ store: url, state }, print, operands) => {
  if (operands.length === 0)
    throw new OperatorError('allow requires a DID or a domain: almanac labels allow DID-or-domain');
  const folder = storeFolder({ store: url, state });
  const targets = operands.map(parseDenyOperand);
  const { before, after } = await changeDenyFile(folder, async (denied) => {
    const entries = targets.map((target) => denied.entryOf(target)).filter((entry) => entry !== null);
    await refuseWhileRemoved(url, entries);
    return targets.reduce((all, target) => all.without(target), denied);
  });
  const known = (await knownLabelers(url)) ?? [];
  for (const target of targets) {
    print(`${targetText(target)} ${before.entryOf(target) ? 'is allowed' : 'was not denied'}`);
    if (target.kind !== 'did') continue;
    const row = known.find(({ did }) => did === target.did);
    const still = after.entryFor({ did: target.did, endpoint: row?.endpoint ?? null });
    if (still) print(`  it is still denied by ${targetText(still.target)}`);
  }
  return 0;
};

function list({ entries }: DenyList, print: (line: string) => void): void {
  if (entries.length === 0) print('no labeler is denied');
  for (const entry of entries) print(describe(entry));
}

function describe({ target, since, reason, purge }: DenyEntry): string {
  const removal = purge === null ? '' : `, removal of its rows requested ${purge}`;
  return `${targetText(target)} since ${since}${removal}${reason === null ? '' : `: ${oneLine(reason)}`}`;
}

/** Returns a reason as one line, with control characters escaped. */
function oneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function printMatches(denied: DenyList, known: readonly RosterRow[], print: (line: string) => void): void {
  const matching = known.filter((row) => denied.entryFor(row) !== null);
  if (matching.length === 0) {
    print('  no known labeler matches');
    return;
  }
  for (const { did, endpoint } of matching.slice(0, maxNamed))
    print(`  ${did}${endpoint === null ? '' : ` at ${endpoint}`}`);
  if (matching.length > maxNamed) print(`  and ${matching.length - maxNamed} more`);
}

/**
 * Returns the labelers in the store, or null if the store cannot be read. A denial takes effect even if the store is
 * unreadable.
 */
async function knownLabelers(url: string): Promise<readonly RosterRow[] | null> {
  try {
    return await readStore(url, (store) => store.roster());
  } catch {
    return null;
  }
}

/** Requests the removal of all rows of denied labelers; without an operand, shows the progress of purges. */
const purge: LabelsAction = async ({ store: url, state }, print, operands) => {
  const folder = storeFolder({ store: url, state });
  const dids = operands.map(didOf);
  if (dids.length > 0) await request(folder, dids, await purgeRecordsOf(url));
  const { entries } = await requireDenyList(folder);
  const { purges, floor } = await purgeRecordsOf(url);
  const known = new Map(purges.map((one) => [one.source, one]));
  const lines = entries.flatMap(({ target, purge: requested }) => {
    if (target.kind !== 'did' || requested === null) return [];
    const found = known.get(target.did);
    known.delete(target.did);
    return [`${target.did} requested ${requested}: ${found ? progress(found) : withoutRecord(requested, floor)}`];
  });
  // Also list the purges of labelers that are no longer denied, because these purges continue.
  for (const one of known.values())
    lines.push(`${one.source} requested ${formatMicros(one.requestedAt)}: ${progress(one)}`);
  for (const line of lines) print(line);
  if (lines.length === 0) print('no purge has been requested');
  if (dids.length > 0)
    print('almanac labels removes the rows while it is running; exports in progress respond with 410');
  return 0;
};

/**
 * Throws OperatorError until the requested purge of each labeler is completed, because the purge would also remove new
 * rows. A running instrument passes a request in the list to the store later, even if the entry was removed meanwhile.
 */
async function refuseWhileRemoved(url: string, entries: readonly DenyEntry[]): Promise<void> {
  const reading = readStore(url, (store) => Promise.all([store.purges(), store.frontier()]));
  // Without a request in the list, an unreadable store prevents no allowance: before the first start there is no store.
  const read = await (entries.some(({ purge }) => purge !== null) ? reading : reading.catch(() => null));
  const [purges, { floor }] = read ?? [[], { floor: 0 }];
  for (const { target, purge } of entries) {
    if (target.kind !== 'did') continue;
    const { did } = target;
    const found = purges.find(({ source }) => source === did);
    const at = parseTimestamp(purge) ?? 0;
    const then = 'allow this labeler after almanac labels purge reports completion';
    // The store accepts no request from before the retained time.
    if (at > floor && at > (found?.requestedAt ?? 0)) {
      throw new OperatorError(`the removal of the rows of ${did} (requested ${purge}) has not begun; ${then}`);
    }
    if (!found || found.completedAt !== null) continue;
    throw new OperatorError(
      `rows of ${did} are still being removed (stored days to process: ${found.daysLeft}); ${then}`,
    );
  }
}

async function request(folder: string, dids: readonly string[], { purges, floor }: PurgeRecords): Promise<void> {
  const at = formatTimestamp(Date.now());
  await changeDenyFile(folder, (list) =>
    dids.reduce((all, did) => {
      const entry = all.entryOf({ kind: 'did', did });
      if (!entry)
        throw new OperatorError(
          `${did} is not denied, so its rows would be read again; first run almanac labels deny ${did}`,
        );
      const found = purges.find(({ source }) => source === did);
      const isPending = found ? found.completedAt === null : !isExpired(entry.purge, floor);
      return all.with({ ...entry, purge: entry.purge !== null && isPending ? entry.purge : at });
    }, list),
  );
}

function didOf(operand: string): string {
  const target = parseDenyTarget(operand);
  if (target.kind === 'did') return target.did;
  throw new OperatorError(`purge requires a DID; ${target.domain} is a domain`);
}

function progress({ completedAt, rows, daysLeft }: Purge): string {
  if (completedAt !== null) return `completed ${formatMicros(completedAt)}, ${rows} rows removed`;
  return `${daysLeft} stored days to process, ${rows} rows removed`;
}

/** Describes a request that is in the list of denied labelers, but not in the store. */
function withoutRecord(requested: string, floor: Micros): string {
  if (!isExpired(requested, floor)) return 'waiting for a running instrument';
  return 'completed or expired; the store contains no rows from before the request';
}

/**
 * Returns true if a request is from before the retained time. The store accepts no such request, and no longer records
 * the completion of an earlier one.
 */
function isExpired(requested: string | null, floor: Micros): boolean {
  return (parseTimestamp(requested) ?? 0) <= floor;
}

/** Purges that the store records, and the start of the retained time. */
interface PurgeRecords {
  readonly purges: readonly Purge[];
  readonly floor: Micros;
}

function purgeRecordsOf(url: string): Promise<PurgeRecords> {
  return readStore(url, async (store) => {
    const [purges, { floor }] = await Promise.all([store.purges(), store.frontier()]);
    return { purges, floor };
  });
}

/** Reads from a store. Converts a StoreError to an OperatorError. */
function readStore<T>(url: string, work: (store: StoreReader) => Promise<T>): Promise<T> {
  return opened(url, async () => {
    const store = await openStoreReader(url);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  });
}

/** Actions of `almanac labels` with which the operator withholds the facts, and denies labelers and removes their rows. */
export const operatorActions = { hold, release, deny, allow, purge };
