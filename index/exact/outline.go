package exact

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// outline is what is kept in memory of a session's log: where its records lie
// and how they stand to each other, about 80 bytes an event with its id. It is
// immutable once built.
type outline struct {
	events []entry
	// own is how many of the events are the agent's; synthetic ones follow.
	own   int
	kinds []kind
	ids   []byte // all event ids in order

	// replacedBy is what took an event off the surface, -1 if nothing did; nil
	// when nothing was replaced.
	replacedBy []int32
	replaced   []span   // by replacer, in the order its victims had
	sources    []source // in the order of their lists
	copies     []copied
	// order are the current events as the model sees them, nil when that is the
	// order of positions.
	order []int32

	// warnings are those of the reading; strict is the fault for which the
	// agent's own service would refuse the log's surface.
	warnings []string
	strict   error
	// info is the transcript when the outline was made, facts what its header
	// says of the session.
	info  fs.FileInfo
	facts facts
	// folder is the last one that the session worked in.
	folder string
	// seed is that of the hashes of text.
	seed maphash.Seed
	// kept says that it is the outline of a kept copy: nothing is known of
	// records and links.
	kept bool
}

// entry is one event.
type entry struct {
	offset, length int64  // of its record; length 0 if it is no byte range
	time           int64  // epoch milliseconds, noTime if unknown
	hash           uint64 // of its text when that is one part, else 0
	idEnd          uint32
	kind           uint32
	text           uint32 // bytes of its text, saturated
	surface        uint8
	part           transcript.PartKind // of that one part
	flags          uint8
}

const noTime = math.MinInt64

const (
	inherited = 1 << iota
	synthetic
	failed
)

// kind is what many events have in common.
type kind struct {
	typ, raw string
	role     transcript.Role
	tools    []string
}

type span struct{ from, to, by int32 }

type source struct {
	seq, from, to int32
	recorded      bool
}

type copied struct {
	seq, original int32
	parent        string
}

var surfaces = []transcript.Surface{transcript.Current, transcript.Shadowed, transcript.LogOnly}

func (o *outline) surface(seq int) transcript.Surface { return surfaces[o.events[seq].surface] }

func (o *outline) id(seq int) string {
	from := uint32(0)
	if seq > 0 {
		from = o.events[seq-1].idEnd
	}
	return string(o.ids[from:o.events[seq].idEnd])
}

func (o *outline) kind(seq int) *kind { return &o.kinds[o.events[seq].kind] }

// hasWhole reports whether parts are all the text of an event.
func (o *outline) hasWhole(seq int, parts []transcript.Part) bool {
	e := &o.events[seq]
	if textBytes(parts) != int(e.text) {
		return false
	}
	return e.hash == 0 || len(parts) > 0 && maphash.String(o.seed, parts[0].Text) == e.hash
}

// find is the position of the first event with an id, -1 if there is none.
func (o *outline) find(id string) int {
	if id == "" {
		return -1
	}
	from := uint32(0)
	for i := range o.events {
		end := o.events[i].idEnd
		if string(o.ids[from:end]) == id {
			return i
		}
		from = end
	}
	return -1
}

// current lists the current events in model order.
func (o *outline) current() []int32 {
	if o.order != nil {
		return o.order
	}
	var out []int32
	for i := range o.events {
		if o.surface(i) == transcript.Current {
			out = append(out, int32(i))
		}
	}
	return out
}

// check tells whether a position is the same event as when a cursor named it.
func (o *outline) check(seq int) uint64 {
	e := &o.events[seq]
	k := o.kind(seq)
	t := e.time
	return transcript.Hash(k.typ+"\x00"+k.raw+"\x00"+o.id(seq)) ^ uint64(t)
}

// record is the event without text and data.
func (o *outline) record(of contract.SessionName, seq int) contract.EventRecord {
	e, k := &o.events[seq], o.kind(seq)
	r := contract.EventRecord{
		Agent: of.Agent, SessionID: of.SessionID, Seq: int64(seq), Type: k.typ, RawType: k.raw, Role: contract.Role(k.role),
		Surface: contract.Surface(o.surface(seq)), Inherited: e.flags&inherited != 0, Synthetic: e.flags&synthetic != 0,
	}
	if id := o.id(seq); id != "" {
		r.EventID = &id
	}
	if e.time != noTime {
		t := contract.Instant(e.time)
		r.Time = &t
	}
	return r
}

// bytes is about what the outline takes of memory.
func (o *outline) bytes() int64 {
	n := int64(len(o.events))*int64(unsafe.Sizeof(entry{})) + int64(len(o.ids)) + 4*int64(len(o.replacedBy)+len(o.order)) +
		int64(len(o.replaced))*int64(unsafe.Sizeof(span{})) + int64(len(o.sources))*int64(unsafe.Sizeof(source{})) +
		int64(len(o.copies))*int64(unsafe.Sizeof(copied{}))
	for i := range o.kinds {
		n += 64 + int64(len(o.kinds[i].typ)+len(o.kinds[i].raw)) + 16*int64(len(o.kinds[i].tools))
	}
	return n + 512
}

// Bounds of an outline. A log beyond them is refused (maxEvents, maxOutline), or
// loses the links that came last.
const (
	maxEvents  = 4 << 20
	maxOutline = 512 << 20
	maxLinks   = 2 << 20
	maxKinds   = 1 << 18
)

var errTooLarge = errors.New("the session has more events than can be read")

// builder makes an outline.
type builder struct {
	o       outline
	byKind  map[string]uint32
	key     []byte
	size    int64
	moves   []span   // from: the event, to: the one it goes before
	heir    []int32  // union-find over events that are replaced already
	parents []string // interned ids of parents
	cut     bool     // links were left out
}

func newBuilder() builder { return builder{o: outline{seed: maphash.MakeSeed()}} }

func (b *builder) kindOf(typ, raw string, role transcript.Role, tools []string) uint32 {
	b.key = append(append(append(append(append(b.key[:0], typ...), 0), raw...), 0), role...)
	for _, t := range tools {
		b.key = append(append(b.key, 0), t...)
	}
	if at, ok := b.byKind[string(b.key)]; ok {
		return at
	}
	if len(b.o.kinds) >= maxKinds {
		// Hostile: no agent has so many words. The agent's own word and the
		// tools are lost, what the event is stays.
		return b.kindOf(transcript.TypeOther, "", role, nil)
	}
	if b.byKind == nil {
		b.byKind = map[string]uint32{}
	}
	k := kind{strings.Clone(typ), strings.Clone(raw), role, nil}
	for _, t := range tools {
		k.tools = append(k.tools, strings.Clone(t))
	}
	at := uint32(len(b.o.kinds))
	b.byKind[string(b.key)] = at
	b.o.kinds = append(b.o.kinds, k)
	b.size += int64(len(b.key)) * 3
	return at
}

func surfaceIndex(s transcript.Surface) uint8 {
	if i := slices.Index(surfaces, s); i >= 0 {
		return uint8(i)
	}
	return uint8(slices.Index(surfaces, transcript.LogOnly))
}

// event adds the next event.
func (b *builder) event(e *transcript.Event, flags uint8) error {
	if e.Seq != len(b.o.events) {
		return errors.New("events out of order")
	}
	text, hash, part := 0, uint64(0), transcript.Prose
	for _, p := range e.Parts {
		text += len(p.Text)
	}
	if len(e.Parts) == 1 {
		hash, part = maphash.String(b.o.seed, e.Parts[0].Text), e.Parts[0].Kind
	}
	return b.add(entry{
		offset: e.Offset, length: e.Length, hash: hash, part: part, time: millis(e.Time), surface: surfaceIndex(e.Surface), flags: flags,
		kind: b.kindOf(e.Type, e.RawType, e.Role, e.Tools),
	}, e.ID, text, e.Inherited, e.Failed)
}

// stored adds an event of a kept copy.
func (b *builder) stored(e *store.Stored) error {
	if e.Seq != len(b.o.events) {
		return store.ErrDamaged
	}
	return b.add(entry{
		time: millis(e.Time), surface: surfaceIndex(e.Surface), kind: b.kindOf(e.Type, e.RawType, e.Role, e.Tools),
	}, e.ID, textBytes(e.Parts), e.Inherited, e.Failed)
}

func (b *builder) add(e entry, id string, text int, isCopy, isFailure bool) error {
	if len(b.o.events) >= maxEvents || b.size > maxOutline || len(b.o.ids)+len(id) > math.MaxUint32 {
		return errTooLarge
	}
	e.text = uint32(min(text, math.MaxUint32))
	if isCopy {
		e.flags |= inherited
	}
	if isFailure {
		e.flags |= failed
	}
	b.o.ids = append(b.o.ids, id...)
	e.idEnd = uint32(len(b.o.ids))
	b.o.events = append(b.o.events, e)
	b.size += int64(unsafe.Sizeof(e)) + int64(len(id))
	if e.flags&synthetic == 0 {
		b.o.own = len(b.o.events)
	}
	return nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMilli()
}

// textBytes is how much text of an event the kept copy has as it is in the
// transcript.
func textBytes(parts []transcript.Part) int {
	n := 0
	for _, p := range parts {
		if p.Kind != store.Words {
			n += len(p.Text)
		}
	}
	return n
}

func (b *builder) has(seqs ...int) bool {
	for _, seq := range seqs {
		if seq < 0 || seq >= len(b.o.events) {
			return false
		}
	}
	return true
}

// room reports whether there is room for another link.
func (b *builder) room() bool {
	if len(b.o.sources)+len(b.o.replaced)+len(b.o.copies)+len(b.moves) < maxLinks {
		return true
	}
	b.cut = true
	return false
}

// take notes that by took [from, to) off the surface, of which only those count
// that nothing took before.
func (b *builder) take(from, to, by int) {
	if from >= to || !b.has(from, to-1, by) {
		return
	}
	for len(b.heir) < len(b.o.events) {
		b.heir = append(b.heir, int32(len(b.heir)))
		b.o.replacedBy = append(b.o.replacedBy, -1)
	}
	begun := -1
	for at := b.free(from); at < to; at = b.free(at + 1) {
		if !b.room() {
			return
		}
		b.o.replacedBy[at] = int32(by)
		b.heir[at] = int32(at + 1)
		if n := len(b.o.replaced); begun >= 0 && int(b.o.replaced[n-1].to) == at {
			b.o.replaced[n-1].to++
			continue
		}
		begun = at
		b.o.replaced = append(b.o.replaced, span{int32(at), int32(at + 1), int32(by)})
	}
}

// free is the first event from at on that nothing has replaced, beyond the last
// one if there is none.
func (b *builder) free(at int) int {
	root := at
	for root < len(b.heir) && int(b.heir[root]) != root {
		root = int(b.heir[root])
	}
	for at < len(b.heir) && int(b.heir[at]) != at {
		at, b.heir[at] = int(b.heir[at]), int32(root)
	}
	return root
}

func (b *builder) from(seq, from, to int, recorded bool) {
	if from < to && b.has(seq, from, to-1) && b.room() {
		b.o.sources = append(b.o.sources, source{int32(seq), int32(from), int32(to), recorded})
	}
}

func (b *builder) copyOf(seq int, parent string, original int) {
	if !b.has(seq) || original < 0 || original > math.MaxInt32 || parent == "" || !b.room() {
		return
	}
	at := slices.Index(b.parents, parent)
	if at < 0 {
		if len(b.parents) >= 1024 {
			return
		}
		at = len(b.parents)
		b.parents = append(b.parents, strings.Clone(parent))
	}
	b.o.copies = append(b.o.copies, copied{int32(seq), int32(original), b.parents[at]})
}

// move puts an event before another in model order.
func (b *builder) move(seq, before int) {
	if seq != before && b.has(seq, before) && b.room() {
		b.moves = append(b.moves, span{from: int32(seq), to: int32(before)})
	}
}

// finish gives the outline.
func (b *builder) finish() *outline {
	o := &b.o
	if b.cut {
		o.warnings = append(o.warnings, "the log has more links between events than can be followed")
	}
	if len(b.moves) > 0 {
		o.order = b.ordered()
	}
	o.events, o.ids = slices.Clip(o.events), slices.Clip(o.ids)
	return o
}

// ordered applies the moves, one after the other, to the order of positions.
func (b *builder) ordered() []int32 {
	n := len(b.o.events)
	// A ring through a head at n.
	next, prev := make([]int32, n+1), make([]int32, n+1)
	for i := range n + 1 {
		next[i], prev[(i+1)%(n+1)] = int32((i+1)%(n+1)), int32(i)
	}
	for _, m := range b.moves {
		x, y := m.from, m.to
		next[prev[x]], prev[next[x]] = next[x], prev[x]
		p := prev[y]
		next[p], prev[x], next[x], prev[y] = x, p, y, x
	}
	out := []int32{}
	for i := next[n]; int(i) != n; i = next[i] {
		if b.o.surface(int(i)) == transcript.Current {
			out = append(out, i)
		}
	}
	return out
}
