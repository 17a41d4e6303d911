/** Reads the body of a response. Cancels the body and resolves with null if the body has more than `maxBytes` bytes. */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = response.body?.getReader();
  // Copy each part into one buffer: the server chooses the size of the parts, and each part that is kept has overhead.
  let bytes = new Uint8Array(firstCapacity);
  let total = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    const before = total;
    total += part.value.length;
    if (total > maxBytes) {
      await reader?.cancel();
      return null;
    }
    if (total > bytes.length) bytes = grown(bytes, total);
    bytes.set(part.value, before);
  }
  return bytes.slice(0, total);
}

/** Initial capacity in bytes. */
const firstCapacity = 16 * 1024;

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(length, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}
