package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/internal/apiserver"
)

// The test binary plays the go command, and then the binaries that it "builds", when the environment says how.
const (
	playAs   = "BURSAR_TEST_PLAY_GO"
	playBook = "BURSAR_TEST_PLAY_GO_BOOK"
)

func TestMain(m *testing.M) {
	if as := os.Getenv(playAs); as != "" {
		os.Exit(play(as))
	}
	os.Exit(m.Run())
}

// play is a go command that succeeds, fails, hangs or links a program of another version.
func play(as string) int {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		if as == "unstamped" {
			fmt.Println("v0.0.0-master")
			return 0
		}
		fmt.Println(filepath.Base(os.Args[0]), "v1.37.2 3.7.3")
		return 0
	}
	file := os.Args[len(os.Args)-2]
	book, err := os.OpenFile(os.Getenv(playBook), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 9
	}
	if _, err := fmt.Fprintln(book, filepath.Base(file)); err != nil {
		return 9
	}
	fmt.Fprintln(os.Stderr, "go: downloading k8s.io/api v0.37.2\nk8s.io/api/core/v1")
	switch {
	case as == "fail" && filepath.Base(file) != apiserver.Etcd:
		fmt.Fprintln(os.Stderr, "main.go:1: undefined: everything")
		return 1
	case as == "hang":
		if err := os.WriteFile(file, []byte("half"), 0o700); err != nil {
			return 9
		}
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		<-interrupted
		return 1
	case as == "slow":
		time.Sleep(50 * time.Millisecond)
	}
	self, err := os.Executable()
	if err != nil {
		return 9
	}
	if err := os.Link(self, file); err != nil {
		return copyFile(self, file)
	}
	return 0
}

func copyFile(from, to string) int {
	in, err := os.Open(from)
	if err != nil {
		return 9
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		return 9
	}
	if _, err := io.Copy(out, in); err != nil || out.Close() != nil {
		return 9
	}
	return 0
}

// A bench is a builder whose go command is played, and the book of what it was asked to build.
type bench struct {
	apiserver.Builder
	book string
	log  *bytes.Buffer
}

func newBench(t *testing.T, as string) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, log := t.TempDir(), &bytes.Buffer{}
	b := &bench{
		Builder: apiserver.Builder{Sources: ".", Cache: filepath.Join(dir, "cache"), Go: self, Log: log},
		book:    filepath.Join(dir, "book"),
		log:     log,
	}
	t.Setenv(playBook, b.book)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a program under the race detector lingers for a second otherwise
	b.goes(t, as)
	return b
}

func (b *bench) goes(t *testing.T, as string) { t.Helper(); t.Setenv(playAs, as) }

// built gives the binaries that the go command was asked for, in order.
func (b *bench) built(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(b.book)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// holds gives the names of all that lies in the folder of the binaries but the lock.
func (b *bench) holds(t *testing.T) []string {
	t.Helper()
	folder, _, err := b.Find()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func (b *bench) same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nlog:\n%s", what, diff, b.log)
	}
}

func TestTheModulesPinOneRelease(t *testing.T) {
	got, err := apiserver.Builder{Sources: "."}.Versions()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(apiserver.Versions{Kubernetes: "v1.37.2", Etcd: "v3.7.3"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheSecondBuildFindsTheFirst(t *testing.T) {
	b := newBench(t, "well")
	for range 2 {
		if _, err := b.Build(t.Context(), apiserver.Usual()...); err != nil {
			t.Fatal(err)
		}
	}
	b.same(t, "asked for", []string{"etcd", "kube-apiserver", "kube-controller-manager"}, b.built(t))
	b.same(t, "in the folder", []string{"etcd", "kube-apiserver", "kube-controller-manager"}, b.holds(t))
}

func TestTheSchedulerIsBuiltOnRequestOnly(t *testing.T) {
	b := newBench(t, "well")
	if _, err := b.Build(t.Context(), apiserver.Usual()...); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), append(apiserver.Usual(), apiserver.Scheduler)...); err != nil {
		t.Fatal(err)
	}
	b.same(t, "asked for", []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}, b.built(t))
}

func TestAFailureShowsTheCompilersWordsAndKeepsWhatIsWhole(t *testing.T) {
	b := newBench(t, "fail")
	_, err := b.Build(t.Context(), apiserver.Usual()...)
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver") || !strings.Contains(err.Error(), "undefined: everything") {
		t.Fatalf("the error names neither the binary nor the compiler's complaint: %v", err)
	}
	b.same(t, "after the failure", []string{"etcd"}, b.holds(t))

	b.goes(t, "well")
	if _, err := b.Build(t.Context(), apiserver.Usual()...); err != nil {
		t.Fatal(err)
	}
	b.same(t, "asked for", []string{"etcd", "kube-apiserver", "kube-apiserver", "kube-controller-manager"}, b.built(t))
}

func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	b := newBench(t, "hang")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("the user has had enough"))
	defer cancel()
	if _, err := b.Build(ctx, apiserver.Etcd); err == nil || !strings.Contains(err.Error(), "had enough") {
		t.Fatalf("want the cause of the interruption, got %v", err)
	}
	b.same(t, "after the interruption", nil, b.holds(t))
}

func TestWhatAKilledBuildLeftIsSweptAway(t *testing.T) {
	b := newBench(t, "well")
	folder, _, err := b.Find()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(folder, ".building-1")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "etcd"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), apiserver.Etcd); err != nil {
		t.Fatal(err)
	}
	b.same(t, "after the next build", []string{"etcd"}, b.holds(t))
}

func TestABinaryOfAnotherVersionIsRefused(t *testing.T) {
	b := newBench(t, "unstamped")
	if _, err := b.Build(t.Context(), apiserver.APIServer); err == nil || !strings.Contains(err.Error(), "v0.0.0-master") {
		t.Fatalf("want an error with the version that the binary says, got %v", err)
	}
	b.same(t, "after the refusal", nil, b.holds(t))
}

func TestBuildersAtTheSameTimeTakeTurns(t *testing.T) {
	b := newBench(t, "slow")
	b.Log = nil
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := b.Build(t.Context(), apiserver.Usual()...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.same(t, "asked for", []string{"etcd", "kube-apiserver", "kube-controller-manager"}, b.built(t))
}

func TestALongBuildShowsThatItIsAlive(t *testing.T) {
	b := newBench(t, "hang")
	b.Every = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := b.Build(ctx, apiserver.Etcd); err == nil {
		t.Fatal("a build that hangs has ended well")
	}
	if got := b.log.String(); !strings.Contains(got, "still building etcd") || !strings.Contains(got, "1 modules downloaded, 1 packages compiled") {
		t.Errorf("no sign of life in:\n%s", got)
	}
}

func TestMissingCountsOnlyExecutableFiles(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"etcd": 0o755, "kube-apiserver": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "kube-scheduler"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	got := apiserver.Missing(dir, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
