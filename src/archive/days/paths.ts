/** Returns the path of a file of a day below the directory of an archive. */
export function pathOf(day: string, name: string): string {
  return `days/${day}/${name}`;
}
