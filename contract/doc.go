// Package contract is what sessionls promises to an editor, a script or
// another sessionls: the commands, the wire types, how a request is read, the
// error codes, what may leave this machine and what a cursor holds.
//
// The package is pure. It does no I/O, keeps no state and imports the standard
// library only, so that the server, the command line, the remote client and
// every test speak exactly the same words.
//
// Conventions of the wire types:
//
//   - fields stand in the order in which the contract lists them;
//   - a pointer is a value the contract allows to be null;
//   - `omitzero` marks a field that is absent when it does not apply;
//   - a [List] is never null on the wire, an empty one is [];
//   - an [Instant] is an ISO 8601 UTC time with milliseconds, except in
//     [Status], where times are epoch milliseconds.
package contract
