// Package importgraph holds the tests that keep bursar's links free: who may import what, and what a pure package may
// touch. It has no code of its own.
//
// The areas table lists the packages that importers see, and which of them are pure. The bans table says, one row for
// each reason, which dependency an area must not link, however far down the graph it sits. A package below an area
// obeys the rules of that area; a new package outside every area fails until it has a row.
package importgraph
