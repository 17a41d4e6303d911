import { describe, expect, it } from 'vitest';
import { below, pathOf } from './read-request.ts';

describe('pathOf', () => {
  it.each([
    ['/v1/instruments', '/v1/instruments'],
    ['/v1/instruments?a=1&b', '/v1/instruments'],
    ['/v1/instruments?', '/v1/instruments'],
    ['/v1/instruments/', '/v1/instruments/'],
    ['//v1/instruments', '//v1/instruments'],
    ['/v1/%69nstruments', '/v1/%69nstruments'],
    ['/v1/../health', '/v1/../health'],
    ['/health#part', '/health#part'],
    ['http://facts.example/health?x', '/health'],
    ['HTTPS://facts.example:8443/health', '/health'],
    ['http://facts.example', '/'],
    ['http://facts.example?x=/health', '/'],
    ['*', '*'],
    ['ftp://facts.example/health', 'ftp://facts.example/health'],
  ])('maps the target %s to the path %s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe('below', () => {
  it.each([
    ['', '/health', '/health'],
    ['/atproto', '/atproto/health', '/health'],
    ['/atproto', '/atproto/', '/'],
    ['/atproto', '/atproto', null],
    ['/atproto', '/atprotox/health', null],
    ['/atproto', '/health', null],
    ['/atproto', '/ATPROTO/health', null],
  ])('given the base path %j and the path %s, returns %s', (base, path, inside) => {
    expect(below(base, path)).toBe(inside);
  });
});
