import { expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../errors.ts';
import { Lease } from './lease.ts';
import { parsePostgresUrl } from './place.ts';
import { Session } from './session.ts';

const leaseMs = 800;

/** Returns a session that connects to no server, with its methods that a lease calls. */
function stubSession() {
  const session = new Session(parsePostgresUrl('postgres://almanac@127.0.0.1:1/almanac'), 'writer', 1);
  return { session, write: vi.spyOn(session, 'write'), close: vi.spyOn(session, 'close') };
}

it('a lease closes its session when it is released, and if another process holds it', async () => {
  const taken = stubSession();
  taken.write.mockResolvedValueOnce({ token: 2, former: 1 }).mockResolvedValue(1);
  const lease = await Lease.take(taken.session, 'a process', leaseMs);
  expect(taken.close).not.toHaveBeenCalled();
  await lease.release();
  expect(taken.close).toHaveBeenCalledTimes(1);
  const refused = stubSession();
  refused.write.mockRejectedValueOnce(new StoreError('second_writer', 'another process is writing'));
  await expect(Lease.take(refused.session, 'a process', leaseMs)).rejects.toMatchObject({ code: 'second_writer' });
  expect(refused.close).toHaveBeenCalledTimes(1);
});

it('a lease begins no renewal while another is in progress, and skips those that were due meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { session, write } = stubSession();
  write.mockResolvedValueOnce({ token: 2, former: 1 });
  const lease = await Lease.take(session, 'a process', leaseMs);
  const hanging = Promise.withResolvers<boolean>();
  write.mockReturnValueOnce(hanging.promise).mockResolvedValue(false);
  write.mockClear();
  vi.advanceTimersByTime(10 * leaseMs);
  hanging.resolve(false);
  await new Promise(setImmediate);
  expect(write).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(leaseMs / 8);
  await new Promise(setImmediate);
  expect(write).toHaveBeenCalledTimes(2);
  await lease.release();
  vi.advanceTimersByTime(leaseMs);
  expect(write).toHaveBeenCalledTimes(3);
});
