import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { labelerDocument } from '../../harness/labels/labeler-document.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';
import { errorTable, labelerErrorBody } from '../../src/contract/errors.ts';
import { labelerExitCodes } from '../../src/main/labeler/labeler.ts';

/** A document that a service has just built. */
const document = { ...labelerDocument(), retrieved_at: new Date().toISOString() };
const { did } = document.facts;

/** Starts a server that sends one response to every request. Returns its address and the requested paths. */
async function serve(
  status: number,
  body: string | ((request: IncomingMessage) => string),
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(typeof body === 'string' ? body : body(request));
  });
  const { port } = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}`, asked };
}

describe('almanac labeler', () => {
  it('prints the document of a labeler as text, from a service with a base path', async () => {
    const { url, asked } = await serve(200, JSON.stringify(document));
    const { code, stdout } = await runProgram(['labeler', did, '--facts', `${url}/facts/`]);
    expect(asked).toEqual([`/facts/labelers/${did}.json`]);
    expect(code).toBe(labelerExitCodes.shown);
    expect(stdout[0]).toBe(`mod.example.com (${did})`);
    expect(stdout).toContain('Not read on 2 of the last 7 days; what it did then is not known.');
  });

  it('finds a labeler by a handle only if the list marks that handle as confirmed', async () => {
    const other = 'did:web:other.example.com';
    const list = [
      { did: other, handle: { name: 'claimed.example.com', confirmed: false } },
      { did: 'did:web:nameless.example.com', handle: null },
      { did, handle: { name: 'mod.example.com', confirmed: true } },
    ];
    const { url, asked } = await serve(200, ({ url: path = '' }) =>
      JSON.stringify(path === '/labelers.json' ? { facts: { labelers: list } } : document),
    );
    const { code, stdout } = await runProgram(['labeler', '@Mod.Example.com', '--facts', url]);
    expect([code, stdout[0]]).toEqual([labelerExitCodes.shown, `mod.example.com (${did})`]);
    expect(asked).toEqual(['/labelers.json', `/labelers/${did}.json`]);
    const claimed = await runProgram(['labeler', 'claimed.example.com', '--facts', url]);
    expect([claimed.code, claimed.stderr.join()]).toEqual([
      4,
      expect.stringContaining(`is claimed by ${other} but not confirmed; give the DID`),
    ]);
    const unknown = await runProgram(['labeler', 'nobody.example.com', '--facts', url]);
    expect([unknown.code, unknown.stderr.join()]).toEqual([
      4,
      expect.stringContaining('no labeler of the service has the handle'),
    ]);
  });

  it('reports why a service has no list in which a handle can be looked up', async () => {
    const { url } = await serve(503, JSON.stringify(labelerErrorBody('source_held')));
    const { code, stderr } = await runProgram(['labeler', 'mod.example.com', '--facts', url]);
    expect([code, stderr.join()]).toEqual([2, expect.stringContaining(errorTable.source_held.message)]);
  });

  it('prints the document as the service sent it with --json', async () => {
    const { url } = await serve(200, JSON.stringify(document));
    const { stdout } = await runProgram(['labeler', did, '--json', '--facts', url]);
    expect(JSON.parse(stdout.join('\n'))).toEqual(document);
  });

  it.each<[string, number, object | string, number, string]>([
    ['a labeler that the service does not know', 404, labelerErrorBody('unknown_labeler'), 4, 'unknown_labeler'],
    ['held facts', 503, labelerErrorBody('source_held'), 2, errorTable.source_held.message],
    ['a page of another program', 200, '<html></html>', 2, 'is not a facts service with documents about labelers'],
    ['a document with an unexpected shape', 200, { ...document, facts: {} }, 2, 'does not have the published shape'],
  ])('reports %s', async (_, status, body, wanted, message) => {
    const { url } = await serve(status, typeof body === 'string' ? body : JSON.stringify(body));
    const { code, stdout, stderr } = await runProgram(['labeler', did, '--facts', url]);
    expect([code, stdout]).toEqual([wanted, []]);
    expect(stderr.join('\n')).toContain(message);
  });

  it('reports a service that cannot be reached', async () => {
    const { code, stderr } = await runProgram(['labeler', did, '--facts', 'http://127.0.0.1:1']);
    const said = 'almanac: http://127.0.0.1:1 cannot be reached; --facts URL selects another service';
    expect([code, stderr]).toEqual([labelerExitCodes.unreachable, [said]]);
  });

  it.each<[string, readonly string[], string]>([
    ['no name', ['labeler'], 'labeler requires exactly one DID or handle'],
    ['two DIDs', ['labeler', did, did], 'labeler requires exactly one DID or handle'],
    ['neither a DID nor a handle', ['labeler', 'mod'], 'labeler requires a handle, or a DID: '],
    ['a URL with an unsupported scheme', ['labeler', did, '--facts', 'ftp://host'], '--facts requires a URL'],
  ])('rejects invalid arguments (%s)', async (_, args, message) => {
    const { code, stderr } = await runProgram(args);
    expect(code).toBe(1);
    expect(stderr.join('\n')).toContain(message);
  });
});
