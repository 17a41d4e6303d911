import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type NetworkTier, networkTiers, TieredLimit } from '../../http/connections/network-tiers.ts';
import type { FileRequest } from '../../http/read-request.ts';
import {
  errorReply,
  type HeaderList,
  httpDate,
  json,
  methodNotAllowed,
  preflight,
  type Reply,
  type StreamedReply,
} from '../../http/reply.ts';
import { type ByteRange, byteRange, matchesEntityTag } from '../../http/representation/negotiation.ts';

/** Path prefix of the archive's files. */
export const archivePrefix = '/archive/';
/** Route name of all archive files in logs and metrics. */
export const archiveRoute = '/archive/{file}';

/**
 * `Cache-Control` of the files. A file of a closed day does not change, but it can be withdrawn because it names a
 * person. Caches may therefore store it, but must ask at each use whether it is still published; the ETag makes this a
 * response without a body.
 */
const cacheControl = {
  immutable: 'public, max-age=31536000, immutable',
  revalidated: 'public, no-cache',
  brief: 'public, max-age=60',
} as const;

/** Headers that a page of another origin may send. Browsers ask first for some ranges, such as `bytes=-8`. */
const requestHeaders = 'If-None-Match, If-Range, Range';

/** Error object for a withdrawn file. */
const withdrawn = {
  error: {
    status: 410,
    code: 'withdrawn',
    message: 'The publisher has withdrawn this file. Delete your copies; withdrawn.json of its day states the reason.',
  },
} as const;

/** An open file of an archive. */
interface ArchiveFile {
  readonly handle: FileHandle;
  readonly bytes: number;
  /** Modification time in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Text that changes whenever the file changes. */
  readonly stamp: string;
  /**
   * `immutable` for a file that never changes, `revalidated` for one that can be withdrawn, `brief` for one that changes
   * regularly.
   */
  readonly caching: keyof typeof cacheControl;
}

/** Directory of an archive. */
interface ArchiveDirectory {
  /**
   * Opens a file by its path relative to the directory; `withdrawn` if the publisher has withdrawn the file, null if the
   * archive has no such file.
   */
  open(path: string): Promise<ArchiveFile | 'withdrawn' | null>;
}

/** Dependencies of the archive responses. */
interface ArchiveRepliesOptions {
  readonly directory: ArchiveDirectory;
  /** Headers that every response of the server has. */
  readonly common: HeaderList;
  /** Maximum number of files that are sent concurrently. */
  readonly maxFiles?: number;
  /** Maximum number of files that are sent to one client concurrently. */
  readonly maxClientFiles?: number;
  /** Returns the time of a monotonic clock in milliseconds; default: the clock of the process. */
  readonly monotonic?: () => number;
}

/** Serves the files of an archive. */
export interface ArchiveReplies {
  /** Returns the response to a request for a path below the prefix. */
  reply(path: string, request: FileRequest, now: number): Promise<Reply | StreamedReply>;
}

/** Default maximum number of files sent concurrently. Each of them uses a descriptor and the memory of two chunks. */
const defaultMaxFiles = 256;
/** Default maximum number of files sent to one client concurrently. */
const defaultMaxClientFiles = 64;
/** Minimum time in milliseconds for which a file is sent before its response may be aborted for another client. */
const protectedMs = 30_000;
/** Size of the chunks in which a file is read, in bytes. */
const pieceBytes = 64 * 1024;
/** Maximum number of cached digests. */
const maxDigests = 4_096;

const types: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  sql: 'text/plain; charset=utf-8',
  gnuplot: 'text/plain; charset=utf-8',
  py: 'text/plain; charset=utf-8',
  R: 'text/plain; charset=utf-8',
};

/**
 * Creates the archive responses. A file is read in chunks while it is sent, and its ETag is the SHA-256 of its bytes.
 */
export function archiveReplies(options: ArchiveRepliesOptions): ArchiveReplies {
  return new FileReplies(options);
}

/** One of the slots for concurrently sent files, with the client that occupies the slot and the start time. */
interface Place {
  readonly client: readonly NetworkTier[];
  readonly since: number;
  readonly cut: AbortController;
}

/** An open file, with the slot that it occupies. */
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
  /** Digests by path, the least recently used first. Concurrent requests for the same file share a pending digest. */
  readonly #digests = new Map<string, { readonly stamp: string; readonly digest: Promise<string> }>();

  constructor(options: ArchiveRepliesOptions) {
    const { directory, common, maxFiles = defaultMaxFiles, maxClientFiles = defaultMaxClientFiles } = options;
    this.#directory = directory;
    this.#common = withRanges(common);
    this.#open = new TieredLimit({ perClient: maxClientFiles, total: maxFiles });
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  async reply(path: string, request: FileRequest, now: number): Promise<Reply | StreamedReply> {
    if (request.method === 'OPTIONS') return preflight(this.#common, requestHeaders);
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(this.#common);
    const place = this.#take(networkTiers(request.peer));
    if (place === null) {
      return errorReply('asset_unavailable', this.#common, ['Cache-Control', 'no-store', 'Retry-After', '1']);
    }
    let file: ArchiveFile | null = null;
    let isSent = false;
    try {
      const opened = await this.#directory.open(path);
      if (opened === 'withdrawn') return json(410, withdrawn, [...this.#common, 'Cache-Control', 'no-store']);
      file = opened;
      if (file === null) return errorReply('not_found', this.#common);
      const reply = await this.#replyOf({ path, file, place }, request, now);
      isSent = 'stream' in reply;
      return reply;
    } finally {
      if (!isSent) await this.#close(file, place);
    }
  }

  /**
   * Takes a slot. Returns null if the client has reached its limit, or if all slots are taken and no response may be
   * aborted.
   */
  #take(client: readonly NetworkTier[]): Place | null {
    let reached = this.#open.take(client, 1);
    if (reached === 'total' && this.#cutLargest(client)) reached = this.#open.take(client, 1);
    if (reached !== null) return null;
    const place = { client, since: this.#monotonic(), cut: new AbortController() };
    this.#places.add(place);
    return place;
  }

  /**
   * Aborts a response that started at least `protectedMs` ago, to a client that receives more files than the requesting
   * client. Chooses the oldest such response to the client with the most files. Returns false if no response qualifies.
   * Without such aborts, a few slow clients could occupy all slots.
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
      ...['Cache-Control', cacheControl[file.caching]],
    ];
    if (matchesEntityTag(request.ifNoneMatch, etag)) {
      return { status: 304, headers: [...validators, ...this.#common], body: null };
    }
    const isCurrent = request.ifRange === undefined || request.ifRange === etag;
    // Only GET has ranges (RFC 9110, section 14.2).
    const range = isCurrent && request.method === 'GET' ? byteRange(request.range, file.bytes) : null;
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
    // A response to HEAD has no stream, so its slot is released at once.
    if (request.method === 'HEAD') return { status, headers, body: null };
    const stream = this.#sent(file, { from, to });
    return { status, headers, stream, release: () => this.#close(file, place), cut: place.cut.signal };
  }

  /** Reads a part of a file to be sent. Throws an error once the file was withdrawn: a slow client may take long. */
  async *#sent(file: ArchiveFile, range: ByteRange): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#read(file, range)) {
      const isRemoved = file.caching === 'revalidated' && (await file.handle.stat()).nlink === 0;
      if (isRemoved) throw new Error('an archive file was withdrawn while it was being sent');
      yield piece;
    }
  }

  async *#read(file: ArchiveFile, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; ) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, to - at));
      const { bytesRead } = await file.handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('an archive file was truncated while it was being sent');
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
      // Discard a failed digest, so that the next request computes it again.
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
  if (path === 'log/checkpoint' || path === 'log/vkey') return 'text/plain; charset=utf-8';
  return types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** Returns the common headers with headers that announce byte ranges, and that name all headers of these responses. */
function withRanges(common: HeaderList): HeaderList {
  return common.map((value, at) => {
    if (common[at - 1] === 'Accept-Ranges') return 'bytes';
    return common[at - 1] === 'Access-Control-Expose-Headers'
      ? `${value}, Content-Range, Accept-Ranges, Retry-After`
      : value;
  });
}
