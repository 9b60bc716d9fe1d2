package contract

import (
	"net/url"
	"strings"
)

// PathKey is the form in which two folders are compared. Spellings of one
// folder have one key:
//
//   - a drive, however written (C:\x, c:/x, /c:/x, \\?\C:\x, Git Bash's /c/x,
//     Cygwin's /cygdrive/c/x, WSL's /mnt/c/x), is /mnt/c/x in lower case;
//   - a share (\\srv\share, //srv/share, \\?\UNC\srv\share) is //srv/share in
//     lower case;
//   - a folder inside a WSL distribution (\\wsl$\D\home\x,
//     \\wsl.localhost\D\home\x) is the folder as seen there, /home/x;
//   - a file URI is the path it names;
//   - any other path is POSIX: case and backslashes are kept.
//
// Runs of separators count as one and trailing ones are dropped, except the
// root's own. "." and ".." stay as they are, since resolving them needs the
// disk. The key of a key is the key. Unicode normalisation is the caller's
// matter. The empty path has the empty key, which names no folder.
func PathKey(path string) string {
	path = fromFileURI(path)
	if key, ok := fromWindows(path); ok {
		return key
	}
	return posixKey(path)
}

// PathWithin reports whether child is the folder scope or lies below it, by
// whole segments.
func PathWithin(child, scope string) bool { return KeyWithin(PathKey(child), PathKey(scope)) }

// KeyWithin is [PathWithin] for two keys.
func KeyWithin(child, scope string) bool {
	if child == "" || scope == "" {
		return false
	}
	return child == scope || strings.HasPrefix(child, KeyPrefix(scope))
}

// KeyPrefix is what the keys of all folders below that key begin with.
func KeyPrefix(key string) string {
	if strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

// fromFileURI is the path a file URI names; anything else stays as it is. A
// host in the URI is a share.
func fromFileURI(s string) string {
	const scheme = "file://"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s
	}
	rest := s[len(scheme):]
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	if strings.HasPrefix(rest, "/") {
		return rest
	}
	if host, path, found := strings.Cut(rest, "/"); found && strings.EqualFold(host, "localhost") {
		return "/" + path
	}
	return "//" + rest
}

// fromWindows gives the key of a drive or UNC path; ok is false for others.
func fromWindows(path string) (key string, ok bool) {
	slashed := strings.ReplaceAll(path, `\`, "/")
	verbatim := false
	for strings.HasPrefix(slashed, "//?/") {
		slashed, verbatim = slashed[len("//?/"):], true
	}
	if verbatim {
		if head, rest, _ := strings.Cut(slashed, "/"); strings.EqualFold(head, "unc") {
			slashed = "//" + strings.TrimLeft(rest, "/")
		}
	}
	// VS Code writes the path of a drive's URI as /c:/x.
	if drive := strings.TrimPrefix(slashed, "/"); len(drive) >= 2 && isLetter(drive[0]) && drive[1] == ':' &&
		(len(drive) == 2 || drive[2] == '/') {
		return driveKey(drive[0], drive[2:]), true
	}
	if !strings.HasPrefix(slashed, "//") || strings.HasPrefix(slashed, "///") || slashed == "//" {
		return "", false
	}
	// Two leading separators must be of one kind, or the path is POSIX with an
	// odd first name.
	if !verbatim && path[0] != path[1] {
		return "", false
	}
	share := joinSegments(slashed)
	server, rest, _ := strings.Cut(share, "/")
	if server == "?" {
		return "", false
	}
	if strings.EqualFold(server, "wsl$") || strings.EqualFold(server, "wsl.localhost") {
		_, inside, _ := strings.Cut(rest, "/")
		return posixKey("/" + inside), true
	}
	return "//" + strings.ToLower(share), true
}

// posixKey is the key of a POSIX path. Mounted drives are drives: the same
// folder is seen as C:\x by an editor outside.
func posixKey(path string) string {
	if path == "" {
		return ""
	}
	joined := joinSegments(path)
	if path[0] != '/' {
		return joined
	}
	head, rest, _ := strings.Cut(joined, "/")
	if head == "mnt" || head == "cygdrive" {
		drive, below, _ := strings.Cut(rest, "/")
		if len(drive) == 1 && drive[0] >= 'a' && drive[0] <= 'z' {
			return driveKey(drive[0], below)
		}
	}
	if (len(head) == 1 || (len(head) == 2 && head[1] == ':')) && isLetter(head[0]) {
		return driveKey(head[0], rest)
	}
	return "/" + joined
}

func driveKey(letter byte, below string) string {
	key := "/mnt/" + string(letter|0x20)
	if below = joinSegments(below); below != "" {
		key += "/" + strings.ToLower(below)
	}
	return key
}

// joinSegments drops empty segments, and with them leading, doubled and
// trailing slashes.
func joinSegments(path string) string {
	var out strings.Builder
	out.Grow(len(path))
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('/')
		}
		out.WriteString(segment)
	}
	return out.String()
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
