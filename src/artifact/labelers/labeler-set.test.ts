import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelerFixture, labelerFiles, labelerFixture } from '../../../harness/artifacts/labelers.ts';
import { labelerDecoder } from './labeler-set.ts';

const fixture = labelerFixture({ count: 5, seed: 4, generatedAt: Date.parse('2026-11-20T12:00:00Z') });

function decode(files: { labelers: string; definitions: string }, decoder = labelerDecoder()) {
  const bytes = { labelers: Buffer.from(files.labelers), definitions: Buffer.from(files.definitions) };
  const visited: string[] = [];
  return decoder(
    bytes,
    ({ did }) => void visited.push(did),
    () => null,
  ).then((decoded) => ({ decoded, visited }));
}

const changed = (changes: Partial<LabelerFixture>) => labelerFiles({ ...fixture, ...changes });

describe('the decoder of labelers artifacts', () => {
  it('returns every line as the writer wrote it', async () => {
    const { decoded, visited } = await decode(labelerFiles(fixture));
    if (decoded.kind !== 'decoded') throw new Error(decoded.kind);
    expect(visited).toEqual(fixture.labelers.map(({ did }) => did));
    for (const line of fixture.labelers) expect(decoded.set.labeler(line.did)).toEqual(line);
    for (const line of fixture.definitions) expect(decoded.set.definitions(line.did)).toEqual(line);
    expect(decoded.set.labeler('did:plc:aaaaaaaaaaaaaaaaaaaaaaaa')).toBeNull();
  });

  it('reports two files with different `generated_at` as unequal, not as malformed', async () => {
    const definitionsHeader = { ...fixture.definitionsHeader, generated_at: '2026-11-20T12:01:00.000Z' };
    expect((await decode(changed({ definitionsHeader }))).decoded).toEqual({ kind: 'unequal' });
  });

  it.each<[string, { labelers: string; definitions: string }, object]>([
    ['a line that is not JSON', withLine(1, '{"did":'), { file: 'labelers.ndjson', line: 3, pointer: '' }],
    ['a missing line', withoutLine(4), { line: 6, why: 'is missing' }],
    ['an extra line', extraLine(), { why: 'exceeds the number of lines that the header states' }],
    ['a line that is too long', withLine(0, ' '.repeat(3_001)), { line: 2, why: 'is longer than 3000 bytes' }],
    ['a line that is nested too deeply', withLine(0, '['.repeat(20)), { line: 2 }],
    ['labelers that are not sorted', reversed(), { line: 3, pointer: '/did' }],
    ['an unknown state', withState('asleep'), { line: 2, pointer: '/state' }],
    ['a line with a key twice', withKeyTwice(1, 'state'), { line: 3, why: 'has a top-level key twice' }],
    ['a header with a key twice', withKeyTwice(-1, 'generated_at'), { line: 1, why: 'has a top-level key twice' }],
    ['a share above 1', withShare(1.5), { line: 2, pointer: '/days/0/2' }],
    ['malformed definitions', malformedDefinitions(), { file: 'labeler-definitions.ndjson', line: 2, pointer: '/did' }],
  ])('reports the location or the reason of an error (%s)', async (_what, files, place) => {
    expect((await decode(files)).decoded).toMatchObject({ kind: 'malformed', ...place });
  });

  it('returns a result and does not throw if arbitrary text replaces a part of a file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), fc.nat(20_000), async (text, at) => {
        const files = labelerFiles(fixture);
        const labelers = files.labelers.slice(0, at) + text + files.labelers.slice(at + text.length);
        expect(['decoded', 'unequal', 'malformed']).toContain((await decode({ ...files, labelers })).decoded.kind);
      }),
    );
  });

  it('returns the definitions of the newest artifact, even if it decoded different definitions before', async () => {
    const decoder = labelerDecoder();
    await decode(labelerFiles(fixture), decoder);
    const [first, ...rest] = fixture.definitions;
    if (!first) throw new Error('the fixture has no definitions');
    const { decoded } = await decode(changed({ definitions: [{ ...first, values_omitted: 9 }, ...rest] }), decoder);
    expect(decoded.kind === 'decoded' && decoded.set.definitions(first.did)?.values_omitted).toBe(9);
  });
});

function withLine(index: number, line: string) {
  const files = labelerFiles(fixture);
  const lines = files.labelers.split('\n');
  lines[index + 1] = line;
  return { ...files, labelers: lines.join('\n') };
}

function withKeyTwice(index: number, key: 'state' | 'generated_at') {
  const line = labelerFiles(fixture).labelers.split('\n')[index + 1] ?? '';
  const { [key]: value } = JSON.parse(line) as Record<string, unknown>;
  return withLine(index, `{${JSON.stringify(key)}:${JSON.stringify(value)},${line.slice(1)}`);
}

function withoutLine(index: number) {
  const files = labelerFiles(fixture);
  return {
    ...files,
    labelers: files.labelers
      .split('\n')
      .toSpliced(index + 1, 1)
      .join('\n'),
  };
}

function extraLine() {
  const files = labelerFiles(fixture);
  return { ...files, labelers: `${files.labelers}{}\n` };
}

function reversed() {
  return changed({ labelers: fixture.labelers.toReversed() });
}

function withState(state: string) {
  return withLine(0, JSON.stringify({ ...fixture.labelers[0], state }));
}

function withShare(share: number) {
  const [first] = fixture.labelers;
  return withLine(0, JSON.stringify({ ...first, days: first?.days.map(() => [1, 1, share]) }));
}

function malformedDefinitions() {
  const [first, ...rest] = fixture.definitions;
  if (!first) throw new Error('the fixture has no definitions');
  return changed({ definitions: [{ ...first, did: 'did:key:z' }, ...rest] });
}
