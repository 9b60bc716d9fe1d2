package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

// read decodes the answer of a host by the types of the contract and makes it
// fit to be handed on: see arrival.
func read[R any](host contract.Host, raw json.RawMessage) (R, error) {
	var none, response R
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return none, errors.New("the answer is no object")
	}
	if err := weigh(raw); err != nil {
		return none, err
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return none, err
	}
	a := arrival{host: host}
	a.value(reflect.ValueOf(&response).Elem(), false)
	return response, a.err
}

// maxContainers is how many objects and lists an answer may hold, besides those
// inside of records: far more than any answer of the contract has. A few bytes of
// JSON can make hundreds of bytes of memory.
const maxContainers = 300_000

// weigh counts the objects and lists of a JSON text. What stands under the name
// "data" is a record, which is kept as it is and costs what it is long.
func weigh(raw []byte) error {
	depth, containers, opaque := 0, 0, 0 // opaque: the depth of a record's owner, 0 outside
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
			if opaque == 0 {
				containers++
			}
		case '}', ']':
			depth--
			if depth < opaque {
				opaque = 0
			}
		case ',':
			if depth == opaque {
				opaque = 0
			}
		case '"':
			end := i + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			isData := string(raw[min(i+1, len(raw)):min(end, len(raw))]) == "data"
			i = end
			if opaque == 0 && isData && bytes.HasPrefix(bytes.TrimLeft(raw[min(end+1, len(raw)):], " \t\r\n"), []byte(":")) {
				opaque = depth
			}
		}
		if containers > maxContainers {
			return fmt.Errorf("the answer has more than %d parts", maxContainers)
		}
	}
	return nil
}

// arrival walks through a decoded answer. It strips control characters and those
// that reorder text, stamps what names a host, wraps cursors, replaces words of
// later versions by those that stand for the unknown, and keeps the first thing
// that cannot be mended.
type arrival struct {
	host contract.Host
	err  error
}

func (a *arrival) refuse(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

var hostType = reflect.TypeFor[contract.Host]()

// value mends one value; long says that it may have several lines.
func (a *arrival) value(v reflect.Value, long bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			a.value(v.Elem(), long)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				a.value(v.Field(i), isLong(field.Name))
			}
		}
		a.mend(v.Addr().Interface())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // a record's own JSON, in which control characters are escaped
		}
		for i := range v.Len() {
			a.value(v.Index(i), long)
		}
	case reflect.String:
		switch {
		case v.Type() == hostType:
			v.SetString(string(a.host))
		case long:
			v.SetString(manyLines(v.String()))
		default:
			v.SetString(oneLine(v.String()))
		}
	}
}

// isLong tells the fields whose text has lines.
func isLong(field string) bool {
	return field == "Text" || field == "Markdown" || field == "Snippet"
}

// mend looks after what the parts of an answer promise.
func (a *arrival) mend(part any) {
	switch p := part.(type) {
	case *contract.Hit:
		a.named(p.Agent, p.SessionID)
		p.ExecutionHostID = a.host
		if p.Title == "" {
			p.Title = p.SessionID
		}
		known(&p.Relation, contract.RelationContinuation, contract.RelationRoot, contract.RelationFork, contract.RelationSubagent)
		known(&p.Source.Presence, contract.PresenceUnverifiable, contract.PresencePresent, contract.PresenceMissing)
	case *contract.Header:
		a.named(p.Agent, p.SessionID)
		p.ExecutionHostID = a.host
		if p.Title == "" {
			p.Title = p.SessionID
		}
		known(&p.Relation, contract.RelationContinuation, contract.RelationRoot, contract.RelationFork, contract.RelationSubagent)
		known(&p.Presence, contract.PresenceUnverifiable, contract.PresencePresent, contract.PresenceMissing)
	case *contract.EventRecord:
		a.named(p.Agent, p.SessionID)
		a.placed(&p.Role, p.Surface)
	case *contract.Evidence:
		a.placed(&p.Role, p.Surface)
		p.Marks = within(p.Marks, p.Snippet)
	case *contract.EventHit:
		p.ExecutionHostID = a.host
		p.Marks = within(p.Marks, p.Snippet)
	case *contract.Page:
		a.wrap(p)
	case *contract.Status:
		if !slices.Contains([]contract.Phase{contract.PhaseIdle, contract.PhaseIndexing, contract.PhaseCurrent, contract.PhaseDegraded, contract.PhaseClosed}, p.Phase) {
			a.refuse("there is no phase %q", brief(string(p.Phase)))
		}
		known(&p.Writer, contract.WriterNone, contract.WriterThis, contract.WriterOther)
	case *contract.SearchSessionsResponse:
		if p.Kind == contract.KindUnavailable {
			known(&p.Reason, contract.ReasonNotReady, contract.ReasonDisabled, contract.ReasonNoService)
		}
	case *contract.TitleResult:
		if (p.Status == contract.TitleFulfilled) != (p.Session != nil) {
			a.refuse("a title that is %q", brief(string(p.Status)))
		}
	}
}

func (a *arrival) named(agent, id string) {
	if agent == "" || id == "" {
		a.refuse("a session without a name")
	}
}

func (a *arrival) placed(role *contract.Role, surface contract.Surface) {
	known(role, contract.RoleUnknown, contract.RoleUser, contract.RoleAssistant, contract.RoleTool, contract.RoleSystem)
	switch surface {
	case contract.SurfaceCurrent, contract.SurfaceShadowed, contract.SurfaceLogOnly:
	default:
		a.refuse("there is no surface %q", brief(string(surface)))
	}
}

// maxCursor is the longest cursor that is taken from a host; its own are shorter
// than a tenth of it.
const maxCursor = 8 << 10

func (a *arrival) wrap(p *contract.Page) {
	if p.Cursor == nil {
		return
	}
	if len(*p.Cursor) > maxCursor {
		a.refuse("a cursor of %d bytes", len(*p.Cursor))
		return
	}
	wrapped := contract.WrapCursor(a.host, *p.Cursor)
	p.Cursor = &wrapped
}

// known replaces a word that is none of the known ones by the fallback.
func known[T ~string](word *T, fallback T, known ...T) {
	if !slices.Contains(known, *word) {
		*word = fallback
	}
}

// within are the marks that lie in a text, ascending and apart.
func within(marks contract.List[contract.Mark], text string) contract.List[contract.Mark] {
	units := 0
	for _, r := range text {
		if units++; r > 0xFFFF {
			units++
		}
	}
	last := 0
	return slices.DeleteFunc(marks, func(m contract.Mark) bool {
		if m[0] < last || m[1] < m[0] || m[1] > units {
			return true
		}
		last = m[1]
		return false
	})
}

// hidden tells characters that show text in another order than it has.
func hidden(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// oneLine is a text without control characters, line separators and characters
// that reorder it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || hidden(r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, s)
}

// manyLines is a text without control characters but line feeds and tabs. Each
// is replaced by one of the same length, since marks count characters.
func manyLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// The bounds of what an error may carry.
const (
	maxAllowed    = 100
	maxCandidates = 100
)

type errorData struct {
	Code       string      `json:"code"`
	Field      string      `json:"field"`
	Allowed    []string    `json:"allowed"`
	Candidates []candidate `json:"candidates"`
}

// candidate is a session that an ambiguous name may mean.
type candidate struct {
	Agent     string `json:"agent"`
	SessionID string `json:"sessionId"`
	Title     string `json:"title,omitzero"`
}

// readErrorData reads the data of an error as far as they can be; what cannot is
// left out.
func readErrorData(raw json.RawMessage) errorData {
	var data errorData
	if weigh(raw) != nil || json.Unmarshal(raw, &data) != nil {
		return errorData{}
	}
	data.Allowed = data.Allowed[:min(len(data.Allowed), maxAllowed)]
	data.Candidates = data.Candidates[:min(len(data.Candidates), maxCandidates)]
	a := arrival{}
	a.value(reflect.ValueOf(&data).Elem(), false)
	data.Field = brief(data.Field)
	return data
}
