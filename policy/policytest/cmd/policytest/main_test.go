package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, fault bytes.Buffer
	if status := run([]string{dir}, &out, &fault); status != 2 || !strings.Contains(fault.String(), "no file of cases") {
		t.Errorf("an empty folder: %d, %s", status, fault.String())
	}
	write("p.yaml", "rules:\n- {name: r, when: task.model == \"opus\", effect: deny, message: m}\n")
	write("cases.yaml", "policies: [p.yaml]\ncases:\n- {name: a, want: {outcome: Deny, codes: [r]}}\n")
	if status := run([]string{"-v", dir}, &out, &fault); status != 0 || !strings.Contains(out.String(), "ok   a") {
		t.Errorf("good cases: %d, %s", status, out.String())
	}
	write("cases.yaml", "policies: [p.yaml]\ncases:\n- {name: a}\n")
	if status := run([]string{dir}, &out, &fault); status != 1 {
		t.Errorf("bad cases: %d", status)
	}
	if status := run(nil, &out, &fault); status != 2 {
		t.Errorf("no folder: %d", status)
	}
	if status := run([]string{"-x"}, &out, &fault); status != 2 {
		t.Errorf("an unknown flag: %d", status)
	}
}
