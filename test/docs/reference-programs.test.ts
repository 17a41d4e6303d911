import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { account, fill, startAccount, writerInTest } from '../../harness/accounts/account.ts';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { labelerFixture, putLabelers } from '../../harness/artifacts/labelers.ts';
import { writeClientPackage } from '../../harness/packages/client-package.ts';
import { pythonClient, runsPython } from '../../harness/packages/python.ts';
import { elementsWith } from '../../harness/pages/html.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';

/** Runs every program in the API reference against the real services. */

const run = promisify(execFile);

interface Program {
  readonly language: string;
  readonly text: string;
}

/**
 * Starts both services with observations. Returns the programs of the reference, with the addresses of the services.
 */
async function programs(): Promise<Program[]> {
  const folder = artifactFolder();
  onTestFinished(() => folder.remove());
  const fixture = labelerFixture({ count: 3, seed: 5 });
  putLabelers(folder, fixture);
  const accountFolder = folderInTest();
  const store = writerInTest(accountFolder, (Date.now() - 60_000) * 1000);
  await fill(store, 3, { at: (Date.now() - 30_000) * 1000 });
  const accounts = await startAccount(accountFolder, ['--no-handles']).listening();
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path]).listening();
  await until('the labelers are read', async () => (await fetch(`${url}/labelers.json`)).status === 200);
  const page = await (await fetch(`${url}/docs`)).text();
  const body = page.slice(page.indexOf('<body')).replace(/<\/html>$/, '');
  return elementsWith(body, 'data-language').map(({ value: language, text }) => ({
    language,
    text: text
      .replaceAll('https://facts.example', url)
      .replaceAll('https://accounts.example', accounts.url)
      .replaceAll('did:plc:ar7c4by46qjdydhdevvrndac', fixture.labelers[0]?.did ?? '')
      .replaceAll('did:plc:ewvi7nxzyoun6zhxrhs64oiz', account),
  }));
}

/**
 * Writes the programs of a language, and a program that runs all of them and prints a line before the output of each.
 */
function written(directory: string, all: readonly Program[], language: string): { file: string; count: number } {
  const own = all.filter((program) => program.language === language).map(({ text }) => text);
  const numbered = own.map((text, at) => ({ text, at }));
  if (language === 'curl') {
    const file = join(directory, 'all.sh');
    writeFileSync(file, `set -e\n${numbered.map(({ text, at }) => `echo; echo "== ${at}"\n${text}`).join('\n')}\n`);
    return { file, count: own.length };
  }
  const ending = language === 'python' ? 'py' : 'mts';
  for (const { text, at } of numbered) writeFileSync(join(directory, `part${at}.${ending}`), text);
  const lines = numbered.map(({ at }) =>
    language === 'python'
      ? `print("== ${at}")\nrunpy.run_path("${join(directory, `part${at}.py`)}")`
      : `console.log('== ${at}');\nawait import('./part${at}.mts');`,
  );
  const file = join(directory, `all.${ending}`);
  writeFileSync(
    file,
    `${language === 'python' ? 'import runpy\n' : 'console.error = console.log;\n'}${lines.join('\n')}\n`,
  );
  return { file, count: own.length };
}

it('the programs of the API reference run and print the responses of the services', async () => {
  const all = await programs();
  const directory = folderInTest();
  writeClientPackage(root, join(directory, 'node_modules', 'almanac-client'));
  const commands = [
    ['typescript', process.execPath],
    ['curl', 'sh'],
    ...(runsPython ? [['python', 'python3']] : []),
  ] as const;
  for (const [language = '', command = ''] of commands) {
    const { file, count } = written(directory, all, language);
    const env = { ...process.env, PYTHONPATH: pythonClient, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' };
    const { stdout } = await run(command, [file], { env, maxBuffer: 32 * 1024 * 1024 });
    const outputs = stdout.split(/^== \d+$/m).slice(1);
    expect(outputs).toHaveLength(count);
    expect(
      outputs.filter((output) => output.trim() === ''),
      language,
    ).toEqual([]);
    const refused = outputs.filter((output) => /\b(?:not_found|bad_request|unknown_\w+|internal_error)\b/.test(output));
    // The OpenAPI documents contain every error code.
    expect(
      refused.filter((output) => !output.includes('openapi')),
      language,
    ).toEqual([]);
    expect(stdout, language).toContain('application_observed');
    expect(stdout, language).toContain('atproto.facts.labels.overview/v1');
  }
});
