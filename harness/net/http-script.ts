import { readFileSync } from 'node:fs';

/** Parses HTTP scripts. test/http/README.md describes their format. */

/** A script line that installs an artifact for the following requests. */
export interface ArtifactLine {
  readonly kind: 'artifact';
  readonly instrument: 'labels' | 'weather';
  /** Content of the artifact: the name of a fixture, `missing`, or `raw`. */
  readonly what: string;
  readonly text: string;
}

/** A request and its expected response. */
export interface RequestStep {
  readonly kind: 'request';
  readonly title: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly [string, string][];
  readonly status: number;
  readonly expected: readonly [string, string][];
}

/** A parsed script: the command's flags, and the lines and steps in order. */
interface HttpScript {
  readonly args: readonly string[];
  readonly steps: readonly (ArtifactLine | RequestStep)[];
}

/** Parses a script. Throws on an invalid line, and on a request without an expected status. */
export function readHttpScript(path: string): HttpScript {
  let args: string[] = [];
  const steps: (ArtifactLine | RequestStep)[] = [];
  let request: { line: string; headers: [string, string][]; status: number; expected: [string, string][] } | null =
    null;

  function flush(): void {
    if (!request) return;
    const [method = '', target = ''] = request.line.split(' ');
    const { headers, status, expected } = request;
    if (status === 0) throw new Error(`${path}: the request has no expected status: ${request.line}`);
    const names = headers.map(([name]) => name).join(', ');
    const title = `${request.line}${names ? ` with ${names}` : ''} -> ${status}`;
    steps.push({ kind: 'request', title, method, target, headers, status, expected });
    request = null;
  }

  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line.startsWith('#')) continue;
    const artifact = /^(labels|weather) (\w+)(?: (.*))?$/.exec(line);
    if (line === '') flush();
    else if (line.startsWith('args ')) args = line.slice(5).split(' ');
    else if (artifact) {
      flush();
      const [, instrument, what = '', text = '{}'] = artifact;
      steps.push({ kind: 'artifact', instrument: instrument === 'labels' ? 'labels' : 'weather', what, text });
    } else if (/^[A-Z]+ \S+$/.test(line)) {
      flush();
      request = { line, headers: [], status: 0, expected: [] };
    } else if (request && line.startsWith('-> ')) request.status = Number(line.slice(3));
    else if (request) {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`${path}: invalid line: ${line}`);
      const field: [string, string] = [line.slice(0, colon), line.slice(colon + 1).trim()];
      (request.status === 0 ? request.headers : request.expected).push(field);
    } else throw new Error(`${path}: invalid line: ${line}`);
  }
  flush();
  return { args, steps };
}
