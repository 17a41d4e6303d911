import { expect, test } from 'vitest';
import { scriptedPorts } from '../../../harness/labels/reader-ports.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/connect-error.ts';
import type { PositionChange } from '../../store/port.ts';
import type { AcceptedPage } from '../ingest/accepted-page.ts';
import { noPosition } from '../label/position.ts';
import { SourceRunner } from './source-runner.ts';

const http: Pick<HttpClient, 'getJson'> = { getJson: () => Promise.resolve({ kind: 'aborted' }) };

/** Creates a runner with stored positions, and the list of the changes of positions that it commits. */
function runnerWith(stored: readonly (readonly [did: string, endpoint: string])[]) {
  const commits: (readonly PositionChange[])[] = [];
  const { ports } = scriptedPorts({
    http: http as HttpClient,
    openStream: () => Promise.reject(new ConnectError('dns', 'no such name')),
    accept: ({ positions }: AcceptedPage) => Promise.resolve(commits.push(positions) * 0),
  });
  const runner = new SourceRunner(ports, new AbortController().signal, () => undefined);
  for (const [did, endpoint] of stored) runner.keep(did, endpoint, noPosition);
  return { runner, commits };
}

test('the positions of labelers that left the roster are removed once, and the positions of known labelers stay', async () => {
  const { runner, commits } = runnerWith([
    ['did:plc:gone', 'https://a.example'],
    ['did:plc:gone', 'https://b.example'],
    ['did:plc:known', 'https://c.example'],
  ]);
  const isKnown = (did: string): boolean => did === 'did:plc:known';
  await runner.forgetUnknown(isKnown);
  await runner.forgetUnknown(isKnown);
  expect(commits).toEqual([
    [
      { source: 'did:plc:gone', endpoint: 'https://a.example', value: null },
      { source: 'did:plc:gone', endpoint: 'https://b.example', value: null },
    ],
  ]);
});

test('the positions of very many labelers are removed in commits of a bounded size', async () => {
  const { runner, commits } = runnerWith(
    Array.from({ length: 1_200 }, (_, at) => [`did:plc:${at}`, 'https://a.example']),
  );
  await runner.forgetUnknown(() => false);
  expect(commits.map(({ length }) => length)).toEqual([500, 500, 200]);
});
