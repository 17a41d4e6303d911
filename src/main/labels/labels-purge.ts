import { formatMicros, formatTimestamp } from '../../contract/timestamp.ts';
import { changeDenyFile, requireDenyList } from '../../labels/operator/deny-file.ts';
import { parseDenyTarget } from '../../labels/operator/deny-target.ts';
import { OperatorError } from '../../ops/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { Purge } from '../../store/removals.ts';
import { type LabelsAction, storeFolder } from './labels-action.ts';
import { opened } from './opened-store.ts';

/** Requests the removal of all rows of denied labelers; without an operand, shows the progress of purges. */
export const purge: LabelsAction = async ({ store: url, state }, print, operands) => {
  const folder = storeFolder({ store: url, state });
  const dids = operands.map(didOf);
  if (dids.length > 0) await request(folder, dids, await purgesOf(url));
  const { entries } = await requireDenyList(folder);
  const known = new Map((await purgesOf(url)).map((one) => [one.source, one]));
  const lines = entries.flatMap(({ target, purge: requested }) => {
    if (target.kind !== 'did' || requested === null) return [];
    const found = known.get(target.did);
    known.delete(target.did);
    return [`${target.did} requested ${requested}: ${found ? progress(found) : 'waiting for a running instrument'}`];
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

/** Throws OperatorError while a labeler's rows are being purged, because the purge would also remove new rows. */
export async function refuseWhileRemoved(url: string, did: string): Promise<void> {
  const [pending] = (await purgesOf(url)).filter(({ source, completedAt }) => source === did && completedAt === null);
  if (!pending) return;
  throw new OperatorError(
    `rows of ${did} are still being removed (stored days to process: ${pending.daysLeft}); ` +
      'allow this labeler after almanac labels purge reports completion',
  );
}

async function request(folder: string, dids: readonly string[], purges: readonly Purge[]): Promise<void> {
  const at = formatTimestamp(Date.now());
  await changeDenyFile(folder, (list) =>
    dids.reduce((all, did) => {
      const entry = all.entryOf({ kind: 'did', did });
      if (!entry)
        throw new OperatorError(
          `${did} is not denied, so its rows would be read again; first run almanac labels deny ${did}`,
        );
      const pending = purges.every(({ source, completedAt }) => source !== did || completedAt === null);
      return all.with({ ...entry, purge: entry.purge !== null && pending ? entry.purge : at });
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

async function purgesOf(url: string): Promise<Purge[]> {
  const store = await opened(url, () => openStoreReader(url));
  try {
    return await store.purges();
  } finally {
    await store.close();
  }
}
