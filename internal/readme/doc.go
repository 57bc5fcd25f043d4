// Package readme holds the README to what compiles and what happens.
package readme
