package policytest

import (
	"fmt"
	"io"
	"strings"

	"github.com/bursar-dev/bursar/policy"
)

// Report is what became of all suites.
type Report struct{ Suites []SuiteResult }

// SuiteResult is what became of one file of cases.
type SuiteResult struct {
	File     string
	Fault    string // why it could not be run; empty if it was
	Policies []PolicyResult
}

// PolicyResult is what became of one policy of a suite.
type PolicyResult struct {
	File  string
	Fault string // why it did not load, or what its coverage lacks
	Cases []CaseResult
	Rules []RuleResult
}

// CaseResult is what became of one case.
type CaseResult struct {
	Name        string
	Diff        []string // what differs; empty if it passed
	Explanation string   // of a case that failed
}

// RuleResult counts the cases that a rule matched.
type RuleResult struct {
	Rule            string
	Matched, Looked int
}

// Passed says that nothing differs.
func (c CaseResult) Passed() bool { return len(c.Diff) == 0 }

// Passed says that the policy loaded, all cases passed and the coverage is as
// required.
func (p PolicyResult) Passed() bool {
	for _, c := range p.Cases {
		if !c.Passed() {
			return false
		}
	}
	return p.Fault == ""
}

// Passed says that the suite ran and all its policies passed.
func (s SuiteResult) Passed() bool {
	for _, p := range s.Policies {
		if !p.Passed() {
			return false
		}
	}
	return s.Fault == ""
}

// Passed says that all suites passed. A report without suites did not.
func (r Report) Passed() bool {
	for _, s := range r.Suites {
		if !s.Passed() {
			return false
		}
	}
	return len(r.Suites) > 0
}

// cover adds what an explanation says of each rule.
func (p *PolicyResult) cover(x policy.Explanation) {
	for _, t := range x.Policies {
		for _, r := range t.Rules {
			p.count(r.Rule, r.State == "matched")
		}
	}
}

func (p *PolicyResult) count(rule string, matched bool) {
	for i := range p.Rules {
		if p.Rules[i].Rule == rule {
			p.Rules[i].add(matched)
			return
		}
	}
	r := RuleResult{Rule: rule}
	r.add(matched)
	p.Rules = append(p.Rules, r)
}

func (r *RuleResult) add(matched bool) {
	r.Looked++
	if matched {
		r.Matched++
	}
}

// gap says what the cases do not show of a rule.
func (r RuleResult) gap() string {
	switch r.Matched {
	case 0:
		return "no case matches it"
	case r.Looked:
		return "every case matches it"
	}
	return ""
}

// uncovered names the rules that the cases do not show both sides of.
func uncovered(rules []RuleResult) string {
	var gaps []string
	for _, r := range rules {
		if gap := r.gap(); gap != "" {
			gaps = append(gaps, fmt.Sprintf("rule %s: %s", r.Rule, gap))
		}
	}
	return strings.Join(gaps, "\n")
}

// Write renders the report for a terminal: a line per policy, more where
// something failed; with verbose also every case.
func (r Report) Write(w io.Writer, verbose bool) error {
	var b strings.Builder
	passed, failed := 0, 0
	for _, s := range r.Suites {
		if s.Fault != "" {
			fmt.Fprintf(&b, "FAIL %s\n%s", s.File, indent(s.Fault, "     "))
			failed++
		}
		for _, p := range s.Policies {
			good, bad := p.write(&b, verbose)
			passed, failed = passed+good, failed+bad
		}
	}
	fmt.Fprintf(&b, "%d passed, %d failed\n", passed, failed)
	_, err := io.WriteString(w, b.String())
	return err
}

// write renders one policy and counts its cases; a fault counts as a failure.
func (p PolicyResult) write(b *strings.Builder, verbose bool) (passed, failed int) {
	word := "ok  "
	if !p.Passed() {
		word = "FAIL"
	}
	covered := 0
	for _, r := range p.Rules {
		if r.gap() == "" {
			covered++
		}
	}
	fmt.Fprintf(b, "%s %s: %d cases, %d of %d rules covered\n", word, p.File, len(p.Cases), covered, len(p.Rules))
	if p.Fault != "" {
		failed++
		b.WriteString(indent(p.Fault, "     "))
	}
	for _, c := range p.Cases {
		if c.Passed() {
			passed++
			if verbose {
				fmt.Fprintf(b, "     ok   %s\n", c.Name)
			}
			continue
		}
		failed++
		fmt.Fprintf(b, "     FAIL %s\n%s", c.Name, indent(strings.Join(c.Diff, "\n"), "          "))
		b.WriteString(indent(c.Explanation, "          | "))
	}
	if p.Passed() {
		for _, r := range p.Rules {
			if gap := r.gap(); gap != "" {
				fmt.Fprintf(b, "     rule %s: %s\n", r.Rule, gap)
			}
		}
	}
	return passed, failed
}

func indent(text, by string) string {
	if text == "" {
		return ""
	}
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}
