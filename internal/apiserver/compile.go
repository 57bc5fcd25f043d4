package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// compile runs the go command, with a sign of life every now and then.
func (b Builder) compile(ctx context.Context, r recipe, binary, file string) error {
	goCommand := b.Go
	if goCommand == "" {
		goCommand = "go"
	}
	arguments, directory := r.arguments(binary, file)
	cmd := exec.CommandContext(ctx, goCommand, arguments...)
	cmd.Dir = directory
	// What the user's settings say about flags and workspaces is meant for other modules.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	// An interrupted go command removes its work folder, a killed one does not.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	output := &transcript{}
	cmd.Stdout, cmd.Stderr = output, output

	start := time.Now()
	b.say("building %s %s from its module (minutes the first time, once for each version)", binary, r.version(binary))
	quiet := b.watch(binary, start, output)
	err := cmd.Run()
	quiet()
	took := time.Since(start).Round(100 * time.Millisecond)
	if ctx.Err() != nil {
		return fmt.Errorf("building %s: stopped after %v: %w", binary, took, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("building %s: go %s in %s: %w, after %v; the end of its output:\n%s",
			binary, strings.Join(arguments, " "), directory, err, took, output.tail(20))
	}
	b.say("%s is built, %v", binary, took)
	return nil
}

// watch tells how far a build is until the function that it returns is called.
func (b Builder) watch(binary string, start time.Time, output *transcript) (stop func()) {
	every := b.Every
	if every == 0 {
		every = 15 * time.Second
	}
	ticker, done := time.NewTicker(every), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-ticker.C:
				b.say("still building %s: %v, %s", binary, time.Since(start).Round(time.Second), output.progress())
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		watching.Wait()
	}
}

// A transcript keeps the output of a go command for those who look on from another goroutine.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(strings.TrimRight(t.text.String(), "\n"), "\n")
}

// tail gives the last lines, at most n of them.
func (t *transcript) tail(n int) string {
	lines := t.lines()
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// progress counts what `go build -v` names: a module that it downloads, a package that it compiles.
func (t *transcript) progress() string {
	modules, packages := 0, 0
	for _, line := range t.lines() {
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			modules++
		case line != "" && !strings.Contains(line, " "):
			packages++
		}
	}
	return fmt.Sprintf("%d modules downloaded, %d packages compiled", modules, packages)
}
