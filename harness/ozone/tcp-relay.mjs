import { connect, createServer } from 'node:net';

/** Starts a relay that gives a local server a second address. `close` closes the relay and its connections. */
export async function startTcpRelay(port) {
  const sockets = new Set();
  const server = createServer((client) => {
    const target = connect(port, 'localhost');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(target).pipe(client);
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${server.address().port}`,
    get connections() {
      return sockets.size / 2;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
