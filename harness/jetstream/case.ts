import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { SmallDisk } from '../faults/small-disk.ts';
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

/** One step of a case: an action, or a number of seconds in which the network sends events. */
type Step = number | ((scene: Scene) => unknown);

/** Creates a case with the given steps. */
export function scripted(name: string, expected: string, options: SceneOptions, ...steps: readonly Step[]): Case {
  return { name, expected, options, act: inOrder(...steps) };
}

/** Returns an action that takes steps one after another. */
export function inOrder(...steps: readonly Step[]): (scene: Scene) => Promise<void> {
  return async (scene) => {
    for (const step of steps) await (typeof step === 'number' ? wait(step * 1000) : step(scene));
  };
}

/** Returns an action that takes steps several times. */
export function repeated(times: number, ...steps: readonly Step[]): (scene: Scene) => Promise<void> {
  return inOrder(...Array.from({ length: times }, () => steps).flat());
}

/** Returns an action that ends every instrument with a signal. */
export function stopped(how: 'kill' | 'stop'): (scene: Scene) => Promise<unknown> {
  return ({ instruments }) => Promise.all(instruments.map(({ program }) => program[how]()));
}

/** Starts every instrument again. */
export function started({ instruments }: Scene): void {
  for (const instrument of instruments) instrument.restart();
}

/** Returns an action that ends every instrument with a signal, and starts it again after some seconds. */
export function restarted(how: 'kill' | 'stop', pause: number): (scene: Scene) => Promise<void> {
  return inOrder(stopped(how), pause, started);
}

/** Returns an action that suspends or continues every instrument. */
export function signalled(name: 'SIGSTOP' | 'SIGCONT'): (scene: Scene) => void {
  return ({ instruments }) => {
    for (const { program } of instruments) program.child.kill(name);
  };
}

/** Returns an action that suspends every instrument for some seconds. */
export function suspended(pause: number): (scene: Scene) => Promise<void> {
  return inOrder(signalled('SIGSTOP'), pause, signalled('SIGCONT'));
}

/** Returns the directory of Jetstream's data. */
export function dataOf({ home }: Scene): string {
  return join(home, 'jetstream');
}

/**
 * Returns an action that ends Jetstream with a signal, changes its directory, starts it again, and waits until it accepts
 * subscriptions.
 */
export function replaced(
  how: 'SIGTERM' | 'SIGKILL',
  change: (scene: Scene) => void = () => undefined,
): (scene: Scene) => Promise<void> {
  return inOrder(
    ({ jetstream }) => jetstream.signal(how),
    change,
    1,
    (scene) => scene.restartJetstream(),
    ({ place }) => servesSubscriptions(place),
  );
}

/** Returns the relay that the case alters. */
export function alteredRelay({ altered }: Scene): AlteredRelay {
  if (altered === null) throw new Error('the case needs the option `altered`');
  return altered;
}

/** Returns the disk of Jetstream's directory. */
export function diskOf({ disk }: Scene): SmallDisk {
  if (disk === null) throw new Error('the case needs the option `diskMb`');
  return disk;
}
