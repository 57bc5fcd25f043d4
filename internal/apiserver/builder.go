package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Builder finds the binaries in the cache and builds those that are missing. Its methods may be called from several
// goroutines and processes at once.
type Builder struct {
	// Sources is the folder that holds the modules kubernetes and etcd. Required; [Locate] knows it.
	Sources string
	// Cache is the folder of all builds. Empty: bursar/apiserver in the user's cache directory.
	Cache string
	// Go is the go command. Empty: "go".
	Go string
	// Log gets a line when a build starts, ends, waits, and every now and then between. Nil: nobody is told.
	Log io.Writer
	// Every is the time between two signs of life. Zero: 15 seconds.
	Every time.Duration
}

// Locate gives the folder of this package's sources, asked of the go command in the working directory, which must lie in
// bursar's module or in one that requires it.
func Locate(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bursar-dev/bursar").Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("where bursar's sources are: go list: %w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("where bursar's sources are: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "apiserver"), nil
}

// Missing gives those of the named binaries that a folder does not hold as executable files.
func Missing(folder string, binaries ...string) []string {
	var missing []string
	for _, binary := range binaries {
		info, err := os.Stat(filepath.Join(folder, binary))
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			missing = append(missing, binary)
		}
	}
	return missing
}

// Versions gives what the modules pin.
func (b Builder) Versions() (Versions, error) {
	r, err := newRecipe(b.Sources)
	return r.versions, err
}

// Find gives the folder in which the cache holds, or would hold, the binaries, and which of the named ones are missing.
func (b Builder) Find(binaries ...string) (folder string, missing []string, err error) {
	_, folder, err = b.plan()
	if err != nil {
		return "", nil, err
	}
	return folder, Missing(folder, binaries...), nil
}

// plan gives what to build, and the folder where it belongs.
func (b Builder) plan() (recipe, string, error) {
	r, err := newRecipe(b.Sources)
	if err != nil {
		return recipe{}, "", err
	}
	cache := b.Cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return recipe{}, "", fmt.Errorf("where the API server can be cached: %w", err)
		}
		cache = filepath.Join(user, "bursar", "apiserver")
	}
	return r, filepath.Join(cache, r.folder()), nil
}

// Build gives the folder that holds the named binaries, once it does. It builds those that are missing, one after the
// other; what is whole stays when a later one fails, or when ctx is cancelled.
func (b Builder) Build(ctx context.Context, binaries ...string) (string, error) {
	r, folder, err := b.plan()
	if err != nil {
		return "", err
	}
	if len(Missing(folder, binaries...)) == 0 {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, filepath.Join(folder, ".lock"), func() {
		b.say("another process is building in %s: waiting for it", folder)
	})
	if err != nil {
		return "", fmt.Errorf("lock %s: %w", folder, err)
	}
	defer unlock()

	if err := sweep(folder); err != nil {
		return "", err
	}
	for _, binary := range Missing(folder, binaries...) {
		if err := b.build(ctx, r, folder, binary); err != nil {
			return "", err
		}
	}
	return folder, nil
}

const aside = ".building-"

// sweep removes what an interrupted build left. Only the holder of the lock may.
func sweep(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, aside+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// build makes one binary aside, asks it for its version and renames it into the folder.
func (b Builder) build(ctx context.Context, r recipe, folder, binary string) (err error) {
	scratch, err := os.MkdirTemp(folder, aside)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	file := filepath.Join(scratch, binary)
	if err := b.compile(ctx, r, binary, file); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, file, "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", binary, err, said)
	}
	if want := r.version(binary); !strings.Contains(string(said), want) {
		return fmt.Errorf("%s says that it is %q, not %s", binary, strings.TrimSpace(string(said)), want)
	}
	return os.Rename(file, filepath.Join(folder, binary))
}

func (b Builder) say(format string, args ...any) {
	if b.Log != nil {
		_, _ = fmt.Fprintf(b.Log, "apiserver: "+format+"\n", args...)
	}
}
