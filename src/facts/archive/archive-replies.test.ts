import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Reply, StreamedReply } from '../../http/reply.ts';
import { factsCommonHeaders } from '../app.ts';
import { type ArchiveReplies, archiveReplies } from './archive-replies.ts';

/** Concurrent requests for a file share its digest, and no client can occupy all file transfers. */

const content = Buffer.from('a file');
const etag = `"${createHash('sha256').update(content).digest('hex')}"`;

/** Creates an archive with one file. Reads wait until `resume` is called, and fail once `fail` has been called. */
function archiveOfOne() {
  let reads = 0;
  let fails = false;
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
  const handle = {
    read: async (piece: Buffer) => {
      reads += 1;
      await resumed;
      if (fails) throw new Error('the disk failed');
      return { bytesRead: content.copy(piece), buffer: piece };
    },
    close: () => Promise.resolve(),
  } as never;
  const file = { handle, bytes: content.length, modifiedAt: 0, stamp: '1', caching: 'brief' as const };
  return {
    directory: { open: () => Promise.resolve(file) },
    resume,
    reads: () => reads,
    fail: (does: boolean) => {
      fails = does;
    },
  };
}

function request(replies: ArchiveReplies, peer = '192.0.2.1', method = 'HEAD'): Promise<Reply | StreamedReply> {
  const absent = { range: undefined, ifRange: undefined, ifNoneMatch: undefined, acceptEncoding: undefined };
  return replies.reply('index.json', { method, target: '', peer, ...absent }, 0);
}

test('concurrent first requests for a file compute its digest only once', async () => {
  const { directory, resume, reads } = archiveOfOne();
  const replies = archiveReplies({ directory, common: factsCommonHeaders });
  const pending = Array.from({ length: 20 }, () => request(replies));
  resume();
  for (const { status, headers } of await Promise.all(pending))
    expect([status, headers.includes(etag)]).toEqual([200, true]);
  expect(reads()).toBe(1);
});

test('a digest whose computation failed is computed again at the next request', async () => {
  const { directory, resume, fail } = archiveOfOne();
  const replies = archiveReplies({ directory, common: factsCommonHeaders });
  resume();
  fail(true);
  await expect(Promise.all([request(replies), request(replies)])).rejects.toThrow('the disk failed');
  fail(false);
  expect((await request(replies)).headers).toContain(etag);
});

test('sending a file that can be withdrawn ends once the file was removed, but not if a file was replaced', async () => {
  for (const caching of ['revalidated', 'brief'] as const) {
    let links = 1;
    const bytes = 200_000;
    const handle = {
      read: (piece: Buffer) => Promise.resolve({ bytesRead: piece.length, buffer: piece }),
      stat: () => Promise.resolve({ nlink: links }),
      close: () => Promise.resolve(),
    } as never;
    const directory = { open: () => Promise.resolve({ handle, bytes, modifiedAt: 0, stamp: '1', caching }) };
    const reply = await request(archiveReplies({ directory, common: factsCommonHeaders }), '192.0.2.1', 'GET');
    if (!('stream' in reply)) throw new Error('the response has no stream');
    let sent = 0;
    const received = async () => {
      for await (const piece of reply.stream) {
        sent += piece.length;
        links = 0;
      }
    };
    if (caching === 'brief') await received();
    else await expect(received()).rejects.toThrow('an archive file was withdrawn while it was being sent');
    expect(sent).toBe(caching === 'brief' ? bytes : 65_536);
  }
});

test('a client that has reached its limit of files is refused a further file, while other clients are served', async () => {
  const { directory, resume } = archiveOfOne();
  const replies = archiveReplies({ directory, common: factsCommonHeaders, maxFiles: 3, maxClientFiles: 2 });
  resume();
  const get = (peer: string) => request(replies, peer, 'GET');
  const [first] = [await get('192.0.2.1'), await get('192.0.2.1')];
  expect((await get('192.0.2.1')).status).toBe(503);
  expect((await get('192.0.2.2')).status).toBe(200);
  expect((await get('192.0.2.3')).status).toBe(503);
  if ('stream' in first) await first.release?.();
  expect((await get('192.0.2.1')).status).toBe(200);
});

test('if the maximum number of files is being sent, a response to the client with the most files is aborted after 30 s to serve a client with fewer files', async () => {
  const { directory, resume } = archiveOfOne();
  let now = 0;
  const common = factsCommonHeaders;
  const replies = archiveReplies({ directory, common, maxFiles: 3, maxClientFiles: 3, monotonic: () => now });
  resume();
  const get = (peer: string) => request(replies, peer, 'GET');
  const cutOf = (reply: Awaited<ReturnType<typeof get>>) => 'stream' in reply && reply.cut?.aborted === true;
  const slow = [await get('192.0.2.1'), await get('192.0.2.1'), await get('192.0.2.1')];
  now = 29_999;
  expect((await get('198.51.100.1')).status).toBe(503);
  now = 30_000;
  const honest = await get('198.51.100.1');
  expect([honest.status, slow.map(cutOf)]).toEqual([200, [true, false, false]]);
  // No response is aborted for a client that is already being sent as many files as any other.
  expect((await get('192.0.2.1')).status).toBe(503);
  const [first] = slow;
  if (first && 'stream' in first) await first.release?.();
  expect((await get('203.0.113.1')).status).toBe(200);
  expect(slow.map(cutOf)).toEqual([true, true, false]);
  expect(cutOf(honest)).toBe(false);
});
