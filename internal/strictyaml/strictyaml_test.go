package strictyaml_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/internal/strictyaml"
	"github.com/bursar-dev/bursar/policy"
)

type file struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Rules []struct {
		Name string            `json:"name"`
		When string            `json:"when"`
		Tags map[string]string `json:"tags"`
	} `json:"rules"`
}

func TestDecode(t *testing.T) {
	var got file
	d, err := strictyaml.Decode("f.yaml", []byte("name: 007\ncount: 3\nrules:\n- name: a\n  when: |\n    x &&\n    y\n  tags: {b: true}\n"), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := file{Name: "007", Count: 3}
	want.Rules = append(want.Rules, struct {
		Name string            `json:"name"`
		When string            `json:"when"`
		Tags map[string]string `json:"tags"`
	}{"a", "x &&\ny\n", map[string]string{"b": "true"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, place := range map[string][2]int{
		"count": {2, 8}, "rules[0].name": {4, 9}, "rules[0].absent": {4, 3}, "rules[7].when": {4, 1}, "nothing": {0, 0},
	} {
		if e := d.At(path); e.Line != place[0] || e.Column != place[1] {
			t.Errorf("%s is at %d:%d, want %d:%d", path, e.Line, e.Column, place[0], place[1])
		}
	}
	if e := d.Within("rules[0].when", 2, 1); e.Line != 7 || e.Column != 5 {
		t.Errorf("the second line of the text is at %d:%d, want 7:5", e.Line, e.Column)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing but a document":  {"---\n# here\n", "f.yaml: the file is empty"},
		"null":                    {"~", "f.yaml: the file is empty"},
		"a tag":                   {"name: !!str 3", "f.yaml:1:7: name: a tag such as !!str is not supported"},
		"an octal number":         {"count: 010", "f.yaml:1:8: count: 010 is not a whole number of 64 bits, written in decimal"},
		"a hexadecimal number":    {"count: 0x10", "f.yaml:1:8: count: 0x10 is not a whole number"},
		"a number that is large":  {"count: 99999999999999999999999999", "f.yaml:1:8: count: 99999999999999999999999999 is not a whole number of 64 bits"},
		"a fraction":              {"count: 1.5", "f.yaml:1:8: count: 1.5: fractions are not supported"},
		"a label without a value": {"rules:\n- tags: {a: }\n", "f.yaml:2:"},
		"nothing":                 {"", "f.yaml: the file is empty"},
		"two documents":           {"name: a\n---\nname: b\n", "f.yaml: holds more than one document"},
		"an unknown key":          {"name: a\ncuont: 3\n", "f.yaml:2:1: cuont: unknown key"},
		"a key that is twice":     {"name: a\nname: b\n", "f.yaml:2:1: name: "},
		"an alias":                {"name: &a x\nrules: *a\n", "f.yaml:2:8: rules: "},
		"a list for a text":       {"name: [a]\n", "f.yaml:1:7: name: want a single value, have a list"},
		"a text for a number":     {"count: many\n", "f.yaml:1:8: count: "},
		"a colon in a value":      {"name: a\nrules:\n- name: b\n  when: x: y\n", "f.yaml:4: mapping values are not allowed"},
		"a tab":                   {"name: a\nrules:\n\t- name: b\n", "f.yaml:3: found character that cannot start any token"},
		"a quote without end":     {"name: a\nrules:\n- when: \"x\n", "f.yaml:3: "},
		"a brace without end":     {"name: a\nrules: [{\n", "f.yaml:"},
		"a wrong indentation":     {"name: a\nrules:\n- name: b\n   when: x\n", "f.yaml:4: mapping values are not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			var into file
			_, err := strictyaml.Decode("f.yaml", []byte(c.text), &into)
			if err == nil {
				t.Fatalf("read %+v", into)
			}
			if _, ok := errors.AsType[policy.LoadErrors](err); !ok {
				t.Errorf("%T, want policy.LoadErrors", err)
			}
			if got := err.Error(); len(got) < len(c.want) || got[:len(c.want)] != c.want {
				t.Errorf("got  %s\nwant %s…", got, c.want)
			}
		})
	}
}
