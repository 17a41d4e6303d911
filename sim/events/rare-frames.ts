import type { Dice } from '../random.ts';
import { accountFrame, commitFrame, envelope, type FrameStyle, type FrameText, identityFrame } from './frames.ts';
import { type EmbedAlias, type MetricName, type Operation, trackedCollections } from './metrics.ts';
import { slot } from './template.ts';

/** A frame that does not occur in ordinary traffic. */
export interface RareFrame extends FrameText {
  readonly name: string;
}

/**
 * Returns frames that cannot be counted because they are not JSON or lack a usable `time_us`. All of them are valid
 * UTF-8; otherwise the websocket would reject them.
 */
export function malformedFrames(style: FrameStyle, chance: Dice): RareFrame[] {
  const whole = commitFrame('app.bsky.feed.like', 'create', { reply: false, embed: null }, style, chance).text;
  const actor = `"did":"did:plc:${slot.actor}"`;
  const commit = `"kind":"commit","commit":{"rev":"${slot.rev}","operation":"create","collection":"app.bsky.feed.like","rkey":"${slot.rkey}"}`;
  const notJson: [string, string][] = [
    ['truncated', whole.slice(0, whole.length - 30)],
    ['trailing comma', `${whole.slice(0, -1)},}`],
    ['two documents', `${whole}${whole}`],
    ['single quotes', `{'did':'did:plc:${slot.actor}','time_us':${slot.time},'kind':'commit'}`],
    ['bare word', `{${actor},"time_us":${slot.time},"kind":commit}`],
    ['raw control character', `{${actor},"time_us":${slot.time},"kind":"comm\nit"}`],
    ['leading zero', `{${actor},"time_us":0${slot.time},${commit}}`],
    ['no text', ''],
    ['prose', 'upstream timed out, try again later'],
    ['markup', '<html><body>502 Bad Gateway</body></html>'],
  ];
  const noTime: [string, string][] = [
    ['list', `[{${actor},"time_us":${slot.time},${commit}}]`],
    ['null', 'null'],
    ['number', slot.time],
    ['text', `"${slot.time}"`],
    ['empty object', '{}'],
    ['no time_us', `{${actor},${commit}}`],
    ['time_us as text', `{${actor},"time_us":"${slot.time}",${commit}}`],
    ['negative time_us', `{${actor},"time_us":-${slot.time},${commit}}`],
    ['fractional time_us', `{${actor},"time_us":${slot.time}.5,${commit}}`],
    ['null time_us', `{${actor},"time_us":null,${commit}}`],
    ['time_us inside the commit', `{${actor},"kind":"commit","commit":{"time_us":${slot.time},"operation":"create"}}`],
  ];
  const meaning = (outcome: 'not_json' | 'no_time') => ({ outcome, collection: null, metrics: [] });
  return [
    ...notJson.map(([name, text]) => ({ name, text, species: meaning('not_json') })),
    ...noTime.map(([name, text]) => ({ name, text, species: meaning('no_time') })),
  ];
}

/**
 * Returns a `sync` that the host makes itself, and the rows that repeat a repository after it. None of them is an event
 * of the network, and the legacy protocol sends none of them.
 */
export function resyncFrames(style: FrameStyle, chance: Dice): { sync: RareFrame; rows: RareFrame[] } {
  const rows = [...trackedCollections.keys()].map((collection) => {
    const { text } = commitFrame(collection, 'create', { reply: false, embed: null }, style, chance);
    const species = { outcome: 'resync', methodOnly: true, collection, metrics: [] } as const;
    return { name: `resync ${collection}`, text, species };
  });
  const body = `{"blocks":{"$bytes":"OqJlcm9vdHM"},"did":"did:plc:${slot.actor}","rev":"${slot.rev}","seq":0,"time":""}`;
  const species = { outcome: 'resync', methodOnly: true, collection: null, metrics: [] } as const;
  return { sync: { name: 'announced sync', text: envelope('sync', body, style, chance), species }, rows };
}

/** Returns rows of a download of the repositories. Both protocols send them as creates without a mark. */
export function downloadFrames(style: FrameStyle, chance: Dice): RareFrame[] {
  return [...trackedCollections.keys()].map((collection) => {
    const { text } = commitFrame(collection, 'create', { reply: false, embed: null }, style, chance);
    return { name: `downloaded ${collection}`, text, species: { outcome: 'resync', collection, metrics: [] } };
  });
}

/**
 * Returns events with kinds, operations and shapes that ordinary traffic lacks, and events of each ordinary kind.
 * Together, the events increment every metric. All of them have a usable time.
 */
export function unknownFrames(style: FrameStyle, chance: Dice): RareFrame[] {
  return [
    ...unknownEvents(style, chance),
    ...unknownPosts(style, chance),
    { name: 'account of unknown activity', ...accountFrame(null, null, style, chance) },
    { name: 'account active', ...accountFrame(true, null, style, chance) },
    ...['deleted', 'deactivated', 'takendown', 'suspended', 'throttled'].map((status) => ({
      name: `account ${status}`,
      ...accountFrame(false, status, style, chance),
    })),
    { name: 'identity', ...identityFrame(style, chance) },
    {
      name: 'untracked collection',
      ...commitFrame('com.example.notebook.entry', 'create', { reply: true, embed: 'record' }, style, chance),
    },
    ...everyCommit(style, chance),
  ];
}

const posts = 'app.bsky.feed.post';

function event(metrics: MetricName[], collection: string | null = null) {
  return { outcome: 'event', collection, metrics } as const;
}

/** Returns events with unknown kinds and operations, and commits without a usable collection. */
function unknownEvents(style: FrameStyle, chance: Dice): RareFrame[] {
  const commit = (body: string): string => envelope('commit', body, style, chance);
  const bare = (rest: string): string => {
    const cursor = style.seqCursors ? `"cursor":${slot.seq},` : '';
    return `{"did":"did:plc:${slot.actor}","time_us":${slot.time},${cursor}${rest}}`;
  };
  return [
    {
      name: 'sync',
      text: envelope('sync', `{"rev":"${slot.rev}"}`, style, chance),
      species: event(['sync.event']),
    },
    {
      name: 'unknown kind',
      text: envelope('weather', '{}', style, chance),
      species: event(['unclassified.kind']),
    },
    { name: 'null kind', text: bare('"kind":null'), species: event(['unclassified.kind']) },
    { name: 'no kind', text: bare('"note":"kind"'), species: event(['unclassified.kind']) },
    {
      name: 'unknown operation',
      text: commit(`{"operation":"upsert","collection":"${posts}","rkey":"${slot.rkey}"}`),
      species: event(['unclassified.operation'], posts),
    },
    { name: 'no collection', text: commit('{"operation":"create"}'), species: event(['malformed.collection']) },
    {
      name: 'collection is a number',
      text: commit('{"operation":"create","collection":7}'),
      species: event(['malformed.collection']),
    },
    {
      name: 'empty collection',
      text: commit('{"operation":"delete","collection":""}'),
      species: event(['malformed.collection']),
    },
    { name: 'commit is a string', text: commit('"create"'), species: event(['malformed.commit']) },
    { name: 'no commit', text: bare('"kind":"commit"'), species: event(['malformed.commit']) },
  ];
}

/** Returns posts whose records have unexpected shapes. */
function unknownPosts(style: FrameStyle, chance: Dice): RareFrame[] {
  const commit = (body: string): string => envelope('commit', body, style, chance);
  const record = `"record":{"$type":"app.bsky.feed.post","text":"","createdAt":"${slot.created}"`;
  const post = (rest: string): string =>
    commit(`{"rev":"${slot.rev}","operation":"create","collection":"${posts}","rkey":"${slot.rkey}",${rest}}`);
  return [
    { name: 'record null', text: post('"record":null'), species: event(['post.create'], posts) },
    { name: 'record a list', text: post('"record":[{"reply":{}}]'), species: event(['post.create'], posts) },
    {
      name: 'embed without a type',
      text: post(`${record},"embed":{"images":[]}}`),
      species: event(['post.create', 'post.create.embed.other'], posts),
    },
    {
      name: 'embed and reply that are not objects',
      text: post(`${record},"embed":"app.bsky.embed.record","reply":[]}`),
      species: event(['post.create'], posts),
    },
    {
      name: 'quote without media, reply without root',
      text: post(`${record},"reply":{"parent":{}},"embed":{"$type":"app.bsky.embed.recordWithMedia"}}`),
      species: event(
        ['post.create', 'post.create.reply', 'post.create.embed.recordWithMedia', 'post.create.quote'],
        posts,
      ),
    },
    {
      name: 'delete with a record',
      text: commit(
        `{"rev":"${slot.rev}","operation":"delete","collection":"${posts}","rkey":"${slot.rkey}",${record},"reply":{}}}`,
      ),
      species: event(['post.delete'], posts),
    },
  ];
}

/** Returns each operation on each tracked collection, and each shape of a post. */
function everyCommit(style: FrameStyle, chance: Dice): RareFrame[] {
  const operations: Operation[] = ['create', 'update', 'delete'];
  const embeds: EmbedAlias[] = ['images', 'external', 'record', 'recordWithMedia', 'video', 'gallery', 'other'];
  const plain = [...trackedCollections.keys()].flatMap((collection) =>
    operations.map((operation) => ({
      name: `${collection} ${operation}`,
      ...commitFrame(collection, operation, { reply: false, embed: null }, style, chance),
    })),
  );
  const shaped = (['create', 'update'] as const).flatMap((operation) =>
    embeds.map((embed) => ({
      name: `post ${operation} ${embed}`,
      ...commitFrame('app.bsky.feed.post', operation, { reply: true, embed }, style, chance),
    })),
  );
  return [...plain, ...shaped];
}

/** Returns a valid post whose frame has approximately `bytes` bytes. */
export function hugeFrame(bytes: number, style: FrameStyle, chance: Dice): RareFrame {
  const { text, species } = commitFrame('app.bsky.feed.post', 'create', { reply: false, embed: null }, style, chance);
  const filler = `"text":"${'wide \\u00fc \\" '.repeat(Math.max(1, Math.floor(bytes / 14)))}`;
  return { name: 'huge', text: text.replace('"text":"', () => filler), species };
}
