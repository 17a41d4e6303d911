import type { SourceStanding } from '../state/standing.ts';

/** Every standing of a source. */
export const standings = ['seeded', 'established', 'new'] as const satisfies readonly SourceStanding[];
/** The standing of a source, by which its shares are found. */
export type Standing = SourceStanding;

/** Identifies the share that a cost counts against. */
export interface ShareKey {
  readonly standing: Standing;
  /** The registrable domain of its endpoint: one owner may run many labelers below one. */
  readonly domain: string;
  readonly source: string;
}

/** Weights of the classes where they wait for the same resource: no crowd of new sources holds up the others. */
export const standingWeights: Readonly<Record<Standing, number>> = { seeded: 8, established: 4, new: 1 };
