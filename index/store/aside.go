package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// Names of databases that were set aside: one that is still to be carried over
// into its successor, numbered from 1 on, and one that was, but not whole.
const (
	oldSuffix     = ".old-"
	damagedSuffix = ".damaged"
	maxOld        = 9
)

// SetAside renames a database that cannot be used, with its log, so that what it
// keeps can be carried over. There is room for a few; then the last is replaced.
func SetAside(path string) (string, error) {
	leave := door(path, true)
	defer leave()
	n := 1
	for n < maxOld && exists(path+oldSuffix+strconv.Itoa(n)) {
		n++
	}
	aside := path + oldSuffix + strconv.Itoa(n)
	if exists(aside) {
		if err := remove(aside); err != nil {
			return "", err
		}
	}
	// The log first: left behind, it would be taken for that of the next
	// database. One that is there already, without its database, is what an
	// earlier attempt has left, and belongs to it.
	for _, side := range []string{"-wal", ""} {
		if err := os.Rename(path+side, aside+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the index aside: %w", err)
		}
	}
	return aside, remove(path)
}

// Pending are the databases that are to be carried over, the latest first.
func Pending(path string) []string {
	var out []string
	for n := maxOld; n > 0; n-- {
		if p := path + oldSuffix + strconv.Itoa(n); exists(p) {
			out = append(out, p)
		}
	}
	return out
}

// Settle ends the carrying over of a database that was set aside: it is deleted
// if all of it was read, else kept for a person, in place of an earlier one.
func Settle(path, aside string, whole bool) error {
	if whole {
		return remove(aside)
	}
	if err := os.Rename(aside, path+damagedSuffix); err != nil {
		return fmt.Errorf("keep the damaged index: %w", err)
	}
	return remove(aside) // its sidecars
}

// RemoveDamaged deletes a database that is kept only for a person to look into.
func RemoveDamaged(path string) error { return remove(path + damagedSuffix) }

// RemoveAside deletes everything that was set aside.
func RemoveAside(path string) error {
	err := remove(path + damagedSuffix)
	for n := 1; n <= maxOld; n++ {
		err = errors.Join(err, remove(path+oldSuffix+strconv.Itoa(n)))
	}
	return err
}

// Aside is a database that was set aside and is kept, "" if there is none.
func Aside(path string) string {
	if exists(path + damagedSuffix) {
		return path + damagedSuffix
	}
	for _, p := range Pending(path) {
		return p
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
