import { afterEach, beforeEach } from 'vitest';
import type { Micros } from '../../src/contract/timestamp.ts';
import type { Batch, Observation, StoreReader, StoreWriter } from '../../src/store/port.ts';
import { day, type Interval, micros } from '../../src/store/time.ts';
import { hasPgBouncer } from '../postgres/pgbouncer.ts';
import { hasPostgres } from '../postgres/server.ts';
import { scanAccount } from '../store/scan.ts';
import { labelNumber, noon, observationOf, subjects } from './labels.ts';
import { pgBouncerKind, postgresKind } from './postgres-kind.ts';
import { sqliteKind } from './sqlite-kind.ts';
import type { StoreKind, StorePlace } from './subject.ts';

/**
 * All implementations of the store port that can run on this machine. The conformance suites run against each of them.
 */
export const kinds: readonly StoreKind[] = [
  sqliteKind,
  ...(hasPostgres() ? [postgresKind] : []),
  ...(hasPostgres() && hasPgBouncer() ? [pgBouncerKind] : []),
];

/** A store that is created for each test. */
export interface Subject {
  readonly place: StorePlace;
  readonly store: StoreWriter;
  /** Closes the store and reopens it. */
  reopen(at?: Micros, options?: { windowDays?: number }): Promise<void>;
}

/** Creates a store before each test and removes it afterwards. */
export function useStore(kind: StoreKind): Subject {
  let place: StorePlace;
  let store: StoreWriter;
  beforeEach(async () => {
    place = await kind.place();
    store = await place.write(noon);
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });
  return {
    get place() {
      return place;
    },
    get store() {
      return store;
    },
    async reopen(at = noon, options = {}) {
      await store.close();
      store = await place.write(at, options);
    },
  };
}

/** Returns the instant `more` microseconds after `at`. */
export function later(at: number, more: number): Micros {
  return micros(at + more);
}

/** Returns the 24-hour interval that starts at `at`. */
export function around(at: number): Interval {
  return { start: micros(at), end: micros(at + day) };
}

/** Returns the ISO time that is a number of milliseconds after noon, for use as `cts`. */
export function noonText(milliseconds: number): string {
  return new Date(noon / 1000 + milliseconds).toISOString();
}

/** Returns a batch of numbered labels, accepted at `at`. */
export function batch(at: Micros, numbers: readonly number[]): Batch {
  return { at, observations: numbers.map((n) => observationOf(labelNumber(n))), refusals: [], positions: [] };
}

/** Collects all rows of a sequence of chunks. */
export async function collect(chunks: AsyncIterable<readonly Observation[]>): Promise<Observation[]> {
  const rows: Observation[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

/** Returns every row about the generated accounts in order of acceptance. */
export async function everyRow(store: StoreReader, interval: Interval): Promise<Observation[]> {
  const all = await Promise.all(
    subjects.map((account) => collect(scanAccount(store, { account, ...interval, order: 'oldest' }, 1e6))),
  );
  return all.flat().sort((a, b) => a.observedAt - b.observedAt);
}

/** Returns the problems that `verify` reports for all days. */
export async function problems(store: StoreReader): Promise<string[]> {
  const found: string[] = [];
  for await (const report of store.verify()) found.push(...report.problems.map((text) => `${report.day}: ${text}`));
  return found;
}
