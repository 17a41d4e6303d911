import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { aLegacyOverview } from '../../../harness/artifacts/overviews.ts';
import type { LegacyOverview } from '../../artifact/recognise.ts';
import { projectLabels } from '../project-labels.ts';
import type { LegacyEnvelope } from '../shown-facts.ts';
import { Labels } from './labels.tsx';

/** Texts of which the page contains at most one. */
const reasons = ['Too little was observed to say', 'nothing can be concluded', 'The artifact supports no statement'];

/** Returns the verdict of the page, and whether the page states why it supports no negative claim. */
function shown(adequacy: NonNullable<LegacyOverview['observation']>['adequacy'], signals: string[], standing = true) {
  const overview = aLegacyOverview();
  const { observation } = overview;
  const { facts } = projectLabels({
    schema: '23',
    overview: {
      ...overview,
      network_weather: { signals, attribution: 'because', supports_negative_claim: standing },
      ...(observation && { observation: { ...observation, adequacy } }),
    },
  });
  const html = renderToString(<Labels fact={{ kind: 'served', envelope: { facts } as LegacyEnvelope }} />);
  return {
    verdict: /<p class="verdict">(.*?)<\/p>/.exec(html)?.[1],
    reasons: reasons.filter((text) => html.includes(text)),
  };
}

describe('the signals of the legacy producer', () => {
  it('that are unknown leave a verdict that claims neither quiet nor too little observation', () => {
    expect(shown('adequate', ['splendid'])).toEqual({
      verdict: 'No known signal is stated.',
      reasons: ['nothing can be concluded'],
    });
  });

  it('are the verdict, with the statement that too little was observed only if it was', () => {
    expect(shown('adequate', ['calm'])).toEqual({ verdict: 'Calm', reasons: [] });
    expect(shown('partial', ['noisy', 'calm'])).toEqual({
      verdict: 'Noisy, Under-observed',
      reasons: ['Too little was observed to say'],
    });
    expect(shown('partial', ['splendid'])).toEqual({
      verdict: 'Under-observed',
      reasons: ['Too little was observed to say'],
    });
  });

  it('support no negative claim because the artifact states so, even if the observation was adequate', () => {
    expect(shown('adequate', ['calm'], false)).toEqual({
      verdict: 'Calm',
      reasons: ['The artifact supports no statement'],
    });
  });
});
