/** The closed vocabulary of the weather instrument: the classifier represents an event only by these names. */
export const tracked = {
  /** Collections that are counted separately, by short name, with their NSIDs. */
  collections: [
    ['post', 'app.bsky.feed.post'],
    ['like', 'app.bsky.feed.like'],
    ['repost', 'app.bsky.feed.repost'],
    ['follow', 'app.bsky.graph.follow'],
    ['block', 'app.bsky.graph.block'],
    ['listitem', 'app.bsky.graph.listitem'],
    ['profile', 'app.bsky.actor.profile'],
    ['threadgate', 'app.bsky.feed.threadgate'],
    ['postgate', 'app.bsky.feed.postgate'],
    ['actor_status', 'app.bsky.actor.status'],
  ] as const,
  /** Operations of a commit. */
  operations: ['create', 'update', 'delete'] as const,
  /** Embeds that are counted separately, with their `$type`; any other embed is `other`. */
  embeds: [
    ['images', 'app.bsky.embed.images'],
    ['external', 'app.bsky.embed.external'],
    ['record', 'app.bsky.embed.record'],
    ['recordWithMedia', 'app.bsky.embed.recordWithMedia'],
    ['video', 'app.bsky.embed.video'],
    ['gallery', 'app.bsky.embed.gallery'],
  ] as const,
  /** Account statuses that are counted separately; any other status is `other`. */
  statuses: ['deleted', 'deactivated', 'takendown', 'suspended'] as const,
};

type Alias = (typeof tracked.collections)[number][0];
type Operation = (typeof tracked.operations)[number];
type Embed = (typeof tracked.embeds)[number][0] | 'other';
type Shape = 'reply' | 'quote' | `embed.${Embed}`;

/** Name of one counted property of events. */
type MetricName =
  | `${Alias}.${Operation}`
  | `post.${'create' | 'update'}.${Shape}`
  | 'identity.event'
  | 'account.event'
  | `account.active.${'true' | 'false' | 'unknown'}`
  | `account.status.${(typeof tracked.statuses)[number] | 'other'}`
  | 'unclassified.kind'
  | 'unclassified.operation'
  | 'untracked.collection'
  | 'malformed.collection'
  | 'malformed.commit'
  | 'sync.event';

const embeds = [...tracked.embeds.map(([alias]) => alias), 'other'] as const;
const shapes: readonly Shape[] = ['reply', 'quote', ...embeds.map((embed) => `embed.${embed}` as const)];

/**
 * All metric names. The classifier computes an index as collection * operations + operation. The window store has one
 * column for each name, so a new name requires a new layout version and a migration. The order is: collections by
 * operation, the shapes of created posts, the shapes of updated posts, and the remaining names.
 */
export const metricNames: readonly MetricName[] = Object.freeze([
  ...tracked.collections.flatMap(([alias]) => tracked.operations.map((operation) => `${alias}.${operation}` as const)),
  ...shapes.map((shape) => `post.create.${shape}` as const),
  ...shapes.map((shape) => `post.update.${shape}` as const),
  'identity.event',
  'account.event',
  'account.active.true',
  'account.active.false',
  'account.active.unknown',
  ...tracked.statuses.map((status) => `account.status.${status}` as const),
  'account.status.other',
  'unclassified.kind',
  'unclassified.operation',
  'untracked.collection',
  'malformed.collection',
  'malformed.commit',
  'sync.event',
]);

/** Index of each name in `metricNames`. */
export const metricIndex: Readonly<Record<MetricName, number>> = Object.freeze(
  Object.fromEntries(metricNames.map((name, index) => [name, index])) as Record<MetricName, number>,
);
