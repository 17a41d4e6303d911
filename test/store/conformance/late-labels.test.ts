import { describe, expect, it } from 'vitest';
import { labelers, labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { kinds, later, useStore } from '../../../harness/conformance/suite.ts';
import {
  closedHours,
  FilledInCounts,
  HourCounts,
  SourceHistory,
} from '../../../src/labels/publish/hours/hour-counts.ts';
import { makeHours } from '../../../src/labels/publish/hours/labels-hours.ts';
import { WindowReader } from '../../../src/labels/publish/window/window-reader.ts';
import { FilledIn } from '../../../src/labels/state/filled-in.ts';
import { hour, micros, minute, second } from '../../../src/store/time.ts';

const [did = ''] = labelers;
const own = Array.from({ length: 400 }, (_, n) => labelNumber(n)).filter(({ src }) => src === did);

describe.each(kinds)('a $name store', (kind) => {
  const on = useStore(kind);

  it('counts the labels that were read late, and keeps their times when it is opened again', async () => {
    const filledIn = new FilledIn();
    const accept = async (at: number, since: number, from: number, until: number): Promise<void> => {
      const { changesAt, committed } = filledIn.covering(did, later(noon, since));
      const observations = own.slice(from, until).map(observationOf);
      await on.store.append({ at: later(noon, at), observations, refusals: [], positions: changesAt(later(noon, at)) });
      committed();
      if (at === since) filledIn.live(did, later(noon, at + second));
    };
    await accept(20 * minute, 20 * minute, 0, 3);
    await accept(2 * hour + 10 * minute, 20 * minute, 3, 15);
    await accept(2 * hour + 58 * minute, 2 * hour + 58 * minute, 15, 17);
    await on.reopen(later(noon, 3 * hour));
    const now = later(noon, 3 * hour + 2 * minute);
    const reading = await new WindowReader(on.store).read(now, 30);
    const hours = closedHours(now, reading.frontier, reading.epoch.startedAt);
    const never = { handle: null, problem: null, lastAnswered: null, replacesRows: null, departure: null };
    const { head, labelers: made } = await makeHours({
      ...{ reading, hours, counted: await new HourCounts(on.store).read(hours), origin: 'live' },
      ...{ filledIn: new FilledInCounts(on.store), sources: new SourceHistory() },
      entries: [
        {
          ...{ ...never, did, enrolled: true, state: 'established', stateSince: micros(noon), dated: true },
          ...{ provenance: new Set(['seeds']), readBy: 'pages', firstAnswered: micros(noon) },
        },
      ],
    });
    const ofHours = head.hours.slice(-4, -1);
    expect(ofHours.map(({ applications, removals }) => (applications ?? 0) + (removals ?? 0))).toEqual([3, 0, 14]);
    expect(
      ofHours.map(({ filled_in: part }) => [
        (part?.applications ?? 0) + (part?.removals ?? 0),
        part?.labeler_seconds ?? null,
      ]),
    ).toEqual([
      [0, 2_340],
      [0, 3_600],
      [12, 720],
    ]);
    expect(ofHours.map((one) => one.labels_per_hour)).toEqual([null, null, 2.5]);
    expect(made).toHaveLength(1);
  });
});
