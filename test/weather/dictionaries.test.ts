import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { compareWithTruth, type Station, settingsOf, startStation } from '../../harness/weather/weather-station.ts';
import { createSim } from '../../sim/index.ts';

const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));

/** Returns a dictionary with the same id and tables, with which every frame expands to other words. */
function altered(): Buffer {
  const words = [
    ['feed.like', 'feed.post'],
    ['"create"', '"delete"'],
  ] as const;
  const text = words.reduce((all, [from, to]) => all.replaceAll(from, to), dictionary.toString('latin1'));
  return Buffer.from(text, 'latin1');
}

const compressed = ({ lines }: Station): number => lines.filter((line) => line.includes('"compressed":true')).length;
const dictionaries = ({ folder }: Station): string[] => readdirSync(folder).filter((name) => name.endsWith('.zstd'));

test('frames of a host are expanded only with its own dictionary, even if another host has a dictionary with the same id', async () => {
  const sim = { rate: 20, zstdDictionary: dictionary };
  const one = await startStation({ wire: 'jetstream.subscribeEvents', speed: 1, sim });
  onTestFinished(() => one.end());
  const other = createSim({ seed: 9, rate: 20, clock: one.clock, zstdDictionary: altered() });
  onTestFinished(() => other.stop());
  await until('the backfill has ended', () => one.lines.some((line) => line.includes('missed events has ended')));
  await one.weather().stop();
  const own = one.artifact().source.endpoint;
  const { jetstreamHost } = await other.start();

  const settings = { ...settingsOf(one), compress: true };
  await one.restart({ settings: { ...settings, jetstream: [jetstreamHost] } });
  await until('the other host is read', () => compressed(one) === 1);
  await one.weather().stop();
  await one.restart({ settings: { ...settings, jetstream: [own, jetstreamHost] } });
  await until('both hosts are read', () => compressed(one) === 3);
  const nowUs = one.clock() * 1000;
  await until('later events are committed', () => one.told.committedToUs > nowUs);
  expect(dictionaries(one)).toHaveLength(2);
  // Delete the dictionaries, because their bytes come from the hosts and may contain any text.
  for (const name of dictionaries(one)) rmSync(join(one.folder, name));
  await compareWithTruth(one);
});
