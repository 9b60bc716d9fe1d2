package contract

import (
	"encoding/json"
	"slices"
)

// Parser reads requests. Its rules are those of the contract: unknown fields
// are dropped at every level, a known field of the wrong type or out of bounds
// is an [*Error] that names the field, null is absence, and defaults are filled
// in. Fields are checked in the order in which the contract lists them, so the
// same bad request always gets the same error. Parsing comes before any
// question of host or consent.
type Parser struct {
	// Agents are the known agent ids; nil means those of [Agents].
	Agents []string
}

// agents is the caller's own list of the known ids.
func (p Parser) agents() []string {
	if p.Agents == nil {
		return Agents()
	}
	return slices.Clone(p.Agents)
}

// ParseSearchSessions reads the request of searchSessions.
func (p Parser) ParseSearchSessions(raw []byte) (SearchSessionsRequest, error) {
	r := newReader(raw)
	request := NewSearchSessionsRequest("")
	if query := r.text("query"); query != nil {
		request.Query = *query
	} else {
		r.fail("query", "a string is required")
	}
	request.Scope = word(r, "scope", ScopeAll, ScopeConversation, ScopeAll)
	request.Freshness = word(r, "freshness", FreshnessIndexed, FreshnessIndexed, FreshnessWait)
	request.Limit = r.clamped("limit", 1, MaxLimit, DefaultLimit)
	request.Cursor = r.text("cursor")
	if fault := *r.fault; fault != nil && fault.Field == "cursor" {
		// A bad cursor of searchSessions is an answer; INVALID_CURSOR is not
		// among its errors.
		fault.Code = CodeInvalidConfig
	}
	request.Filters = p.filters(r)
	if debug := r.flag("debug"); debug != nil {
		request.Debug = *debug
	}
	request.ExecutionHost = executionHost(r)
	if err := r.err(); err != nil {
		return SearchSessionsRequest{}, err
	}
	return request, nil
}

// ParseSearchStatus reads the request of searchStatus.
func (Parser) ParseSearchStatus(raw []byte) (SearchStatusRequest, error) {
	r := newReader(raw)
	request := SearchStatusRequest{ExecutionHost: executionHost(r)}
	if err := r.err(); err != nil {
		return SearchStatusRequest{}, err
	}
	return request, nil
}

// ParseClear reads the request of clear.
func (Parser) ParseClear(raw []byte) (ClearRequest, error) {
	r := newReader(raw)
	localOnly(r)
	return ClearRequest{}, r.err()
}

// ParseForgetSession reads the request of forgetSession.
func (p Parser) ParseForgetSession(raw []byte) (ForgetSessionRequest, error) {
	r := newReader(raw)
	name := p.sessionName(r)
	localOnly(r)
	if err := r.err(); err != nil {
		return ForgetSessionRequest{}, err
	}
	return ForgetSessionRequest{SessionName: name}, nil
}

// ParseGetPolicy reads the request of getPolicy.
func (Parser) ParseGetPolicy(raw []byte) (GetPolicyRequest, error) {
	r := newReader(raw)
	localOnly(r)
	return GetPolicyRequest{}, r.err()
}

// ParseSetPolicy reads the request of setPolicy.
func (Parser) ParseSetPolicy(raw []byte) (SetPolicyRequest, error) {
	r := newReader(raw)
	var request SetPolicyRequest
	if raw, ok := r.fields["enabled"]; ok && kindOf(raw) == "null" {
		request.Enabled = Null[bool]()
	} else if enabled := r.flag("enabled"); enabled != nil {
		request.Enabled = Some(*enabled)
	}
	if raw, ok := r.fields["historyDays"]; ok && kindOf(raw) == "null" {
		request.HistoryDays = Null[int]()
	} else if raw, ok := r.field("historyDays"); ok {
		days, whole := int64(0), false
		if kindOf(raw) == "a number" {
			days, whole = integerOf(string(raw))
		}
		if !whole || days < MinHistoryDays || days > MaxHistoryDays {
			r.fail("historyDays", "want a whole number from %d to %d, or null for all history; got %s",
				MinHistoryDays, MaxHistoryDays, quote(string(raw)))
		}
		request.HistoryDays = Some(int(days))
	}
	localOnly(r)
	if err := r.err(); err != nil {
		return SetPolicyRequest{}, err
	}
	return request, nil
}

// filters reads the filters object.
func (p Parser) filters(parent reader) Filters {
	filters := Filters{Sort: SortRelevance}
	r, ok := parent.object("filters")
	if !ok {
		return filters
	}
	known := p.agents()
	filters.Agents = noneIfEmpty(r.texts("agents", func(s string) {
		if !slices.Contains(known, s) {
			r.keep(NotAllowed(r.path+"agents", s, known))
		}
	}))
	filters.ScopePaths = noneIfEmpty(scopePaths(r))
	if since, ok := r.instant("since"); ok {
		filters.Since = ceilInstant(since)
	}
	if until, ok := r.instant("until"); ok {
		filters.Until = floorInstant(until)
	}
	filters.Sort = word(r, "sort", SortRelevance, SortRelevance, SortNewest)
	filters.SessionIDs = r.texts("sessionIds", nil)
	filters.Cwds = r.nullableTexts("cwds")
	filters.Parents = r.nullableTexts("parents")
	filters.CreatedAt = r.instantRange("createdAt")
	filters.Presence = presences(r)
	filters.Active = r.flag("active")
	filters.Relations = words(r, "relations", RelationRoot, RelationFork, RelationSubagent, RelationContinuation)
	filters.Automated = r.flag("automated")
	filters.Branches = r.texts("branches", nil)
	filters.Models = r.texts("models", nil)
	filters.Files = r.texts("files", nil)
	filters.Events = eventFilters(r, "events")
	return filters
}

func scopePaths(r reader) []string {
	if n := len(r.elements("scopePaths")); n > MaxScopePaths {
		r.fail("scopePaths", "%d paths; at most %d are allowed", n, MaxScopePaths)
		return nil
	}
	return r.texts("scopePaths", func(s string) {
		if n := utf16Length(s); n < 1 || n > MaxScopePathLength {
			r.fail("scopePaths", "a path of %d characters; 1 to %d are allowed", n, MaxScopePathLength)
		}
	})
}

// presences reads the presence clause, which is one word or, as the session
// query's availability clause was, a list of them.
func presences(r reader) []Presence {
	allowed := []Presence{PresencePresent, PresenceUnverifiable, PresenceMissing}
	raw, ok := r.field("presence")
	if !ok {
		return nil
	}
	if kindOf(raw) == "a list" {
		return words(r, "presence", allowed...)
	}
	return []Presence{word(r, "presence", PresencePresent, allowed...)}
}

// eventFilters reads an events clause; one that says nothing is absent.
func eventFilters(parent reader, name string) *EventFilters {
	r, ok := parent.object(name)
	if !ok {
		return nil
	}
	events := EventFilters{
		Types:    r.texts("types", nil),
		Surfaces: words(r, "surfaces", SurfaceCurrent, SurfaceShadowed, SurfaceLogOnly),
		Roles:    words(r, "roles", RoleUser, RoleAssistant, RoleTool, RoleSystem, RoleUnknown),
		Tools:    r.texts("tools", nil),
		Seq:      r.seqRange("seq"),
		Time:     r.instantRange("time"),
	}
	if events.Types == nil && events.Surfaces == nil && events.Roles == nil &&
		events.Tools == nil && events.Seq == nil && events.Time == nil {
		return nil
	}
	return &events
}

// noneIfEmpty is for the two lists that constrain nothing when empty.
func noneIfEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// executionHost reads the host to ask; absent is this machine.
func executionHost(r reader) Host {
	s := r.text("executionHost")
	if s == nil {
		return LocalHost
	}
	host, ok := ParseHost(*s)
	if !ok {
		r.fail("executionHost", "%s is not an execution host; allowed: local, ssh:<target>, runtime:<environmentId>", quote(*s))
		return LocalHost
	}
	return host
}

// localOnly refuses another host in the request of a command that acts on this
// machine alone. To drop the field would, for clear, delete the wrong index.
func localOnly(r reader) {
	if host := executionHost(r); !r.failed() && !host.IsLocal() {
		fault := InvalidParams("executionHost", "%s is not possible here; this command acts on the local host only", quote(string(host)))
		fault.Allowed = []string{string(LocalHost)}
		r.keep(fault)
	}
}

// ParseArguments reads the `arguments` of a workspace/executeCommand: exactly
// one object, or nothing (absent, null or an empty list), which is the empty
// object. It gives the object's JSON.
func ParseArguments(raw []byte) ([]byte, error) {
	switch kindOf(raw) {
	case "nothing", "null":
		return []byte("{}"), nil
	case "a list":
	default:
		return nil, InvalidParams(argumentsField, "want a list of one object, got %s", kindOf(raw))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, InvalidParams(argumentsField, "the list cannot be read: %v", err)
	}
	return ParseArgumentList(list)
}

// ParseArgumentList is [ParseArguments] for a list whose elements have been
// separated already.
func ParseArgumentList[T ~[]byte](list []T) ([]byte, error) {
	if len(list) == 0 {
		return []byte("{}"), nil
	}
	if len(list) > 1 {
		return nil, InvalidParams(argumentsField, "want exactly one object, got %d values", len(list))
	}
	if kind := kindOf(list[0]); kind != "object" {
		return nil, InvalidParams(argumentsField, "want one object, got %s", kind)
	}
	return list[0], nil
}
