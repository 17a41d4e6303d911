import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelers, noon } from '../../../harness/conformance/labels.ts';
import { batch, useSqliteFolder } from '../../../harness/store/sqlite-folder.ts';
import { makeSourcesReport } from '../../../src/labels/publish/sources-report.ts';
import type { labelsSettings } from '../../../src/main/labels/labels-settings.ts';
import { upkeepActions } from '../../../src/main/labels/labels-upkeep.ts';
import type { Values } from '../../../src/ops/setting.ts';
import { day, micros } from '../../../src/store/time.ts';

const place = useSqliteFolder();
const [known = ''] = labelers;
const noCost = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };
const times = { generatedAt: '2024-10-04T12:00:00.000Z', startedAt: '2024-10-04T11:00:00.000Z' };

const source = {
  ...{ did: known, endpoint: 'https://labeler.example', domains: ['labeler.example'], state: 'established' },
  ...{ standing: 'seeded', denied: false, slots: 3, ...noCost },
};
const report = makeSourcesReport([source], times);
const { domains: _, ...withoutDomains } = report;

test.each([
  ['of this version', report],
  ['of an earlier version, without domains', withoutDomains],
])(
  'the totals over a report %s include rows of labelers that it lacks, and slots of those that it lists',
  async (_, file) => {
    const writer = place.open({ at: micros(noon - day) });
    await writer.append(batch([0, 1, 2, 3, 4, 5]));
    await writer.append({ ...batch([6]), at: micros(noon + day) });
    await place.close();
    writeFileSync(join(place.path, 'labels-sources.json'), JSON.stringify(file));
    const values = { store: `sqlite:${place.path}`, state: '', json: false } as Values<typeof labelsSettings>;
    const lines: string[] = [];
    expect(await upkeepActions.sources(values, (line) => lines.push(line), [])).toBe(0);
    expect(lines.slice(2, 4).map((line) => line.trim().split(/ +/).join(' '))).toEqual([
      '0.0 0.0 0.0 0 7 0 0 3 - - 1 sources',
      `0.0 0.0 0.0 0 3 0 0 3 established seeded ${known} labeler.example`,
    ]);
  },
);
