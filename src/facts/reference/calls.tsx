import { Fragment } from 'preact';
import { accountPaths, paths } from '../../contract/identifiers.ts';

import { allErrors, isErrorCode } from './remedies.ts';
import {
  type Call,
  callAnchor,
  errorAnchor,
  type Parameter,
  type Part,
  type ResponseObject,
  Text,
  TypeText,
  typeOf,
} from './schemas.tsx';

/** Shows every call of one part of the reference. */
export function Calls({ part }: { part: Part }) {
  const shared = sharedStatuses(part);
  return (
    <>
      {part.calls.map((call) => (
        <CallSection key={call.path} part={part} call={call} shared={shared} />
      ))}
      <p>
        {'Every call can also fail with '}
        <Codes codes={shared.flatMap((status) => codesOf(part, status, part.calls[0]))} />.
      </p>
    </>
  );
}

interface CallProps {
  readonly part: Part;
  readonly call: Call;
  /** Statuses of the errors that all calls of the part have in common. */
  readonly shared: readonly string[];
}

function CallSection({ part, call, shared }: CallProps) {
  const id = callAnchor(part, call);
  const { path, operation, parameters, responses } = call;
  const fillable = parameters.filter(({ in: place }) => place !== 'header');
  return (
    <section
      class="call"
      data-path={part.sameOrigin ? path : undefined}
      data-parameters={fillable.map(({ name }) => name).join(' ') || undefined}
      data-example={part.sameOrigin && path.includes('{') ? exampleTarget(call) : undefined}
    >
      <h3 id={id}>
        <code>GET {path}</code>
      </h3>
      <p>
        <strong>{operation.summary}.</strong> <Text of={operation.description} />
        {part.sameOrigin && !path.includes('{') ? (
          <>
            {' '}
            <a href={`.${path}`}>Open {path}</a>
          </>
        ) : null}
      </p>
      <Parameters call={call} part={part} />
      <h4>{shared.length === 0 ? 'Responses' : 'Responses, besides the errors of every call'}</h4>
      <dl>
        {responses
          .filter(([status]) => !shared.includes(status))
          .map(([status, response]) => (
            <ResponseRow key={status} part={part} status={status} response={response} />
          ))}
      </dl>
      <Programs part={part} call={call} />
      <Examples call={call} />
    </section>
  );
}

function Parameters({ call: { parameters, path }, part }: Pick<CallProps, 'call' | 'part'>) {
  if (parameters.length === 0) return null;
  return (
    <>
      <h4>Parameters</h4>
      <dl>
        {parameters.map(({ name, in: place, description, schema, required = false }) => (
          <Fragment key={name}>
            <dt>
              <code>{name}</code>{' '}
              <span class="soft">
                {place}
                {required ? ', required' : ''},{' '}
                <TypeText type={typeOf(schema, `${path}.${name}`)} anchors={part.anchors} />
              </span>
            </dt>
            <dd>
              <Text of={description} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

interface ResponseProps {
  readonly part: Part;
  readonly status: string;
  readonly response: ResponseObject;
}

function ResponseRow({ part, status, response }: ResponseProps) {
  const codes = codesIn(part, status, response);
  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  return (
    <>
      <dt>
        <code>{status}</code>{' '}
        <span class="soft">
          {type ?? 'no body'}
          {content?.schema.$ref === undefined ? null : (
            <>
              {', '}
              <TypeText type={typeOf(content.schema, '')} anchors={part.anchors} />
            </>
          )}
        </span>
      </dt>
      <dd>
        <Text of={response.description} />
        {codes.length === 0 ? null : (
          <>
            {' Codes: '}
            <Codes codes={codes} />.
          </>
        )}
      </dd>
    </>
  );
}

function Codes({ codes }: { codes: readonly string[] }) {
  return (
    <>
      {codes.map((code, at) => (
        <Fragment key={code}>
          {at === 0 ? '' : ', '}
          <a href={`#${errorAnchor(code)}`}>
            <code>{code}</code>
          </a>
        </Fragment>
      ))}
    </>
  );
}

function Programs({ part, call }: Pick<CallProps, 'part' | 'call'>) {
  const { curl, typescript, python } = samplesOf(call, part.base);
  return (
    <>
      <h4>Programs</h4>
      <pre>
        <code data-language="curl">{curl}</code>
      </pre>
      <details>
        <summary>TypeScript</summary>
        <pre>
          <code data-language="typescript">{typescript}</code>
        </pre>
      </details>
      <details>
        <summary>Python</summary>
        <pre>
          <code data-language="python">{python}</code>
        </pre>
      </details>
    </>
  );
}

function Examples({ call }: { call: Call }) {
  const ok = call.responses.find(([status]) => status === '200')?.[1];
  const examples = Object.entries(ok?.content?.['application/json']?.examples ?? {});
  return (
    <>
      {examples.map(([name, { value }]) => (
        <details key={name}>
          <summary>{examples.length === 1 ? 'Example of the response' : `Example of the response: ${name}`}</summary>
          <pre>
            <code>{JSON.stringify(value, null, 2)}</code>
          </pre>
        </details>
      ))}
    </>
  );
}

/** Returns the error statuses for which all calls of a part have the same response. */
function sharedStatuses({ calls }: Part): string[] {
  const [first, ...others] = calls;
  const errors = first?.responses.filter(([status]) => Number(status) >= 400) ?? [];
  const same = (status: string, response: ResponseObject) =>
    others.every((call) => call.responses.some(([other, its]) => other === status && its === response));
  return errors.filter(([status, response]) => same(status, response)).map(([status]) => status);
}

function codesOf(part: Part, status: string, call: Call | undefined): string[] {
  const response = call?.responses.find(([one]) => one === status)?.[1];
  return response ? codesIn(part, status, response) : [];
}

/**
 * Returns the error codes that a response may have: those of its examples. A 409 response may have every code with that
 * status in the document.
 */
function codesIn({ document }: Part, status: string, { content }: ResponseObject): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  const named = examples.map(({ value }) => codeOf(value)).filter(isErrorCode);
  const all =
    status === '409' ? (document.components.schemas.Error?.properties?.error?.properties?.code?.enum ?? []) : [];
  const refused = all.filter(isErrorCode).filter((code) => allErrors[code].status === 409);
  return [...new Set(refused.length > 0 ? refused : named)];
}

function codeOf(value: unknown): unknown {
  return (value as { error?: { code?: unknown } } | null)?.error?.code;
}

/** Sample programs for one call: a shell command, and a program in each client language. */
interface Samples {
  readonly curl: string;
  readonly typescript: string;
  readonly python: string;
}

/** Name of the client package's method for a path, in each language. */
const clientMethods: Readonly<Record<string, { readonly typescript: string; readonly python: string }>> = {
  [paths.instruments]: { typescript: 'instruments', python: 'instruments' },
  [paths.labelsOverview]: { typescript: 'labelsOverview', python: 'labels_overview' },
  [paths.weatherConditions]: { typescript: 'weatherConditions', python: 'weather_conditions' },
  [paths.weatherMetrics]: { typescript: 'weatherMetrics', python: 'weather_metrics' },
};

/**
 * Returns the sample programs for a call at a base URL. The client packages have methods for the facts and for the
 * index of instruments; the programs for other paths use no package.
 */
function samplesOf(call: Call, base: string): Samples {
  const url = `${base}${exampleTarget(call)}`;
  const conditional = call.parameters.some(({ name }) => name === 'If-None-Match');
  const curl = `curl -sS --compressed ${shellQuoted(url)}`;
  const again = `\n\n# Later: send the ETag back. The response is 304 without a body if nothing has changed.\ncurl -sS -D - -H 'If-None-Match: W/"…"' ${shellQuoted(url)}`;
  return { curl: conditional ? curl + again : curl, ...programs(call, base, url) };
}

function programs(call: Call, base: string, url: string): Omit<Samples, 'curl'> {
  const method = clientMethods[call.path];
  if (method) return packagePrograms(base, method);
  if (call.path === accountPaths.exports) return exportPrograms(base, url);
  return isJson(call) ? jsonPrograms(url) : pagePrograms(url);
}

function packagePrograms(base: string, method: { typescript: string; python: string }): Omit<Samples, 'curl'> {
  return {
    typescript: `import { createFactsClient, FactsError } from 'almanac-client';

const client = createFactsClient('${base}');
try {
  const { value } = await client.${method.typescript}();
  console.log(value);
} catch (error) {
  if (!(error instanceof FactsError)) throw error;
  console.error(error.code, error.message);
}`,
    python: `from almanac_client import FactsClient, FactsError

client = FactsClient("${base}")
try:
    print(client.${method.python}().value)
except FactsError as error:
    print(error.code, error.message)`,
  };
}

function jsonPrograms(url: string): Omit<Samples, 'curl'> {
  return {
    typescript: `const response = await fetch('${url}');
const body = await response.json();
if (response.ok) console.log(body);
else console.error(body.error.code, body.error.message);`,
    python: `import json, urllib.error, urllib.request

try:
    with urllib.request.urlopen("${url}", timeout=10) as response:
        print(json.load(response))
except urllib.error.HTTPError as refusal:
    error = json.load(refusal)["error"]
    print(error["code"], error["message"])`,
  };
}

function pagePrograms(url: string): Omit<Samples, 'curl'> {
  return {
    typescript: `const response = await fetch('${url}');
console.log(response.status, await response.text());`,
    python: `import urllib.error, urllib.request

try:
    with urllib.request.urlopen("${url}", timeout=10) as page:
        print(page.status, page.read().decode())
except urllib.error.HTTPError as refusal:
    print(refusal.code, refusal.read().decode())`,
  };
}

/** Returns programs that read a complete export. They use no client package, because the packages read only facts. */
function exportPrograms(base: string, url: string): Omit<Samples, 'curl'> {
  return {
    typescript: `async function read(url: string) {
  const response = await fetch(url);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error.code + ': ' + body.error.message);
  return body;
}

const { manifest, cursor } = await read('${url}');
console.log(manifest.coverage.status);
for (let next = cursor; next !== null; ) {
  const page = await read('${base}${accountPaths.exports}?cursor=' + next);
  for (const row of page.rows) console.log(row);
  next = page.next_cursor;
}`,
    python: `import json, urllib.request

def read(url):
    # Raises HTTPError for a refusal; its body is the Error object.
    with urllib.request.urlopen(url, timeout=30) as response:
        return json.load(response)

export = read("${url}")
print(export["manifest"]["coverage"]["status"])
cursor = export["cursor"]
while cursor is not None:
    page = read("${base}${accountPaths.exports}?cursor=" + cursor)
    for row in page["rows"]:
        print(row)
    cursor = page["next_cursor"]`,
  };
}

/**
 * Returns the path with its parameters replaced by their examples, followed by the query parameters that have examples.
 */
function exampleTarget({ path, parameters }: Call): string {
  const filled = parameters
    .filter((one) => one.in === 'path')
    .reduce((made, { name, example = '' }) => made.replace(`{${name}}`, example), path);
  const query = parameters.filter((one) => one.in === 'query').flatMap(exampleOf);
  return filled + (query.length === 0 ? '' : `?${query.join('&')}`);
}

/**
 * Returns a query parameter with its example as a list, which is empty without an example. A cursor has no example,
 * because each cursor belongs to one export; if it is the only parameter, returns a placeholder.
 */
function exampleOf({ name, example }: Parameter, _at: number, all: readonly Parameter[]): string[] {
  if (example !== undefined) return [`${name}=${encodeURIComponent(example).replaceAll('%3A', ':')}`];
  return name === 'cursor' && all.length === 1 ? ['cursor=CURSOR'] : [];
}

/** Returns true if the call returns JSON. */
function isJson({ responses }: Call): boolean {
  return responses.some(([status, { content }]) => status === '200' && content?.['application/json'] !== undefined);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
