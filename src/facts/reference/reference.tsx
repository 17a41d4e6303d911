import { Fragment } from 'preact';
import type { PageParts } from '../../web/page-body.tsx';
import { Calls } from './calls.tsx';

import { allErrors, errorRemedies, isErrorCode } from './remedies.ts';
import {
  type ApiDocument,
  callAnchor,
  callsOf,
  errorAnchor,
  type Part,
  type PartSource,
  type Schema,
  Schemas,
  Text,
} from './schemas.tsx';

/** Addresses that the sample programs on the page use. */
export interface ReferenceAddresses {
  /** URL of this service. */
  readonly facts: string;
  /** URL of the account view. */
  readonly account: string;
  /** True if this service does not know its own URL; the script of the page then fills it in. */
  readonly guessed: boolean;
}

/** File names of the OpenAPI documents in the assets directory, in the order in which the page shows them. */
export const referenceDocuments = ['openapi.json', 'labelers-openapi.json', 'account-openapi.json'] as const;

/**
 * Renders the API reference from the OpenAPI documents, given as texts in the order of `referenceDocuments`. Throws if
 * one of them is missing.
 */
export function reference(texts: readonly string[], addresses: ReferenceAddresses): PageParts {
  // The documents are part of the built program, so their shape needs no check.
  const [facts, labelers, account] = texts.map((text) => JSON.parse(text) as ApiDocument);
  if (!facts || !labelers || !account) throw new Error('the API reference requires all three OpenAPI documents');
  const { facts: base } = addresses;
  const parts = arranged([
    { id: 'facts', title: 'Facts', document: facts, base, source: './openapi.json', sameOrigin: true },
    {
      id: 'labelers',
      title: 'Labelers',
      document: labelers,
      base,
      source: './labelers/openapi.json',
      sameOrigin: true,
    },
    {
      id: 'account',
      title: 'One account',
      document: account,
      base: addresses.account,
      source: `${addresses.account}/openapi.json`,
      sameOrigin: false,
    },
  ]);
  return {
    title: 'Almanac: API reference',
    description: 'Every call, field, unit and error of the public facts API, with programs in three languages.',
    base: '.',
    indexed: true,
    scripts: ['/assets/docs.js'],
    styles: ['/assets/docs.css'],
    navigation: [
      { href: './labelers', text: 'Labelers' },
      { href: './docs', text: 'API' },
      { href: './method/weather', text: 'Method' },
      { href: './policy', text: 'Policy' },
      { href: './for-labelers', text: 'For labelers' },
    ],
    children: <Body parts={parts} addresses={addresses} />,
  };
}

function Body({ parts, addresses }: { parts: readonly Part[]; addresses: ReferenceAddresses }) {
  return (
    <div class="reference" data-base={addresses.guessed ? addresses.facts : undefined}>
      <h1>API reference</h1>
      <Rules guessed={addresses.guessed} />
      <Contents parts={parts} />
      {parts.map((part) => (
        <Fragment key={part.id}>
          <h2 id={part.id}>{part.title}</h2>
          <Paragraphs of={part.document.info.description} />
          <p>
            Base address: <code data-address={part.sameOrigin ? '' : undefined}>{part.base}</code>. For machines:{' '}
            <a href={part.source}>OpenAPI document</a>, version {part.document.info.version}.
          </p>
          <Calls part={part} />
          <h2 id={`${part.id}-fields`}>{part.title}: fields</h2>
          <Schemas part={part} />
        </Fragment>
      ))}
      <Errors documents={parts.map(({ document }) => document)} />
    </div>
  );
}

/** Shows rules that apply to every call, and the source of the client packages. */
function Rules({ guessed }: { guessed: boolean }) {
  return (
    <>
      <ul>
        <li>Every path takes GET and HEAD; HEAD returns the headers of GET. OPTIONS returns the CORS preflight.</li>
        <li>A field that is null or absent is unknown, and never zero.</li>
        <li>
          A 503 is a refusal. Show the error; zeros or an earlier reading in its place would be wrong. Show the caveats
          with the numbers.
        </li>
        <li>
          The service builds a representation at <code>retrieved_at</code> and serves it for at most a minute. For the
          age of a fact at its arrival, add the seconds since <code>retrieved_at</code> to <code>age_seconds</code>.
        </li>
        <li>
          Append the paths of the index to the base address as text: resolved as references, they lose the path of a
          base address such as <code>https://observatory.example/atproto</code>.
        </li>
        <li>
          From another origin, a preflight permits <code>If-None-Match</code> alone: send neither{' '}
          <code>Content-Type</code> nor headers of your own.
        </li>
        <li>
          <a href="./method/weather">How the weather is measured</a> and{' '}
          <a href="./method/labels">how labels are counted</a> explain the words in the responses.
        </li>
      </ul>
      <p>
        The programs import <code>almanac-client</code> and <code>almanac_client</code>, the packages of a release for
        TypeScript and Python. Without them, any HTTP client works.
        {guessed ? (
          <span data-hint>
            {' '}
            The addresses in the programs are examples: replace them with the address of this service.
          </span>
        ) : null}
      </p>
    </>
  );
}

function Contents({ parts }: { parts: readonly Part[] }) {
  return (
    <nav aria-label="Contents">
      <ul class="contents">
        {parts.map((part) => (
          <li key={part.id}>
            <a href={`#${part.id}`}>{part.title}</a>
            <ul>
              {part.calls.map((call) => (
                <li key={call.path}>
                  <a href={`#${callAnchor(part, call)}`}>
                    <code>{call.path}</code>
                  </a>
                </li>
              ))}
              <li>
                <a href={`#${part.id}-fields`}>fields</a>
              </li>
            </ul>
          </li>
        ))}
        <li>
          <a href="#errors">Errors</a>
        </li>
      </ul>
    </nav>
  );
}

function Errors({ documents }: { documents: readonly ApiDocument[] }) {
  const codes = documents.flatMap(
    ({ components }) => components.schemas.Error?.properties?.error?.properties?.code?.enum ?? [],
  );
  return (
    <>
      <h2 id="errors">Errors</h2>
      <p>
        Each error has the body of the schema <a href="#Error">Error</a>. Decide by <code>code</code>; the message is
        for people.
      </p>
      <dl>
        {[...new Set(codes)].filter(isErrorCode).map((code) => (
          <Fragment key={code}>
            <dt id={errorAnchor(code)}>
              <code>{code}</code> <span class="soft">{allErrors[code].status}</span>
            </dt>
            <dd>
              <Text of={allErrors[code].message} /> <strong>Remedy:</strong> {errorRemedies[code]}
            </dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

/** Shows a description, split into paragraphs. */
function Paragraphs({ of }: { of: string }) {
  return (
    <>
      {of.split('\n\n').map((paragraph, at) => (
        <p key={at}>
          <Text of={paragraph} />
        </p>
      ))}
    </>
  );
}

/** Assigns element ids to the schemas of all parts. */
function arranged(sources: readonly PartSource[]): Part[] {
  const places = new Map<string, { readonly text: string; readonly anchor: string }>();
  return sources.map((source) => {
    const anchors = new Map<string, string>();
    const shown: (readonly [string, Schema])[] = [];
    for (const [name, schema] of Object.entries(source.document.components.schemas)) {
      const text = JSON.stringify(schema);
      const known = places.get(name);
      const anchor = known?.text === text ? known.anchor : known ? `${source.id}-${name}` : name;
      anchors.set(name, anchor);
      if (known?.text === text) continue;
      shown.push([name, schema]);
      if (!known) places.set(name, { text, anchor });
    }
    return { ...source, calls: callsOf(source.document), anchors, shown };
  });
}
