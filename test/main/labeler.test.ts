import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { labelerDocument } from '../../harness/labels/labeler-document.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';
import { errorTable } from '../../src/contract/errors.ts';
import { labelerErrorBody } from '../../src/contract/labeler-errors.ts';
import { labelerExitCodes } from '../../src/main/labeler/labeler.ts';

const document = labelerDocument();
const { did } = document.facts;

/** Starts a server that sends one response to every request; returns its address and the requested paths. */
async function serve(status: number, body: string): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  const { port } = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}`, asked };
}

describe('almanac labeler', () => {
  it('prints the document of a labeler as text, below the path of the service', async () => {
    const { url, asked } = await serve(200, JSON.stringify(document));
    const { code, stdout } = await runProgram(['labeler', did, '--facts', `${url}/facts/`]);
    expect(asked).toEqual([`/facts/labelers/${did}.json`]);
    expect(code).toBe(labelerExitCodes.shown);
    expect(stdout[0]).toBe(`mod.example.com (${did})`);
    expect(stdout).toContain('Not read on 2 of the last 7 days; what it did then is not known.');
  });

  it('prints the document as the service sent it with --json', async () => {
    const { url } = await serve(200, JSON.stringify(document));
    const { stdout } = await runProgram(['labeler', did, '--json', '--facts', url]);
    expect(JSON.parse(stdout.join('\n'))).toEqual(document);
  });

  it.each<[string, number, object | string, number, string]>([
    ['a labeler that the service does not know', 404, labelerErrorBody('unknown_labeler'), 4, 'unknown_labeler'],
    ['a reading that is held back', 503, labelerErrorBody('source_held'), 2, errorTable.source_held.message],
    ['a page of another program', 200, '<html></html>', 2, 'is not a facts service with documents about labelers'],
    ['a document of another shape', 200, { ...document, facts: {} }, 2, 'does not have the published shape'],
  ])('reports %s', async (_, status, body, wanted, message) => {
    const { url } = await serve(status, typeof body === 'string' ? body : JSON.stringify(body));
    const { code, stdout, stderr } = await runProgram(['labeler', did, '--facts', url]);
    expect([code, stdout]).toEqual([wanted, []]);
    expect(stderr.join('\n')).toContain(message);
  });

  it('reports a service that cannot be reached', async () => {
    const { code, stderr } = await runProgram(['labeler', did, '--facts', 'http://127.0.0.1:1']);
    expect([code, stderr]).toEqual([labelerExitCodes.unreachable, ['almanac: http://127.0.0.1:1 cannot be reached']]);
  });

  it.each<[string, readonly string[], string]>([
    ['no DID', ['labeler'], 'labeler requires exactly one DID'],
    ['two DIDs', ['labeler', did, did], 'labeler requires exactly one DID'],
    ['a handle', ['labeler', 'mod.example.com'], 'labeler requires a DID: '],
    ['an address of another scheme', ['labeler', did, '--facts', 'ftp://host'], '--facts requires a URL'],
  ])('rejects %s', async (_, args, message) => {
    const { code, stderr } = await runProgram(args);
    expect(code).toBe(1);
    expect(stderr.join('\n')).toContain(message);
  });
});
