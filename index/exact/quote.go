package exact

import (
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

// Quote writes arguments as a command line for a shell; ok is false when the
// shell has no way to write one of them that is safe wherever it is pasted.
func Quote(shell contract.Shell, args []string) (line string, ok bool) {
	words := make([]string, len(args))
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return "", false
		}
		switch shell {
		case contract.ShellFish:
			words[i] = quoteFish(arg)
		case contract.ShellCmd:
			words[i], ok = quoteCmd(arg)
		case contract.ShellPowerShell:
			words[i], ok = quotePowerShell(arg)
		default:
			words[i] = quotePosix(arg)
		}
		if !ok && (shell == contract.ShellCmd || shell == contract.ShellPowerShell) {
			return "", false
		}
	}
	if shell == contract.ShellPowerShell && len(words) > 0 && words[0] != args[0] {
		words[0] = "& " + words[0] // a string is called only so
	}
	return strings.Join(words, " "), true
}

// plain reports whether a word means itself in all shells: letters, digits and
// what is in also, and does not begin with one of those.
func plain(s, also string) bool {
	word := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	for i, r := range s {
		if !word(r) && (i == 0 && r != '-' && r != '/' || !strings.ContainsRune(also, r)) {
			return false
		}
	}
	return s != ""
}

// quotePosix quotes for sh, bash, zsh and the like: between single quotes
// everything but a single quote means itself.
func quotePosix(s string) string {
	if plain(s, "@%+=:,./-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteFish quotes for fish, where a backslash escapes a quote and itself between
// single quotes.
func quoteFish(s string) string {
	if plain(s, "@+=:,./-") {
		return s
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// quoteCmd quotes for cmd.exe. Percent and exclamation marks are expanded even
// between quotes, a quote ends them however it is escaped, and a line ends the
// command: none of these can be written safely.
func quoteCmd(s string) (string, bool) {
	if plain(s, "+:./-") {
		return s, true
	}
	if strings.ContainsAny(s, `%!"`) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", false
	}
	// Programs read backslashes before a quote as escapes of it.
	bare := strings.TrimRight(s, `\`)
	return `"` + s + s[len(bare):] + `"`, true
}

// quotePowerShell quotes for PowerShell, old and new. Typographic quotes end a
// string there as plain ones do. Windows PowerShell hands a double quote, an
// empty argument and a backslash at the end on to programs in a broken form.
func quotePowerShell(s string) (string, bool) {
	if plain(s, "-") {
		return s, true
	}
	if s == "" || strings.Contains(s, `"`) || strings.HasSuffix(s, `\`) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '‘', '’', '‚', '‛':
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String(), true
}
