import { OperatorError } from '../../ops/errors.ts';
import { integer, text, toggle } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { serviceBase } from '../shared-settings.ts';
import type { LabelerFailure } from './labeler-document.ts';

const settings = {
  facts: text('facts', 'URL', 'http://127.0.0.1:8400', 'base URL of a facts service'),
  json: toggle('json', 'print the document as the service sent it'),
  timeoutSeconds: integer('timeout-seconds', 'N', 30, { min: 1, max: 600 }, 'timeout of one response'),
};

/** Exit codes of `almanac labeler`. An error in the command line exits with 1, as in all commands. */
export const labelerExitCodes = {
  shown: 0,
  refused: 2,
  unreachable: 3,
  unknown: 4,
} as const satisfies Record<LabelerFailure['kind'] | 'shown', number>;

/** Width of a terminal that does not report its width, in characters. */
const defaultWidth = 80;

/** `almanac labeler DID-or-HANDLE`: shows what a facts service knows about one labeler. */
export const labelerCommand: Command<typeof settings> = {
  summary: 'shows the state, daily activity, gaps and values of one labeler',
  operands: 'DID-or-HANDLE',
  settings,
  exitCodes: [
    { code: labelerExitCodes.shown, meaning: 'the document is shown' },
    { code: 1, meaning: 'an error in the command line' },
    {
      code: labelerExitCodes.refused,
      meaning: 'the service has no usable current reading, or no facts service is at the address',
    },
    { code: labelerExitCodes.unreachable, meaning: 'the service cannot be reached, or did not respond in time' },
    { code: labelerExitCodes.unknown, meaning: 'the service does not know the labeler' },
  ],
  async run(values, { positionals, print }) {
    const [named] = positionals;
    if (named === undefined || positionals.length > 1)
      throw new OperatorError('labeler requires exactly one DID or handle');
    // Load these modules on demand, because other commands need neither the schemas nor an HTTP client.
    const [{ serviceFetch }, { didOf, fetchLabeler, labelerLines }] = await Promise.all([
      import('../../ops/service-fetch.ts'),
      import('./labeler-document.ts'),
    ]);
    const base = serviceBase('facts', values.facts);
    const request = {
      base,
      fetch: serviceFetch,
      timeoutMs: values.timeoutSeconds * 1000,
      clock: Date.now,
    };
    const did = await didOf(named, request);
    const found = typeof did === 'string' ? await fetchLabeler(did, request) : did;
    if (found.kind !== 'document') {
      process.stderr.write(`almanac: ${found.why}\n`);
      return labelerExitCodes[found.kind];
    }
    if (values.json) print(JSON.stringify(found.document, null, 2));
    else {
      const width = process.stdout.columns ?? defaultWidth;
      for (const line of labelerLines(found.document, width, request.clock())) print(line);
    }
    return labelerExitCodes.shown;
  },
};
