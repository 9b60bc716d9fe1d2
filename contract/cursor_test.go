package contract_test

import (
	"encoding/base64"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func sampleCursor() contract.Cursor {
	return contract.Cursor{
		RequestHash: "h", Generation: 7, Identity: "id", Clock: 1793527200000,
		Position: contract.Position{Score: 1.5, UpdatedAt: ptr(contract.Instant(5)), SessionRow: 3, Offset: 20},
	}
}

func tokenOf(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

const sampleCursorJSON = `{"v":1,"q":"h","g":7,"i":"id","t":1793527200000,"p":{"s":"3ff8000000000000","u":5,"r":3,"o":20}}`

func TestCursorKeepsEverything(t *testing.T) {
	if got := contract.EncodeCursor(sampleCursor()); got != tokenOf(sampleCursorJSON) {
		raw, _ := base64.RawURLEncoding.DecodeString(got)
		t.Errorf("got %s (%s)", got, raw)
	}
	for _, change := range []func(*contract.Cursor){
		func(c *contract.Cursor) {},
		func(c *contract.Cursor) { c.Position.UpdatedAt = nil },
		func(c *contract.Cursor) { c.Position.Score = 0.1 + 0.2 },
		func(c *contract.Cursor) { c.Position.Score = math.Copysign(0, -1) },
		func(c *contract.Cursor) { c.Position.Score = -math.MaxFloat64 },
		func(c *contract.Cursor) { c.Position.Score = math.SmallestNonzeroFloat64 },
		func(c *contract.Cursor) { c.Identity = "" },
		func(c *contract.Cursor) { c.Identity = `<"é&` },
		func(c *contract.Cursor) { c.Clock = -1 },
		func(c *contract.Cursor) { c.Generation = math.MaxInt64 },
		func(c *contract.Cursor) { c.Generation, c.Position.Offset, c.Position.SessionRow = 0, 0, 0 },
	} {
		want := sampleCursor()
		change(&want)
		got, err := contract.DecodeCursor(contract.EncodeCursor(want))
		if err != nil || !reflect.DeepEqual(got, want) || math.Signbit(got.Position.Score) != math.Signbit(want.Position.Score) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestMalformedCursors(t *testing.T) {
	good := tokenOf(sampleCursorJSON)
	replaced := func(old, new string) string {
		changed := strings.Replace(sampleCursorJSON, old, new, 1)
		if changed == sampleCursorJSON {
			t.Fatalf("%q is not in the sample", old)
		}
		return tokenOf(changed)
	}
	for name, s := range map[string]string{
		"empty":              "",
		"no base64":          "%%%",
		"padding":            base64.URLEncoding.EncodeToString([]byte(sampleCursorJSON)) + "=",
		"standard alphabet":  base64.RawStdEncoding.EncodeToString([]byte(strings.Replace(sampleCursorJSON, `"id"`, `"~~~???>>>"`, 1))),
		"line break":         good[:8] + "\n" + good[8:],
		"cut short":          good[:len(good)-3],
		"bytes after":        good + "AAAA",
		"set trailing bits":  good[:len(good)-1] + string(good[len(good)-1]+1),
		"no JSON":            tokenOf("hello"),
		"a list":             tokenOf("[1]"),
		"null":               tokenOf("null"),
		"a number":           tokenOf("7"),
		"two values":         tokenOf(sampleCursorJSON + sampleCursorJSON),
		"spaces":             tokenOf(strings.ReplaceAll(sampleCursorJSON, ",", ", ")),
		"a field more":       replaced(`{"v":1`, `{"v":1,"x":1`),
		"a field twice":      replaced(`"g":7`, `"g":8,"g":7`),
		"a field in capital": replaced(`"g"`, `"G"`),
		"other order":        replaced(`"v":1,"q":"h"`, `"q":"h","v":1`),
		"no hash":            replaced(`"q":"h",`, ``),
		"no generation":      replaced(`"g":7,`, ``),
		"no clock":           replaced(`"t":1793527200000,`, ``),
		"no position":        replaced(`,"p":{"s":"3ff8000000000000","u":5,"r":3,"o":20}`, ``),
		"no offset":          replaced(`,"o":20`, ``),
		"empty hash":         replaced(`"q":"h"`, `"q":""`),
		"hash of a number":   replaced(`"q":"h"`, `"q":7`),
		"empty identity":     replaced(`"i":"id"`, `"i":""`),
		"long identity":      replaced(`"i":"id"`, `"i":"`+strings.Repeat("i", 129)+`"`),
		"another version":    replaced(`"v":1`, `"v":2`),
		"negative g":         replaced(`"g":7`, `"g":-1`),
		"fraction g":         replaced(`"g":7`, `"g":7.5`),
		"other spelling g":   replaced(`"g":7`, `"g":7.0`),
		"exponent g":         replaced(`"g":7`, `"g":7e0`),
		"huge g":             replaced(`"g":7`, `"g":9223372036854775808`),
		"string g":           replaced(`"g":7`, `"g":"7"`),
		"null g":             replaced(`"g":7`, `"g":null`),
		"negative offset":    replaced(`"o":20`, `"o":-1`),
		"negative row":       replaced(`"r":3`, `"r":-3`),
		"score NaN":          replaced(`3ff8000000000000`, `7ff8000000000001`),
		"score infinite":     replaced(`3ff8000000000000`, `7ff0000000000000`),
		"score capital":      replaced(`3ff8000000000000`, `3FF8000000000000`),
		"score zeros":        replaced(`3ff8000000000000`, `03ff8000000000000`),
		"score signed":       replaced(`3ff8000000000000`, `+3ff8000000000000`),
		"score empty":        replaced(`3ff8000000000000`, ``),
		"score number":       replaced(`"3ff8000000000000"`, `1.5`),
		"escaped":            replaced(`"id"`, `"\u0069d"`),
		"too long":           replaced(`"q":"h"`, `"q":"`+strings.Repeat("h", 2000)+`"`),
		"of another host":    contract.WrapCursor("ssh:box", good),
		"deep":               tokenOf(strings.Repeat("[", 700)),
	} {
		if c, err := contract.DecodeCursor(s); !errors.Is(err, contract.ErrMalformedCursor) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
	if _, err := contract.DecodeCursor(good); err != nil {
		t.Error(err)
	}
}

func TestCheckCursor(t *testing.T) {
	now := contract.Fence{Generation: 7, Identity: "id"}
	with := func(change func(*contract.Cursor)) string {
		c := sampleCursor()
		change(&c)
		return contract.EncodeCursor(c)
	}
	malformed, stale := ptr(contract.MalformedResponse()), func(expected int64) *contract.SearchSessionsResponse {
		return ptr(contract.StaleResponse(7, expected))
	}
	for _, tt := range []struct {
		name   string
		cursor string
		hash   string
		want   *contract.SearchSessionsResponse
	}{
		{"good", with(func(*contract.Cursor) {}), "h", nil},
		{"empty", "", "h", malformed},
		{"undecodable", "!", "h", malformed},
		{"older generation", with(func(c *contract.Cursor) { c.Generation = 6 }), "h", stale(6)},
		{"later generation", with(func(c *contract.Cursor) { c.Generation = 8 }), "h", stale(8)},
		{"generation before identity and query", with(func(c *contract.Cursor) { c.Generation, c.Identity = 6, "other" }), "other", stale(6)},
		{"generation before query", with(func(c *contract.Cursor) { c.Generation = 6 }), "other", stale(6)},
		{"another identity", with(func(c *contract.Cursor) { c.Identity = "other" }), "h", stale(7)},
		{"no identity", with(func(c *contract.Cursor) { c.Identity = "" }), "h", stale(7)},
		{"identity before query", with(func(c *contract.Cursor) { c.Identity = "other" }), "other", stale(7)},
		{"another query", with(func(*contract.Cursor) {}), "other", malformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, refusal := contract.CheckCursor(tt.cursor, now, tt.hash)
			if !reflect.DeepEqual(refusal, tt.want) {
				t.Fatalf("got %+v, want %+v", refusal, tt.want)
			}
			if want := sampleCursor(); refusal == nil && !reflect.DeepEqual(c, want) {
				t.Errorf("got %+v, want %+v", c, want)
			}
		})
	}
	// An index without identity takes no cursor, not even one without.
	if _, refusal := contract.CheckCursor(with(func(c *contract.Cursor) { c.Identity = "" }), contract.Fence{Generation: 7}, "h"); refusal == nil || refusal.Kind != contract.KindStaleCursor {
		t.Errorf("got %+v", refusal)
	}
}

func TestRequestHash(t *testing.T) {
	hash := func(raw string) string {
		t.Helper()
		request, err := contract.Parser{}.ParseSearchSessions([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return contract.RequestHash(request)
	}
	same := [][]string{
		{
			`{"query":"x"}`, `{"query":"x","scope":"all"}`, `{"query":"x","limit":5}`, `{"query":"x","cursor":"c"}`, `{"query":"x","debug":true}`,
			`{"query":"x","freshness":"wait-until-current"}`, `{"query":"x","executionHost":"ssh:box"}`, `{"query":"x","filters":{}}`,
			`{"query":"x","filters":{"sort":"relevance","agents":[],"scopePaths":[],"events":{}}}`, `{"query":"x","tier":1}`,
		},
		{`{"query":"x","filters":{"agents":["pi","dsh"]}}`, `{"query":"x","filters":{"agents":["dsh","pi","dsh"]}}`},
		{`{"query":"x","filters":{"cwds":["b",null,"a"]}}`, `{"query":"x","filters":{"cwds":["a","b",null,null,"b"]}}`},
		{`{"query":"x","filters":{"since":"2026-11-01T10:00:00Z"}}`, `{"query":"x","filters":{"since":"2026-11-01T12:00:00.000+02:00"}}`},
		{`{"query":"x","filters":{"presence":"missing"}}`, `{"query":"x","filters":{"presence":["missing"]}}`},
		{`{"query":"x","filters":{"events":{"roles":["user","tool"]}}}`, `{"query":"x","filters":{"events":{"roles":["tool","user"]}}}`},
	}
	different := []string{
		`{"query":"x "}`, `{"query":"X"}`, `{"query":"x","scope":"conversation"}`, `{"query":"x","filters":{"sort":"newest"}}`,
		`{"query":"x","filters":{"scopePaths":["/a"]}}`, `{"query":"x","filters":{"until":"2026-11-01T10:00:00Z"}}`,
		`{"query":"x","filters":{"sessionIds":[]}}`, `{"query":"x","filters":{"sessionIds":["a"]}}`, `{"query":"x","filters":{"parents":["a"]}}`,
		`{"query":"x","filters":{"parents":[null]}}`, `{"query":"x","filters":{"cwds":[]}}`, `{"query":"x","filters":{"createdAt":{"from":"2026-11-01T10:00:00Z"}}}`,
		`{"query":"x","filters":{"active":true}}`, `{"query":"x","filters":{"active":false}}`, `{"query":"x","filters":{"automated":true}}`,
		`{"query":"x","filters":{"relations":["root"]}}`, `{"query":"x","filters":{"branches":["a"]}}`, `{"query":"x","filters":{"models":["a"]}}`,
		`{"query":"x","filters":{"files":["a"]}}`, `{"query":"x","filters":{"events":{"types":["a"]}}}`, `{"query":"x","filters":{"events":{"tools":["a"]}}}`,
		`{"query":"x","filters":{"events":{"surfaces":["current"]}}}`, `{"query":"x","filters":{"events":{"seq":{"from":1}}}}`,
		`{"query":"x","filters":{"events":{"time":{"from":"2026-11-01T10:00:00Z"}}}}`,
	}
	seen := map[string]string{}
	for _, group := range same {
		first := hash(group[0])
		for _, raw := range group {
			if got := hash(raw); got != first {
				t.Errorf("%s has hash %s, %s has %s", group[0], first, raw, got)
			}
		}
		different = append(different, group[0])
	}
	for _, raw := range different {
		got := hash(raw)
		if other, taken := seen[got]; taken {
			t.Errorf("%s and %s have the same hash", raw, other)
		}
		seen[got] = raw
		if len(got) != 16 {
			t.Errorf("hash %q", got)
		}
	}
	// A request made by hand, without the defaults, walks the same pages, and
	// hashing leaves its lists in their order.
	request := contract.SearchSessionsRequest{Query: "x", Filters: contract.Filters{Agents: []string{"pi", "dsh"}}}
	if contract.RequestHash(request) != hash(`{"query":"x","filters":{"agents":["dsh","pi"]}}`) || request.Filters.Agents[0] != "pi" {
		t.Errorf("%+v", request)
	}
}

func TestWrappedCursors(t *testing.T) {
	inner := contract.EncodeCursor(sampleCursor())
	wrapped := contract.WrapCursor("ssh:box", inner)
	if got, err := contract.UnwrapCursor("ssh:box", wrapped); err != nil || got != inner {
		t.Errorf("got %q, %v", got, err)
	}
	for name, tt := range map[string]struct {
		host contract.Host
		s    string
	}{
		"another host":      {"ssh:other", wrapped},
		"this machine":      {"local", wrapped},
		"not wrapped":       {"ssh:box", inner},
		"empty":             {"ssh:box", ""},
		"no base64":         {"ssh:box", "%"},
		"a field more":      {"ssh:box", tokenOf(`{"h":"ssh:box","c":"x","d":1}`)},
		"no cursor":         {"ssh:box", tokenOf(`{"h":"ssh:box"}`)},
		"another spelling":  {"ssh:box", tokenOf(`{"c":"x","h":"ssh:box"}`)},
		"longer than we do": {"ssh:box", contract.WrapCursor("ssh:box", strings.Repeat("x", 20_000))},
	} {
		if got, err := contract.UnwrapCursor(tt.host, tt.s); !errors.Is(err, contract.ErrMalformedCursor) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(contract.EncodeCursor(sampleCursor()))
	f.Add(contract.EncodeCursor(contract.Cursor{RequestHash: "x"}))
	f.Add(contract.WrapCursor("ssh:box", "x"))
	f.Add("")
	f.Add(tokenOf(`{"v":1}`))
	f.Add(tokenOf(strings.Repeat(`{"p":`, 100)))
	f.Fuzz(func(t *testing.T, s string) {
		// The raw bytes as they are, and as the content of a token.
		for _, cursor := range []string{s, tokenOf(s)} {
			c, err := contract.DecodeCursor(cursor)
			if err != nil {
				if !errors.Is(err, contract.ErrMalformedCursor) {
					t.Errorf("%q: %v", cursor, err)
				}
				continue
			}
			if again := contract.EncodeCursor(c); again != cursor {
				t.Errorf("%q decodes to %+v, which encodes to %q", cursor, c, again)
			}
			if math.IsNaN(c.Position.Score) || c.Generation < 0 || c.Position.Offset < 0 {
				t.Errorf("%q decodes to %+v", cursor, c)
			}
		}
	})
}
