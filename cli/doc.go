// Package cli is the terminal front end of sessionls. It asks through the same
// commands as an editor (package commands), so a request that an editor may not
// send is refused here with the same words, and --json prints the same answers.
//
// What is printed for people is safe for a terminal whatever a transcript
// holds: no byte of a transcript reaches the screen before [clean] or [cleanLine]
// has seen it. Colours and layout are used on a terminal only; into a pipe goes
// a form that does not change with the width of a window or the time of day.
package cli
