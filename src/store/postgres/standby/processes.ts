import type { StoreProcesses } from '../../standby/standby.ts';
import type { PostgresPlace } from '../base/place.ts';
import { Session } from '../base/session.ts';
import { askToStop, processesIn } from '../base/succession.ts';
import { assertReadable } from '../schema/migrate.ts';

/** Returns the writer and the standby of the store in a database. */
export function postgresProcesses(place: PostgresPlace): Promise<StoreProcesses> {
  return inSession(place, async (session) => {
    await assertReadable(session);
    return session.read(processesIn);
  });
}

/** Asks the writer with the given token to stop. Returns false if another process has become the writer. */
export function askPostgresWriterToStop(place: PostgresPlace, token: string): Promise<boolean> {
  return inSession(place, (session) => askToStop(session, token));
}

async function inSession<T>(place: PostgresPlace, work: (session: Session) => Promise<T>): Promise<T> {
  // Use the primary unless the URL asks for a certain kind of server, because a standby may lag behind.
  const session = new Session(place, place.target === 'any' ? 'primary' : place.target, 1);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
