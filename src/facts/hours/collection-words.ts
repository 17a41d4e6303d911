import type { CollectionName } from '../../contract/vocabulary.ts';

/** Names of collections for readers, in the order of the contract. */
export const collectionWords: Readonly<Record<CollectionName, string>> = {
  'post.create': 'Posts',
  'post.create.reply': 'of these, replies',
  'post.create.quote': 'of these, quotes',
  'post.delete': 'Posts deleted',
  'like.create': 'Likes',
  'like.delete': 'Likes removed',
  'repost.create': 'Reposts',
  'repost.delete': 'Reposts removed',
  'follow.create': 'Follows',
  'follow.delete': 'Unfollows',
  'block.create': 'Blocks',
  'block.delete': 'Blocks lifted',
  'listitem.create': 'Added to lists',
  'listitem.delete': 'Removed from lists',
  'profile.update': 'Profiles changed',
  'identity.event': 'Identity events',
  'account.event': 'Account events',
};
