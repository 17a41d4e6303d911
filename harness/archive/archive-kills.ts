import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dice } from '../../sim/random.ts';
import { dayOf, hourMs, hourOf } from '../../src/archive/days/calendar.ts';
import { factNames, lineFileOf } from '../../src/archive/days/line.ts';
import { directoryReader } from '../../src/archive/verify/archive-reader.ts';
import type { Finding } from '../../src/archive/verify/finding.ts';
import { verifyArchive } from '../../src/archive/verify/verify.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { type Script, startScript } from '../process/script.ts';
import { killedHours, killedRespond } from './interrupted.ts';
import { simulateArchive, simulatedStart } from './simulated-archive.ts';

/** Number of kills, number of times that the disk is filled, and seed of the random delays. */
interface ArchiveKillPlan {
  readonly kills: number;
  readonly disks: number;
  readonly seed: number;
}

/** Result of killing an archiver repeatedly. */
interface ArchiveKillReport {
  /** Findings of the verification after each kill or full disk, before the next start. */
  readonly findings: readonly Finding[];
  /** Hours that were complete before a kill and missing from the archive afterwards. */
  readonly lostHours: readonly string[];
  /** Paths of files whose final content is not the same as in an uninterrupted archive. */
  readonly differences: readonly string[];
  /** Number of archived hours. */
  readonly hours: number;
  /** Number of closed days. */
  readonly closedDays: number;
  /** Reasons of the gaps in all gap manifests, sorted. */
  readonly reasons: readonly string[];
  /**
   * Number of archiver processes that hit a full disk; null if the plan fills no disk or this user cannot mount one.
   */
  readonly metFullDisk: number | null;
}

/** Minimum number of archived hours. It ensures that days are closed even on a slow machine. */
const minHours = 150;

/** Repeatedly kills an archiver at random times or fills its disk, and verifies the archive after each interruption. */
export async function killArchiver({ kills, disks, seed }: ArchiveKillPlan): Promise<ArchiveKillReport> {
  const { folder, remove } = temporaryFolder('archive-kills');
  const disk = disks > 0 ? SmallDisk.mount(join(folder, 'disk')) : null;
  const root = disk?.path ?? folder;
  try {
    const run = new Run(root, dice(seed));
    for (let kill = 0; kill < kills; kill++) await run.kill();
    for (let nth = 0; disk && nth < disks; nth++) await run.fill(disk, nth);
    await run.complete(minHours);
    return await run.report(disk !== null);
  } finally {
    disk?.unmount();
    remove();
  }
}

class Run {
  readonly #root: string;
  readonly #chance: ReturnType<typeof dice>;
  readonly #findings: Finding[] = [];
  readonly #lost: string[] = [];
  /** Number of the last hour whose files were complete. */
  #last = -1;
  #closedDays = 0;
  #metFullDisk = 0;

  constructor(root: string, chance: ReturnType<typeof dice>) {
    this.#root = root;
    this.#chance = chance;
    mkdirSync(join(root, 'archive'));
  }

  /** Kills an archiver at a random time, in most cases after its first complete hour. */
  async kill(): Promise<void> {
    const archiver = this.#start();
    if (this.#chance.below(10) > 0) await nextLine(archiver);
    await delay(this.#chance.below(200));
    await archiver.end('SIGKILL');
    await this.#check();
  }

  /** Fills the disk while an archiver is running, frees the space, and lets the archiver complete two more hours. */
  async fill(disk: SmallDisk, nth: number): Promise<void> {
    const archiver = this.#start();
    await nextLine(archiver);
    disk.leave(nth * 3);
    await untilLine(archiver, (line) => line === 'full');
    this.#metFullDisk += 1;
    disk.free();
    const before = this.#last;
    await untilLine(archiver, () => this.#last >= before + 2);
    await archiver.end('SIGKILL');
    await this.#check();
  }

  /** Runs an archiver until it has completed the given number of hours. */
  async complete(hours: number): Promise<void> {
    const archiver = this.#start();
    await untilLine(archiver, () => this.#last >= hours);
    await archiver.end('SIGKILL');
    await this.#check();
  }

  async report(hasDisk: boolean): Promise<ArchiveKillReport> {
    const intact = simulateArchive({ respond: killedRespond, hours: killedHours });
    await intact.run(this.#last + 1);
    // Archive this hour again: the process may have been killed before it reported that the hour's files are complete.
    const archiver = this.#start(this.#last);
    await nextLine(archiver);
    await archiver.end('SIGKILL');
    const until = hourOf(simulatedStart + this.#last * hourMs).slice(0, 10);
    const files = [...intact.content].filter(([path]) => path.startsWith('days/') && !path.endsWith('/day.json'));
    const differences = files
      // Skip the last days: hours after the last compared hour may have changed their files.
      .filter(([path]) => path.slice(5, 15) < dayOf(Date.parse(until) - 3 * 24 * hourMs))
      .filter(([path, bytes]) => !bytes.equals(readFileSync(join(this.#root, 'archive', path))))
      .map(([path]) => path);
    return {
      findings: this.#findings,
      lostHours: this.#lost,
      differences,
      hours: this.#last + 1,
      closedDays: this.#closedDays,
      reasons: this.#reasons(),
      metFullDisk: hasDisk ? this.#metFullDisk : null,
    };
  }

  #reasons(): string[] {
    const folder = join(this.#root, 'archive/days');
    const gaps = readdirSync(folder).flatMap((day) => {
      const manifest = JSON.parse(readFileSync(join(folder, day, 'gaps.json'), 'utf8')) as {
        gaps: { reason: string }[];
      };
      return manifest.gaps.map(({ reason }) => reason);
    });
    return [...new Set(gaps)].sort();
  }

  #start(from = this.#last + 1): Script {
    return startScript('archive/archiver-process.ts', [this.#root, String(from)], (line) => {
      if (line !== 'full') this.#last = Math.max(this.#last, Number(line));
    });
  }

  /**
   * Verifies the archive in the state that the process left, and looks for lost hours. Skips an archive without an
   * index.
   */
  async #check(): Promise<void> {
    if (!readdirSync(join(this.#root, 'archive')).includes('index.json')) return;
    const reader = directoryReader(join(this.#root, 'archive'));
    const now = simulatedStart + (this.#last + 2) * hourMs;
    const options = { reader, key: null, kept: null, now, wait: () => Promise.resolve() };
    const report = await verifyArchive(options);
    this.#findings.push(...report.findings);
    this.#closedDays = report.closedDays;
    for (let hour = Math.max(0, this.#last - 24); hour <= this.#last; hour++) this.#checkHour(hour);
  }

  #checkHour(hour: number): void {
    const at = simulatedStart + hour * hourMs;
    for (const name of factNames) {
      const text = readFileSync(join(this.#root, 'archive/days', dayOf(at), lineFileOf(name)), 'utf8');
      if (!text.includes(`{"hour":"${hourOf(at)}"`)) this.#lost.push(`${hourOf(at)} ${name}`);
    }
  }
}

/** Resolves with the next line of an archiver. Rejects if the archiver exits by itself. */
async function nextLine(archiver: Script): Promise<string> {
  const line = await archiver.line();
  if (line === null) throw new Error('the archiver exited by itself');
  return line;
}

async function untilLine(archiver: Script, isWanted: (line: string) => boolean): Promise<void> {
  while (!isWanted(await nextLine(archiver)));
}
