import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Result of a command. */
interface Output {
  readonly status: number;
  readonly text: string;
}

/**
 * Runs a command and waits for its end. The output includes stderr, and is empty if `stdio` is `inherit`. Throws if the
 * command cannot be run.
 */
function run(command: string, args: readonly string[], stdio: 'pipe' | 'inherit' = 'pipe'): Output {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', stdio, stdio],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  return { status: status ?? 1, text: `${stdout ?? ''}${stderr ?? ''}`.trim() };
}

/** Runs a command, shows its output and waits for its end. Throws if the command fails. */
export function must(command: string, ...args: readonly string[]): void {
  const { status } = run(command, args, 'inherit');
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`);
}

/** Buildah and podman, with their own storage in a directory. */
export class Engine {
  readonly #storage: readonly string[];
  readonly #runtime: readonly string[];

  /** Creates the engine. `runtime` is the path of an OCI runtime, or undefined for podman's default. */
  constructor(state: string, runtime: string | undefined) {
    this.#storage = ['--root', join(state, 'storage'), '--runroot', join(state, 'run')];
    this.#runtime = runtime === undefined ? [] : ['--runtime', runtime];
  }

  build(...args: readonly string[]): void {
    // Use chroot isolation and the host's network, so that the build needs neither its own network nor cgroups.
    must('buildah', ...this.#storage, 'bud', '--isolation', 'chroot', '--network', 'host', ...args);
  }

  has(image: string): boolean {
    return this.podman('image', 'exists', image).status === 0;
  }

  podman(...args: readonly string[]): Output {
    return run('podman', [...this.#storage, ...this.#runtime, '--cgroup-manager=cgroupfs', ...args]);
  }

  /**
   * Starts a container without a network, with the options that the comments of the container file require. Throws if
   * the container does not start.
   */
  start(name: string, options: readonly string[], command: readonly string[]): void {
    const hardened = [
      ...['--pull=never', '--cgroups=disabled', '--network=none', '--init', '--health-interval=disable'],
      ...['--ulimit=core=0', '--cap-drop=all', '--security-opt=no-new-privileges', '--read-only', '--tmpfs=/tmp'],
      // Set these limits, because podman otherwise raises them, which requires CAP_SYS_RESOURCE.
      ...['--ulimit=nofile=8192:8192', '--ulimit=nproc=4096:4096'],
      // Prevent podman from adding writable directories to a read-only root file system, as Docker adds none.
      '--read-only-tmpfs=false',
    ];
    const { status, text } = this.podman('run', '-d', '--name', name, ...hardened, ...options, 'almanac', ...command);
    if (status !== 0) throw new Error(`container ${name} did not start: ${text}`);
  }

  /** Runs a command in a container. */
  exec(name: string, ...command: readonly string[]): Output {
    return this.podman('exec', name, ...command);
  }
}
