import type { Kind } from '../attack.ts';

const sorts = ['never', 'never', 'never', 'fail', 'junk', 'nx'] as const;

/** Declares an endpoint whose name cannot be resolved, in most cases because the name server does not respond. */
export const unresolvable: Kind = {
  name: 'unresolvable',
  does: 'has an endpoint whose name server never responds, fails, sends invalid bytes or does not know the name',
  needsNames: true,
  elsewhere: (index, names) =>
    names ? `http://${sorts[index % sorts.length]}-${index}.hostile${index}.test` : `http://127.99.99.99:9`,
  attack: () => ({}),
};

/** Declares an endpoint whose name takes seconds to resolve, or has very many addresses. */
export const slowNames: Kind = {
  name: 'slow-names',
  does: 'has an endpoint whose name takes 4 s to resolve, or has two dozen dead addresses',
  needsNames: true,
  elsewhere: (index, names) =>
    names ? `http://${index % 2 === 0 ? 'slow' : 'many'}-127-127-2-1.hostile${index}.test:9` : `http://127.99.99.99:9`,
  attack: () => ({}),
};
