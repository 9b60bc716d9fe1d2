// The wire of sessionls, as far as this client uses it. The Go package contract
// has every rule; fields that are not read here are left out, and new ones are ignored.

export type Scope = 'conversation' | 'all';
export type Freshness = 'indexed' | 'wait-until-current';
export type Sort = 'relevance' | 'newest';
export type Presence = 'present' | 'unverifiable' | 'missing';
export type Relation = 'root' | 'fork' | 'subagent' | 'continuation';
export type Role = 'user' | 'assistant' | 'tool' | 'system' | 'unknown';
export type Surface = 'current' | 'shadowed' | 'log-only';
export type Phase = 'idle' | 'indexing' | 'current' | 'degraded' | 'closed';
export type Shell = 'posix' | 'fish' | 'cmd' | 'powershell';
export type ToolsShown = 'fold' | 'full' | 'none';

/** Names one session. */
export interface SessionName {
  readonly sessionId: string;
  readonly agent?: string;
}

/** What every request may carry. Left out, it is this machine. */
export interface HostChoice {
  executionHost?: string;
}

export interface EventFilters {
  types?: string[];
  surfaces?: Surface[];
  roles?: Role[];
  tools?: string[];
}

/** A clause that is absent is no constraint; all must hold. */
export interface Filters {
  agents?: string[];
  scopePaths?: string[];
  sort?: Sort;
  sessionIds?: string[];
  parents?: (string | null)[];
  presence?: Presence[];
  active?: boolean;
  relations?: Relation[];
  automated?: boolean;
  files?: string[];
  events?: EventFilters;
}

export interface SearchSessionsRequest extends HostChoice {
  query: string;
  scope?: Scope;
  freshness?: Freshness;
  limit?: number;
  cursor?: string;
  filters?: Filters;
}

export interface Page {
  readonly cursor: string | null;
  readonly hasMore: boolean;
}

export interface Diagnostic {
  /** UTF-16 offsets into the query. */
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

export interface SearchResults {
  readonly kind: 'results';
  readonly hits: readonly Hit[];
  readonly page: Page;
  readonly generation: number;
  readonly truncated: { readonly candidates: boolean; readonly snippets: number; readonly query: boolean; readonly freshness: boolean };
  readonly durationMs: number;
  readonly total: { readonly sessions: number; readonly exact: boolean };
  readonly diagnostics?: readonly Diagnostic[];
}

export type SearchSessionsResponse =
  | SearchResults
  | { readonly kind: 'stale-cursor' }
  | { readonly kind: 'malformed-cursor' }
  | { readonly kind: 'unavailable'; readonly reason: 'disabled' | 'not-ready' | 'no-service' };

/** What hits and headers have in common: enough to name, show and resume a session. */
export interface SessionFacts {
  readonly agent: string;
  readonly sessionId: string;
  readonly executionHostId?: string;
  readonly title: string;
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly model: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly messageCount: number;
  readonly relation: Relation;
  readonly automated: boolean;
  readonly active: boolean;
  readonly parentSessionId: string | null;
}

export interface Hit extends SessionFacts {
  readonly duplicateCount?: number;
  readonly matchCount: number;
  readonly source: { readonly presence: Presence; readonly filePath?: string };
  readonly evidence: Evidence | null;
  readonly resumeCommand?: string;
}

/** A span [start, end) in UTF-16 code units. */
export type Mark = readonly [number, number];

export interface Marked {
  readonly snippet: string;
  readonly marks: readonly Mark[];
}

export interface Evidence extends Marked {
  readonly role: Role;
  readonly timestamp: string | null;
  readonly seq: number | null;
  readonly type: string;
  readonly surface: Surface;
}

export interface Header extends SessionFacts {
  readonly presence: Presence;
  readonly sourcePath?: string;
  readonly format: string;
  readonly epoch: number;
  readonly warnings: readonly string[];
}

export interface EventRecord {
  readonly agent: string;
  readonly sessionId: string;
  readonly seq: number;
  readonly type: string;
  readonly role: Role;
  readonly time: string | null;
  readonly surface: Surface;
  readonly text?: string;
}

export interface EventHit extends EventRecord, Marked {}

/** Times are epoch milliseconds. */
export interface Status {
  readonly enabled: boolean;
  readonly decided: boolean;
  readonly phase: Phase;
  readonly filesIndexed: number;
  readonly filesDue: number;
  readonly filesFailed: number;
  readonly degradedRoots: readonly { readonly root?: string; readonly reason: string }[];
  readonly lastReconcileAt: number | null;
  readonly lastSweepCompletedAt: number | null;
  readonly generation: number;
  readonly identity: string;
  readonly sessions: number;
  readonly events: number;
  readonly indexBytes: number;
  readonly progress?: { readonly bytesDone: number; readonly bytesTotal: number; readonly filesDone: number; readonly filesTotal: number };
  readonly agents: readonly AgentStatus[];
  readonly writer: 'this' | 'other' | 'none';
  readonly notices?: readonly string[];
}

export interface AgentStatus {
  readonly agent: string;
  readonly label: string;
  readonly roots?: readonly string[];
  readonly sessions: number;
  readonly events: number;
  readonly failed: number;
}

export interface Policy {
  readonly enabled: boolean | null;
  readonly historyDays: number | null;
}

export interface TraceNode {
  readonly session: Header;
  readonly depth: number;
  readonly descendants: readonly TraceNode[];
}

export interface RenderedLine {
  /** 0-based; the event's lines are line to endLine. */
  readonly line: number;
  readonly endLine: number;
  readonly seq: number;
}

export interface RenderTranscriptResponse {
  readonly session: Header;
  readonly markdown: string;
  readonly lines: readonly RenderedLine[];
  readonly nextSeq: number | null;
  readonly truncated: boolean;
}

export interface ResumePlan {
  readonly agent: string;
  readonly sessionId: string;
  readonly argv: readonly string[] | null;
  readonly command: string | null;
  readonly cwd: string | null;
  readonly checks: { readonly binary: boolean | null; readonly directory: boolean | null; readonly transcript: boolean | null };
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** Request and result of each command, by its name without the prefix. */
export interface Commands {
  searchSessions: [SearchSessionsRequest, SearchSessionsResponse];
  searchStatus: [HostChoice, Status];
  clear: [Record<string, never>, { readonly cleared: boolean; readonly identity: string }];
  getPolicy: [Record<string, never>, Policy];
  setPolicy: [{ enabled?: boolean | null; historyDays?: number | null }, Policy];
  forgetSession: [SessionName, { readonly forgotten: readonly SessionName[]; readonly generation: number }];
  listSessions: [
    HostChoice & { filters?: Filters; sort?: 'createdAt' | 'updatedAt'; limit?: number; cursor?: string },
    { readonly sessions: readonly Header[]; readonly page: Page },
  ];
  filterEvents: [
    HostChoice & SessionName & { filters?: EventFilters; text?: string; limit?: number; cursor?: string },
    { readonly session: Header; readonly events: readonly (EventRecord & { readonly text: string })[]; readonly page: Page },
  ];
  searchEvents: [
    HostChoice & Partial<SessionName> & { query: string; scope?: Scope; limit?: number; cursor?: string },
    { readonly hits: readonly EventHit[]; readonly page: Page; readonly total: { readonly events: number; readonly exact: boolean } },
  ];
  traceSession: [
    HostChoice & SessionName,
    {
      readonly target: Header;
      readonly ancestors: readonly Header[];
      readonly descendants: readonly TraceNode[];
      readonly complete: boolean;
      readonly unresolvedParentId?: string;
    },
  ];
  renderTranscript: [
    HostChoice & SessionName & { fromSeq?: number; limit?: number; thinking?: boolean; tools?: ToolsShown },
    RenderTranscriptResponse,
  ];
  resumePlan: [HostChoice & SessionName & { shell?: Shell }, ResumePlan];
}

export type CommandName = keyof Commands;

/** The notification that carries a Status. */
export const statusNotification = 'sessionls/status';

/** error.data of a refused request. */
export interface ErrorData {
  readonly code: string;
  readonly field?: string;
  readonly candidates?: readonly SessionName[];
}

/** The code of a refused request, or undefined if the error is none of the contract's. */
export function errorCode(error: unknown): string | undefined {
  const data = (error as { data?: Partial<ErrorData> } | null)?.data;
  return typeof data?.code === 'string' ? data.code : undefined;
}

/** One string per session, for maps and for keeping a selection. */
export function sessionKey(s: { agent: string; sessionId: string }): string {
  return `${s.agent}:${s.sessionId}`;
}
