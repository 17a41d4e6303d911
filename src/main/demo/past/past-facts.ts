import type { FetchedFact } from '../../../archive/fetch-fact.ts';
import type { Reading } from '../../../artifact/reading.ts';
import type { LabelArtifact, WeatherArtifact } from '../../../artifact/recognise.ts';
import type { ArtifactSource } from '../../../artifact/source.ts';
import { createFactsApp } from '../../../facts/app.ts';
import type { HeaderList } from '../../../http/headers.ts';
import { factsSettings } from '../../facts/facts-settings.ts';

/** The artifacts of both instruments at one time in the past. */
export interface PastArtifacts {
  readonly labels: Reading<LabelArtifact>;
  readonly weather: Reading<WeatherArtifact>;
}

/**
 * Returns a function that responds to a path as the facts API would have responded at the time `now`, in milliseconds
 * since 1970. `read` returns the artifacts of that time. The function throws if a response cannot be built.
 */
export function pastFacts(read: () => PastArtifacts): (path: string, now: number) => FetchedFact {
  const maxAgeSeconds = factsSettings.maxAgeSeconds.fallback;
  const answer = createFactsApp({
    labels: sourceOf(() => read().labels),
    weather: sourceOf(() => read().weather),
    bounds: { maxAgeSeconds, collectionMaxAgeSeconds: maxAgeSeconds },
    basePath: '',
    documents: { routes: [], answer: () => null },
    alarm: (path, error) => {
      throw new Error(`the past response for ${path} could not be built`, { cause: error });
    },
  });
  return (target, now) => {
    const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined };
    const { status, headers, body } = answer(request, now);
    const [etag, lastModified] = ['ETag', 'Last-Modified'].map((name) => headerOf(headers, name));
    const served = { status, body: body ?? Buffer.alloc(0), etag: etag ?? null, lastModified: lastModified ?? null };
    return { kind: 'response', served, date: now };
  };
}

function sourceOf<A>(read: () => Reading<A>): ArtifactSource<A> {
  return { read, start: () => Promise.resolve(), stop: () => Promise.resolve() };
}

function headerOf(headers: HeaderList, name: string): string | null {
  const at = headers.findIndex((text, place) => place % 2 === 0 && text.toLowerCase() === name.toLowerCase());
  return at < 0 ? null : (headers[at + 1] ?? null);
}
