// Package values generates values from their types, with a bias to borders. A type is a list of buckets; a bucket is a
// class of values that a peer may treat alike, such as all texts of 256 bytes. All values are JSON texts; which of them
// a peer has to take is for the specification of its protocol to say. Nothing here knows a protocol.
package values
