import { expect, it } from 'vitest';
import { OperatorError } from '../../../ops/errors.ts';
import { parsePostgresUrl } from './place.ts';
import { Session } from './session.ts';
import { storeError } from './sqlstates.ts';

it.each([
  ['the password file', { passwordFile: '/nonexistent/password' }],
  ['the certificates', { tls: 'verify-full', tlsAuthorities: '/nonexistent/ca.pem' }],
] as const)('a session whose settings name a missing file reports %s as misconfigured', async (what, settings) => {
  const place = { ...parsePostgresUrl('postgres://almanac@127.0.0.1:1/almanac'), ...settings };
  const session = new Session(place, 'any', 1);
  try {
    await expect(session.read((queries) => queries.rows('SELECT 1'))).rejects.toMatchObject({
      code: 'misconfigured',
      fatal: true,
      message: expect.stringMatching(`: cannot read ${what}.* /nonexistent/`),
    });
  } finally {
    await session.close();
  }
});

it('an error that the operator can correct becomes the store error misconfigured and keeps its message', () => {
  const error = new OperatorError('the PostgreSQL server at a:1 is older than version 15');
  expect(storeError(error, 'a place')).toMatchObject({ code: 'misconfigured', message: `a place: ${error.message}` });
});
