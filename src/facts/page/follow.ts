/**
 * Changes an element so that it equals another one, and keeps every part that is equal already. The keyboard focus, the
 * position on the page, opened details and the values that the reader reads therefore stay. Elements with the attribute
 * `data-own` belong to the page's script and keep their content.
 */
export function follow(own: Element, next: Element): void {
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
