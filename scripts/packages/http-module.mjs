import http from 'node:http';

const id = '\0http-module';
const importKinds = ['import-statement', 'dynamic-import'];

/**
 * Plugin for rolldown that makes the bundle load `node:http` through a function call. An import of the module would
 * read all its exports. Reading `WebSocket` loads Node's own HTTP client, which takes a tenth of the processor time
 * of a start.
 */
export const httpModule = {
  name: 'http-module',
  resolveId: (source, _importer, { kind }) => (source === 'node:http' && importKinds.includes(kind) ? id : null),
  load: (module) => (module === id ? httpModuleCode() : null),
};

/**
 * Returns a module that exports the values of `node:http`, except values with a getter, because a getter loads its
 * value on demand.
 */
function httpModuleCode() {
  const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { get }]) =>
    get ? [] : [name],
  );
  return [
    "const http = process.getBuiltinModule('node:http');",
    ...names.map((name) => `export const ${name} = http.${name};`),
  ].join('\n');
}
