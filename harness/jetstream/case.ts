import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { AlteredRelay } from './altered-relay.ts';
import { servesSubscriptions } from './peers.ts';
import type { Scene, SceneOptions } from './scene.ts';

/** One case. */
export interface Case {
  readonly name: string;
  /** Guess that was written before the first run. */
  readonly expected: string;
  readonly options: SceneOptions;
  readonly act: (scene: Scene) => Promise<void>;
}

/** Waits for a number of seconds, in which the network sends events. */
export function seconds(n: number): Promise<void> {
  return wait(n * 1000);
}

/** Ends every instrument with a signal. */
export async function stopInstruments({ instruments }: Scene, how: 'kill' | 'stop'): Promise<void> {
  await Promise.all(instruments.map(({ program }) => program[how]()));
}

/** Starts every instrument again. */
export function startInstruments({ instruments }: Scene): void {
  for (const instrument of instruments) instrument.restart();
}

/** Ends every instrument with a signal, and starts it again after some seconds. */
export async function restartInstruments(scene: Scene, how: 'kill' | 'stop', pause: number): Promise<void> {
  await stopInstruments(scene, how);
  await seconds(pause);
  startInstruments(scene);
}

/** Suspends or continues every instrument. */
export function signalInstruments({ instruments }: Scene, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { program } of instruments) program.child.kill(name);
}

/** Suspends every instrument for some seconds. */
export async function suspendInstruments(scene: Scene, pause: number): Promise<void> {
  signalInstruments(scene, 'SIGSTOP');
  await seconds(pause);
  signalInstruments(scene, 'SIGCONT');
}

/** Directory of Jetstream's data. */
function dataOf({ home }: Scene): string {
  return join(home, 'jetstream');
}

/** Ends Jetstream with a signal, changes its directory, starts it again, and waits until it accepts subscriptions. */
export async function replaceJetstream(
  scene: Scene,
  how: 'SIGTERM' | 'SIGKILL',
  change: (folder: string) => void = () => undefined,
): Promise<void> {
  await scene.jetstream.signal(how);
  change(dataOf(scene));
  await seconds(1);
  await scene.restartJetstream();
  await servesSubscriptions(scene.place);
}

/** Returns the relay that the case alters. */
export function alteredRelay({ altered }: Scene): AlteredRelay {
  if (altered === null) throw new Error('the case needs the option `altered`');
  return altered;
}
