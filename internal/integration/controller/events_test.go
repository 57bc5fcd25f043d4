package controller_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// events are those that a replica has recorded.
type events struct {
	mu   sync.Mutex
	list []string
}

func newEvents() *events { return &events{} }

// Eventf implements events.EventRecorder.
func (e *events) Eventf(about, _ runtime.Object, kind, reason, _, note string, args ...any) {
	name := ""
	if object, err := meta.Accessor(about); err == nil {
		name = object.GetName()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf("%s %s %s: %s", name, kind, reason, fmt.Sprintf(note, args...)))
}

func (e *events) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.list...)
}

// containing gives the events that contain a word.
func (e *events) containing(word string) []string {
	return slices.DeleteFunc(e.all(), func(event string) bool { return !strings.Contains(event, word) })
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
