import { type HeaderList, type Reply, withBody } from '../http/reply.ts';
import { type Coding, encode } from '../http/representation/negotiation.ts';

/**
 * Headers of a page about the present. All content comes from this origin and none is inline; the scripts may request
 * only this origin. No cache may store the page, because a cached page could show outdated facts.
 */
const headers: HeaderList = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Vary',
  'Accept-Encoding',
];

/** Returns the response to a request for a page that was rendered once; in each coding it is encoded once. */
export function htmlReplies(html: string, common: HeaderList): (coding: Coding) => Reply {
  const bytes = Buffer.from(html);
  const replies = new Map<Coding, Reply>();
  return (coding) => {
    const known = replies.get(coding);
    if (known) return known;
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const reply = withBody(200, 'text/html; charset=utf-8', encode(bytes, coding), [
      ...codingHeader,
      ...headers,
      ...common,
    ]);
    replies.set(coding, reply);
    return reply;
  };
}
