import { readFileSync, statSync } from 'node:fs';
import { decodeArtifact } from '../artifact/decode.ts';
import type { Reading } from '../artifact/reading.ts';
import type { LabelArtifact, WeatherArtifact } from '../artifact/recognise.ts';
import { OperatorError, systemCode } from '../ops/errors.ts';
import { toggle } from '../ops/setting.ts';
import { resolveSettings } from '../ops/settings.ts';
import { recogniseAny } from './check-recognise.ts';
import { explain, type Verdict, verdictOf } from './check-verdict.ts';
import type { Command } from './command.ts';
import { freshnessSettings } from './facts-settings.ts';

const settings = { json: toggle('json', 'print the verdict as one JSON object'), ...freshnessSettings };

/** Exit codes of `almanac check`. */
const exitCodes = { servable: 0, refused: 1, not_an_artifact: 2 } as const satisfies Record<Verdict['verdict'], number>;

/** `almanac check FILE`: what the facts API would make of an artifact, and why. */
export const checkCommand: Command = {
  summary: 'judges an artifact as the facts API would and explains it',
  operands: 'FILE',
  settings,
  run({ args, env, knownFlags, print }) {
    const { values, positionals } = resolveSettings(settings, { args, env, knownFlags });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) throw new OperatorError('check wants one FILE');
    const reading = readArtifact(file, values.maxArtifactBytes);
    const verdict = verdictOf(
      reading,
      {
        maxAgeSeconds: values.maxAgeSeconds,
        collectionMaxAgeSeconds: values.collectionMaxAgeSeconds ?? values.maxAgeSeconds,
      },
      Date.now(),
    );
    print(values.json ? JSON.stringify(verdict, null, 2) : explain(file, verdict));
    return Promise.resolve(exitCodes[verdict.verdict]);
  },
};

function readArtifact(file: string, maxBytes: number): Reading<LabelArtifact | WeatherArtifact> {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new OperatorError(`not a file: ${file}`);
    if (stats.size > maxBytes) return { kind: 'unreadable', why: `it is larger than ${maxBytes} bytes` };
    return decodeArtifact(readFileSync(file), stats.mtimeMs, recogniseAny);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${file} (${systemCode(error) ?? 'unknown error'})`);
  }
}
