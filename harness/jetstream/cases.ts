import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Files, runScene, type Scene, type SceneOptions, type SceneResult } from './scene.ts';

/** One case. */
interface Case {
  readonly name: string;
  /** Guess before the first run: the counts are equal, or in part published as unobserved. */
  readonly expected: string;
  readonly options: SceneOptions;
  readonly act: (scene: Scene) => Promise<void>;
}

const seconds = (n: number): Promise<void> => wait(n * 1000);

/** Ends every instrument with a signal, and starts it again after some seconds. */
async function restartInstruments({ instruments }: Scene, how: 'kill' | 'stop', pause: number): Promise<void> {
  await Promise.all(instruments.map(({ program }) => program[how]()));
  await seconds(pause);
  for (const instrument of instruments) instrument.restart();
}

function signalInstruments({ instruments }: Scene, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { program } of instruments) program.child.kill(name);
}

/** Ends Jetstream with a signal, changes its directory, and starts it again. */
async function replaceJetstream(
  scene: Scene,
  how: 'SIGTERM' | 'SIGKILL',
  change: (folder: string) => void = () => undefined,
): Promise<void> {
  await scene.jetstream.signal(how);
  change(join(scene.home, 'jetstream'));
  await seconds(1);
  await scene.restartJetstream();
}

const equal = 'equal';
const gap = 'equal, or unobserved';

const cases: readonly Case[] = [
  ...[10, 100, 300, 2_000].map((rate) => ({
    ...{ name: `live, ${rate}/s`, expected: equal, options: { rate } },
    act: () => seconds(12),
  })),
  {
    ...{ name: 'the first start reads the bootstrap', expected: equal, options: { rate: 20, firstArgs: [] } },
    act: () => seconds(8),
  },
  {
    ...{ name: 'bootstrap of 1000 accounts', expected: equal, options: { rate: 50, accounts: 1_000 } },
    act: () => seconds(10),
  },
  {
    ...{ name: 'Almanac restarted', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await restartInstruments(scene, 'stop', 3);
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac killed', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await restartInstruments(scene, 'kill', 3);
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac suspended', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(4);
      signalInstruments(scene, 'SIGSTOP');
      await seconds(8);
      signalInstruments(scene, 'SIGCONT');
      await seconds(4);
    },
  },
  {
    ...{ name: 'Jetstream restarted', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await replaceJetstream(scene, 'SIGTERM');
      await seconds(8);
    },
  },
  {
    ...{ name: 'Jetstream killed', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(12);
    },
  },
  {
    ...{ name: 'Jetstream killed twice at 300/s', expected: gap, options: { rate: 300, accounts: 100 } },
    act: async (scene) => {
      for (let round = 0; round < 2; round += 1) {
        await seconds(5);
        await replaceJetstream(scene, 'SIGKILL');
      }
      await seconds(8);
    },
  },
  {
    ...{ name: 'Jetstream suspended', expected: equal, options: { rate: 50 } },
    act: async ({ jetstream }) => {
      await seconds(4);
      await jetstream.signal('SIGSTOP');
      await seconds(8);
      await jetstream.signal('SIGCONT');
      await seconds(6);
    },
  },
  {
    ...{ name: "Jetstream's directory lost", expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(6);
      await replaceJetstream(scene, 'SIGTERM', (folder) => rmSync(folder, { recursive: true }));
      await seconds(10);
    },
  },
  {
    ...{ name: 'Jetstream rolled back to an older copy', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(3);
      const copy = join(scene.home, 'copy');
      await replaceJetstream(scene, 'SIGTERM', (folder) => cpSync(folder, copy, { recursive: true }));
      await seconds(8);
      await replaceJetstream(scene, 'SIGTERM', (folder) => {
        rmSync(folder, { recursive: true });
        cpSync(copy, folder, { recursive: true });
      });
      await seconds(8);
    },
  },
  {
    ...{ name: 'drain of a suspended reader at shutdown', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(4);
      signalInstruments(scene, 'SIGSTOP');
      await seconds(1);
      await scene.jetstream.signal('SIGTERM');
      signalInstruments(scene, 'SIGCONT');
      await scene.restartJetstream();
      await seconds(8);
    },
  },
  {
    name: 'replay across a compaction',
    expected: 'deletes and updates remain, some creates are gone',
    options: { rate: 100, jetstreamArgs: ['--compaction-interval', '2s'] },
    act: async (scene) => {
      await seconds(4);
      await restartInstruments(scene, 'kill', 6);
      await seconds(6);
    },
  },
  {
    ...{ name: 'relay suspended', expected: equal, options: { rate: 50 } },
    act: async ({ network }) => {
      await seconds(4);
      await network.signal('SIGSTOP');
      await seconds(8);
      await network.signal('SIGCONT');
      await seconds(5);
    },
  },
];

/** Runs the cases whose names contain a text. Returns the number of wrong rows. */
export async function runCases(files: Files, only: string, print: (line: string) => void): Promise<number> {
  let wrong = 0;
  print(
    'case | wire | expected | relay | jetstream | published | unobserved | not from the relay | gap s | µs/event | verdict',
  );
  for (const { name, expected, options, act } of cases.filter((one) => one.name.includes(only))) {
    const results = await runScene(files, options, act).catch((error: unknown) => {
      print(`${name} | the case failed: ${String(error)}`);
      wrong += 1;
      return [];
    });
    for (const result of results) {
      print(rowOf(name, expected, result));
      for (const problem of result.problems.slice(0, 5)) print(`    ${problem}`);
      if (result.problems.length > 0) wrong += 1;
    }
  }
  return wrong;
}

function rowOf(name: string, expected: string, result: SceneResult): string {
  const { wire, relay, jetstream, published, unobserved, invented, gapSeconds, processorUs, problems } = result;
  const verdict = problems.length > 0 ? 'WRONG' : published === relay ? 'equal' : 'right, unobserved time';
  const numbers = [relay, jetstream, published, unobserved, invented, gapSeconds.toFixed(2), processorUs];
  return [name, wire, expected, ...numbers, verdict].join(' | ');
}
