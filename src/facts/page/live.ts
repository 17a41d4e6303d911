import { addReaders } from '../hours/read-values.ts';
import { describeChanges, watchPage } from './watch.ts';

/** Interval in milliseconds between two looks at the clock: timers stand still while the computer sleeps. */
const lookMs = 1_000;

/**
 * Script of the observatory page. The server renders the page; the script requests it again as soon as it has expired,
 * and takes over what has changed. Without a current page, it removes all numbers, because they may no longer be valid.
 */
function keepLive(): void {
  const watch = watchPage('./', { fetch: (url, init) => fetch(url, init), clock: Date.now }, document.body.innerHTML);
  let isAsking = false;

  async function ask(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    const answer = await watch.ask();
    if (answer.kind === 'served') showPage(answer.html);
    else removeFacts(answer.why);
    isAsking = false;
  }

  /**
   * Requests the page again if it has expired. Removes its numbers at once if they are older than that, because the
   * computer slept or the page was hidden or in the browser history.
   */
  function look(): void {
    if (watch.isOld()) removeFacts('');
    if (watch.isDue()) void ask();
  }

  addReaders(document);
  window.addEventListener('online', () => void ask());
  setInterval(look, lookMs);
  look();
}

function showPage(html: string): void {
  const before = refusedIn(document);
  const next = new DOMParser().parseFromString(html, 'text/html');
  setText(next, '.keeping', 'This page updates itself.');
  setText(next, '.status', describeChanges(before, refusedIn(next)));
  document.title = next.title;
  follow(document.body, next.body);
  addReaders(document);
}

/** Replaces everything that comes from the facts with the reason why there is no current page. */
function removeFacts(why: string): void {
  const before = refusedIn(document);
  const intro = document.querySelector('.intro');
  const panel = document.createElement('div');
  panel.className = 'panel stop refusal';
  panel.dataset.refused = 'everything';
  panel.textContent = `${why} The earlier content was removed, because it may no longer be valid.`;
  intro?.querySelector('.standing')?.replaceChildren();
  document.querySelector('main')?.replaceChildren(...(intro ? [intro] : []), panel);
  const said = describeChanges(before, refusedIn(document));
  if (said !== '') setText(document, '.status', said);
}

function setText(page: Document, selector: string, text: string): void {
  const element = page.querySelector(selector);
  if (element) element.textContent = text;
}

function refusedIn(page: Document): Set<string> {
  return new Set([...page.querySelectorAll<HTMLElement>('[data-refused]')].map(({ dataset }) => dataset.refused ?? ''));
}

/**
 * Changes an element so that it equals another one, and keeps every part that is equal already. The keyboard focus, the
 * position on the page, opened details and the values that the reader reads therefore stay. Elements with the attribute
 * `data-own` belong to the page's script and keep their content.
 */
function follow(own: Element, next: Element): void {
  if (own.hasAttribute('data-own')) return;
  for (const { name, value } of [...next.attributes]) {
    if (own.getAttribute(name) !== value) own.setAttribute(name, value);
  }
  for (const { name } of [...own.attributes]) {
    if (!next.hasAttribute(name) && !(name === 'open' && own.tagName === 'DETAILS')) own.removeAttribute(name);
  }
  const wanted = [...next.childNodes];
  for (const [at, node] of wanted.entries()) {
    const present = own.childNodes[at];
    if (present === undefined) own.append(node);
    else if (present.nodeName !== node.nodeName) present.replaceWith(node);
    else if (present instanceof Element && node instanceof Element) follow(present, node);
    else if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
  }
  while (own.childNodes.length > wanted.length) own.lastChild?.remove();
}

keepLive();
