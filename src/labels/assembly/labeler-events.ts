import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { Clocks } from '../clock/clock-watch.ts';
import { wait } from '../clock/wait.ts';
import type { LabelerMetadata } from '../roster/labeler-metadata.ts';
import type { Roster } from '../roster/roster.ts';
import { followServices, type ServiceEvent, type ServiceEvents } from '../roster/service-events.ts';
import { numberNote } from './heartbeat.ts';
import type { Preconditions } from './preconditions.ts';

/** Name of the store's note that holds the Jetstream cursor. */
export const cursorNote = 'jetstream-cursor';

/** Dependencies of `labelerEvents`. */
interface LabelerEventsOptions {
  readonly settings: { readonly jetstream: string | null; readonly userAgent: string };
  readonly store: Pick<StoreWriter, 'note'>;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  readonly random: () => number;
  readonly clocks: Clocks;
  readonly log: Log;
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
  return followServices({
    jetstream,
    policy,
    userAgent,
    resolve,
    random,
    clock: clocks.wall,
    monotonic: clocks.monotonic,
    wait,
    log,
    onUpstreamTime: (milliseconds) => preconditions.onUpstreamTime(milliseconds),
    onEvent,
    cursor: await numberNote(store, cursorNote),
  });
}
