import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { textsOf } from '../texts/texts.ts';
import { FactsUrl, Labeler } from './observation.tsx';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';

function shown(factsUrl: string | null, labeler: string): string {
  return renderToString(
    <FactsUrl.Provider value={factsUrl}>
      <Labeler did={labeler} name={undefined} t={textsOf('en')} />
    </FactsUrl.Provider>,
  );
}

describe('the name of a labeler on the page of an account', () => {
  it("links to the labeler's page at the facts API if the address of the API is known", () => {
    expect(shown('https://facts.example', did)).toContain(`href="https://facts.example/labelers/${did}"`);
    expect(shown(null, did)).not.toContain('href');
  });

  it('has no link if the DID is invalid', () => {
    expect(shown('https://facts.example', 'did:plc:"><script>')).not.toContain('href');
  });
});
