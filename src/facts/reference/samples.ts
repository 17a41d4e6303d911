import { accountPaths } from '../../contract/account.ts';
import { paths } from '../../contract/identifiers.ts';
import type { Call, Parameter } from './openapi.ts';

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
export function samplesOf(call: Call, base: string): Samples {
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
export function exampleTarget({ path, parameters }: Call): string {
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
