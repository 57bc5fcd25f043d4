package bench_test

import (
	"maps"
	"net/http"
	"strings"
	"sync"
)

// calls counts the requests that clients send.
type calls struct {
	mu    sync.Mutex
	count map[string]int
}

// wrap counts what passes a transport.
func (c *calls) wrap(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		c.mu.Lock()
		c.count[nameOf(r)]++
		c.mu.Unlock()
		return next.RoundTrip(r)
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// seen gives what was counted, and starts again.
func (c *calls) seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := maps.Clone(c.count)
	clear(c.count)
	return seen
}

// nameOf says what a request is about, without the names of objects: "POST taskholds", "PUT agenttasks/status".
func nameOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	verb := r.Method
	if r.URL.Query().Get("watch") != "" {
		verb = "WATCH"
	}
	for i, part := range parts {
		if part != "namespaces" || i+2 >= len(parts) {
			continue
		}
		rest := parts[i+2:] // the resource, an object's name, a subresource
		switch {
		case len(rest) > 2:
			return verb + " " + rest[0] + "/" + rest[2]
		case len(rest) == 1 && verb == http.MethodGet:
			return "LIST " + rest[0]
		}
		return verb + " " + rest[0]
	}
	return verb + " " + parts[len(parts)-1]
}
