// The address of a session's document: sessionls://session/<host>/<agent>/<id>.md.
// Pure; the rules are the contract's (§10).

export const scheme = 'sessionls';
export const authority = 'session';

export interface SessionAddress {
  readonly host: string;
  readonly agent: string;
  readonly sessionId: string;
}

/** Encodes a segment so that only A-Z a-z 0-9 . _ ~ - stand for themselves. */
function encode(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function sessionUri(s: SessionAddress): string {
  return `${scheme}://${authority}/${[s.host, s.agent, `${s.sessionId}.md`].map(encode).join('/')}`;
}

/**
 * Reads an address, in the text of sessionUri or as an editor wrote it anew; undefined if it is none.
 * A #<seq> is dropped.
 */
export function parseSessionUri(uri: string): SessionAddress | undefined {
  const match = /^sessionls:\/\/session\/([^/?#]+)\/([^/?#]+)\/([^/?#]+)(?:[?#].*)?$/.exec(uri);
  if (match === null) return undefined;
  try {
    const [host, agent, file] = match.slice(1).map(decodeURIComponent);
    if (host === undefined || agent === undefined || file === undefined) return undefined;
    const sessionId = file.replace(/\.md$/, '');
    return file === sessionId || sessionId === '' ? undefined : { host, agent, sessionId };
  } catch {
    return undefined;
  }
}
