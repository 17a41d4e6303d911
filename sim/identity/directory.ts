import { HttpHost, sendJson } from '../http-host.ts';
import { ExportStream, exportPath, exportStreamPath } from './export-stream.ts';

/** The data from which a labeler's DID document is built. */
interface Identified {
  readonly did: string;
  readonly endpoint: string;
  readonly key: { multikey(): Promise<string> };
  /**
   * All keys of the labeler, oldest first, each with the time at which the directory accepted it, in microseconds of
   * the network's clock.
   */
  readonly keys: readonly { readonly sinceUs: number; readonly key: { multikey(): Promise<string> } }[];
  /** Handle of the labeler; if absent, the handle is derived from the DID. */
  readonly handle?: string;
}

/** Returns the handle in a labeler's document. */
export function handleOf({ did, handle }: Pick<Identified, 'did' | 'handle'>): string {
  return handle ?? `labeler-${did.slice(8, 14)}.example.com`;
}

/** States of a DID document. */
export type DocumentState = 'whole' | 'no_document' | 'tombstone' | 'no_service' | 'no_key' | FalseAnswer;

/** Responses with status 200 that are not the requested document. */
export const falseAnswers = ['html', 'other_did', 'empty', 'no_id', 'list'] as const;
/** A response with status 200 that is not the requested document. */
type FalseAnswer = (typeof falseAnswers)[number];

/** States of the directory. They affect all of its responses. */
type DirectoryState = 'up' | 'down' | 'slow' | 'hanging';

/** Directory entry of a labeler. */
interface Entry {
  readonly labeler: Identified;
  state: DocumentState;
  /** Endpoint in an outdated document, or null to use the current endpoint. */
  endpoint: string | null;
  /** Key in an outdated document, as a multikey, or null to use the current key. */
  key: string | null;
  /** Former state, in which the document is served to the next requests. */
  former: { readonly state: DocumentState; readonly endpoint: string | null; requests: number } | null;
}

/** A DID document as this directory serves it. */
interface SimulatedDocument {
  readonly '@context': readonly string[];
  readonly id: string;
  readonly alsoKnownAs: readonly string[];
  readonly verificationMethod: readonly { readonly id: string; readonly publicKeyMultibase: string }[];
  readonly service: readonly { readonly id: string; readonly type: string; readonly serviceEndpoint: string }[];
}

/** Former state of a document, and the number of requests that it is served to. */
interface LagOptions {
  readonly requests: number;
  readonly state?: DocumentState;
  readonly endpoint?: string | null;
}

/** Path of a DID's audit log, relative to the DID. */
const auditLog = '/log/audit';

/**
 * The identity directory. It serves `GET /did:plc:…`, the audit logs of these DIDs, the paged export and the export
 * stream. It also builds the documents that did:web labelers serve themselves. The methods that change a document throw
 * a RangeError for a DID that was not entered.
 */
export class Directory {
  /** Accepted operations, as consumers of the export stream receive them. */
  readonly stream = new ExportStream();
  state: DirectoryState = 'up';
  /** Response time in the state `slow`, in milliseconds of real time. */
  slowMs = 3_000;
  /** Number of requests for a document, by DID. */
  readonly asked = new Map<string, number>();
  /** Number of requests, by the state that determined the response. */
  readonly fired = new Map<DocumentState | DirectoryState, number>();
  readonly #entries = new Map<string, Entry>();
  readonly #host: HttpHost;
  readonly #nowUs: () => number;

  readonly #pds: () => string;
  /**
   * Returns the document of a DID that was not added with `enter`, or null if the DID does not exist. `asked` is the
   * number of the request, starting at 1.
   */
  others: (did: string, asked: number) => unknown = () => null;

  /** `pds` returns the origin of the server that hosts the labelers' records. */
  constructor(nowUs: () => number, pds: () => string = () => 'https://pds.example.com') {
    this.#pds = pds;
    this.#nowUs = nowUs;
    this.#host = new HttpHost({
      nowUs,
      upgrade: (request, socket, head, target) => {
        if (target.pathname === exportStreamPath && this.state === 'up') {
          this.stream.upgrade(request, socket, head, target);
        } else socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      },
      request: (request, response, target) => {
        if (target.pathname === exportPath && this.state === 'up') {
          const { searchParams: query } = target;
          response.writeHead(200, { 'Content-Type': 'application/jsonlines' });
          response.end(this.stream.page(Number(query.get('after')), Number(query.get('count') ?? 1_000)));
          return;
        }
        const isLog = target.pathname.endsWith(auditLog);
        const did = decodeURIComponent(target.pathname.slice(1, isLog ? -auditLog.length : undefined));
        const answer = (): void => {
          void (isLog ? this.#answerLog(did) : this.#answer(did)).then(({ status, body }) => {
            if (typeof body !== 'string') return sendJson(response, status, body);
            response.writeHead(status, { 'Content-Type': 'text/html' });
            response.end(body);
          });
        };
        if (!isLog) this.asked.set(did, (this.asked.get(did) ?? 0) + 1);
        this.#count(this.state);
        if (request.method !== 'GET') sendJson(response, 405, { message: 'Method Not Allowed' });
        else if (this.state === 'down') sendJson(response, 503, { message: 'Service Unavailable' });
        else if (this.state === 'slow') setTimeout(answer, this.slowMs);
        else if (this.state === 'up') answer();
      },
    });
  }

  /** Adds a labeler to the directory. */
  enter(labeler: Identified, state: DocumentState = 'whole'): void {
    this.#entries.set(labeler.did, { labeler, state, endpoint: null, key: null, former: null });
  }

  /** Appends an operation to the export stream: a labeler's current document, or its removal. */
  async publish(did: string): Promise<void> {
    const document = await this.document(did);
    this.stream.append(did, operationOf(document), this.#nowUs());
  }

  /** Sets the state of a DID's document. */
  set(did: string, state: DocumentState): void {
    this.#entry(did).state = state;
  }

  /**
   * Serves a DID's document in a former state to the next requests, like a directory that has not received a change
   * yet. `endpoint` is the labeler's former endpoint.
   */
  lag(did: string, { requests, state = 'no_document', endpoint = null }: LagOptions): void {
    this.#entry(did).former = { state, endpoint, requests };
  }

  /** Returns true if the next request for a DID's document receives a former state. */
  lags(did: string): boolean {
    return (this.#entry(did).former?.requests ?? 0) > 0;
  }

  /** Freezes a DID document in its current state. Later changes to the endpoint and the key do not appear in it. */
  async freeze(did: string): Promise<void> {
    const entry = this.#entry(did);
    entry.key = await entry.labeler.key.multikey();
    entry.endpoint = entry.labeler.endpoint;
  }

  /** Sets the endpoint in a DID document, regardless of the labeler's real endpoint. */
  point(did: string, endpoint: string): void {
    this.#entry(did).endpoint = endpoint;
  }

  /** Makes a DID document reflect the labeler's current state again. */
  thaw(did: string): void {
    const entry = this.#entry(did);
    entry.key = null;
    entry.endpoint = null;
  }

  /** Returns the current document of a DID, or null if it does not exist. */
  async document(did: string): Promise<SimulatedDocument | null> {
    const entry = this.#entries.get(did);
    return entry === undefined ? null : this.#documentOf(entry);
  }

  /** Starts listening on a free port. Resolves with the origin. */
  start(host: string): Promise<string> {
    return this.#host.listen(host);
  }

  /** Ends every connection and stops listening. */
  stop(): Promise<void> {
    return this.#host.stop();
  }

  async #documentOf(entry: Entry): Promise<SimulatedDocument | null> {
    if (entry.state === 'no_document' || entry.state === 'tombstone') return null;
    const { labeler, state } = entry;
    const { did } = labeler;
    const id = state === 'other_did' ? 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' : did;
    const key = entry.key ?? (await labeler.key.multikey());
    const method = { id: `${id}#atproto_label`, type: 'Multikey', controller: id, publicKeyMultibase: key };
    const pds = { id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: this.#pds() };
    const service = {
      id: '#atproto_labeler',
      type: 'AtprotoLabeler',
      serviceEndpoint: entry.endpoint ?? labeler.endpoint,
    };
    return {
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
      id,
      alsoKnownAs: [`at://${handleOf(labeler)}`],
      verificationMethod: state === 'no_key' ? [] : [method],
      service: state === 'no_service' ? [pds] : [pds, service],
    };
  }

  async #answer(did: string): Promise<{ status: number; body: unknown }> {
    const entry = did.startsWith('did:plc:') ? this.#entries.get(did) : undefined;
    const other = entry === undefined ? this.others(did, this.asked.get(did) ?? 0) : null;
    if (other !== null) return { status: 200, body: other };
    if (entry === undefined) return { status: 404, body: { message: `DID not registered: ${did}` } };
    const served = this.#served(entry);
    this.#count(served.state);
    switch (served.state) {
      case 'no_document':
        return { status: 404, body: { message: `DID not registered: ${did}` } };
      case 'tombstone':
        return { status: 410, body: { message: `DID not available: ${did}` } };
      case 'html':
        return { status: 200, body: '<html><body>maintenance</body></html>' };
      case 'empty':
        return { status: 200, body: {} };
      case 'no_id':
        return { status: 200, body: { ...(await this.#documentOf(served)), id: undefined } };
      case 'list':
        return { status: 200, body: [await this.#documentOf(served)] };
      default:
        return { status: 200, body: await this.#documentOf(served) };
    }
  }

  /** Returns the entry as the next request for its document sees it. */
  #served(entry: Entry): Entry {
    const { former } = entry;
    if (former === null || former.requests <= 0) return entry;
    former.requests -= 1;
    return { ...entry, state: former.state, endpoint: former.endpoint ?? entry.endpoint };
  }

  /**
   * Returns a response with the key changes of a labeler, up to the key that its document contains, or a 404 response
   * for an unknown DID.
   */
  async #answerLog(did: string): Promise<{ status: number; body: unknown }> {
    const entry = did.startsWith('did:plc:') ? this.#entries.get(did) : undefined;
    if (entry === undefined) return { status: 404, body: { message: `DID not registered: ${did}` } };
    const log: unknown[] = [];
    for (const { sinceUs, key } of entry.labeler.keys) {
      const multikey = await key.multikey();
      const verificationMethods = { atproto: `did:key:${multikey}`, atproto_label: `did:key:${multikey}` };
      log.push({
        did,
        operation: { type: 'plc_operation', verificationMethods },
        nullified: false,
        createdAt: new Date(sinceUs / 1000).toISOString(),
      });
      if (multikey === entry.key) break;
    }
    return { status: 200, body: log };
  }

  #count(way: DocumentState | DirectoryState): void {
    this.fired.set(way, (this.fired.get(way) ?? 0) + 1);
  }

  #entry(did: string): Entry {
    const entry = this.#entries.get(did);
    if (entry === undefined) throw new RangeError(`unknown labeler ${did}`);
    return entry;
  }
}

/** Returns the PLC operation that produces a document, or a tombstone operation for null. */
function operationOf(document: SimulatedDocument | null): unknown {
  if (document === null) return { type: 'plc_tombstone', prev: 'bafyreiaaaa', sig: 'c2ln' };
  const { alsoKnownAs, verificationMethod, service } = document;
  return {
    type: 'plc_operation',
    rotationKeys: [],
    verificationMethods: Object.fromEntries(
      verificationMethod.map(({ id, publicKeyMultibase }) => [nameOf(id), `did:key:${publicKeyMultibase}`]),
    ),
    alsoKnownAs,
    services: Object.fromEntries(
      service.map(({ id, type, serviceEndpoint }) => [nameOf(id), { type, endpoint: serviceEndpoint }]),
    ),
    prev: null,
    sig: 'c2ln',
  };
}

function nameOf(id: string): string {
  return id.slice(id.indexOf('#') + 1);
}
