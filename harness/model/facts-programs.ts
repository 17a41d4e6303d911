import { join } from 'node:path';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { createFactsApp } from '../../src/facts/app.ts';
import { factsDocuments } from '../../src/facts/documents.ts';
import type { Reply } from '../../src/http/reply.ts';
import { type ArtifactFixture, fixture } from '../artifacts/fixtures.ts';
import { memorySource } from '../process/memory-source.ts';
import type { Bounds, Envelope, Request } from './facts-model.ts';
import type { JsonObject } from './values.ts';

/** The program under test: the facts application over artifacts in memory, without sockets. */

/** A facts application whose artifacts a test sets. */
export interface FactsProgram {
  readonly bounds: Bounds;
  readonly basePath: string;
  setLabels(bytes: Uint8Array | null, modifiedAt: number): void;
  setWeather(bytes: Uint8Array | null, modifiedAt: number): void;
  answer(request: Request, now: number): Reply;
}

const assets = join(import.meta.dirname, '../../assets');

/** Creates three programs with different bounds and base paths. Their validators must agree. */
export function factsPrograms(): readonly FactsProgram[] {
  return [
    program({ maxAgeSeconds: 7200, collectionMaxAgeSeconds: 7200 }, ''),
    program({ maxAgeSeconds: 90, collectionMaxAgeSeconds: 3600 }, '/observatory'),
    program({ maxAgeSeconds: 3600, collectionMaxAgeSeconds: 100 }, '/a/b'),
  ];
}

function program(bounds: Bounds, basePath: string): FactsProgram {
  const labels = memorySource(recogniseLabels);
  const weather = memorySource(recogniseWeather);
  const answer = createFactsApp({
    labels,
    weather,
    bounds,
    basePath,
    documents: factsDocuments(assets, [], basePath, { userAgent: '', contact: null }),
    accounts: null,
    alarm: () => undefined,
  });
  return { bounds, basePath, setLabels: labels.set, setWeather: weather.set, answer };
}

/**
 * Returns a function that computes the caveats of a response. The fixed caveats are read once from artifacts without
 * problems, because the contract does not specify their wording. The model determines where each of them must appear.
 */
export function learnedCaveats() {
  const fixed = new Map<string, string[]>();
  const ofOrigin = new Map<string, string>();
  for (const name of ['recent', 'legacy', 'weather', 'weatherwatch'] as const) {
    fixed.set(name, caveatsOf(name, { caveats: [] }));
    for (const origin of name === 'recent' || name === 'weather' ? ['simulated', 'sample'] : []) {
      const [first = '', ...rest] = caveatsOf(name, { caveats: [], origin });
      if (JSON.stringify(rest) !== JSON.stringify(fixed.get(name)))
        throw new Error(`${origin}: expected one additional caveat in first position`);
      ofOrigin.set(`${name} ${origin}`, first);
    }
  }
  const ahead = caveatsOf('weather', {}, -86_400_000).at(-1) ?? '';
  if (!/ahead/.test(ahead)) throw new Error('weather that is ahead of the clock has no caveat');
  return (schema: string, given: Envelope['caveats']): string[] => {
    const origin = ofOrigin.get(`${schema} ${given.origin}`);
    return [
      ...(origin === undefined ? [] : [origin]),
      ...(fixed.get(schema) ?? []),
      ...(given.ahead ? [ahead] : []),
      ...given.own,
    ];
  };
}

function caveatsOf(name: ArtifactFixture, changes: object, after = 30_000): string[] {
  return answerTo(name, changes, after).caveats as string[];
}

function answerTo(name: ArtifactFixture, changes: object, after = 30_000): JsonObject {
  const [program] = factsPrograms();
  const artifact = { ...fixture(name), ...changes };
  const now = Date.parse(String(artifact.generated_at)) + after;
  const isLabels = name === 'recent' || name === 'legacy';
  program?.[isLabels ? 'setLabels' : 'setWeather'](Buffer.from(JSON.stringify(artifact)), now);
  const target = isLabels ? '/v1/labels/overview' : '/v1/weather/metrics';
  const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined };
  const reply = program?.answer(request, now);
  return JSON.parse(Buffer.from(reply?.body ?? '').toString('utf8')) as JsonObject;
}

let attribution: string | null = null;

/**
 * Returns the fixed attribution that the service publishes when it removes the `calm` signal from a summary. The text
 * is read once from the program.
 */
export function learnedAttribution(): string {
  attribution ??= attributionOf();
  return attribution;
}

function attributionOf(): string {
  const observation = fixture('legacy').observation as object;
  const weather = { signals: ['calm'], attribution: 'the producer had its reasons', supports_negative_claim: true };
  const body = answerTo('legacy', { network_weather: weather, observation: { ...observation, adequacy: 'partial' } });
  const said = (body.facts as { network_weather: { attribution: string } }).network_weather.attribution;
  if (said === '' || said.includes('reasons')) throw new Error(`the attribution is not a fixed sentence: ${said}`);
  return said;
}
