/** Returns the path of a day's file, relative to the directory of the archive. */
export function pathOf(day: string, name: string): string {
  return `days/${day}/${name}`;
}
