package jsonv

// Items calls f for every element of an array, or for v itself when it is
// anything else that exists: writers store one thing alone or in a list.
func (v Value) Items(f func(item Value)) {
	if v.Kind() == Array {
		v.Elems(func(_ int, e Value) bool { f(e); return true })
	} else if v.Exists() {
		f(v)
	}
}
