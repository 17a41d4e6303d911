import { wait } from '../clock/wait.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { Denials } from '../operator/denials.ts';
import { SourceRunner } from '../reading/source-runner.ts';
import type { Member } from '../roster/member.ts';
import { Particulars } from '../roster/particulars.ts';
import { Reachability } from '../roster/reachability.ts';
import { Roster } from '../roster/roster.ts';
import type { ServiceEvents } from '../roster/service-events.ts';
import { type DirectoryOperations, directoryOperations } from './directory-operations.ts';
import type { Foundation } from './foundation.ts';
import { labelerEvents } from './labeler-events.ts';

/** Everything that follows labelers: the roster, who is denied, their records, and their readers. */
export interface Labelers {
  readonly roster: Roster;
  readonly runner: SourceRunner;
  readonly denials: Denials;
  readonly particulars: Particulars;
  /** Null where no stream of records is configured. */
  readonly services: ServiceEvents | null;
  /** The directory's stream. */
  readonly operations: DirectoryOperations;
  readonly reachability: Reachability;
  /** Adds a labeler, whether seeds, a relay or a stream name it; not one that is denied by its DID. */
  readonly add: Roster['add'];
}

/** Makes them; nothing is read before the roster is loaded. `fail` is told when a reader fails because the store does. */
export async function createLabelers(
  base: Foundation,
  ports: ReaderPorts,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<Labelers> {
  const { settings, store, clocks, log, telemetry, outbound, shares, signatures, obstacles } = base;
  const { resolveTxt = outbound.resolveTxt } = base;
  const { http, identities } = outbound;
  const clock = clocks.wall;
  const runner = new SourceRunner(ports, signal, fail, settings.maxEnrolled);
  const roster: Roster = new Roster({
    ...{ identities, clock, wait },
    ...{ refreshMs: 86_400_000, retryMs: 60_000, freshMs: 60_000 },
    mayResolve: (did) => !denials.deniesDid(did),
    changed: (member) => {
      signatures.forget(member.did);
      denials.judge(member);
      follow(member);
    },
  });
  const denials: Denials = new Denials({
    ...{ folder: settings.folder, store, clock, log, telemetry },
    members: () => roster.members,
    changed: (member) => follow(member),
  });
  const particulars = new Particulars({
    ...{ http, identities, store, clock, wait, log, shareOf: shares.shareOf, resolveTxt },
    member: (did) => {
      const member = roster.member(did);
      return member?.denied ? undefined : member;
    },
    sourceFailed: (part) => telemetry.sourceFailed(part),
    timeoutMs: settings.rhythm.requestMs,
  });
  const follow = (member: Member): void => {
    runner.follow(member);
    if (member.denied) particulars.forget(member.did);
    else particulars.resolved(member);
  };
  const add: Roster['add'] = (did, origin, provenance) => {
    if (roster.member(did) || !denials.deniesDid(did)) roster.add(did, origin, provenance);
  };
  const services = await labelerEvents(
    { ...base, clock, resolve: outbound.resolveOwn },
    { add, saidToChange: (did) => roster.saidToChange(did) },
    particulars,
    obstacles,
  );
  const operations = await directoryOperations(
    { ...base, resolve: outbound.resolveOwn, http: outbound.directory },
    { add, member: (did) => roster.member(did), saidToChange: (did) => roster.saidToChange(did) },
  );
  return { roster, runner, denials, particulars, services, operations, reachability: new Reachability(log), add };
}
