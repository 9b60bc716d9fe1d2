package jsonv

// maxDepth bounds the nesting Valid accepts; real records stay below 40.
const maxDepth = 4096

// Valid reports whether b holds exactly one complete JSON value. It accepts
// what transcripts contain and readers can cope with: raw control bytes and
// invalid UTF-8 inside strings.
func Valid(b []byte) bool {
	end, ok := Complete(b)
	return ok && skipSpace(b, end) == len(b)
}

// Complete checks the first value in b and returns the index just after it.
// ok is false when that value is broken or cut off.
func Complete(b []byte) (end int, ok bool) {
	const (
		wantValue = iota
		wantKey
		wantColon
		wantNext
	)
	var stack []byte
	state := wantValue
	i := skipSpace(b, 0)
	for i < len(b) {
		c := b[i]
		switch state {
		case wantValue:
			switch {
			case c == '"':
				start := i
				if i = skipString(b, i); !closed(b, start, i) {
					return i, false
				}
				state = wantNext
			case c == '{' || c == '[':
				if len(stack) >= maxDepth {
					return i, false
				}
				stack = append(stack, c)
				i++
				if c == '{' {
					state = wantKey
				}
				if j := skipSpace(b, i); j < len(b) && (c == '{' && b[j] == '}' || c == '[' && b[j] == ']') {
					i, state = j, wantNext
				}
			default:
				j := skipValue(b, i)
				if !literal(b[i:j]) {
					return i, false
				}
				i, state = j, wantNext
			}
		case wantKey:
			if c != '"' {
				return i, false
			}
			start := i
			if i = skipString(b, i); !closed(b, start, i) {
				return i, false
			}
			state = wantColon
		case wantColon:
			if c != ':' {
				return i, false
			}
			i++
			state = wantValue
		case wantNext:
			if len(stack) == 0 {
				return i, true
			}
			top := stack[len(stack)-1]
			switch {
			case c == '}' && top == '{' || c == ']' && top == '[':
				stack = stack[:len(stack)-1]
				i++
			case c == ',':
				i++
				if state = wantValue; top == '{' {
					state = wantKey
				}
			default:
				return i, false
			}
		}
		if state == wantNext && len(stack) == 0 {
			return i, true
		}
		i = skipSpace(b, i)
	}
	return i, false
}

// closed reports whether the string b[start:end] has its closing quote.
func closed(b []byte, start, end int) bool {
	if end-start < 2 || b[end-1] != '"' {
		return false
	}
	n := 0
	for k := end - 2; k > start && b[k] == '\\'; k-- {
		n++
	}
	return n%2 == 0
}

func literal(b []byte) bool {
	switch string(b) {
	case "true", "false", "null":
		return true
	}
	return number(b)
}

// number reports whether b is a number as JSON spells it, of any size. Leading
// zeros are let pass.
func number(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	digits := func() bool {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n > 0
	}
	if !digits() {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		if b = b[1:]; !digits() {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(b) == 0
}
