import { expect, test } from 'vitest';
import type { JsonAnswer } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { connectFault, httpFault, problemOf, type SourceFault, worseOf } from './reading-events.ts';

const status = (code: number) => ({ kind: 'status', status: code, retryAfterMs: null, error: null }) as const;

test.each<[string | null, Exclude<JsonAnswer, { kind: 'json' }>[]]>([
  ['refusing', [status(401), status(403), { kind: 'refused_address', why: '' }, { kind: 'bad_url', why: '' }]],
  ['rejecting', [status(400), status(404), status(501), status(302), { kind: 'not_json' }, { kind: 'too_large' }]],
  ['failed', [status(500), status(503), status(429), { kind: 'dns', code: '' }, { kind: 'tls', code: '' }]],
  [
    'failed',
    [
      { kind: 'connect', code: 'ECONNREFUSED' },
      { kind: 'timeout', phase: 'answer' },
    ],
  ],
  [null, [{ kind: 'busy' }, { kind: 'aborted' }]],
])('a request that returns no page is classified by its answer (failure: %s)', (fault, answers) => {
  expect(answers.map((answer) => httpFault(answer).fault)).toEqual(answers.map(() => fault));
});

test.each<[string | null, ConnectError[]]>([
  [
    'refusing',
    [
      new ConnectError('handshake_status', '', 401),
      new ConnectError('refused_address', ''),
      new ConnectError('bad_url', ''),
    ],
  ],
  ['rejecting', [new ConnectError('handshake_status', '', 501), new ConnectError('handshake_status', '', 200)]],
  [
    'failed',
    [
      new ConnectError('dns', ''),
      new ConnectError('tls', ''),
      new ConnectError('timeout', ''),
      new ConnectError('handshake_status', '', 502),
    ],
  ],
  [null, [new ConnectError('aborted', ''), new ConnectError('busy', '')]],
])('a stream that cannot be opened is classified by its error (failure: %s)', (fault, errors) => {
  expect(errors.map((error) => connectFault(error).fault)).toEqual(errors.map(() => fault));
});

test.each([
  ['rejecting', 'rejecting', 'rejecting'],
  ['rejecting', 'failed', 'failed'],
  ['rejecting', 'refusing', 'refusing'],
  ['failed', 'rejecting', 'failed'],
  ['failed', 'order_unverified', 'order_unverified'],
  ['silent', 'rejecting', 'rejecting'],
  ['silent', 'busy', null],
  ['rejecting', 'busy', null],
  ['failed', 'busy', null],
  ['busy', 'busy', null],
  ['busy', 'rejecting', null],
  ['busy', 'refusing', 'refusing'],
  ['busy', 'failed', 'failed'],
  ['busy', 'order_unverified', 'order_unverified'],
] as const)('the stream failure %s and the poll failure %s are combined (result: %s)', (stream, poll, together) => {
  const fault = (one: NonNullable<SourceFault['fault']> | 'busy') => ({
    fault: one === 'busy' ? null : one,
    why: one,
    retryAfterMs: null,
  });
  expect(worseOf(stream === 'silent' ? null : fault(stream), fault(poll))).toBe(together);
});

test('the problem follows from the reason of the failure that takes precedence, and is unknown for an unlisted reason', () => {
  const why = (poll: Partial<SourceFault>, stream: Partial<SourceFault> | null = null) => {
    const fault = { fault: 'failed', why: 'dns', retryAfterMs: null } as const;
    return problemOf(stream && { ...fault, ...stream }, { ...fault, ...poll });
  };
  expect(why({})).toBe('dns_failed');
  expect(why({ fault: 'refusing', why: '403' })).toBe('authentication_required');
  expect(why({ fault: 'refusing', why: 'refused_address' })).toBe('endpoint_not_public');
  expect(why({ fault: 'rejecting', why: '404' })).toBe('not_a_label_service');
  expect(why({ why: '503' })).toBe('server_error');
  expect(why({ why: '429' })).toBe('rate_limited');
  expect(why({ why: 'error frame' })).toBe('unknown');
  // The failure of the stream determines the problem if it is the worse one.
  expect(why({ fault: 'rejecting', why: '404' }, { fault: 'failed', why: 'tls' })).toBe('tls_failed');
  expect(why({ fault: 'order_unverified', why: 'no order' }, { fault: 'rejecting', why: '404' })).toBe(
    'order_unverified',
  );
});
