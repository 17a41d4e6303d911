/**
 * Client libraries with a cache, each as a function with the signature of `fetch`. They are configured as their
 * documentation shows it: only the cache is enabled.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axios from 'axios';
import { setupCache } from 'axios-cache-interceptor';
import got from 'got';
import makeFetchHappen from 'make-fetch-happen';
import { Agent, interceptors, fetch as undiciFetch } from 'undici';

function responseOf(status, headers, text) {
  return new Response(status === 204 || status === 304 ? null : text, { status, headers });
}

function plain(headers) {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

export const libraries = {
  undici: () => {
    const dispatcher = new Agent().compose(interceptors.cache());
    return (url, { headers, signal }) => undiciFetch(url, { headers, signal, dispatcher });
  },
  'make-fetch-happen': () => {
    const fetch = makeFetchHappen.defaults({ cachePath: mkdtempSync(join(tmpdir(), 'almanac-cache-')), retry: false });
    return async (url, { headers }) => {
      const {
        status,
        headers: received,
        ...response
      } = await fetch(url, { headers }).then(async (answer) => ({
        status: answer.status,
        headers: [...answer.headers],
        text: await answer.text(),
      }));
      return responseOf(status, received, response.text);
    };
  },
  got: () => {
    const cache = new Map();
    return async (url, { headers }) => {
      const { statusCode, headers: received, body } = await got(url, { cache, headers, throwHttpErrors: false });
      return responseOf(statusCode, plain(received), body);
    };
  },
  'axios-cache-interceptor': () => {
    const cached = setupCache(axios.create(), { interpretHeader: true });
    return async (url, { headers }) => {
      const options = { headers, responseType: 'text', transformResponse: (text) => text };
      const answer = await cached.get(url, options).catch((error) => error.response ?? Promise.reject(error));
      return responseOf(answer.status, plain(answer.headers), answer.data);
    };
  },
};
