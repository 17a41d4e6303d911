import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Reply } from '../../src/http/reply.ts';
import type { Case, Step, Validator } from './arbitraries.ts';
import { readingOf } from './artifact-model.ts';
import { type Envelope, type Expected, expectedOf, type Request, type World } from './facts-model.ts';
import { type FactsProgram, factsPrograms, learnedAttribution, learnedCaveats } from './facts-programs.ts';
import { fixedAttribution } from './labels-model.ts';
import { holds, includes, same } from './run.ts';
import { instant, type Json, type JsonObject } from './values.ts';

/** Sends the cases of the model to the program and compares each complete response. */

const methods = 'GET, HEAD, OPTIONS';
const base = Date.UTC(2026, 10, 20, 12);

/** Creates a checker that remembers the validators of all checked cases. */
export function factsChecker() {
  const programs = factsPrograms();
  const caveats = learnedCaveats();
  const validators = new Validators();
  const counts = new Map<string, number>();

  function check(one: Case): void {
    const program = programs[one.world % programs.length];
    if (!program) throw new Error('the program of the case does not exist');
    const { bounds, basePath } = program;
    const modifiedAt = base + one.modifiedMs;
    const world: World = { bounds, basePath, artifacts: { labels: one.labels, weather: one.weather } };
    program.setLabels(one.labels, modifiedAt);
    program.setWeather(one.weather, modifiedAt);
    const instants = instantsOf(one);
    const conversation = new Conversation(world, program, modifiedAt);
    let now = base;
    for (const step of one.steps) {
      const after = step.clock.after === 'the last request' ? now : instants[step.clock.after];
      now = after + step.clock.seconds * 1000 + step.clock.ms;
      conversation.ask(step, now);
    }
  }

  class Conversation {
    readonly #asked = new Map<string, { bucket: string; at: number[] }>();
    readonly #bytes = new Map<string, Uint8Array>();
    readonly world: World;
    readonly program: FactsProgram;
    readonly modifiedAt: number;
    constructor(world: World, program: FactsProgram, modifiedAt: number) {
      this.world = world;
      this.program = program;
      this.modifiedAt = modifiedAt;
    }

    ask(step: Step, now: number): void {
      const known = (path: string, bucket: string) => validators.of(this.#key(path, bucket));
      const request = this.#requestOf(step, now);
      const expected = expectedOf(this.world, request, now, known);
      const reply = this.program.answer(request, now);
      const kind = expected.kind === 'error' ? `${expected.kind} ${expected.code}` : expected.kind;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      // The server removes the body of a HEAD response. Its status and headers must equal the status and headers for
      // GET.
      const whole = request.method === 'HEAD' ? this.program.answer({ ...request, method: 'GET' }, now) : reply;
      same([reply.status, reply.headers], [whole.status, whole.headers]);
      this.#compare(expected, whole, request, now);
    }

    #key(path: string, bucket: string): string {
      const bytes = path.startsWith('/v1/labels') ? this.world.artifacts.labels : this.world.artifacts.weather;
      return `${path} ${bucket} ${digestOf(bytes)}`;
    }

    #requestOf(step: Step, now: number): Request {
      const { basePath } = this.world;
      const prefix = { kept: basePath, dropped: '', doubled: basePath + basePath }[step.base];
      const target = `${step.absolute ? 'http://facts.example.com' : ''}${prefix}${step.path}${step.query}`;
      const plain = { method: 'GET', target: basePath + step.path, ifNoneMatch: undefined, acceptEncoding: undefined };
      const expected = expectedOf(this.world, plain, now, () => null);
      // Obtain the expected validator from an unconditional response of the program at the same time.
      const own = expected.kind === 'fact' ? this.#validatorOf(plain, expected, now) : null;
      const ifNoneMatch = headerOf(step.validator, own ?? 'W/"unknown"');
      return { method: step.method, target, ifNoneMatch, acceptEncoding: step.acceptEncoding };
    }

    #validatorOf(plain: Request, expected: Extract<Expected, { kind: 'fact' }>, now: number): string {
      const key = this.#key(expected.path, expected.bucket);
      const known = validators.of(key);
      if (known !== null) return known;
      const reply = this.program.answer(plain, now);
      this.#compare(expected, reply, plain, now);
      return validators.of(key) ?? '';
    }

    #compare(expected: Expected, reply: Reply, request: Request, now: number): void {
      const headers = headersOf(reply);
      // Skip the headers below for assets: the server adds them, not the application.
      if (expected.kind === 'asset') {
        asset(reply, headers);
        return;
      }
      same(headers['access-control-allow-origin'], '*');
      same(headers['access-control-expose-headers'], 'ETag, Last-Modified, Cache-Control, Age, Date');
      same(headers['x-content-type-options'], 'nosniff');
      switch (expected.kind) {
        case 'options':
          preflight(reply, headers);
          return;
        case 'refused method':
          same(headers.allow, methods);
          this.#error(reply, headers, { status: 405, code: 'method_not_allowed' });
          return;
        case 'health':
          same(reply.status, 200);
          same(headers['cache-control'], 'no-store');
          same(jsonOf(reply, headers), { status: 'ok', service: 'almanac-facts' });
          return;
        case 'error':
          this.#error(reply, headers, expected);
          return;
        case 'index':
          index(reply, headers, expected.body);
          return;
        case 'not modified':
          same(reply.status, 304);
          same(reply.body?.length ?? 0, 0);
          same(headers['content-length'], undefined);
          this.#validated(expected, headers, this.#remember(expected, now));
          return;
        case 'fact':
          this.#fact(expected, reply, headers, request, now);
          return;
      }
    }

    #error(reply: Reply, headers: Headers, expected: { status: number; code: string; freshness?: JsonObject }): void {
      const body = jsonOf(reply, headers) as { error: JsonObject };
      const { status, code, freshness } = expected;
      const { message, ...rest } = body.error;
      same({ ...body, error: rest }, { error: { status, code, ...(freshness && { freshness }) } });
      same([reply.status, typeof message, message !== ''], [status, 'string', true]);
      same([headers.etag, headers['last-modified']], [undefined, undefined]);
      same(headers['content-type'], 'application/json; charset=utf-8');
      if (status >= 500) same(headers['cache-control'], 'no-store');
    }

    #remember({ path, bucket }: { path: string; bucket: string }, now: number): readonly number[] {
      const asked = this.#asked.get(path);
      const at = asked?.bucket === bucket ? [...asked.at, now] : [now];
      if (asked?.bucket !== bucket) for (const key of this.#bytes.keys()) this.#bytes.delete(key);
      this.#asked.set(path, { bucket, at });
      return at;
    }

    #validated(expected: { path: string; bucket: string }, headers: Headers, asked: readonly number[]): void {
      validators.note(this.#key(expected.path, expected.bucket), headers.etag);
      same(headers['cache-control'], 'public, max-age=60');
      same(headers.vary, 'Accept-Encoding');
      // `Last-Modified` must not be later than the build time, whatever the clock of the instrument shows.
      const whole = (ms: number): number => Math.floor(ms / 1000) * 1000;
      includes(
        asked.map((at) => whole(Math.min(this.modifiedAt, at))),
        Date.parse(headers['last-modified'] ?? ''),
      );
    }

    #fact(
      expected: Extract<Expected, { kind: 'fact' }>,
      reply: Reply,
      headers: Headers,
      request: Request,
      now: number,
    ): void {
      const body = jsonOf(reply, headers) as JsonObject;
      same({ status: reply.status, error: body.error }, { status: 200, error: undefined });
      const asked = this.#remember(expected, now);
      this.#validated(expected, headers, asked);
      const builtAt = Date.parse(String(body.retrieved_at));
      includes(asked, builtAt);
      holds(builtAt <= now, `${builtAt} is not later than ${now}`);
      const coding = headers['content-encoding'] ?? 'identity';
      includes(codingsFor(request.acceptEncoding), coding);
      same(asInstants(body), asInstants(whole(expected.bodyAt(builtAt), caveats)));
    }
  }

  return { check, counts };
}

const digests = new WeakMap<Uint8Array, string>();

function digestOf(bytes: Uint8Array | null): string {
  if (bytes === null) return '';
  const digest = digests.get(bytes) ?? createHash('sha256').update(bytes).digest('base64');
  digests.set(bytes, digest);
  return digest;
}

function whole({ body, caveats }: Envelope, learned: ReturnType<typeof learnedCaveats>): JsonObject {
  return { ...body, caveats: learned(caveats.schema, caveats) };
}

function preflight(reply: Reply, headers: Headers): void {
  same([reply.status, reply.body?.length ?? 0, headers['content-length']], [204, 0, undefined]);
  same([headers.allow, headers['access-control-allow-methods']], [methods, methods]);
  same(headers['access-control-allow-headers'], 'If-None-Match');
  same(headers['access-control-max-age'], '86400');
}

function asset(reply: Reply, headers: Headers): void {
  same([reply.status, headers['cache-control']], [200, 'public, max-age=3600']);
}

function index(reply: Reply, headers: Headers, expected: JsonObject): void {
  same([reply.status, headers['cache-control']], [200, 'public, max-age=60']);
  same([headers.etag, headers['last-modified']], [undefined, undefined]);
  const body = jsonOf(reply, headers) as { instruments: JsonObject[] };
  const byName = (items: JsonObject[]) =>
    items.toSorted((a, b) => String(a.instrument).localeCompare(String(b.instrument)));
  const bare = body.instruments.map(({ note, ...item }) => {
    same([typeof note, note !== ''], ['string', true]);
    return item;
  });
  same(
    { ...body, instruments: byName(bare) },
    { ...expected, instruments: byName(expected.instruments as JsonObject[]) },
  );
}

type Headers = Readonly<Record<string, string | undefined>>;

function headersOf({ headers }: Reply): Headers {
  const found: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) found[String(headers[at]).toLowerCase()] = String(headers[at + 1]);
  return found;
}

function jsonOf(reply: Reply, headers: Headers): Json {
  const bytes = Buffer.from(reply.body ?? '');
  same(headers['content-length'] ?? String(bytes.length), String(bytes.length));
  const coding = headers['content-encoding'] ?? 'identity';
  const plain = coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes;
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plain)) as Json;
}

/** Returns the supported codings that an `Accept-Encoding` header allows. */
function codingsFor(header: string | undefined): string[] {
  const asked = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (name !== '') asked.set(name, weight === undefined ? 1 : Number(weight));
  }
  const allowed = (coding: string) => asked.get(coding) ?? asked.get('*') ?? 0;
  const coded = ['br', 'gzip'].filter((coding) => allowed(coding) > 0);
  return coded.length === 0 ? ['identity'] : coded;
}

function headerOf(kind: Validator, etag: string): string | undefined {
  const opaque = etag.replace('W/', '');
  const headers: Record<Validator, string | undefined> = {
    none: undefined,
    same: etag,
    strong: opaque,
    listed: `"x,y", ${etag} , W/"z"`,
    star: '*',
    'star in a list': `*, ${etag}`,
    unquoted: opaque.replaceAll('"', ''),
    'small w': etag.replace('W/', 'w/'),
    'of another': 'W/"of-another"',
    unclosed: etag.slice(0, -1),
    'after a comma': `, ,${etag}`,
    'without a comma': `"a" ${etag}`,
    text: 'anything',
  };
  return headers[kind];
}

/**
 * Validators of all cases. Each combination of path, artifact and age bucket has one validator, and all validators
 * differ.
 */
class Validators {
  readonly #byKey = new Map<string, string>();
  readonly #byTag = new Map<string, string>();
  of(key: string): string | null {
    return this.#byKey.get(key) ?? null;
  }
  note(key: string, etag: string | undefined): void {
    holds(/^W\/"[\x21\x23-\x7e]+"$/.test(etag ?? ''), `${etag} has the form of a validator`);
    if (etag === undefined) return;
    same(this.#byKey.get(key) ?? etag, etag);
    same(this.#byTag.get(etag) ?? key, key);
    this.#byKey.set(key, etag);
    this.#byTag.set(etag, key);
  }
}

function instantsOf({ labels, weather, world }: Case): Record<'generated_at' | 'observed_through', number> {
  const readings = [readingOf('labels', labels), readingOf('weather', weather)];
  const reading = world === 2 && readings[1] ? readings[1] : (readings[0] ?? readings[1]);
  const ms = (timestamp: unknown): number => {
    const found = instant(timestamp);
    return found === null ? base : Number(found / 1_000_000n);
  };
  return {
    generated_at: ms(reading?.generatedAt),
    observed_through: ms(reading?.label?.observedThrough ?? reading?.generatedAt),
  };
}

/**
 * Converts the timestamps that the service computes to the model's notation, `@` and nanoseconds, and replaces the
 * placeholder of the fixed attribution.
 */
function asInstants(body: JsonObject): JsonObject {
  const facts = { ...(body.facts as JsonObject) };
  const asInstant = (value: Json | undefined): Json =>
    typeof value === 'string' && !value.startsWith('@') ? `@${instant(value) ?? value}` : (value ?? null);
  if (facts.window) {
    const window = facts.window as JsonObject;
    facts.window = { ...window, start: asInstant(window.start), end: asInstant(window.end) };
  }
  const weather = facts.network_weather as JsonObject | undefined;
  if (weather?.attribution === fixedAttribution)
    facts.network_weather = { ...weather, attribution: learnedAttribution() };
  const coverage = facts.coverage as JsonObject | undefined;
  if (coverage?.gap_overflow === true) {
    const gaps = (coverage.gaps as JsonObject[]).map((gap) => ({
      ...gap,
      start: asInstant(gap.start),
      end: asInstant(gap.end),
    }));
    facts.coverage = { ...coverage, gaps };
  }
  return { ...body, facts };
}
