package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A Suite is a package with its tests, and its mutants.
type Suite struct {
	// Dir is the package's folder, an absolute path, and Package its name.
	Dir, Package string
	// Mutants have names that differ.
	Mutants []Mutant
	// Recorded is a pattern for the tests that replay recorded answers; its failures are counted line by line.
	Recorded string
	// Slow is a pattern for tests that are not run: they know nothing of what the mutants change, and take their time.
	Slow string
	// Brief leaves the recorded answers to the mutants that no other test notices.
	Brief bool
}

// A Result says who noticed a mutant.
type Result struct {
	// Mutant is its name; empty for the package without a fault.
	Mutant string
	// Recorded is how many lines the recorded answers complain.
	Recorded int
	// Tests are the other tests that fail, in their order.
	Tests []string
}

// Killed says whether anybody did.
func (r Result) Killed() bool { return r.Recorded > 0 || len(r.Tests) > 0 }

// patience bounds one run of the tests; a mutant that hangs is killed by it.
const patience = 2 * time.Minute

// Build compiles the tests with all mutants woven in, and gives the binary, which it puts into scratch.
func (s Suite) Build(ctx context.Context, scratch string) (string, error) {
	overlay, err := s.weave(scratch)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(scratch, "mutants.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-buildvcs=false", "-overlay", overlay, "-o", binary, ".")
	build.Dir = s.Dir
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the mutants do not compile: %w\n%s", err, said)
	}
	return binary, nil
}

// weave writes the woven files and the overlay that puts them in the place of the true ones.
func (s Suite) weave(scratch string) (string, error) {
	byFile := map[string][]Mutant{}
	seen := map[string]bool{}
	for _, m := range s.Mutants {
		if m.Name == "" || seen[m.Name] {
			return "", fmt.Errorf("two mutants are named %q, or one has no name", m.Name)
		}
		seen[m.Name] = true
		byFile[m.File] = append(byFile[m.File], m)
	}
	texts := map[string]string{switchFile: switchSource(s.Package)}
	var faults []error
	for file, mutants := range byFile {
		source, err := os.ReadFile(filepath.Join(s.Dir, file))
		if err != nil {
			return "", err
		}
		texts[file], err = Weave(string(source), mutants)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range texts {
		woven := filepath.Join(scratch, file)
		if err := os.WriteFile(woven, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(s.Dir, file)] = woven
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	complaint  = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: `)
)

// Run runs the tests of a binary with one mutant awake; none where the name is empty. An error means that they could not
// be run, never that they failed.
func (s Suite) Run(ctx context.Context, binary, mutant string) (Result, error) {
	result := Result{Mutant: mutant}
	said, err := s.tests(ctx, binary, mutant, "-test.run", "^Test", "-test.skip", s.Recorded+"|"+s.Slow)
	if err != nil {
		return result, err
	}
	for _, match := range failedTest.FindAllStringSubmatch(said, -1) {
		result.Tests = append(result.Tests, match[1])
	}
	if strings.Contains(said, "panic: ") {
		result.Tests = append(result.Tests, "(a panic)")
	}
	if s.Brief && result.Killed() {
		return result, nil
	}
	said, err = s.tests(ctx, binary, mutant, "-test.run", s.Recorded)
	result.Recorded = len(complaint.FindAllString(said, -1))
	return result, err
}

// tests gives what failing tests say, and nothing if all pass.
func (s Suite) tests(ctx context.Context, binary, mutant string, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run := exec.CommandContext(ctx, binary, flags...)
	run.Dir = s.Dir
	run.Env = append(os.Environ(), variable+"="+mutant, "RAPID_NOFAILFILE=true") // a mutant's failure is no finding
	said, err := run.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return string(said), nil
	}
	return "", err
}

// All builds the suite and runs every mutant. It fails first if the tests fail without one.
func (s Suite) All(ctx context.Context) ([]Result, error) {
	scratch, err := os.MkdirTemp("", "bursar-mutants-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binary, err := s.Build(ctx, scratch)
	if err != nil {
		return nil, err
	}
	healthy, err := s.Run(ctx, binary, "")
	if err == nil && healthy.Killed() {
		err = fmt.Errorf("the tests fail without a mutant: %v, %d recorded answers", healthy.Tests, healthy.Recorded)
	}
	if err != nil {
		return nil, err
	}
	results, faults := make([]Result, len(s.Mutants)), make([]error, len(s.Mutants))
	var working sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for i := worker; i < len(s.Mutants); i += runtime.GOMAXPROCS(0) {
				results[i], faults[i] = s.Run(ctx, binary, s.Mutants[i].Name)
			}
		})
	}
	working.Wait()
	return results, errors.Join(faults...)
}
