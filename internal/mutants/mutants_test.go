package mutants_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/internal/mutants"
)

// TestEveryMutantOfPodspecIsKilled: whatever the table breaks, a test of podspec notices.
func TestEveryMutantOfPodspecIsKilled(t *testing.T) {
	suite, err := mutants.Podspec("../..")
	if err != nil {
		t.Fatal(err)
	}
	suite.Brief = true
	results, err := suite.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(suite.Mutants) || len(results) < 50 {
		t.Errorf("%d of %d mutants have run", len(results), len(suite.Mutants))
	}
	for _, r := range results {
		if !r.Killed() {
			t.Errorf("no test of podspec notices that %s", r.Mutant)
		}
	}
}

const calculator = `package sums

type sum struct{ total int }

// add is a method with several parameters and no result.
func (s *sum) add(n int, more ...int) {
	s.total += n
	for _, m := range more {
		s.total += m
	}
}

func Sum(more ...int) int {
	var s sum
	s.add(0, more...)
	return s.total
}

func unused() int { return 1 }
`

const calculatorTest = `package sums_test

import (
	"testing"

	"example.com/sums"
)

func TestOne(t *testing.T) {
	if sums.Sum(1) != 1 {
		t.Error("wrong")
	}
}

func TestRecorded(t *testing.T) {
	for i := range 3 {
		if sums.Sum(i, i) != 2*i {
			t.Errorf("sum %d", i)
		}
	}
}

func TestSlow(t *testing.T) { t.Error("this one is not to be run") }
`

// sums is a suite with a package of its own.
func sums(t *testing.T, list ...mutants.Mutant) mutants.Suite {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{"go.mod": "module example.com/sums\n\ngo 1.26\n", "sums.go": calculator, "sums_test.go": calculatorTest} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return mutants.Suite{Dir: dir, Package: "sums", Recorded: "^TestRecorded$", Slow: "^TestSlow$", Mutants: list}
}

func TestSuite(t *testing.T) {
	suite := sums(t,
		mutants.Mutant{"the first is lost", "sums.go", "	s.total += n\n", ""},
		mutants.Mutant{"the others are lost", "sums.go", "		s.total += m\n", "		_ = m\n"},
		mutants.Mutant{"nothing is returned", "sums.go", "return s.total", "panic(s.total)"},
		mutants.Mutant{"what nobody calls is wrong", "sums.go", "return 1", "return 2"},
	)
	got, err := suite.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []mutants.Result{
		{Mutant: "the first is lost"},
		{Mutant: "the others are lost", Recorded: 2, Tests: []string{"TestOne"}},
		{Mutant: "nothing is returned", Tests: []string{"TestOne", "(a panic)"}},
		{Mutant: "what nobody calls is wrong"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	suite.Brief = true
	if got, err = suite.All(t.Context()); err != nil || got[1].Recorded != 0 || len(got[1].Tests) != 1 {
		t.Errorf("in brief: %v, %v", got, err)
	}
	if got[0].Killed() || !got[1].Killed() || !got[2].Killed() {
		t.Errorf("who is killed: %v", got)
	}
}

func TestFaultsOfASuite(t *testing.T) {
	for sentence, c := range map[string]struct {
		mutants []mutants.Mutant
		says    string
	}{
		"the text is gone":               {[]mutants.Mutant{{"a", "sums.go", "s.total -= n", ""}}, `mutant "a" no longer applies: its text occurs 0 times in sums.go`},
		"the text is there twice":        {[]mutants.Mutant{{"a", "sums.go", "s.total +=", ""}}, `mutant "a" no longer applies: its text occurs 2 times in sums.go`},
		"the text is outside a function": {[]mutants.Mutant{{"a", "sums.go", "total int", ""}}, `mutant "a" does not apply: its text in sums.go is not within a function`},
		"the file is gone":               {[]mutants.Mutant{{"a", "other.go", "x", ""}}, "other.go"},
		"two have one name":              {[]mutants.Mutant{{"a", "sums.go", "return 1", "return 2"}, {"a", "sums.go", "return 1", "return 3"}}, `two mutants are named "a"`},
		"what is put in is no Go":        {[]mutants.Mutant{{"a", "sums.go", "return 1", "return one"}}, "the mutants do not compile"},
		"all are told, not the first":    {[]mutants.Mutant{{"a", "sums.go", "x y z", ""}, {"b", "sums.go", "y z", ""}}, `mutant "b" no longer applies`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := sums(t, c.mutants...).All(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q in it", err, c.says)
			}
		})
	}
	failing := sums(t)
	failing.Slow = "^$"
	if _, err := failing.All(t.Context()); err == nil || !strings.Contains(err.Error(), "the tests fail without a mutant: [TestSlow]") {
		t.Errorf("tests that fail anyway: %v", err)
	}
}
