import type { Dice } from '../random.ts';
import { recordCid } from './identifiers.ts';
import type { MetricName, Operation, Species } from './metrics.ts';
import { trackedCollections } from './metrics.ts';
import { type PostShape, recordBody } from './records.ts';
import { slot } from './template.ts';
import { handle, productionJson } from './texts.ts';

/** Format of a host's Jetstream frames. */
export interface FrameStyle {
  /**
   * True if frames contain `cursor`, a sequence number, between `time_us` and `kind`, as in the second version of
   * Jetstream.
   */
  readonly seqCursors: boolean;
  /** True if the keys of the envelope and the commit are in random order; production uses a fixed order. */
  readonly variedKeys: boolean;
  /** True if frames of `subscribeEvents` have no `witnessedAt`. Default false. */
  readonly unwitnessed?: boolean;
}

/**
 * The template text of a frame, and its meaning. The text and the meaning are stated independently, so that a mistake
 * in either is detected.
 */
export interface FrameText {
  readonly text: string;
  readonly species: Species;
}

/** Keys and JSON values of properties, in the order that production uses. */
type Members = readonly (readonly [key: string, json: string])[];

const actor = `"did:plc:${slot.actor}"`;

/** Builds a frame around one property that is named after the kind. */
export function envelope(kind: string, body: string, style: FrameStyle, chance: Dice): string {
  const members: Members = [
    ['did', actor],
    ['time_us', slot.time],
    ...(style.seqCursors ? ([['cursor', slot.seq]] as const) : []),
    ['kind', productionJson(kind)],
    [kind, body],
  ];
  return object(members, style, chance);
}

/** Builds a commit frame. The shape matters only for posts. */
export function commitFrame(
  collection: string,
  operation: Operation,
  shape: PostShape,
  style: FrameStyle,
  chance: Dice,
): FrameText {
  const single = collection === 'app.bsky.actor.profile' || collection === 'app.bsky.actor.status';
  const head: Members = [
    ['rev', `"${slot.rev}"`],
    ['operation', `"${operation}"`],
    ['collection', productionJson(collection)],
    ['rkey', single ? '"self"' : `"${slot.rkey}"`],
  ];
  const cid = recordCid(chance);
  const tail: Members =
    operation === 'delete'
      ? []
      : [
          ['record', productionJson(recordBody(collection, shape, chance))],
          ['cid', `"${cid.slice(0, 20)}${slot.cid}${cid.slice(28)}"`],
        ];
  const body = object([...head, ...tail], style, chance);
  return {
    text: envelope('commit', body, style, chance),
    species: { outcome: 'event', collection, metrics: commitMetrics(collection, operation, shape) },
  };
}

function commitMetrics(collection: string, operation: Operation, { reply, embed }: PostShape): MetricName[] {
  const alias = trackedCollections.get(collection);
  if (alias === undefined) return ['untracked.collection'];
  if (alias !== 'post' || operation === 'delete') return [`${alias}.${operation}`];
  const metrics: MetricName[] = [`post.${operation}`];
  if (reply) metrics.push(`post.${operation}.reply`);
  if (embed !== null) metrics.push(`post.${operation}.embed.${embed}`);
  if (embed === 'record' || embed === 'recordWithMedia') metrics.push(`post.${operation}.quote`);
  return metrics;
}

/** Account statuses that have a metric of their own. */
const knownStatuses = ['deleted', 'deactivated', 'takendown', 'suspended'] as const;

/** Builds an account event. If `active` or `status` is null, the event lacks the key of that name. */
export function accountFrame(
  active: boolean | null,
  status: string | null,
  style: FrameStyle,
  chance: Dice,
): FrameText {
  const body = productionJson({
    ...(active === null ? {} : { active }),
    did: `did:plc:${slot.actor}`,
    seq: 30_340_000_000 + chance.below(1_000_000),
    ...(status === null ? {} : { status }),
    time: slot.created,
  });
  const metrics: MetricName[] = [
    'account.event',
    active === null ? 'account.active.unknown' : `account.active.${active}`,
  ];
  const known = knownStatuses.find((word) => word === status);
  if (status !== null) metrics.push(`account.status.${known ?? 'other'}`);
  return {
    text: envelope('account', body, style, chance),
    species: { outcome: 'event', collection: null, metrics },
  };
}

/** Builds an identity event. A third of these events contain a handle. */
export function identityFrame(style: FrameStyle, chance: Dice): FrameText {
  const body = productionJson({
    did: `did:plc:${slot.actor}`,
    ...(chance.chance(1 / 3) ? { handle: handle(chance) } : {}),
    seq: 30_340_000_000 + chance.below(1_000_000),
    time: slot.created,
  });
  return {
    text: envelope('identity', body, style, chance),
    species: { outcome: 'event', collection: null, metrics: ['identity.event'] },
  };
}

function object(members: Members, { variedKeys }: FrameStyle, chance: Dice): string {
  const ordered = variedKeys ? chance.shuffled(members) : members;
  return `{${ordered.map(([key, json]) => `"${key}":${json}`).join(',')}}`;
}
