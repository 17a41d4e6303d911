import { expect, it } from 'vitest';
import { metricIndex, metricNames } from './metric-names.ts';

/**
 * The window store has one column for each name, so changing the names requires a new layout version and a migration.
 */
const frozen = `
post.create post.update post.delete
like.create like.update like.delete
repost.create repost.update repost.delete
follow.create follow.update follow.delete
block.create block.update block.delete
listitem.create listitem.update listitem.delete
profile.create profile.update profile.delete
threadgate.create threadgate.update threadgate.delete
postgate.create postgate.update postgate.delete
actor_status.create actor_status.update actor_status.delete
post.create.reply post.create.quote
post.create.embed.images post.create.embed.external post.create.embed.record post.create.embed.recordWithMedia
post.create.embed.video post.create.embed.gallery post.create.embed.other
post.update.reply post.update.quote
post.update.embed.images post.update.embed.external post.update.embed.record post.update.embed.recordWithMedia
post.update.embed.video post.update.embed.gallery post.update.embed.other
identity.event account.event
account.active.true account.active.false account.active.unknown
account.status.deleted account.status.deactivated account.status.takendown account.status.suspended account.status.other
unclassified.kind unclassified.operation untracked.collection malformed.collection malformed.commit sync.event
`;

it('the metric names are 64 names in a frozen order', () => {
  expect(metricNames).toEqual(frozen.trim().split(/\s+/));
  expect(new Set(metricNames).size).toBe(64);
  expect(Object.isFrozen(metricNames)).toBe(true);
});

it('metricIndex contains the index of each name', () => {
  expect(metricIndex).toEqual(Object.fromEntries(metricNames.map((name, index) => [name, index])));
});
