/** Reads the body of a response. Cancels the body and resolves with null if the body has more than `maxBytes` bytes. */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    total += part.value.length;
    if (total > maxBytes) {
      await reader?.cancel();
      return null;
    }
    chunks.push(part.value);
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
