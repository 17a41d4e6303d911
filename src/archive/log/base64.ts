/** Decodes standard Base64; null for any text that is not the canonical encoding of its bytes. */
export function parseBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
