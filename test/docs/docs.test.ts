import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOpenApi, openApi } from '../../harness/artifacts/openapi.ts';
import { root } from '../../harness/process/imports.ts';
import { registeredMetrics } from '../../harness/process/metrics.ts';
import { inputLimitsDocument } from '../../scripts/input-limits-doc.ts';
import { pageStyles } from '../../src/account/page/pages.tsx';
import { computedFiles, inputFiles } from '../../src/archive/compute/compute-files.ts';
import { factNames, failureReasons, lineFileOf } from '../../src/archive/days/line.ts';
import { hoursFailures } from '../../src/archive/hours/hour-lists.ts';
import { ownReasons, tables } from '../../src/archive/tables/columns.ts';
import { firstEdition } from '../../src/archive/tables/first-edition.ts';
import { verifyExitCodes } from '../../src/archive/verify/finding.ts';
import { createFactsClient } from '../../src/client/index.ts';
import { accountErrorTable, errorTable, labelerErrorTable } from '../../src/contract/errors.ts';
import { accountPaths, paths } from '../../src/contract/identifiers.ts';
import { csvColumns, exportFormats } from '../../src/export/format.ts';
import { monthRoutes, renderedPaths } from '../../src/facts/app.ts';
import { archivePagePath } from '../../src/facts/archive/archive-page.tsx';
import { archiveRoute } from '../../src/facts/archive/archive-replies.ts';
import { factsDocuments } from '../../src/facts/documents.ts';

import { chartNames } from '../../src/facts/formats/formats.ts';
import { labelerRoutes } from '../../src/facts/labelers/publication.ts';
import { families } from '../../src/facts/metrics/fact-metrics.ts';
import { sampleName } from '../../src/facts/metrics/open-metrics.ts';
import { pauseReasons } from '../../src/labels/ingest/ports.ts';
import { capShares } from '../../src/labels/shares/daily-cap.ts';
import { classCpu, sourceRates } from '../../src/labels/shares/pace.ts';
import { pageSlots } from '../../src/labels/stream/outbound.ts';
import { checkExitCodes } from '../../src/main/check/check.ts';
import { commands } from '../../src/main/commands.ts';
import { exportExitCodes } from '../../src/main/export/export.ts';
import { labelerExitCodes } from '../../src/main/labeler/labeler.ts';
import { stillWritten } from '../../src/main/store/store-copy.ts';
import { slowMs } from '../../src/network/guard/slots.ts';
import { refusalReasons } from '../../src/store/port.ts';

/**
 * Tests the documentation in both directions: everything that it mentions exists, and everything that exists is
 * mentioned.
 */

function page(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

/** Returns the first cell of each row of the tables below a heading, without backquotes. */
function firstCells(text: string, heading: string): string[] {
  const section = text.split(`\n${heading}\n`)[1]?.split(/\n#+ /)[0] ?? '';
  return rowsOf(section).map((cells) => cells[0] ?? '');
}

function rowsOf(section: string): string[][] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(?: *-+ *\|)+$/.test(line))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

const readme = page('README.md');
const scripts = JSON.parse(page('package.json')).scripts as Record<string, string>;

describe('README', () => {
  it('names only npm scripts that package.json has, as does CONTRIBUTING.md', () => {
    const named = [...`${readme}${page('CONTRIBUTING.md')}`.matchAll(/npm (?:run )?([\w:-]*\w)/g)].map(
      ([, name]) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => name === undefined || !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('lists exactly the commands of the program', () => {
    const listed = [...readme.matchAll(/^\| `almanac (\w+)/gm)].map(([, name]) => name);
    expect(listed).toEqual(Object.keys(commands));
  });

  it('names only existing commands, as does every other page', () => {
    const pages = ['README.md', 'SECURITY.md', ...markdownBelow('docs')];
    const named = pages.flatMap((name) =>
      [...page(name).matchAll(/(?:`|^ {4,})almanac ([a-z]+)/gm)].map(([, command = '']) => command),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((command) => !Object.hasOwn(commands, command))).toEqual([]);
  });

  it('shows a response that the contract describes', () => {
    const [, answer = ''] = /```json\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(openApi.faults('get', '/v1/instruments', 200, JSON.parse(answer))).toEqual([]);
  });

  it('names only settings that a command has', () => {
    const known = Object.values(commands).flatMap(({ settings }) => Object.values(settings).map(({ flag }) => flag));
    const pages = [
      'README.md',
      'SECURITY.md',
      'docs/operations.md',
      'docs/operations/incidents.md',
      'docs/api.md',
      'docs/account.md',
      'docs/export.md',
    ]
      .map(page)
      .join('\n');
    // Flags of other programs are not settings of Almanac.
    const own = pages.replaceAll(/\brsync -a .*/g, '');
    const named = [...own.matchAll(/(?<!systemd-tmpfiles )--([a-z][a-z-]+)/g)].map(([, flag = '']) => flag);
    expect(named.filter((flag) => !known.includes(flag) && flag !== 'config' && flag !== 'help')).toEqual([]);
  });

  it('links only to pages that exist', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target);
    expect(links.length).toBeGreaterThan(8);
    for (const link of links) expect(() => page(link), link).not.toThrow();
  });
});

describe('docs/api.md', () => {
  const api = page('docs/api.md');

  it('lists exactly the routes of the facts API', () => {
    const documents = factsDocuments(join(root, 'assets'), [], '', { userAgent: '', contact: null });
    const listed = firstCells(`\n# x\n${api}`, '# The facts API for a client');
    const served: string[] = [...Object.values(paths), ...renderedPaths];
    for (const path of served) expect(listed).toContain(path);
    const documentPaths = listed.filter((path) => !served.includes(path));
    expect(documentPaths.filter((path) => documents.answer(path, 'identity') === null)).toEqual([]);
    expect(listed.filter((path) => path === '/openapi.json' || documentPaths.includes(path)).sort()).toEqual(
      [...documents.routes].sort(),
    );
  });

  it('is complete in the list of paths outside the contract in README.md', () => {
    const documents = factsDocuments(join(root, 'assets'), [], '', { userAgent: '', contact: null });
    const charts = chartNames.map((name) => `/charts/${name}.csv`);
    const files = [archiveRoute, archivePagePath, ...monthRoutes, ...Object.values(labelerRoutes), ...charts];
    const grouped = (path: string): string => path.replace(/^(\/[\w-]+)\/.*$/, '$1/…');
    const others = [...renderedPaths, ...documents.routes, ...files].filter(
      (path) => !/^\/(?:v1\/?.*|health|openapi\.json|favicon.*)$/.test(path),
    );
    const groups = new Set(others.map(grouped));
    for (const group of groups) if (groups.has(`${group}/…`)) groups.delete(group);
    const list = /Every other path \(([^)]*)\)/.exec(page('README.md'))?.[1] ?? '';
    expect([...list.matchAll(/`([^`]+)`/g)].map(([, path]) => path).sort()).toEqual([...groups].sort());
  });

  it('lists exactly the charts that exist as files', () => {
    expect(firstCells(api, '## Charts as files')).toEqual(chartNames);
  });

  it('lists every route of the archive', () => {
    expect(firstCells(api, '## The archive')).toEqual([archivePagePath, archiveRoute, ...monthRoutes]);
  });

  it('lists every route about labelers, and the error code that only these routes return', () => {
    expect(firstCells(api, '## Labelers by name').toSorted()).toEqual(Object.values(labelerRoutes).toSorted());
    for (const [code, { status }] of Object.entries(labelerErrorTable)) expect(api).toContain(`${status} \`${code}\``);
  });

  it('lists every published metric with its type and meaning, in the order of the response', () => {
    const section = api.split('\n## Facts as metrics\n')[1]?.split('\n## ')[0] ?? '';
    expect(rowsOf(section)).toEqual(
      Object.values(families).map((family) => [sampleName(family), family.type, family.help]),
    );
  });

  it('lists exactly the error codes, each with its status', () => {
    const section = api.split('\n## Errors\n')[1] ?? '';
    const listed = rowsOf(section).map(([status, code]) => `${status} ${code}`);
    expect(listed).toEqual(Object.entries(errorTable).map(([code, { status }]) => `${status} ${code}`));
  });
});

describe('docs/account.md', () => {
  const text = page('docs/account.md');

  it('lists exactly the routes of the account view', () => {
    const listed = firstCells(`\n# x\n${text}`, '# The account-view surface for a client');
    expect(listed).toEqual([
      ...Object.values(accountPaths),
      '/robots.txt',
      '/',
      ...pageStyles.map((name) => `/assets/${name}`),
    ]);
  });

  it('lists exactly the parameters of the account view', () => {
    const listed = firstCells(text, '## Asking').flatMap((cell) => cell.split(', '));
    const known = accountOpenApi.parameters('/exports').filter((name) => name !== 'cursor');
    expect(listed).toEqual(known);
  });

  it('lists exactly the error codes of the account view, each with its status', () => {
    const listed = rowsOf(text.split('\n## Errors\n')[1] ?? '').map(([status, code]) => `${status} ${code}`);
    expect(listed).toEqual(Object.entries(accountErrorTable).map(([code, { status }]) => `${status} ${code}`));
  });
});

describe('the documentation for operators', () => {
  it('lists exactly the operational metrics, but no metrics of the runtime or of the facts', async () => {
    const section = page('docs/operations.md').split('\n## Metrics\n')[1] ?? '';
    expect(
      rowsOf(section)
        .map(([name]) => name)
        .sort(),
    ).toEqual((await registeredMetrics()).sort());
  });

  const pages = ['docs/operations.md', 'docs/operations/failover.md', 'docs/operations/incidents.md'];

  it('names exactly the files of deploy/', () => {
    const files = readdirSync(join(root, 'deploy'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    const named = new Set(
      pages.flatMap((name) => [...page(name).matchAll(/`(deploy\/[^`]+\.?\w*)`/g)].map(([, path = '']) => path)),
    );
    const matches = (file: string, path: string) =>
      new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}$`).test(file);
    // A test file in `deploy/` need not be named itself, because the page names the command that runs it.
    const meant = files.filter((file) => !file.endsWith('.test.yml'));
    expect(meant.filter((file) => ![...named].some((path) => matches(file, path)))).toEqual([]);
    expect([...named].filter((path) => path !== 'deploy/' && !files.some((file) => matches(file, path)))).toEqual([]);
  });

  it('names exactly the reasons for which the instrument accepts no labels', () => {
    const section =
      page('docs/operations/incidents.md').split('\n## Labels are not accepted\n')[1]?.split('\n## ')[0] ?? '';
    expect(
      rowsOf(section)
        .map(([reason]) => reason)
        .sort(),
    ).toEqual([...pauseReasons].sort());
  });

  it('lists the reasons for refusing a label in the order in which they are checked', () => {
    expect(firstCells(page('docs/labels.md'), '## What is accepted')).toEqual([...refusalReasons]);
  });

  it('links only to existing pages and headings', () => {
    for (const name of pages) {
      for (const [, target = ''] of page(name).matchAll(/\]\(([^)]+)\)/g)) {
        const [path = '', anchor] = target.split('#');
        const at = path === '' ? name : join(dirname(name), path);
        const anchors = [...page(at).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
          heading.toLowerCase().replaceAll(/[`,?]/g, '').replaceAll(' ', '-'),
        );
        if (anchor !== undefined) expect(anchors, target).toContain(anchor);
      }
    }
  });
});

describe('docs/labels.md', () => {
  const text = page('docs/labels.md');
  const classes = ['seeded', 'established', 'new'] as const;
  const shares = new Map(rowsOf(text.split('\n## Shares\n')[1] ?? '').map(([name = '', ...cells]) => [name, cells]));

  it('states how many requests for pages may be open at once, and which hosts are slow', () => {
    const row = rowsOf(text).find(([bound]) => bound?.includes('requests for pages at once'));
    const { total, perHost, perDomain, reserved, unproven, slowPrivileged } = pageSlots;
    expect(row?.[0]).toBe(
      `${total} requests for pages at once: ${perHost} to one host and port, ${perDomain} to one registrable domain`,
    );
    expect(row?.[1]).toContain(`${reserved} are reserved for seeded and established sources.`);
    expect(row?.[1]).toContain(`more than ${slowMs / 1000} s on average share ${unproven}.`);
    expect(row?.[1]).toContain(`Slow hosts of privileged sources share ${slowPrivileged}.`);
  });

  it('states the rates of a source of each class', () => {
    const count = (n: number): string => n.toLocaleString('en');
    const megabytes = (n: number): string => `${n / 1e6} MB`;
    const seconds = (ms: number): string => `${ms / 1000} s`;
    type Format = (n: number) => string;
    const cell = ({ perSecond, burst }: { perSecond: number; burst: number }, format: Format): string =>
      `${format(perSecond)} (${format(burst)})`;
    const rates = {
      'bytes received, after decoding': classes.map((of) => cell(sourceRates[of].bytes, megabytes)),
      'labels received': classes.map((of) => cell(sourceRates[of].rows, count)),
      commits: classes.map((of) => cell(sourceRates[of].writes, count)),
      'connections, and frames without labels': classes.map((of) => cell(sourceRates[of].controls, count)),
      'processor time': classes.map((of) => cell(sourceRates[of].cpuMs, seconds)),
      'processor time of the class': classes.map((of) => {
        const rate = classCpu[of];
        return rate === null ? 'no limit' : cell(rate, seconds);
      }),
    };
    for (const [name, cells] of Object.entries(rates)) expect([name, shares.get(name)]).toEqual([name, cells]);
  });

  it('states the daily share of a source and of a domain of each class', () => {
    const percent = (part: number): string => `${part * 100} %`;
    const { seeded, established, new: fresh } = capShares.source;
    expect(shares.get('one source')).toEqual([
      `${percent(seeded.part)}, ${seeded.bytes / 1e9} GB`,
      `${percent(established.part)}, ${established.bytes / 1e9} GB`,
      `${percent(fresh.part)}, ${fresh.bytes / 1e6} MB, ${fresh.rows.toLocaleString('en')} labels`,
    ]);
    expect(shares.get('all sources of one domain')).toEqual(
      classes.map((of) => percent(capShares.source[of].domainPart)),
    );
  });
});

describe('docs/input-limits.md', () => {
  it('equals the document that is generated from the code', () => {
    expect(page('docs/input-limits.md')).toBe(inputLimitsDocument());
  });
});

describe('docs/settings.md', () => {
  it('lists exactly the exit codes of each command that has more codes than success and failure', () => {
    const sections = page('docs/settings.md').split('\n## almanac ').slice(1);
    const telling = sections.filter((section) => section.includes('| exit code |'));
    const listed = telling.map((section) => {
      const codes = rowsOf(section.slice(section.indexOf('| exit code |')));
      return [section.split(/\s/)[0], codes.map(([code]) => Number(code))];
    });
    expect(listed).toEqual([
      ['labeler', [0, 1, ...Object.values(labelerExitCodes).filter((code) => code !== 0)]],
      ['export', [0, 1, ...Object.values(exportExitCodes).filter((code) => code !== 0)]],
      ['archive', [...new Set([0, 1, ...Object.values(verifyExitCodes)])]],
      ['check', Object.values(checkExitCodes)],
      ['doctor', [0, 1, 2]],
      ['store', [0, 1, stillWritten]],
    ]);
  });
});

describe('docs/invariants.md', () => {
  it('names only test files that exist', () => {
    const named = [...page('docs/invariants.md').matchAll(/`((?:src|test|sim)\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(8);
    for (const path of named) expect(() => page(path), path).not.toThrow();
  });
});

describe('docs/threat-model.md', () => {
  const text = page('docs/threat-model.md');
  const testsOf = (words: string): string[] =>
    [...words.matchAll(/`?((?:src|test|sim)\/[\w./-]+\.test\.tsx?)`?/g)].map(([, path = '']) => path);

  it('names only test files that exist', () => {
    const named = testsOf(text);
    expect(named.length).toBeGreaterThan(60);
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names a test for every claim', () => {
    const claims = text
      .split(/\n#+ /)
      .flatMap((section) => section.split('\n\n'))
      .filter((table) => /^\|.*\| test +\|$/m.test(table))
      .flatMap(rowsOf);
    expect(claims.length).toBeGreaterThan(50);
    expect(claims.filter((cells) => testsOf(cells.at(-1) ?? '').length === 0)).toEqual([]);
  });

  it('names every process that has a unit', () => {
    const units = readdirSync(join(root, 'deploy', 'systemd'))
      .filter((name) => name.endsWith('.service'))
      .map((name) => name.replace(/^almanac-|\.service$/g, ''));
    const listed = firstCells(text, '## Processes and what each may touch');
    expect(units.filter((name) => !listed.includes(name))).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it('names only files that exist', () => {
    const named = [...page('ARCHITECTURE.md').matchAll(/`((?:src|test|sim|assets|docs)\/[^`*]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).toBeGreaterThan(5);
    for (const path of named) expect(() => page(path), path).not.toThrow();
  });
});

describe('docs/client.md', () => {
  it('names every method of the client, and every example', () => {
    const text = page('docs/client.md');
    const methods = Object.keys(createFactsClient('http://127.0.0.1:1'));
    expect(firstCells(`\n${text}`, '# A client for programs')).toEqual(methods);
    const files = readdirSync(join(root, 'examples'), { withFileTypes: true }).filter((entry) => entry.isFile());
    const examples = files.map(({ name }) => name).filter((file) => !file.startsWith('facts.'));
    const named = [...text.matchAll(/`([a-z_-]+\.(?:ts|py|sh))`/g)].map(([, file]) => file);
    expect(named.sort()).toEqual(examples.sort());
  });
});

describe('docs/export.md', () => {
  const text = page('docs/export.md');

  it('lists exactly the exit codes, each with its name', () => {
    const listed = rowsOf(text.split('\n## Exit codes\n')[1] ?? '').map(([code, name]) => [name, Number(code)]);
    expect(listed.filter(([name]) => name !== '')).toEqual(Object.entries(exportExitCodes));
    expect(listed.filter(([name]) => name === '')).toEqual([['', 1]]);
  });

  it('lists every format and every column, in order', () => {
    expect(firstCells(text, '## The file')).toEqual([...exportFormats]);
    expect(firstCells(text, '### CSV')).toEqual([...csvColumns]);
  });
});

describe('docs/archive.md', () => {
  const text = page('docs/archive.md');

  it('lists exactly the exit codes of a verification, each with its name', () => {
    const listed = rowsOf(text.split('\n## Verify\n')[1]?.split('\n## ')[0] ?? '');
    const named = listed.filter(([, name]) => name !== '').map(([code, name]) => [name, Number(code)]);
    expect(named).toEqual(Object.entries(verifyExitCodes));
  });

  it('names exactly the archived line files, and every reason for a missing response', () => {
    const files = [...text.matchAll(/`days\/DAY\/([a-z-]+\.jsonl)`/g)].map(([, name]) => name);
    expect(files).toEqual(factNames.map(lineFileOf));
    for (const reason of failureReasons) expect(text).toContain(`\`${reason}\``);
  });

  it('describes every column of every table in order, with its unit', () => {
    for (const { name, columns } of tables) {
      const rows = rowsOf(text.split(`\n#### ${name}\n`)[1]?.split('\n#')[0] ?? '');
      const described = rows.map(([column = '', unit]) => [column.replaceAll('`', ''), unit]);
      expect(described, name).toEqual(columns.map((column) => [column.name, column.unit ?? '']));
    }
    const named = [...text.matchAll(/`days\/DAY\/([a-z-]+)\.csv`/g)].map(([, name]) => name);
    expect(named).toEqual(tables.map(({ name }) => name));
  });

  it('names every file of a day, and every reason for an hour without counts', () => {
    // Each table is named once, as CSV; its Parquet file has the same name.
    const named = [...inputFiles, ...computedFiles].map((name) => name.replace(/\.parquet$/, '.csv'));
    for (const name of [...named, ...firstEdition.tables.map((one) => one.name)]) expect(text).toContain(name);
    for (const reason of ownReasons) expect(text).toContain(`\`${reason}\``);
    for (const reason of hoursFailures) expect(text).toContain(`\`${reason}\``);
  });

  it('names only settings that a command has', () => {
    const flags = Object.values(commands).flatMap(({ settings }) => Object.values(settings).map(({ flag }) => flag));
    const [before = '', firstCommands = ''] = text.split('\n### First commands\n');
    // The first commands, and the options of curl and sha256sum, are those of other programs.
    const own = `${before}${firstCommands.slice(firstCommands.indexOf('\n### '))}`.replaceAll(
      /\b(?:curl|sha256sum) -.*/g,
      '',
    );
    const named = [...own.matchAll(/--([a-z][a-z-]+)/g)].map(([, flag = '']) => flag);
    expect(named.filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  it('names every program in examples/archive', () => {
    for (const name of readdirSync(join(root, 'examples/archive'))) expect(text).toContain(`\`${name}\``);
  });
});
