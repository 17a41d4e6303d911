import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type NetworkTier, networkTiers } from '../../http/connections/network-tiers.ts';
import { TieredLimit } from '../../http/connections/tiered-limit.ts';
import { type HeaderList, httpDate } from '../../http/headers.ts';
import type { FileRequest } from '../../http/read-request.ts';
import { errorReply, methodNotAllowed, preflight, type Reply, type StreamedReply } from '../../http/reply.ts';
import { type ByteRange, byteRange } from '../../http/representation/byte-range.ts';
import { matchesEntityTag } from '../../http/representation/if-none-match.ts';

/** Prefix of the paths of the archive's files. */
export const archivePrefix = '/archive/';
/** Name of the route of all files in logs and metrics. */
export const archiveRoute = '/archive/{file}';

/** An open file of an archive. */
export interface ArchiveFile {
  readonly handle: FileHandle;
  readonly bytes: number;
  /** Modification time in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Text that changes whenever the file changes. */
  readonly stamp: string;
  /** True for a file that never changes. */
  readonly isImmutable: boolean;
}

/** The files of an archive. */
export interface ArchiveDirectory {
  /** Opens a file by its path below the directory; null if the archive has no such file. */
  open(path: string): Promise<ArchiveFile | null>;
}

/** Dependencies of the responses. */
export interface ArchiveRepliesOptions {
  readonly directory: ArchiveDirectory;
  /** Headers of every response of the server. */
  readonly common: HeaderList;
  /** Maximum number of files that are sent at the same time. */
  readonly maxFiles?: number;
  /** Maximum number of files that are sent to one client at the same time. */
  readonly maxClientFiles?: number;
  /** Returns milliseconds of a clock that is never set; default: the clock of the process. */
  readonly monotonic?: () => number;
}

/** Responses with the files of an archive. */
export interface ArchiveReplies {
  /** Returns the response to a request for a path below the prefix. */
  reply(path: string, request: FileRequest, now: number): Promise<Reply | StreamedReply>;
}

/** Maximum number of files sent at the same time, each of which uses a descriptor and two pieces of memory. */
const defaultMaxFiles = 256;
/** Maximum number of files sent to one client at the same time. */
const defaultMaxClientFiles = 64;
/** Time in milliseconds for which a file is sent before it may be cut in favour of another client. */
const protectedMs = 30_000;
/** Size of the pieces in which a file is read, in bytes. */
const pieceBytes = 64 * 1024;
/** Maximum number of remembered digests. */
const maxDigests = 4_096;

const types: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** Creates the responses. A file is read while it is sent, in pieces, and its ETag is the SHA-256 of its bytes. */
export function archiveReplies(options: ArchiveRepliesOptions): ArchiveReplies {
  return new FileReplies(options);
}

/** One of the files that are sent at the same time, to a client since an instant. */
interface Place {
  readonly client: readonly NetworkTier[];
  readonly since: number;
  readonly cut: AbortController;
}

/** An open file with its place. */
interface Opened {
  readonly path: string;
  readonly file: ArchiveFile;
  readonly place: Place;
}

class FileReplies implements ArchiveReplies {
  readonly #directory: ArchiveDirectory;
  readonly #common: HeaderList;
  readonly #open: TieredLimit;
  readonly #places = new Set<Place>();
  readonly #monotonic: () => number;
  /** Digests by path, oldest use first. Requests for the same file share a digest that is not computed yet. */
  readonly #digests = new Map<string, { readonly stamp: string; readonly digest: Promise<string> }>();

  constructor(options: ArchiveRepliesOptions) {
    const { directory, common, maxFiles = defaultMaxFiles, maxClientFiles = defaultMaxClientFiles } = options;
    this.#directory = directory;
    this.#common = withRanges(common);
    this.#open = new TieredLimit({ perClient: maxClientFiles, total: maxFiles });
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  async reply(path: string, request: FileRequest, now: number): Promise<Reply | StreamedReply> {
    if (request.method === 'OPTIONS') return preflight(this.#common);
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(this.#common);
    const place = this.#take(networkTiers(request.peer));
    if (place === null) {
      return errorReply('asset_unavailable', this.#common, ['Cache-Control', 'no-store', 'Retry-After', '1']);
    }
    let file: ArchiveFile | null = null;
    let isSent = false;
    try {
      file = await this.#directory.open(path);
      if (file === null) return errorReply('not_found', this.#common);
      const reply = await this.#replyOf({ path, file, place }, request, now);
      isSent = 'stream' in reply;
      return reply;
    } finally {
      if (!isSent) await this.#close(file, place);
    }
  }

  /** Takes a place; null if the client has its share, or if all places are taken and none may be cut. */
  #take(client: readonly NetworkTier[]): Place | null {
    let reached = this.#open.take(client, 1);
    if (reached === 'total' && this.#cutLargest(client)) reached = this.#open.take(client, 1);
    if (reached !== null) return null;
    const place = { client, since: this.#monotonic(), cut: new AbortController() };
    this.#places.add(place);
    return place;
  }

  /**
   * Ends the response that lasts longest of the client with most, unless the asking client has as many. Otherwise a few
   * clients that read slowly would keep the archive from all others.
   */
  #cutLargest(asking: readonly NetworkTier[]): boolean {
    const before = this.#monotonic() - protectedMs;
    let largest: Place | null = null;
    let usage = this.#open.usage(asking);
    for (const place of this.#places) {
      const own = this.#open.usage(place.client);
      if (place.since <= before && own > usage) [largest, usage] = [place, own];
    }
    if (!largest) return false;
    this.#give(largest);
    largest.cut.abort();
    return true;
  }

  #give(place: Place): void {
    if (this.#places.delete(place)) this.#open.give(place.client, 1);
  }

  async #replyOf(opened: Opened, request: FileRequest, now: number): Promise<Reply | StreamedReply> {
    const { path, file, place } = opened;
    const etag = `"${await this.#digestOf(path, file)}"`;
    const validators = [
      ...['ETag', etag, 'Last-Modified', httpDate(Math.min(file.modifiedAt, now))],
      ...['Cache-Control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=60'],
    ];
    if (matchesEntityTag(request.ifNoneMatch, etag)) {
      return { status: 304, headers: [...validators, ...this.#common], body: null };
    }
    const isCurrent = request.ifRange === undefined || request.ifRange === etag;
    const range = isCurrent ? byteRange(request.range, file.bytes) : null;
    if (range === 'unsatisfiable') {
      const size = ['Content-Range', `bytes */${file.bytes}`, 'Content-Length', '0'];
      return { status: 416, headers: [...size, ...this.#common], body: null };
    }
    const { from, to } = range ?? { from: 0, to: file.bytes };
    const headers = [
      ...['Content-Type', contentType(path), 'Content-Length', String(to - from)],
      ...(range === null ? [] : ['Content-Range', `bytes ${from}-${to - 1}/${file.bytes}`]),
      ...validators,
      ...this.#common,
    ];
    const status = range === null ? 200 : 206;
    // The server sends the head of a response to HEAD without reading the stream.
    if (request.method === 'HEAD') return { status, headers, body: null };
    const stream = this.#read(file, { from, to });
    return { status, headers, stream, release: () => this.#close(file, place), cut: place.cut.signal };
  }

  async *#read(file: ArchiveFile, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; ) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, to - at));
      const { bytesRead } = await file.handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('a file of the archive was shortened while it was sent');
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async #close(file: ArchiveFile | null, place: Place): Promise<void> {
    this.#give(place);
    await file?.handle.close();
  }

  async #digestOf(path: string, file: ArchiveFile): Promise<string> {
    const known = this.#digests.get(path);
    const entry = known?.stamp === file.stamp ? known : { stamp: file.stamp, digest: this.#hashed(file) };
    this.#digests.delete(path);
    this.#digests.set(path, entry);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > maxDigests && oldest !== undefined) this.#digests.delete(oldest);
    try {
      return await entry.digest;
    } catch (error) {
      // The next request computes a failed digest again.
      if (this.#digests.get(path) === entry) this.#digests.delete(path);
      throw error;
    }
  }

  async #hashed(file: ArchiveFile): Promise<string> {
    const hash = createHash('sha256');
    for await (const piece of this.#read(file, { from: 0, to: file.bytes })) hash.update(piece);
    return hash.digest('hex');
  }
}

function contentType(path: string): string {
  if (path === 'log/checkpoint') return 'text/plain; charset=utf-8';
  return types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** Returns the headers of every response, with byte ranges. */
function withRanges(common: HeaderList): HeaderList {
  return common.map((value, at) => {
    if (common[at - 1] === 'Accept-Ranges') return 'bytes';
    return common[at - 1] === 'Access-Control-Expose-Headers' ? `${value}, Content-Range, Accept-Ranges` : value;
  });
}
