/** As much of an XML reader as telling whether a drawing is well-formed takes. */

/**
 * The elements left open at the end, outermost first.
 * @throws Error at the first thing that is not XML
 */
export function openTags(text: string): string[] {
  const open: string[] = [];
  const attribute = ' [\\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*"';
  const token = new RegExp(
    `<(/?)([\\w:-]+)((?:${attribute})*)(/?)>|[^<&]+|&(?:amp|lt|gt|quot);`,
    'y',
  );
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) throw new Error(`not XML at ${at}: ${text.slice(at, at + 60)}`);
    const [, closing, name, , empty] = match;
    if (name === undefined) continue;
    if (closing === '/') {
      const last = open.pop();
      if (last !== name) throw new Error(`</${name}> ends <${last}> at ${at}`);
    } else if (empty !== '/') {
      open.push(name);
    }
  }
  return open;
}
