import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { HttpHost, sendJson } from '../http-host.ts';
import { handleOf } from '../identity/directory.ts';
import { RangeSet } from '../ranges.ts';
import { Database } from './database.ts';
import type { DeclaredRecord, DeclaredValues } from './declarations.ts';
import { frameInDialect, inDialect, pageInDialect } from './dialects.ts';
import { LabelerFaults } from './faults.ts';
import { answerFaultily, refusalBytes } from './faulty-answers.ts';
import { LabelLog } from './label-log.ts';
import { type LabelerProfile, labelerDid } from './profile.ts';
import { answerQuery } from './query.ts';
import { SigningKey } from './signing-key.ts';
import { LabelStream } from './stream.ts';
import { infoFrame, signed } from './wire.ts';

const queryPath = '/xrpc/com.atproto.label.queryLabels';
const streamPath = '/xrpc/com.atproto.label.subscribeLabels';
/**
 * Origin on which nothing listens. With it, a labeler that is dead from the start refuses connections without occupying
 * a port.
 */
const deadOrigin = 'http://127.0.0.1:1';

/** Number of page URLs whose last response is kept. */
const maxKeptPages = 20;

/** Options for a labeler. */
interface LabelerOptions {
  readonly seed: number;
  readonly profile: LabelerProfile;
  readonly startUs: number;
  /** For each account of the network, the 24 characters of its did:plc, concatenated. */
  readonly accounts: string;
  readonly nowUs: () => number;
  /** Returns the document that a did:web labeler serves itself, or null if it does not exist yet. */
  readonly ownDocument: (did: string) => Promise<unknown>;
}

/** A key, and the number of the first label that was signed with it. */
interface KeyPeriod {
  readonly fromN: number;
  /** Time at which the directory accepted the key, in microseconds of the network's clock. */
  readonly sinceUs: number;
  readonly key: SigningKey;
}

const yearUs = 31_536_000_000_000;

/** A labeler with its own origin. It serves `queryLabels` and `subscribeLabels`, as modified by its fault switches. */
export class Labeler {
  /** DID of the labeler. `start` sets it along with `endpoint`. */
  did = '';
  endpoint = '';
  readonly profile: LabelerProfile;
  readonly log: LabelLog;
  readonly database: Database;
  /** Records in which the labeler declares its values, oldest first. */
  readonly records: DeclaredRecord[];
  /** Numbers of the labels that any consumer has received, by stream or by page. */
  readonly served = new RangeSet();
  /** Open streams of consumers, oldest first. */
  readonly streams: LabelStream[] = [];
  readonly faults: LabelerFaults;
  /** Number of page requests so far, including those without a response. */
  queries = 0;
  /** Highest number of concurrent page requests so far. */
  queriesAtOnce = 0;
  readonly #options: LabelerOptions;
  readonly #host: HttpHost;
  readonly #webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
  readonly #keys: KeyPeriod[];
  #address = '127.0.0.1';
  #opened = 0;
  #underWay = 0;
  #reviving = false;
  /** Last response to each of the newest page URLs, as a cache keeps it. */
  readonly #pages = new Map<string, { readonly status: number; readonly body: unknown }>();
  #stopped = false;

  constructor(options: LabelerOptions) {
    this.#options = options;
    const { seed, profile, startUs, accounts, nowUs } = options;
    this.profile = profile;
    const { declared = profile.values, definitions } = profile;
    this.records = [{ sinceUs: startUs, values: declared, ...(definitions && { definitions }) }];
    this.log = new LabelLog({ seed, profile, startUs, accounts });
    this.database = new Database(this.log, profile.software === 'ozone');
    this.#keys = [{ fromN: 1, sinceUs: startUs - yearUs, key: this.#newKey(0) }];
    this.faults = new LabelerFaults(this, nowUs);
    this.#host = new HttpHost({
      nowUs,
      request: (request, response, target) => this.#answer(request, response, target),
      upgrade: (request, socket, head, target) => this.#upgrade(request, socket, head, target),
    });
  }

  /** Number of the newest emitted label, or 0 if no label was emitted. */
  get edge(): number {
    return this.log.pace.edge(this.#options.nowUs());
  }

  /** Current signing key. */
  get key(): SigningKey {
    return this.#keyAt(Number.POSITIVE_INFINITY);
  }

  /** Handle in the labeler's document. */
  get handle(): string {
    return handleOf({ did: this.did, ...(this.profile.handle === undefined ? {} : { handle: this.profile.handle }) });
  }

  /** All keys of the labeler, oldest first, as in the directory's audit log. */
  get keys(): readonly KeyPeriod[] {
    return this.#keys;
  }

  /** Returns true if a label is served with a signature by a key that has been replaced. */
  isSignedWithEarlierKey(n: number): boolean {
    return this.profile.software !== 'ozone' && this.#keyAt(n) !== this.key;
  }

  /** Current record of the labeler. */
  get record(): DeclaredValues {
    return this.records.at(-1) ?? { values: [] };
  }

  /** True while the labeler accepts connections. */
  get listening(): boolean {
    return this.#host.open;
  }

  /** Sets the DID and the endpoint, and starts listening unless the labeler is dead from the start. */
  async start(address: string): Promise<void> {
    this.#address = address;
    const { seed, profile } = this.#options;
    const dead = profile.ailment === 'dead';
    this.endpoint = dead ? deadOrigin : await this.#host.listen(address);
    this.did = profile.didWeb && !dead ? `did:web:localhost%3A${this.#host.port}` : labelerDid(seed, profile.index);
    this.log.did = this.did;
    this.faults.ail(profile.ailment);
  }

  /** Sends new labels to every consumer, and ends an outage whose duration is over. */
  pump(): void {
    for (const stream of this.streams) stream.pump();
    if (!this.#host.open && !this.#reviving && this.faults.outageIsOver()) {
      this.#reviving = true;
      // Ignore the error: the port may be occupied briefly. The next tick tries again.
      this.revive()
        .catch(() => undefined)
        .finally(() => {
          this.#reviving = false;
        });
    }
  }

  /** Ends every connection and refuses new ones. */
  shut(): Promise<void> {
    this.#endStreams();
    return this.#host.shut();
  }

  /** Stops the labeler permanently. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endStreams();
    await this.#host.stop();
  }

  /** Accepts connections again, on the same port as before, unless the labeler was stopped. */
  async revive(): Promise<void> {
    if (!this.#host.open && !this.#stopped) this.endpoint = await this.#host.listen(this.#address);
  }

  /** Moves to another port. The old port refuses connections. */
  async move(): Promise<void> {
    await this.shut();
    this.endpoint = await this.#host.listen(this.#address, 0);
  }

  /** Signs with a new key, starting with the next label. An Ozone labeler also signs its existing labels again. */
  rotateKey(): void {
    this.#keys.push({ fromN: this.edge + 1, sinceUs: this.#options.nowUs(), key: this.#newKey(this.#keys.length) });
  }

  /** Returns a label as it is served now. */
  serve(n: number): unknown {
    const key = this.profile.software === 'ozone' ? this.key : this.#keyAt(n);
    return inDialect(signed(this.log.label(n), key), this.profile.dialect);
  }

  #endStreams(): void {
    for (const { webSocket } of this.streams) webSocket.terminate();
  }

  #newKey(generation: number): SigningKey {
    const { seed, profile } = this.#options;
    return new SigningKey(profile.curve, `${seed} ${profile.index} ${generation}`);
  }

  #keyAt(n: number): SigningKey {
    const period = this.#keys.findLast(({ fromN }) => fromN <= n) ?? this.#keys[0];
    if (period === undefined) throw new Error('the labeler has no key for the label');
    return period.key;
  }

  #answer(request: IncomingMessage, response: ServerResponse, target: URL): void {
    if (target.pathname === '/.well-known/did.json') {
      void this.#answerDocument(response);
      return;
    }
    if (target.pathname === '/xrpc/_health') {
      sendJson(response, 200, { version: this.profile.software === 'ozone' ? '0.1.150' : '0.2.0' });
      return;
    }
    if (target.pathname !== queryPath || request.method !== 'GET') {
      sendJson(response, 501, { error: 'MethodNotImplemented', message: 'Method Not Implemented' });
      return;
    }
    this.queries += 1;
    this.#underWay += 1;
    this.queriesAtOnce = Math.max(this.queriesAtOnce, this.#underWay);
    response.once('close', () => {
      this.#underWay -= 1;
    });
    const delayMs = this.faults.delay();
    if (delayMs > 0) setTimeout(() => this.#page(response, target), delayMs);
    else this.#page(response, target);
  }

  #page(response: ServerResponse, target: URL): void {
    const fault = this.faults.onQuery(Number(target.searchParams.get('limit')));
    if (fault) {
      answerFaultily(fault, response);
      return;
    }
    const former = this.#pages.get(target.search);
    if (former !== undefined && this.faults.isStale()) {
      sendJson(response, former.status, former.body);
      return;
    }
    const { status, body, served } = answerQuery(target.searchParams, {
      software: this.profile.software,
      database: this.database,
      edge: this.edge,
      serve: (n) => this.serve(n),
      unordered: this.faults.unorderedPage(),
      noCursor: this.faults.cursorless(),
    });
    const page = { status, body: pageInDialect(body, this.profile.dialect) };
    this.#keepPage(target.search, page);
    response.once('finish', () => {
      for (const n of served) this.served.add({ from: n, to: n + 1 });
    });
    sendJson(response, page.status, page.body);
  }

  #keepPage(query: string, page: { readonly status: number; readonly body: unknown }): void {
    this.#pages.delete(query);
    this.#pages.set(query, page);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > maxKeptPages && oldest !== undefined) this.#pages.delete(oldest);
  }

  async #answerDocument(response: ServerResponse): Promise<void> {
    const document = this.profile.didWeb ? await this.#options.ownDocument(this.did) : null;
    if (document === null) sendJson(response, 404, { error: 'NotFound' });
    else sendJson(response, 200, document);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: URL): void {
    const fault = this.faults.onStream();
    if (fault) {
      const bytes = refusalBytes(fault);
      if (bytes === 'reset') socket.destroy();
      else if (bytes !== null) socket.end(bytes, () => socket.destroy());
      return;
    }
    if (target.pathname !== streamPath) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const asked = this.faults.ignoresCursors ? null : target.searchParams.get('cursor');
      const cursor = Number.parseInt(asked ?? 'NaN', 10);
      const edge = this.edge;
      this.#opened += 1;
      const stream = new LabelStream({
        id: this.#opened,
        webSocket,
        socket,
        software: this.profile.software,
        database: this.database,
        next: Number.isNaN(cursor) ? edge + 1 : this.faults.firstOfStream(this.database.after(cursor), edge),
        edge: () => this.edge,
        serve: (n) => this.serve(n),
        served: this.served,
        labelsPerFrame: () => this.faults.labelsPerFrame,
        frame: (seq, labels) => frameInDialect(seq, labels, this.profile.dialect),
        tooSlow: () => this.faults.tellTooSlow(),
      });
      webSocket.on('error', () => webSocket.terminate());
      // Only a stream with a cursor triggers a prepared cursor fault.
      const condition = Number.isNaN(cursor) ? null : this.faults.onCursor();
      if (condition === 'future' || cursor > this.database.newestSeq(edge)) {
        stream.refuse(
          'FutureCursor',
          this.profile.software === 'ozone' ? 'Cursor in the future.' : 'Cursor is in the future',
        );
        return;
      }
      if (condition === 'too_slow') {
        stream.refuse('ConsumerTooSlow', 'Stream consumer too slow');
        return;
      }
      if (condition === 'outdated') webSocket.send(infoFrame('OutdatedCursor', 'Requested cursor exceeded limit'));
      this.streams.push(stream);
      socket.once('close', () => {
        const at = this.streams.indexOf(stream);
        if (at >= 0) this.streams.splice(at, 1);
      });
      stream.pump();
    });
  }
}
