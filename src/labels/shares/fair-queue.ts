import type { DefinitionShares } from '../../store/roster.ts';
import { isPrivileged, type PriorityClass } from '../state/reading-state.ts';

/**
 * Queue of items that wait for one shared resource, in fair order: between priority classes by weight, within a class
 * between registrable domains, within a domain between sources, and within a source by arrival.
 *
 * Each level uses fair queueing: every node has a virtual time, which advances by the cost of its items, and the node
 * whose next item would end first is served next, so that small items do not wait for the large items of other nodes. A
 * node that was idle continues at the time of the node that was served last, so that it earns no credit by waiting. A
 * node that used more than others keeps its debt until the others have used as much.
 */
export class FairQueue<T> {
  readonly #weights: Readonly<Record<PriorityClass, number>>;
  readonly #root = new Node<T>();

  constructor(weights: Readonly<Record<PriorityClass, number>>) {
    this.#weights = weights;
  }

  /** Number of waiting items. */
  get size(): number {
    return this.#root.waiting;
  }

  /** Adds an item. The costs of all items must have the same unit. */
  push({ priority, domain, source }: ShareKey, item: T, cost: number): void {
    const weighed = Math.max(cost, minCost) / this.#weights[priority];
    const path = [this.#root, ...this.#root.path([priority, domain, source])];
    path.at(-1)?.add({ item, cost: weighed });
    for (const node of path) node.waiting += 1;
    // The order is updated from the leaf to the root, because a parent is ordered by the first item of its first child.
    for (let i = path.length - 1; i > 0; i -= 1) path[i - 1]?.offer(path[i]);
  }

  /** Returns the next item in fair order without removing it. */
  peek(): T | undefined {
    return this.#served().at(-1)?.first?.item;
  }

  /** Removes and returns the next item in fair order. */
  shift(): T | undefined {
    const path = this.#served();
    const taken = path.at(-1)?.take();
    if (taken === undefined) return undefined;
    for (const node of path) node.waiting -= 1;
    for (let i = path.length - 1; i > 0; i -= 1) path[i - 1]?.serve(path[i], taken.cost);
    return taken.item;
  }

  /** Removes and returns all items, in any order. */
  drain(): T[] {
    const items: T[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) items.push(item);
    return items;
  }

  /** Removes and returns the items for which `gone` is true, without charging their cost. */
  remove(gone: (item: T) => boolean): T[] {
    return this.#root.remove(gone);
  }

  #served(): Node<T>[] {
    const path = [this.#root];
    for (let node = this.#root.next(); node !== undefined; node = node.next()) path.push(node);
    return path;
  }
}

/** Minimum cost of an item, so that even an item without cost advances the virtual time of its source. */
const minCost = 1e-6;
/** Number of children of a node at which its idle children without a debt are removed for the first time. */
const maxIdle = 1_024;

/** A waiting item and its cost, divided by the weight of its priority class. */
interface Queued<T> {
  readonly item: T;
  readonly cost: number;
}

/**
 * A priority class, domain or source, or the root above them. A queue has a node for each source and for its domain, and
 * nearly all of them are idle. An idle node has no arrays, because empty arrays would take more memory than its numbers.
 */
class Node<T> {
  waiting = 0;
  /** Waiting items of a source in the order of arrival; null if none waits. */
  #items: Queued<T>[] | null = null;
  #time = 0;
  /** Virtual time at which the next item of the node ends, by which the parent orders its children. */
  #end = 0;
  /** Index in the parent's heap, or -1 while the node has no waiting item. */
  #index = -1;
  /** Virtual time of the child that was served last. */
  #now = 0;
  /** Children by name; null in a source. */
  #children: Map<string, Node<T>> | null = null;
  /** Children with waiting items as a binary heap; null if no item waits. */
  #heap: Node<T>[] | null = null;
  #sweepAt = maxIdle;

  path(names: readonly string[]): Node<T>[] {
    const [name, ...rest] = names;
    if (name === undefined) return [];
    this.#children ??= new Map();
    let child = this.#children.get(name);
    if (!child) {
      this.#sweep(this.#children);
      child = new Node<T>();
      this.#children.set(name, child);
    }
    return [child, ...child.path(rest)];
  }

  /** First waiting item of a source. */
  get first(): Queued<T> | undefined {
    return this.#items?.[0];
  }

  /** Adds an item of a source. */
  add(item: Queued<T>): void {
    if (this.#items) this.#items.push(item);
    else this.#items = [item];
  }

  /** Removes and returns the first waiting item of a source. */
  take(): Queued<T> | undefined {
    const taken = this.#items?.shift();
    if (this.#items?.length === 0) this.#items = null;
    return taken;
  }

  next(): Node<T> | undefined {
    return this.#heap?.[0];
  }

  /** Updates the order of the children after a child got an item. */
  offer(child: Node<T> | undefined): void {
    if (!child) return;
    if (child.#index === -1) {
      child.#time = Math.max(child.#time, this.#now);
      child.#index = this.#heap?.length ?? 0;
      if (this.#heap) this.#heap.push(child);
      else this.#heap = [child];
    }
    this.#order(child);
  }

  /** Charges a child for an item that was taken. */
  serve(child: Node<T> | undefined, cost: number): void {
    if (!child) return;
    this.#now = Math.max(this.#now, child.#time);
    child.#time += cost;
    if (child.waiting > 0) this.#order(child);
    else this.#retire(child);
  }

  remove(gone: (item: T) => boolean): T[] {
    const items = this.#items ?? [];
    const kept = items.filter(({ item }) => !gone(item));
    const removed = items.filter(({ item }) => gone(item)).map(({ item }) => item);
    this.#items = kept.length === 0 ? null : kept;
    for (const child of [...(this.#heap ?? [])]) {
      const taken = child.remove(gone);
      if (taken.length === 0) continue;
      removed.push(...taken);
      if (child.waiting > 0) this.#order(child);
      else this.#retire(child);
    }
    this.waiting -= removed.length;
    return removed;
  }

  #cost(): number {
    const child = this.next();
    return this.first?.cost ?? (child ? child.#cost() : 0);
  }

  /** Removes idle children without a debt, which would start again at the current virtual time. */
  #sweep(children: Map<string, Node<T>>): void {
    if (children.size < this.#sweepAt) return;
    for (const [name, child] of children) {
      if (child.waiting === 0 && child.#time <= this.#now) children.delete(name);
    }
    this.#sweepAt = Math.max(maxIdle, 2 * children.size);
  }

  #retire(child: Node<T>): void {
    const heap = this.#heap ?? [];
    const last = heap.pop();
    if (last && last !== child) {
      heap[child.#index] = last;
      last.#index = child.#index;
      this.#settle(last);
    }
    child.#index = -1;
    if (heap.length === 0) this.#heap = null;
  }

  #order(child: Node<T>): void {
    child.#end = child.#time + child.#cost();
    this.#settle(child);
  }

  #settle(child: Node<T>): void {
    const heap = this.#heap ?? [];
    while (child.#index > 0 && Node.#swapIfLater(heap, (child.#index - 1) >> 1, child.#index));
    for (;;) {
      const at = child.#index;
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (!left || !Node.#swapIfLater(heap, at, right && right.#end < left.#end ? right.#index : left.#index)) return;
    }
  }

  static #swapIfLater<T>(heap: Node<T>[], upper: number, lower: number): boolean {
    const [a, b] = [heap[upper], heap[lower]];
    if (!a || !b || a.#end <= b.#end) return false;
    heap[upper] = b;
    heap[lower] = a;
    a.#index = lower;
    b.#index = upper;
    return true;
  }
}

/** Identifies the share that a cost counts against. */
export interface ShareKey {
  readonly priority: PriorityClass;
  /** Registrable domain of the source's endpoint; one owner may run many labelers below it. */
  readonly domain: string;
  /** DID of the source. */
  readonly source: string;
}

/**
 * Weights of the priority classes that wait for the same resource, so that the number of new sources does not delay the
 * other classes.
 */
export const priorityWeights: Readonly<Record<PriorityClass, number>> = { seeded: 8, established: 4, new: 1 };

/**
 * Returns the rules for removing definitions: labelers of one registrable domain share a quota, and privileged
 * labelers are protected.
 */
export function definitionShares(shareOf: (did: string) => ShareKey): DefinitionShares {
  return {
    isProtected: (did) => isPrivileged(shareOf(did).priority),
    groupOf: (did) => shareOf(did).domain,
  };
}
