import type { Dice } from '../random.ts';
import { blobCid, oldTid, recordCid } from './identifiers.ts';
import type { EmbedAlias } from './metrics.ts';
import { slot } from './template.ts';
import { postText, shortText } from './texts.ts';

/** Properties of a post that determine its metrics. */
export interface PostShape {
  readonly reply: boolean;
  readonly embed: EmbedAlias | null;
}

type Body = Record<string, unknown>;

/** Builds the record of a commit with realistic keys and size, and with the `$type` of its collection. */
export function recordBody(collection: string, shape: PostShape, chance: Dice): Body {
  const $type = collection;
  const createdAt = slot.created;
  switch (collection) {
    case 'app.bsky.feed.post':
      return postBody(shape, chance);
    case 'app.bsky.feed.like':
    case 'app.bsky.feed.repost':
      return {
        $type,
        createdAt,
        subject: strongRef(chance),
        ...(chance.chance(0.18) ? { via: strongRef(chance, 'app.bsky.feed.repost') } : {}),
        ...(chance.chance(0.01) ? { text: shortText(chance), embed: { $type: 'app.bsky.embed.record' } } : {}),
      };
    case 'app.bsky.graph.follow':
    case 'app.bsky.graph.block':
      return { $type, createdAt, subject: did() };
    case 'app.bsky.graph.listitem':
      return { $type, createdAt, list: uri('app.bsky.graph.list', chance), subject: did() };
    case 'app.bsky.feed.threadgate':
      return {
        $type,
        allow: [{ $type: 'app.bsky.feed.threadgate#followingRule' }],
        createdAt,
        post: uri(undefined, chance),
      };
    case 'app.bsky.feed.postgate':
      return {
        $type,
        createdAt,
        detachedEmbeddingUris: [],
        embeddingRules: [{ $type: 'app.bsky.feed.postgate#disableRule' }],
        post: uri(undefined, chance),
      };
    case 'app.bsky.actor.profile':
      return {
        $type,
        avatar: blob(chance),
        ...(chance.chance(0.6) ? { banner: blob(chance) } : {}),
        createdAt,
        description: postText(chance),
        displayName: shortText(chance),
        ...(chance.chance(0.3) ? { pinnedPost: strongRef(chance) } : {}),
      };
    case 'app.bsky.actor.status':
      return {
        $type,
        createdAt,
        durationMinutes: 240,
        embed: embedBody('external', chance),
        status: 'app.bsky.actor.status#live',
      };
    default:
      return foreignBody($type, chance);
  }
}

function postBody({ reply, embed }: PostShape, chance: Dice): Body {
  const link = `https://www.example.com/${chance.text('abcdefghij', 12)}`;
  return {
    $type: 'app.bsky.feed.post',
    createdAt: slot.created,
    ...(embed === null ? {} : { embed: embedBody(embed, chance) }),
    ...(chance.chance(0.235)
      ? {
          facets: [
            { features: [{ $type: 'app.bsky.richtext.facet#link', uri: link }], index: { byteEnd: 31, byteStart: 0 } },
          ],
        }
      : {}),
    langs: [chance.pick(['en', 'en', 'en', 'pt', 'ja', 'de', 'es', 'ko'])],
    ...(reply ? { reply: { parent: strongRef(chance), root: strongRef(chance) } } : {}),
    ...(chance.chance(0.02)
      ? { labels: { $type: 'com.atproto.label.defs#selfLabels', values: [{ val: 'graphic-media' }] } }
      : {}),
    text: postText(chance),
  };
}

/** Builds the embed of a post. */
function embedBody(alias: EmbedAlias, chance: Dice): Body {
  const $type = `app.bsky.embed.${alias}`;
  switch (alias) {
    case 'images':
      return { $type, images: Array.from({ length: 1 + chance.below(3) }, () => image(chance)) };
    case 'gallery':
      return { $type, items: Array.from({ length: 5 }, () => image(chance)) };
    case 'external':
      return {
        $type,
        external: {
          description: shortText(chance),
          thumb: blob(chance),
          title: shortText(chance),
          uri: `https://news.example.org/${chance.text('abcdefghij', 16)}`,
        },
      };
    case 'record':
      return { $type, record: strongRef(chance) };
    case 'recordWithMedia':
      return {
        $type,
        media: { $type: 'app.bsky.embed.images', images: [image(chance)] },
        record: { $type: 'app.bsky.embed.record', record: strongRef(chance) },
      };
    case 'video':
      return { $type, aspectRatio: { height: 1920, width: 1080 }, video: { ...blob(chance), mimeType: 'video/mp4' } };
    case 'other':
      return { $type: 'com.example.embed.poll', options: ['a', 'b'] };
  }
}

/** Builds a record of a collection that the instrument does not track. Its keys resemble those of an envelope. */
function foreignBody($type: string, chance: Dice): Body {
  return {
    $type,
    collection: 'app.bsky.feed.post',
    commit: { operation: 'delete', collection: 'app.bsky.feed.like', record: { reply: {}, embed: {} } },
    createdAt: slot.created,
    kind: 'identity',
    notes: Array.from({ length: 1 + chance.below(4) }, () => shortText(chance)),
    reading: { value: chance.below(10_000) / 100, uncertain: null, exact: chance.chance(0.5), scale: -1.5e-7 },
    time_us: 1,
  };
}

function did(): string {
  return `did:plc:${slot.subject}`;
}

function uri(collection: string | undefined, chance: Dice): string {
  return `at://${did()}/${collection ?? 'app.bsky.feed.post'}/${oldTid(chance)}`;
}

function strongRef(chance: Dice, collection?: string): Body {
  return {
    ...(chance.chance(0.03) ? { $type: 'com.atproto.repo.strongRef' } : {}),
    cid: recordCid(chance),
    uri: uri(collection, chance),
  };
}

function blob(chance: Dice): Body {
  return {
    $type: 'blob',
    ref: { $link: blobCid(chance) },
    mimeType: 'image/jpeg',
    size: 20_000 + chance.below(900_000),
  };
}

function image(chance: Dice): Body {
  return {
    alt: chance.chance(0.5) ? '' : shortText(chance),
    aspectRatio: { height: 1500, width: 2000 },
    image: blob(chance),
  };
}
