const aliases = [
  'post',
  'like',
  'repost',
  'follow',
  'block',
  'listitem',
  'profile',
  'threadgate',
  'postgate',
  'actor_status',
] as const;
const operations = ['create', 'update', 'delete'] as const;
const writes = ['create', 'update'] as const;
const embeds = ['images', 'external', 'record', 'recordWithMedia', 'video', 'gallery', 'other'] as const;

/** Short name of a tracked collection. */
type Alias = (typeof aliases)[number];
/** Operation of a commit on a record. */
export type Operation = (typeof operations)[number];
/** Embed types that have metrics of their own. */
export type EmbedAlias = (typeof embeds)[number];
/** Name of a metric that the simulated network counts. */
export type MetricName =
  | `${Alias}.${Operation}`
  | `post.${(typeof writes)[number]}.${'reply' | 'quote'}`
  | `post.${(typeof writes)[number]}.embed.${EmbedAlias}`
  | 'identity.event'
  | 'account.event'
  | `account.active.${'true' | 'false' | 'unknown'}`
  | `account.status.${'deleted' | 'deactivated' | 'takendown' | 'suspended' | 'other'}`
  | 'unclassified.kind'
  | 'unclassified.operation'
  | 'untracked.collection'
  | 'malformed.collection'
  | 'malformed.commit'
  | 'sync.event';

/** Short names of the tracked collections, by NSID. */
export const trackedCollections: ReadonlyMap<string, Alias> = new Map([
  ['app.bsky.feed.post', 'post'],
  ['app.bsky.feed.like', 'like'],
  ['app.bsky.feed.repost', 'repost'],
  ['app.bsky.graph.follow', 'follow'],
  ['app.bsky.graph.block', 'block'],
  ['app.bsky.graph.listitem', 'listitem'],
  ['app.bsky.actor.profile', 'profile'],
  ['app.bsky.feed.threadgate', 'threadgate'],
  ['app.bsky.feed.postgate', 'postgate'],
  ['app.bsky.actor.status', 'actor_status'],
]);

/** Short names of the embeds, by the `$type` in a record. */
export const embedTypes: ReadonlyMap<string, EmbedAlias> = new Map(
  embeds.filter((alias) => alias !== 'other').map((alias) => [`app.bsky.embed.${alias}`, alias] as const),
);

/** Names of all 64 metrics that the simulated network counts. */
export const metricNames: readonly MetricName[] = [
  ...aliases.flatMap((alias) => operations.map((operation) => `${alias}.${operation}` as const)),
  ...writes.flatMap((write) => (['reply', 'quote'] as const).map((shape) => `post.${write}.${shape}` as const)),
  ...writes.flatMap((write) => embeds.map((embed) => `post.${write}.embed.${embed}` as const)),
  'identity.event',
  'account.event',
  'account.active.true',
  'account.active.false',
  'account.active.unknown',
  'account.status.deleted',
  'account.status.deactivated',
  'account.status.takendown',
  'account.status.suspended',
  'account.status.other',
  'unclassified.kind',
  'unclassified.operation',
  'untracked.collection',
  'malformed.collection',
  'malformed.commit',
  'sync.event',
];

/** Meaning of a frame for a counting consumer: its outcome, and the metrics that it increments. */
export interface Species {
  /**
   * Outcome of the frame. An `event` has a usable time. A frame with the outcome `not_json` or `no_time` cannot be
   * assigned to a time. A `resync` repeats a record of a repository, after a `sync` or in a
   * download, and is not a new action.
   */
  readonly outcome: 'event' | 'not_json' | 'no_time' | 'resync';
  /** True if the legacy protocol does not send frames of this species. */
  readonly methodOnly?: true;
  /** Collection that filters match; null if every filter by collection admits the species. */
  readonly collection: string | null;
  readonly metrics: readonly MetricName[];
}
