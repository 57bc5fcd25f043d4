package policy

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// fault is what is wrong with an input, and where.
type fault struct {
	path, text string
	large      bool
}

func (f *fault) under(name string) *fault {
	f.path = name + "." + f.path
	return f
}

func (f *fault) item(name string, i int) *fault {
	f.path = fmt.Sprintf("%s[%d].%s", name, i, f.path)
	return f
}

func (f *fault) key(name, key string) *fault {
	f.path = fmt.Sprintf("%s[%q].%s", name, key, f.path)
	return f
}

// Check says whether the input may be shown to a policy: within its bounds,
// complete, and with derived figures that agree with the others. The error is
// a *Fault with code CodeInputTooLarge or CodeInvalidInput that names the
// field. A nil input is refused. An input from Complete fails only for what
// the host put into it.
func (in *Input) Check() error {
	if in == nil {
		return &Fault{Code: CodeInvalidInput, Err: errors.New("the input is nil")}
	}
	f := in.check()
	if f == nil {
		return nil
	}
	code := CodeInvalidInput
	if f.large {
		code = CodeInputTooLarge
	}
	return &Fault{Code: code, Err: fmt.Errorf("input %s: %s", f.path, f.text)}
}

func (in *Input) checkDerived() *fault {
	switch {
	case in.Version != Version:
		return &fault{path: "version", text: fmt.Sprintf("is %q, want %q", clip(in.Version), Version)}
	case !in.Operation.known():
		return &fault{path: "operation", text: fmt.Sprintf("%q is not an operation", clip(string(in.Operation)))}
	case !timeIsSet(in.Now):
		return &fault{path: "now", text: "is not set or lies outside the years 1 to 9999"}
	case in.NowUnixMs != in.Now.UnixMilli():
		return &fault{path: "nowUnixMs", text: "does not agree with now; call Complete"}
	}
	return nil
}

func (a *Amount) checkDerived() *fault {
	if a.TotalTokens != add(a.InputTokens, a.OutputTokens) {
		return &fault{path: "totalTokens", text: "is not the sum of both; call Complete"}
	}
	return nil
}

func (p *Period) checkDerived() *fault {
	switch {
	case p.ElapsedPermille > 1000:
		return &fault{path: "elapsedPermille", text: "is above 1000"}
	case p.Bounded && p.EndUnixMs <= p.StartUnixMs:
		return &fault{path: "endUnixMs", text: "is not after startUnixMs"}
	case !p.Bounded && (p.EndUnixMs != 0 || p.ElapsedPermille != 0):
		return &fault{path: "endUnixMs", text: "must be 0, and elapsedPermille too, when bounded is false"}
	}
	return nil
}

func (m *Measure) checkDerived() *fault {
	if want := m.derive(); *m != want {
		return &fault{path: "remaining", text: "does not agree with limit, used and held; call Complete"}
	}
	return nil
}

func checkString(value, path string) *fault {
	if len(value) <= MaxString && utf8.ValidString(value) {
		return nil
	}
	if len(value) > MaxString {
		return &fault{path: path, text: fmt.Sprintf("has %d bytes, at most %d are allowed", len(value), MaxString), large: true}
	}
	return &fault{path: path, text: "is not valid UTF-8"}
}

func checkStrings(values []string, path string, most int) *fault {
	if len(values) > most {
		return tooMany(path, len(values), most)
	}
	for i, value := range values {
		if f := checkString(value, path); f != nil {
			f.path = fmt.Sprintf("%s[%d]", path, i)
			return f
		}
	}
	return nil
}

func checkMap(values map[string]string, path string, most int) *fault {
	if len(values) > most {
		return tooMany(path, len(values), most)
	}
	for key, value := range values {
		if f := checkString(key, path); f != nil {
			f.text = "a key " + f.text
			return f
		}
		if f := checkString(value, path); f != nil {
			f.path = fmt.Sprintf("%s[%q]", path, key)
			return f
		}
	}
	return nil
}

func tooMany(path string, have, most int) *fault {
	return &fault{path: path, text: fmt.Sprintf("has %d members, at most %d are allowed", have, most), large: true}
}

func negative(path string, have int64) *fault {
	return &fault{path: path, text: fmt.Sprintf("is %d, and may not be negative", have)}
}
