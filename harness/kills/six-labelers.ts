import { createSim, type Sim, type SimAddresses } from '../../sim/index.ts';

/**
 * Creates a network of six labelers that emit `rate` labels per second each, or `atFirst` until the rate is set, for
 * instruments that are interrupted. No labeler replaces rows, so every emitted label can be read later and must be
 * stored in the end.
 */
export function sixLabelers(seed: number, rate: number, atFirst = rate): Sim {
  return createSim({
    ...{ seed, labelers: 6, labelRate: 6 * rate, rate: 1, historyHours: 0 },
    shapeLabeler: ({ index }) => ({
      ...{ software: 'skyware', rate: atFirst },
      // Include labels that are refused: each must be counted once even if it is read repeatedly.
      ...{ oddShare: 0.04, oddKinds: ['undated', 'future', 'foreign', 'late'] },
      // Make one labeler readable only through pages.
      ailment: index === 5 ? 'no_stream' : 'none',
    }),
  });
}

/** Returns the arguments of a label instrument that observes such a network. */
export function labelsArgs({ plc, jetstream, seeds }: SimAddresses, store: string, artifacts: string): string[] {
  return [
    ...['--store', store, '--artifacts', artifacts, '--plc', plc ?? '', '--jetstream', jetstream],
    ...['--seeds', seeds ?? '', '--relay', plc ?? '', '--allow-loopback'],
    ...['--publish-seconds', '1', '--min-free-megabytes', '0'],
  ];
}
