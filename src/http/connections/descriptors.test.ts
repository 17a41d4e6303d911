import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { limitConnections, maxConnections, readDescriptors } from '../listening.ts';

describe('maxConnections', () => {
  it.each([
    [{ limit: 128, open: 22 }, 58],
    [{ limit: 1024, open: 24 }, 936],
    [{ limit: 8192, open: 30 }, 7650],
    [{ limit: 65_536, open: 30 }, 64_482],
    [{ limit: 64, open: 40 }, 8],
  ])('given the descriptors %j, returns %i', (descriptors, connections) => {
    expect(maxConnections(descriptors)).toBe(connections);
  });
});

it('readDescriptors returns the limit and the number of open descriptors of this process', () => {
  const { limit = 0, open = 0 } = readDescriptors() ?? {};
  expect(open).toBeGreaterThan(2);
  expect(limit).toBeGreaterThan(open);
});

it('limitConnections limits a server only if the platform reports descriptors', () => {
  const [limited, free] = [createServer(), createServer()];
  limitConnections(limited, { limit: 128, open: 22 });
  limitConnections(free, null);
  expect([limited.maxConnections, free.maxConnections]).toEqual([58, undefined]);
});
