import { expect, it } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { labelsOf, startLabelSim, startMs, subscribeLabels } from '../../harness/sim/label-consumer.ts';

it.each([1, 2, 3])('the readers of all streams receive exactly the labels in the record (seed %i)', async (seed) => {
  const epochUs = startMs * 1000;
  const { sim, pass } = await startLabelSim({
    seed,
    labelers: 12,
    labelRate: 5,
    shapeLabeler: () => ({
      oddShare: 0.1,
      oddKinds: [
        'foreign',
        'malformed',
        'undated',
        'pre_epoch',
        'future',
        'duplicate',
        'oversized',
        'space_uri',
        'odd_value',
      ],
    }),
  });
  const readers = await Promise.all(
    sim.labelers.list.map(async (labeler) => ({ labeler, consumer: await subscribeLabels(labeler.endpoint) })),
  );
  for (let minute = 0; minute < 10; minute++) pass(60);
  // Emit a last label of each labeler. Once that label has arrived, all earlier labels have arrived too.
  for (const { labeler } of readers) labeler.faults.emit(1);
  sim.pump();
  const sizes = () => readers.map(({ consumer }) => consumer.frames.length);
  await until('every label has arrived', () =>
    readers.every(
      ({ labeler, consumer }) => labeler.served.has(labeler.edge) && consumer.frames.length === labeler.served.size,
    ),
  );
  const kept = new Map<string, number>();
  for (const { labeler, consumer } of readers) {
    const known = new Set<string>();
    for (const { label } of labelsOf(consumer.frames)) {
      const { src, uri, cid, val, neg, cts } = label;
      const authoredMs = typeof cts === 'string' ? Date.parse(cts) : Number.NaN;
      const formed = typeof uri === 'string' && /^(?:did:|at:\/\/)(?!.*\/space\/)/.test(uri) && uri.length < 8192;
      const valued = typeof val === 'string' && val.length <= 128 && typeof (neg ?? false) === 'boolean';
      const dated = authoredMs >= startMs && authoredMs <= startMs + 900_000;
      if (src === labeler.did && formed && valued && dated) known.add(JSON.stringify([uri, cid, val, neg, cts]));
    }
    if (known.size > 0) kept.set(labeler.did, known.size);
  }
  const expected = sim.labelers.truth.expected({ epochUs });
  expect(kept).toEqual(expected.byLabeler);
  expect(expected.accepted + Object.values(expected.refused).reduce((sum, count) => sum + count, 0)).toBe(
    sizes().reduce((sum, size) => sum + size, 0),
  );
  expect(Object.entries(expected.refused).filter(([, count]) => count === 0)).toEqual([['late', 0]]);
  for (const { consumer } of readers) await consumer.close();
  await sim.stop();
});
