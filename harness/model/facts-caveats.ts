import { type ArtifactFixture, fixture } from '../artifacts/fixtures.ts';
import type { Envelope } from './facts-model.ts';
import { factsPrograms } from './facts-programs.ts';
import type { JsonObject } from './values.ts';

/**
 * Returns a function that computes the caveats of a response. The fixed caveats are read once from artifacts without
 * problems, because the contract does not specify their wording. The model determines where each of them must appear.
 */
export function learnedCaveats() {
  const fixed = new Map<string, string[]>();
  const ofOrigin = new Map<string, string>();
  for (const name of ['recent', 'legacy', 'weather', 'weatherwatch'] as const) {
    fixed.set(name, caveatsOf(name, { caveats: [] }));
    for (const origin of name === 'recent' || name === 'weather' ? ['simulated', 'sample'] : []) {
      const [first = '', ...rest] = caveatsOf(name, { caveats: [], origin });
      if (JSON.stringify(rest) !== JSON.stringify(fixed.get(name)))
        throw new Error(`${origin}: expected one additional caveat in first position`);
      ofOrigin.set(`${name} ${origin}`, first);
    }
  }
  const ahead = caveatsOf('weather', {}, -86_400_000).at(-1) ?? '';
  if (!/ahead/.test(ahead)) throw new Error('weather that is ahead of the clock has no caveat');
  return (schema: string, given: Envelope['caveats']): string[] => {
    const origin = ofOrigin.get(`${schema} ${given.origin}`);
    return [
      ...(origin === undefined ? [] : [origin]),
      ...(fixed.get(schema) ?? []),
      ...(given.ahead ? [ahead] : []),
      ...given.own,
    ];
  };
}

function caveatsOf(name: ArtifactFixture, changes: object, after = 30_000): string[] {
  return answerTo(name, changes, after).caveats as string[];
}

function answerTo(name: ArtifactFixture, changes: object, after = 30_000): JsonObject {
  const [program] = factsPrograms();
  const artifact = { ...fixture(name), ...changes };
  const now = Date.parse(String(artifact.generated_at)) + after;
  const isLabels = name === 'recent' || name === 'legacy';
  program?.[isLabels ? 'setLabels' : 'setWeather'](Buffer.from(JSON.stringify(artifact)), now);
  const target = isLabels ? '/v1/labels/overview' : '/v1/weather/metrics';
  const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined };
  const reply = program?.answer(request, now);
  return JSON.parse(Buffer.from(reply?.body ?? '').toString('utf8')) as JsonObject;
}

let attribution: string | null = null;

/**
 * Returns the fixed attribution that the service publishes when it removes the `calm` signal from a summary. The text
 * is read once from the program.
 */
export function learnedAttribution(): string {
  attribution ??= attributionOf();
  return attribution;
}

function attributionOf(): string {
  const observation = fixture('legacy').observation as object;
  const weather = { signals: ['calm'], attribution: 'the producer had its reasons', supports_negative_claim: true };
  const body = answerTo('legacy', { network_weather: weather, observation: { ...observation, adequacy: 'partial' } });
  const said = (body.facts as { network_weather: { attribution: string } }).network_weather.attribution;
  if (said === '' || said.includes('reasons')) throw new Error(`the attribution is not a fixed sentence: ${said}`);
  return said;
}
