/** Writes assets/openapi.json from the contract; with --check only says whether the file in place is that. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../src/contract/openapi/document.ts';
import { packageRoot, packageVersion } from '../src/main/command.ts';

const path = join(packageRoot(), 'assets', 'openapi.json');
const wanted = `${JSON.stringify(openApiDocument(packageVersion()), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(path, 'utf8') !== wanted) {
    console.error('assets/openapi.json has drifted from src/contract: run npm run openapi');
    process.exit(1);
  }
} else writeFileSync(path, wanted);
