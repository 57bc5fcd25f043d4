// Package bench measures what an admission costs on a real API server, and that it does not depend on how many records are
// stored: `make bench-cluster`.
package bench
