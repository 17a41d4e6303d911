import type { ShareKey, Standing } from './shares.ts';

/**
 * Items that wait for one shared resource, taken in fair order: between classes of standing by weight, within a class
 * between registrable domains, within a domain between sources, and within a source in the order in which they came.
 *
 * Start-time fair queueing at each level: every node has a virtual time that its cost moves forward, and the waiting node
 * with the lowest one is served next. A node that was idle continues at the time of the node that is served, so that
 * waiting earns no credit, and a node that spent more than others keeps its debt until they caught up.
 */
export class FairQueue<T> {
  readonly #weights: Readonly<Record<Standing, number>>;
  readonly #root = new Node<T>();

  constructor(weights: Readonly<Record<Standing, number>>) {
    this.#weights = weights;
  }

  /** How many items wait. */
  get size(): number {
    return this.#root.waiting;
  }

  /** Adds an item that costs so much, in any unit as long as it is the same for all. */
  push({ standing, domain, source }: ShareKey, item: T, cost: number): void {
    const weighed = Math.max(cost, minCost) / this.#weights[standing];
    const path = [this.#root, ...this.#root.path([standing, domain, source])];
    path.at(-1)?.items.push({ item, cost: weighed });
    for (const [i, node] of path.entries()) {
      node.waiting += 1;
      if (node.waiting === 1 && i > 0) path[i - 1]?.activate(node);
    }
  }

  /** The next item in fair order, without taking it. */
  peek(): T | undefined {
    return this.#served().at(-1)?.items[0]?.item;
  }

  /** Takes the next item in fair order. */
  shift(): T | undefined {
    const path = this.#served();
    const taken = path.at(-1)?.items.shift();
    if (taken === undefined) return undefined;
    for (const node of path) node.waiting -= 1;
    for (const [i, node] of path.entries()) {
      const child = path[i + 1];
      if (child) node.serve(child, taken.cost);
    }
    return taken.item;
  }

  /** Takes all items, in no order. */
  drain(): T[] {
    const items: T[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) items.push(item);
    return items;
  }

  /** Takes out the items for which `gone` is true, at no cost. */
  remove(gone: (item: T) => boolean): T[] {
    return this.#root.remove(gone);
  }

  #served(): Node<T>[] {
    const path = [this.#root];
    for (let node = this.#root.next(); node !== undefined; node = node.next()) path.push(node);
    return path;
  }
}

/** Even an item without cost moves its source behind the others. */
const minCost = 1e-6;
/** Idle nodes that are remembered for what they spent before those that owe nothing are dropped. */
const maxIdle = 1_024;

class Node<T> {
  readonly items: { readonly item: T; readonly cost: number }[] = [];
  waiting = 0;
  #time = 0;
  /** Virtual time of the child that was served last. */
  #now = 0;
  readonly #children = new Map<string, Node<T>>();
  /** Children with waiting items: a binary heap by their virtual time. */
  readonly #heap: Node<T>[] = [];
  #sweepAt = maxIdle;

  path(names: readonly string[]): Node<T>[] {
    const [name, ...rest] = names;
    if (name === undefined) return [];
    let child = this.#children.get(name);
    if (!child) {
      this.#sweep();
      child = new Node<T>();
      this.#children.set(name, child);
    }
    return [child, ...child.path(rest)];
  }

  next(): Node<T> | undefined {
    return this.#heap[0];
  }

  activate(child: Node<T>): void {
    child.#time = Math.max(child.#time, this.#now);
    this.#heap.push(child);
    this.#up(this.#heap.length - 1);
  }

  serve(child: Node<T>, cost: number): void {
    this.#now = Math.max(this.#now, child.#time);
    child.#time += cost;
    if (child.waiting > 0) {
      this.#down(0);
      return;
    }
    const last = this.#heap.pop();
    if (last && last !== child) {
      this.#heap[0] = last;
      this.#down(0);
    }
  }

  remove(gone: (item: T) => boolean): T[] {
    const removed = this.items.filter(({ item }) => gone(item)).map(({ item }) => item);
    if (removed.length > 0) this.items.splice(0, this.items.length, ...this.items.filter(({ item }) => !gone(item)));
    for (const child of this.#children.values()) removed.push(...child.remove(gone));
    this.waiting -= removed.length;
    const active = this.#heap.filter(({ waiting }) => waiting > 0);
    if (active.length < this.#heap.length) {
      this.#heap.splice(0);
      for (const child of active) {
        this.#heap.push(child);
        this.#up(this.#heap.length - 1);
      }
    }
    return removed;
  }

  /** Forgets idle children that are not ahead of the others: they would begin at the present time anyway. */
  #sweep(): void {
    if (this.#children.size < this.#sweepAt) return;
    for (const [name, child] of this.#children) {
      if (child.waiting === 0 && child.#time <= this.#now) this.#children.delete(name);
    }
    this.#sweepAt = Math.max(maxIdle, 2 * this.#children.size);
  }

  #up(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfLater(parent, at)) return;
      at = parent;
    }
  }

  #down(from: number): void {
    for (let at = from; ; ) {
      const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]];
      if (!left) return;
      const least = right && right.#time < left.#time ? 2 * at + 2 : 2 * at + 1;
      if (!this.#swapIfLater(at, least)) return;
      at = least;
    }
  }

  #swapIfLater(upper: number, lower: number): boolean {
    const [a, b] = [this.#heap[upper], this.#heap[lower]];
    if (!a || !b || a.#time <= b.#time) return false;
    this.#heap[upper] = b;
    this.#heap[lower] = a;
    return true;
  }
}
