import type { Exchange, Kind } from '../attack.ts';
import { sendText } from '../sound.ts';

/** Redirects to the requested URL, to an address that every address check must refuse, and to unusable URLs. */
export const redirects: Kind = {
  name: 'redirects',
  does: 'redirects every request to itself, to a private address or to an unusable URL',
  attack: ({ chance }) => {
    const redirect = ({ response, request }: Exchange): void => {
      const self = `http://${request.headers.host}${request.url}`;
      const to = chance.pick([
        self,
        `${self}&again`,
        'http://169.254.169.254/latest/meta-data',
        'file:///etc/passwd',
        '//',
      ]);
      response.writeHead(chance.pick([301, 302, 303, 307, 308]), { Location: to });
      response.end();
    };
    return { page: redirect, record: redirect };
  },
};

const statuses = [
  100, 204, 206, 226, 299, 304, 400, 401, 403, 404, 408, 409, 418, 425, 429, 451, 500, 501, 502, 503, 504, 599,
];

/** Responds with a random status each time. Some responses request an extremely long delay. */
export const roulette: Kind = {
  name: 'roulette',
  does: 'responds with a random status, an odd Retry-After and an unexpected body',
  attack: ({ chance }) => {
    const answer = ({ response }: Exchange): void => {
      const status = chance.pick(statuses);
      const retryAfter = chance.pick(['0', '-1', '99999999999', 'tomorrow', 'Wed, 01 Jan 2099 00:00:00 GMT']);
      if (status === 100) response.writeContinue();
      response.writeHead(status === 100 ? 200 : status, {
        'Content-Type': 'application/json',
        'Retry-After': retryAfter,
      });
      response.end(chance.pick(['', '{', '<html>', '{"labels":{}}', 'null', '[]', '"labels"']));
    };
    return {
      page: answer,
      record: answer,
      upgrade: (_, socket) => {
        socket.end(`HTTP/1.1 ${chance.pick(statuses.slice(1))} Odd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      },
    };
  },
};

/** Sends endless informational responses instead of a final one. */
export const earlyHints: Kind = {
  name: 'early-hints',
  does: 'precedes every page with endless informational responses',
  attack: () => {
    const hints = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(200));
    return {
      page: ({ request, response }) => {
        const { socket } = request;
        const timer = setInterval(() => {
          if (socket.writableLength < 65_536) socket.write(hints);
        }, 50);
        response.once('close', () => clearInterval(timer));
        socket.once('close', () => clearInterval(timer));
      },
    };
  },
};

/** Serves JSON that is expensive to parse: deeply nested, with very many keys, or with one long string. */
export const costlyJson: Kind = {
  name: 'costly-json',
  does: 'serves pages of 11 MB of JSON: nested, with very many keys, or with one long string',
  attack: ({ labeler }) => ({
    page: ({ response }) => {
      sendText(response, costly(labeler.index % 3));
    },
  }),
};

const texts: string[] = [];

function costly(which: number): string {
  texts[which] ??=
    which === 0
      ? `{"labels":[${'['.repeat(5_500_000)}${']'.repeat(5_500_000)}]}`
      : which === 1
        ? `{"labels":[],${Array.from({ length: 700_000 }, (_, at) => `"key${at}":{}`).join()}}`
        : `{"labels":[{"src":"${'\\u0061'.repeat(1_900_000)}"}]}`;
  return texts[which];
}
