/** Expected metrics of the 152 events in `production_v1.jsonl`. Every other metric is 0. */
export const productionCounts: Readonly<Record<string, number>> = {
  'post.create': 17,
  'post.create.reply': 8,
  'post.create.embed.external': 3,
  'post.create.embed.images': 2,
  'post.delete': 1,
  'like.create': 105,
  'repost.create': 15,
  'follow.create': 6,
  'follow.delete': 3,
  'block.create': 1,
  'actor_status.update': 1,
  'identity.event': 1,
  'account.event': 1,
  'account.active.true': 1,
  'untracked.collection': 1,
};
