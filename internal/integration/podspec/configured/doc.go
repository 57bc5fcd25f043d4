// Package configured holds the tests of podspec on an API server with a configuration that no client can read. It has no code
// of its own.
package configured
