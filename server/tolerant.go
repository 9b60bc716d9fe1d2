package server

import (
	"bytes"
	"encoding/json"
)

// What clients send in initialize and in their configuration is read field by
// field, and a field of the wrong type is a field that is not there: an editor
// with an odd plugin still gets a working server. Requests of the contract are read
// strictly, elsewhere.

// dig returns the value at a path of object members, nil if any of it is
// missing, null or not an object.
func dig(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[name]
	}
	if string(bytes.TrimSpace(raw)) == "null" {
		return nil
	}
	return raw
}

// flag reads a boolean; 0 and 1 are what a Vim script has for one.
func flag(raw json.RawMessage) (value, ok bool) {
	switch string(bytes.TrimSpace(raw)) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// text reads a string, "" if it is none.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// texts reads the strings of a list.
func texts(raw json.RawMessage) []string {
	var out []string
	for _, element := range elements(raw) {
		if s := text(element); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// elements reads a list, nil if it is none.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// isObject reports whether raw looks like a JSON object.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'{'})
}
