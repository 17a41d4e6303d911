import { type DecodedLabelers, labelerDecoder } from '../../src/artifact/labelers/labeler-set.ts';
import type { LabelersReading, PreparedLabelers } from '../../src/artifact/labelers/labelers-source.ts';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { createFactsApp, factsCommonHeaders } from '../../src/facts/app.ts';
import { type Catalogue, prepareCatalogue } from '../../src/facts/labelers/catalogue.ts';
import { labelersPublication } from '../../src/facts/labelers/publication.ts';
import type { Reply } from '../../src/http/reply.ts';
import { type LabelerFixture, labelerFiles } from '../artifacts/labelers.ts';
import { memorySource } from './memory-source.ts';

/** Bounds of the in-memory facts application, in seconds. */
const bounds = { maxAgeSeconds: 7200, collectionMaxAgeSeconds: 7200 };
/** Grace period of the in-memory labelers artifact, in milliseconds. */
export const memoryGraceMs = 5_000;

/**
 * Decodes and prepares a generated labelers artifact, as the facts process does. Throws if the artifact cannot be used.
 */
export async function prepared(fixture: LabelerFixture, alarms: string[] = []): Promise<PreparedLabelers<Catalogue>> {
  const files = labelerFiles(fixture);
  const bytes = { labelers: Buffer.from(files.labelers), definitions: Buffer.from(files.definitions) };
  const preparation = prepareCatalogue((leak) => alarms.push(leak));
  const decoded: DecodedLabelers = await labelerDecoder()(bytes, preparation.visit, () => null);
  if (decoded.kind !== 'decoded') throw new Error(`the artifact cannot be used: ${JSON.stringify(decoded)}`);
  const catalogue = await preparation.finish(decoded.set, () => null);
  const { generated_at: generatedAt } = fixture.header;
  return {
    set: decoded.set,
    prepared: catalogue,
    digest: `of ${generatedAt} ${fixture.labelers.length}`,
    modifiedAt: Date.parse(generatedAt),
  };
}

/** Creates the facts application over an overview and a labelers artifact in memory, without sockets. */
export function labelersInMemory(now: number) {
  const labels = memorySource(recogniseLabels, now);
  let reading: LabelersReading<Catalogue> = { kind: 'missing', why: 'not set' };
  const alarms: { path: string; error: unknown }[] = [];
  const leaks: string[] = [];
  const alarm = (path: string, error: unknown): void => void alarms.push({ path, error });
  const publication = labelersPublication({
    overview: labels,
    labelers: { read: () => reading },
    bounds,
    graceMs: memoryGraceMs,
    common: factsCommonHeaders,
    alarm,
  });
  const answer = createFactsApp({
    labels,
    weather: memorySource(recogniseWeather, now),
    bounds,
    basePath: '',
    documents: { routes: [], answer: () => null },
    labelers: publication,
    alarm,
  });
  return {
    alarms,
    leaks,
    publication,
    setOverview: (overview: object | null): void =>
      labels.set(overview === null ? null : Buffer.from(JSON.stringify(overview))),
    setReading: (next: LabelersReading<Catalogue>): void => {
      reading = next;
    },
    /** Makes the application serve the overview and the labelers from a fixture. */
    async set(fixture: LabelerFixture): Promise<void> {
      labels.set(Buffer.from(JSON.stringify(fixture.overview)));
      reading = { kind: 'readable', sets: [await prepared(fixture, leaks)] };
    },
    get(target: string, { at = now, ifNoneMatch, acceptEncoding }: RequestOptions = {}): Reply {
      return answer({ method: 'GET', target, ifNoneMatch, acceptEncoding }, at);
    },
  };
}

/** Options for a request to the in-memory application. */
interface RequestOptions {
  /** Time of the request in milliseconds since 1970. */
  readonly at?: number;
  readonly ifNoneMatch?: string;
  readonly acceptEncoding?: string;
}
