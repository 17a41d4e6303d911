import { join } from 'node:path';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { createFactsApp } from '../../src/facts/app.ts';
import { factsDocuments } from '../../src/facts/documents.ts';
import type { Reply } from '../../src/http/reply.ts';
import { memorySource } from '../process/memory-source.ts';
import type { Bounds, Request } from './facts-model.ts';

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
