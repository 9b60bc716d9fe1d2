package claude

import "github.com/sessionls/sessionls/index/transcript/jsonv"

// record is one line, its top-level members picked in a single pass. Members
// are raw values into the line.
type record struct {
	typ, subtype                             string
	uuid, parent, logical, session           jsonv.Value
	hasParent                                bool // parentUuid is there, null or not
	time, cwd, branch, version               jsonv.Value
	message, attachment, result, forked      jsonv.Value
	compactMeta, microMeta, content, leaf    jsonv.Value
	messageID                                jsonv.Value // of a file-history-snapshot: the message it was taken for
	title                                    jsonv.Value // of custom-title, ai-title, agent-name and summary records
	entrypoint, promptSource, agent, kind    jsonv.Value
	toolParent                               jsonv.Value // sourceToolAssistantUUID
	meta, sidechain, compactSummary, apiFail bool
	shownOnly                                bool // isVisibleInTranscriptOnly: shown to the person, not to the model
}

// skipMembers are dropped from lines too long to keep: second copies of what
// stands elsewhere in the record, and state.
var skipMembers = []string{"originalFile", "structuredPatch", "trackedFileBackups", "normalizedMessages", "signature", "oldTodos"}

func parse(v jsonv.Value, r *record) {
	*r = record{}
	v.Each(func(k, val jsonv.Value) bool {
		if len(k) < 4 {
			return true
		}
		switch string(k[1 : len(k)-1]) {
		case "type":
			r.typ = word(val)
		case "subtype":
			r.subtype = word(val)
		case "uuid":
			r.uuid = val
		case "parentUuid":
			r.parent, r.hasParent = val, true
		case "logicalParentUuid":
			r.logical = val
		case "sessionId":
			r.session = val
		case "timestamp":
			r.time = val
		case "cwd":
			r.cwd = val
		case "gitBranch":
			r.branch = val
		case "version":
			r.version = val
		case "message":
			r.message = val
		case "attachment":
			r.attachment = val
		case "toolUseResult":
			r.result = val
		case "forkedFrom":
			r.forked = val
		case "compactMetadata":
			r.compactMeta = val
		case "microcompactMetadata":
			r.microMeta = val
		case "messageId":
			r.messageID = val
		case "content":
			r.content = val
		case "leafUuid":
			r.leaf = val
		case "customTitle", "aiTitle", "summary", "agentName":
			r.title = val
		case "entrypoint":
			r.entrypoint = val
		case "promptSource":
			r.promptSource = val
		case "agentId":
			r.agent = val
		case "sessionKind":
			r.kind = val
		case "sourceToolAssistantUUID":
			r.toolParent = val
		case "isMeta":
			r.meta = val.True()
		case "isSidechain":
			r.sidechain = val.True()
		case "isVisibleInTranscriptOnly":
			r.shownOnly = val.True()
		case "isCompactSummary":
			r.compactSummary = val.True()
		case "isApiErrorMessage":
			r.apiFail = val.True()
		}
		return true
	})
}

// word returns a short type name without allocating for the known ones.
func word(v jsonv.Value) string {
	if v.Kind() != jsonv.String || len(v) < 2 || len(v) > 128 {
		return ""
	}
	switch string(v[1 : len(v)-1]) {
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "attachment":
		return "attachment"
	case "progress":
		return "progress"
	case "system":
		return "system"
	case "text":
		return "text"
	case "thinking":
		return "thinking"
	case "tool_use":
		return "tool_use"
	case "tool_result":
		return "tool_result"
	}
	return v.Str()
}

// rawType is the agent's own word, with the subtype where there is one.
func (r *record) rawType() string {
	switch {
	case r.typ == "":
		return "unknown"
	case r.typ == "attachment":
		if t := word(r.attachment.Get("type")); t != "" {
			return "attachment/" + t
		}
	case r.subtype != "":
		return r.typ + "/" + r.subtype
	}
	return r.typ
}

// conversation reports whether the line is a turn of the user or the model.
func (r *record) conversation() bool { return r.typ == "user" || r.typ == "assistant" }

// idHash names an id in little space (FNV-1a). 0 stands for no id.
func idHash(id jsonv.Value) uint64 {
	if k := id.Kind(); k != jsonv.String && k != jsonv.Number || len(id) <= 2 && k == jsonv.String {
		return 0
	}
	return addHash(offsetBasis, id)
}

const offsetBasis = 14695981039346656037

// addHash continues an FNV-1a hash; the result is never 0.
func addHash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1
}

// sampleEnds is what of a long value goes into a sample from either end.
const sampleEnds = 256

// sample hashes a value by its length and both ends: enough to know a message
// again whose id is the same anyway, without reading all of a long one.
func sample(h uint64, b []byte) uint64 {
	if len(b) <= 2*sampleEnds {
		return addHash(h, b)
	}
	h = addHash(addHash(h, b[:sampleEnds]), b[len(b)-sampleEnds:])
	for n := len(b); n > 0; n >>= 8 {
		h = addHash(h, []byte{byte(n)})
	}
	return h
}
