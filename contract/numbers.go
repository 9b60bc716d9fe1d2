package contract

import (
	"strconv"
	"strings"
)

// integerOf reads a JSON number exactly, without the rounding of floats: 1.0
// and 10e-1 are whole, 1.00000000000000000001 is not. Beyond 64 bits the value
// is the nearest that fits.
func integerOf(literal string) (n int64, whole bool) {
	negative, digits, exponent := splitNumber(literal)
	if digits == "" {
		return 0, true
	}
	if exponent < 0 {
		return 0, false
	}
	if len(digits)+exponent > 19 {
		return saturated(negative), true
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
	if err != nil {
		return saturated(negative), true
	}
	if negative {
		n = -n
	}
	return n, true
}

func saturated(negative bool) int64 {
	if negative {
		return -1 << 63
	}
	return 1<<63 - 1
}

// splitNumber gives a JSON number as digits × 10^exponent, with no zeros at
// either end of digits; zero has no digits. Exponents are cut at ±1<<30, which
// no list of digits in a request outweighs.
func splitNumber(literal string) (negative bool, digits string, exponent int) {
	literal, negative = strings.CutPrefix(literal, "-")
	mantissa := literal
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		power := strings.TrimPrefix(literal[i+1:], "+")
		parsed, err := strconv.Atoi(power)
		if err != nil || parsed > 1<<30 || parsed < -1<<30 {
			parsed = 1 << 30
			if strings.HasPrefix(power, "-") {
				parsed = -1 << 30
			}
		}
		exponent = parsed
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	return negative, trimmed, exponent
}

// real is a number with its exact floor; value, a rounded float, only orders
// fractions above the same floor.
type real struct {
	value float64
	floor int64
	whole bool
}

// realOf reads a JSON number; false when it is beyond the range of floats.
func realOf(literal string) (real, bool) {
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return real{}, false
	}
	if n, whole := integerOf(literal); whole {
		return real{value: value, floor: n, whole: true}, true
	}
	negative, digits, exponent := splitNumber(literal)
	var floor int64
	if point := len(digits) + exponent; point > 0 {
		floor, _ = integerOf(digits[:point])
	}
	if negative {
		floor = -floor - 1
	}
	return real{value: value, floor: floor}, true
}

func (r real) ceil() int64 {
	if r.whole {
		return r.floor
	}
	return r.floor + 1
}

// after reports whether r is greater than other.
func (r real) after(other real) bool {
	if r.floor != other.floor {
		return r.floor > other.floor
	}
	if r.whole || other.whole {
		return !r.whole && other.whole
	}
	return r.value > other.value
}
