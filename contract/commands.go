package contract

import (
	"context"
	"strings"
)

// Commands is the service, one method per command. The command's name is the
// method's name with a lower-case first letter; over LSP it carries a prefix
// ([CommandPrefix]). The first line of each comment is the command's title.
//
// Every implementation (the index of this machine, the client of a remote
// host) obeys the same rules:
//
//   - requests have been read by a [Parser], so their defaults are filled in;
//   - a request that is valid but cannot be answered is an [*Error];
//   - cancelling ctx stops the work itself, also inside SQLite and on a remote
//     host, and the error is then [Aborted];
//   - methods may be called concurrently.
type Commands interface {
	// SearchSessions finds sessions by words, operators and filters.
	//
	// The answer is one page of sessions, each with its best evidence, sorted
	// by relevance or by time. Expected outcomes are values of the response's
	// kind, never errors: a stale or malformed cursor, and a service that is
	// disabled, not ready or absent. A page is built against one generation of
	// the index; the cursor binds the query, scope, filters, sort, generation,
	// index identity and the first page's clock, but not the page size. The
	// query text is data: no bytes in it may make the engine fail. A request
	// without text and without clauses has no hits.
	SearchSessions(ctx context.Context, request SearchSessionsRequest) (SearchSessionsResponse, error)

	// SearchStatus says what is indexed and what is still due.
	//
	// The numbers are the indexer's observations, not a fresh look at the
	// disk. Undecided or disabled, the answer is [IdleStatus] and nothing is
	// read. The phase `current` is never claimed while any discovered file has
	// not been read.
	SearchStatus(ctx context.Context, request SearchStatusRequest) (SearchStatusResponse, error)

	// Clear deletes this machine's index and builds it anew if enabled.
	//
	// Handles are closed, the database and its sidecars deleted; transcripts
	// are never touched. Afterwards no process answers from the old copy and
	// every older cursor is stale, because the identity is new.
	Clear(ctx context.Context, request ClearRequest) (ClearResponse, error)

	// GetPolicy tells the user's consent and retention.
	//
	// Both values are null until the user has decided.
	GetPolicy(ctx context.Context, request GetPolicyRequest) (Policy, error)

	// SetPolicy changes the user's consent and retention.
	//
	// Fields that are absent keep their value; null is a value (undecided, all
	// history). Disabling closes the index and keeps its file. The result is
	// the policy after the change.
	SetPolicy(ctx context.Context, request SetPolicyRequest) (Policy, error)

	// SearchEvents finds events by words, in one session or in all.
	//
	// By the index events are matched and ranked as searchSessions does it, one
	// hit for each event; `not:` leaves out the events that hold a word. A scan
	// reads the transcripts themselves for a substring, as it is written but for
	// case, or a regular expression: the newest sessions first, in a session the
	// oldest event first, as far as the limit. Its cursor is INVALID_CURSOR. With a
	// partialResultToken the hits go out as they are found, all before the
	// answer, which repeats none. The cursor of one session is bound to that
	// session's content, that of all to the generation of the index. A limit of
	// 0 or less, blank text and `types: []` give an empty answer at once.
	SearchEvents(ctx context.Context, request SearchEventsRequest) (SearchEventsResponse, error)

	// ListSessions lists session headers, newest first.
	//
	// All filters of searchSessions apply; of the events clause a session must
	// have at least one event that passes. The cursor is bound to the
	// generation of the index: INVALID_CURSOR for one of another request,
	// STALE_CURSOR when the index moved. Sessions that cannot be read are in
	// skipped and fail nothing.
	ListSessions(ctx context.Context, request ListSessionsRequest) (ListSessionsResponse, error)

	// ReadSession reads a slice of a session's raw log.
	//
	// The events have text and data. What is too long is cut and says so
	// ([DefaultRecordBytes]); the slice ends early at [MaxPageBytes]. From the
	// kept copy data is null, and the header's warnings say so.
	ReadSession(ctx context.Context, request ReadSessionRequest) (ReadSessionResponse, error)

	// ListEvents lists a session's event records.
	//
	// They come by position, without text and data. The cursor is bound to the
	// session and its epoch: it stays good while the log grows.
	ListEvents(ctx context.Context, request ListEventsRequest) (EventPage, error)

	// FilterEvents lists a session's events that have text.
	//
	// Events without text never pass. The text of the request is literal, with
	// any run of white space for any other, and without regard to case by
	// Unicode's simple folding.
	FilterEvents(ctx context.Context, request FilterEventsRequest) (EventPage, error)

	// ReadEvent reads one event and its neighbours.
	//
	// Any position or id that the log does not have is EVENT_NOT_FOUND, and so
	// are both of different events. The window is clamped to the log. At
	// [MaxPageBytes] neighbours lose their data, the target keeps its own.
	ReadEvent(ctx context.Context, request ReadEventRequest) (ReadEventResponse, error)

	// ReadSurface reads what the model still sees of a session.
	//
	// The current events have text and come in model order, which is not
	// always that of positions.
	ReadSurface(ctx context.Context, request ReadSurfaceRequest) (ReadSurfaceResponse, error)

	// ReadTitles reads the titles of several sessions.
	//
	// Each name is fulfilled or rejected by itself.
	ReadTitles(ctx context.Context, request ReadTitlesRequest) (ReadTitlesResponse, error)

	// TraceSession tells where a session came from and what came from it.
	//
	// Only headers are looked at, no log is opened. A parent that is not known
	// is unresolvedParentId; a cycle among the ancestors is INVALID_LINEAGE.
	TraceSession(ctx context.Context, request TraceSessionRequest) (TraceSessionResponse, error)

	// TraceEvent tells what an event was made from and what became of it.
	//
	// Links are direct, except for the replacement chain. A kept copy has none.
	TraceEvent(ctx context.Context, request TraceEventRequest) (TraceEventResponse, error)

	// RenderTranscript renders a stretch of a session as Markdown.
	//
	// The same log gives the same text, byte for byte. Control characters are
	// stripped, those that turn the direction of text are shown as such, and
	// nothing of the transcript's can become HTML, a link or the end of a code
	// block. The stretch ends early at [MaxPageBytes].
	RenderTranscript(ctx context.Context, request RenderTranscriptRequest) (RenderTranscriptResponse, error)

	// ResumePlan tells how a session is continued in a terminal.
	//
	// What stands against it is in the warnings, never an error. Over a remote
	// transport there are neither argv, command nor checks: the asking side
	// makes them from agent, id and cwd.
	ResumePlan(ctx context.Context, request ResumePlanRequest) (ResumePlanResponse, error)

	// ForgetSession drops one session from this machine's index for good.
	//
	// The session and the sub-agents kept under it (ids that begin with its id
	// and "#") go with their kept copies, and stay out: they are not read
	// again, from no copy and by no process, also after the index was rebuilt.
	// Only clear takes that back. The transcript is never touched. No such
	// session is SESSION_NOT_FOUND, a name of several SOURCE_CONFLICT with the
	// candidates.
	ForgetSession(ctx context.Context, request ForgetSessionRequest) (ForgetSessionResponse, error)
}

// CommandPrefix is the default first part of a command's name over LSP.
const CommandPrefix = "sessionls"

// Command is one row of the table of commands.
type Command struct {
	// Name is the command's name without its prefix, such as
	// "searchSessions".
	Name string
	// Method is the name of its method in [Commands].
	Method string
	// Title is the first line of the method's comment, without the full stop.
	Title string
	// LocalOnly commands act on this machine alone. They take no executionHost
	// and are refused when they come from a remote connection.
	LocalOnly bool
	// Invoke reads the request object in raw with the parser and calls the
	// method. The result is the method's response.
	Invoke func(ctx context.Context, service Commands, parser Parser, raw []byte) (any, error)
}

// TakesHost reports whether the command accepts executionHost.
func (c Command) TakesHost() bool { return !c.LocalOnly }

// FullName is the command's name over LSP, such as "sessionls.searchSessions".
// An empty prefix means [CommandPrefix].
func (c Command) FullName(prefix string) string {
	if prefix == "" {
		prefix = CommandPrefix
	}
	return prefix + "." + c.Name
}

// Registry lists every command in the order of the contract. The slice is the
// caller's own.
func Registry() []Command {
	return []Command{
		{
			Name: "searchSessions", Method: "SearchSessions",
			Title:  "SearchSessions finds sessions by words, operators and filters",
			Invoke: bind(Parser.ParseSearchSessions, Commands.SearchSessions),
		},
		{
			Name: "searchStatus", Method: "SearchStatus",
			Title:  "SearchStatus says what is indexed and what is still due",
			Invoke: bind(Parser.ParseSearchStatus, Commands.SearchStatus),
		},
		{
			Name: "clear", Method: "Clear", LocalOnly: true,
			Title:  "Clear deletes this machine's index and builds it anew if enabled",
			Invoke: bind(Parser.ParseClear, Commands.Clear),
		},
		{
			Name: "getPolicy", Method: "GetPolicy", LocalOnly: true,
			Title:  "GetPolicy tells the user's consent and retention",
			Invoke: bind(Parser.ParseGetPolicy, Commands.GetPolicy),
		},
		{
			Name: "setPolicy", Method: "SetPolicy", LocalOnly: true,
			Title:  "SetPolicy changes the user's consent and retention",
			Invoke: bind(Parser.ParseSetPolicy, Commands.SetPolicy),
		},
		{
			Name: "searchEvents", Method: "SearchEvents",
			Title:  "SearchEvents finds events by words, in one session or in all",
			Invoke: bind(Parser.ParseSearchEvents, Commands.SearchEvents),
		},
		{
			Name: "listSessions", Method: "ListSessions",
			Title:  "ListSessions lists session headers, newest first",
			Invoke: bind(Parser.ParseListSessions, Commands.ListSessions),
		},
		{
			Name: "readSession", Method: "ReadSession",
			Title:  "ReadSession reads a slice of a session's raw log",
			Invoke: bind(Parser.ParseReadSession, Commands.ReadSession),
		},
		{
			Name: "listEvents", Method: "ListEvents",
			Title:  "ListEvents lists a session's event records",
			Invoke: bind(Parser.ParseListEvents, Commands.ListEvents),
		},
		{
			Name: "filterEvents", Method: "FilterEvents",
			Title:  "FilterEvents lists a session's events that have text",
			Invoke: bind(Parser.ParseFilterEvents, Commands.FilterEvents),
		},
		{
			Name: "readEvent", Method: "ReadEvent",
			Title:  "ReadEvent reads one event and its neighbours",
			Invoke: bind(Parser.ParseReadEvent, Commands.ReadEvent),
		},
		{
			Name: "readSurface", Method: "ReadSurface",
			Title:  "ReadSurface reads what the model still sees of a session",
			Invoke: bind(Parser.ParseReadSurface, Commands.ReadSurface),
		},
		{
			Name: "readTitles", Method: "ReadTitles",
			Title:  "ReadTitles reads the titles of several sessions",
			Invoke: bind(Parser.ParseReadTitles, Commands.ReadTitles),
		},
		{
			Name: "traceSession", Method: "TraceSession",
			Title:  "TraceSession tells where a session came from and what came from it",
			Invoke: bind(Parser.ParseTraceSession, Commands.TraceSession),
		},
		{
			Name: "traceEvent", Method: "TraceEvent",
			Title:  "TraceEvent tells what an event was made from and what became of it",
			Invoke: bind(Parser.ParseTraceEvent, Commands.TraceEvent),
		},
		{
			Name: "renderTranscript", Method: "RenderTranscript",
			Title:  "RenderTranscript renders a stretch of a session as Markdown",
			Invoke: bind(Parser.ParseRenderTranscript, Commands.RenderTranscript),
		},
		{
			Name: "resumePlan", Method: "ResumePlan",
			Title:  "ResumePlan tells how a session is continued in a terminal",
			Invoke: bind(Parser.ParseResumePlan, Commands.ResumePlan),
		},
		{
			Name: "forgetSession", Method: "ForgetSession", LocalOnly: true,
			Title:  "ForgetSession drops one session from this machine's index for good",
			Invoke: bind(Parser.ParseForgetSession, Commands.ForgetSession),
		},
	}
}

// CommandNames lists the full names of all commands for a prefix (empty means
// [CommandPrefix]), in the order of [Registry].
func CommandNames(prefix string) []string {
	commands := Registry()
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.FullName(prefix)
	}
	return names
}

// LookupCommand finds the command with that full name, such as
// "sessionls.clear"; an empty prefix means [CommandPrefix]. An unknown name is
// a MethodNotFound error that lists the known ones.
func LookupCommand(prefix, fullName string) (Command, error) {
	for _, c := range Registry() {
		if c.FullName(prefix) == fullName {
			return c, nil
		}
	}
	names := CommandNames(prefix)
	return Command{}, &Error{
		RPCCode: RPCMethodNotFound,
		Code:    CodeInvalidConfig,
		Field:   "command",
		Allowed: names,
		Message: "unknown command " + quote(fullName) + "; known are " + strings.Join(names, ", "),
	}
}

// bind joins a command's parser to its method, so that the table of commands
// cannot name one without the other.
func bind[Q, R any](
	parse func(Parser, []byte) (Q, error),
	call func(Commands, context.Context, Q) (R, error),
) func(context.Context, Commands, Parser, []byte) (any, error) {
	return func(ctx context.Context, service Commands, parser Parser, raw []byte) (any, error) {
		request, err := parse(parser, raw)
		if err != nil {
			return nil, err
		}
		response, err := call(service, ctx, request)
		if err != nil {
			return nil, err
		}
		return response, nil
	}
}
