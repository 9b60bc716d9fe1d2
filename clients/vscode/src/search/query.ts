// Queries made from what stands in an editor. Pure.

/** The engine uses that many code points of a query. */
const longest = 512;

/** A selection or a message as the text of a query: on one line, no operators, not too long. */
export function oneQuery(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  // "not:x" or "path:y" at the start of a word would be an operator; a space after the
  // colon makes it text.
  const plain = flat.replace(/(^|\s)(not|agent|path|repo|branch|file|role|tool|model|since|until|is):(?=\S)/g, '$1$2: ');
  return Array.from(plain).slice(0, longest).join('');
}

/** The operator for sessions that touched a file. */
export function fileQuery(path: string): string {
  const forward = path.replace(/\\/g, '/').replace(/"/g, '');
  return `file:"${forward}"`;
}

const operator = /(^|\s)(?:not|agent|path|repo|branch|file|role|tool|model|since|until|is):(?:"[^"]*"|\S+)/g;

/** The words of a query without operators and quotes, if these leave something and that differs. */
export function plainWords(query: string): string | undefined {
  const plain = query.replace(operator, ' ').replace(/"/g, ' ').replace(/\s+/g, ' ').trim();
  return plain === '' || plain === query.trim() ? undefined : plain;
}
