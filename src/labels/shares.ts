/** How far a source is trusted with shared resources: given by the operator, observed for long, or neither. */
export const standings = ['seeded', 'established', 'new'] as const;
/** One of them. */
export type Standing = (typeof standings)[number];

/** Whose share a cost counts against. */
export interface ShareKey {
  readonly standing: Standing;
  /** The registrable domain of its endpoint: one owner may run many labelers below one. */
  readonly domain: string;
  readonly source: string;
}

/** Weights of the classes where they wait for the same resource: no crowd of new sources holds up the others. */
export const standingWeights: Readonly<Record<Standing, number>> = { seeded: 8, established: 4, new: 1 };
