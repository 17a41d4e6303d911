/**
 * Writes the files that are generated from the source. With `--check`, only compares the existing files with the
 * content that would be generated, and exits with 1 if a file differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountOpenApiDocument } from '../src/contract/account-openapi/document.ts';
import { labelersOpenApiDocument } from '../src/contract/labelers-openapi/document.ts';
import { openApiDocument } from '../src/contract/openapi/document.ts';
import { packageRoot, packageVersion } from '../src/main/command.ts';
import { documentPage, forLabelersPage, methodPages, policyPage, renderedPage } from './document-pages.ts';
import { inputLimitsDocument } from './input-limits-doc.ts';
import { labelsMethod } from './method/labels.ts';
import { weatherMethod } from './method/weather.ts';
import { archiveLoaders } from './packages/archive-loaders.ts';
import { clientTypes } from './packages/client-types.ts';
import { pythonTypes, pythonVersion } from './packages/python-types.ts';
import { settingsDocument } from './settings-doc.ts';

const document = openApiDocument(packageVersion());
const files = {
  'assets/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'assets/account-openapi.json': `${JSON.stringify(accountOpenApiDocument(packageVersion()), null, 2)}\n`,
  'assets/labelers-openapi.json': `${JSON.stringify(labelersOpenApiDocument(packageVersion()), null, 2)}\n`,
  'src/client/schemas.ts': await clientTypes(document),
  'clients/python/almanac_client/schemas.py': pythonTypes(document),
  'clients/python/almanac_client/version.py': pythonVersion(packageVersion()),
  'assets/policy.html': documentPage(policyPage),
  'assets/for-labelers.html': documentPage(forLabelersPage),
  'docs/method/weather.md': weatherMethod(),
  'docs/method/labels.md': labelsMethod(),
  'assets/method-weather.html': renderedPage(methodPages.weather, weatherMethod()),
  'assets/method-labels.html': renderedPage(methodPages.labels, labelsMethod()),
  'docs/settings.md': settingsDocument(),
  'docs/input-limits.md': inputLimitsDocument(),
  ...archiveLoaders(),
};

for (const [name, wanted] of Object.entries(files)) {
  const path = join(packageRoot(), name);
  if (!process.argv.includes('--check')) writeFileSync(path, wanted);
  else if (readFileSync(path, 'utf8') !== wanted) {
    console.error(`${name} does not match the source: run npm run generate`);
    process.exitCode = 1;
  }
}
