package rego

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bursar-dev/bursar/policy"
)

// ruleSource is where a rule of a set is written.
type ruleSource struct {
	set, file string
	line      int
}

// ruleSources lists the rules of an entry's sets.
func (l *loader) ruleSources(e *entry) []ruleSource {
	var out []ruleSource
	for _, set := range e.sets {
		for _, rule := range l.compiler.GetRules(e.pkg.Path.Append(ast.StringTerm(set))) {
			out = append(out, ruleSource{set, rule.Loc().File, rule.Loc().Row})
		}
	}
	slices.SortFunc(out, func(a, b ruleSource) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return out
}

func (r ruleSource) name() string { return fmt.Sprintf("%s@%s:%d", r.set, r.file, r.line) }

// Explain evaluates under a tracer: which rules matched, and for the others
// the first expression that did not hold; numbers and booleans that it looked
// at. Text is redacted, since it may come from labels.
func (h *Hook) Explain(ctx context.Context, in *policy.Input) (policy.Trace, error) {
	t := policy.Trace{Policy: h.name, Revision: h.revision}
	if err := in.Check(); err != nil {
		return t, err
	}
	tracer := &ruleTracer{state: map[string]*policy.RuleTrace{}, rules: map[uint64]*ast.Rule{}}
	b := newBudget(ctx, h.steps)
	sets, err := h.evaluate(ctx, h.cache.input(in), b, oparego.EvalQueryTracer(tracer), oparego.EvalRuleIndexing(false), oparego.EvalEarlyExit(false))
	t.Cost = b.asked
	for _, r := range h.rules {
		rule := policy.RuleTrace{Rule: r.name(), Source: fmt.Sprintf("%s:%d", r.file, r.line), Effect: r.set, State: "not matched"}
		if seen := tracer.state[rule.Source]; seen != nil {
			rule.State, rule.Note, rule.Values = seen.State, seen.Note, seen.Values
		}
		t.Rules = append(t.Rules, rule)
	}
	if err != nil {
		return t, err
	}
	v, err := verdictOf(h.sets, sets)
	t.Outcome, t.Caps = v.Outcome, v.Caps
	return t, err
}

// ruleTracer follows which rules are entered, succeed and fail.
type ruleTracer struct {
	state map[string]*policy.RuleTrace // by file:line of the rule
	rules map[uint64]*ast.Rule         // the rule that each query is of
}

// Enabled turns the tracer on.
func (t *ruleTracer) Enabled() bool { return true }

// Config asks for local variables, which the values are read from.
func (t *ruleTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent follows one event.
func (t *ruleTracer) TraceEvent(e topdown.Event) {
	if rule, ok := e.Node.(*ast.Rule); ok {
		t.ruleEvent(rule, e)
		return
	}
	rule := t.rules[e.QueryID]
	expr, ok := e.Node.(*ast.Expr)
	if !ok || rule == nil || e.Op != topdown.FailOp || expr.Location == nil {
		return
	}
	if state := t.state[place(rule)]; state.State != "matched" {
		state.Note = policy.Clean(fmt.Sprintf("line %d did not hold: %s", expr.Location.Row, expr.Location.Text))
		state.Values = values(rule, e)
	}
}

// ruleEvent follows a rule that is entered or left with success.
func (t *ruleTracer) ruleEvent(rule *ast.Rule, e topdown.Event) {
	if e.Op == topdown.EnterOp {
		t.rules[e.QueryID] = rule
		if t.state[place(rule)] == nil {
			t.state[place(rule)] = &policy.RuleTrace{State: "not matched"}
		}
	}
	if e.Op == topdown.ExitOp {
		t.state[place(rule)] = &policy.RuleTrace{State: "matched", Values: values(rule, e)}
	}
}

func place(rule *ast.Rule) string { return fmt.Sprintf("%s:%d", rule.Loc().File, rule.Loc().Row) }

// maxValues bounds what a trace tells of one rule.
const maxValues = 32

// values lists what the references and variables of a rule were bound to.
func values(rule *ast.Rule, e topdown.Event) []policy.ValueTrace {
	if e.Locals == nil {
		return nil
	}
	refs := references(rule)
	var out []policy.ValueTrace
	e.Locals.Iter(func(key, value ast.Value) bool {
		name, ok := key.(ast.Var)
		if !ok || len(out) >= maxValues {
			return false
		}
		part, known := refs[name]
		if m, named := e.LocalMetadata[name]; named && !known {
			part, known = string(m.Name), true
		}
		if known {
			out = append(out, policy.ValueTrace{Part: part, Value: shown(part, value)})
		}
		return false
	})
	slices.SortFunc(out, func(a, b policy.ValueTrace) int { return strings.Compare(a.Part, b.Part) })
	return out
}

// references maps the variables that the compiler made to what they stand for.
func references(rule *ast.Rule) map[ast.Var]string {
	refs := map[ast.Var]string{}
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if !e.IsEquality() && !e.IsAssignment() {
			return false
		}
		name, ok1 := e.Operand(0).Value.(ast.Var)
		ref, ok2 := e.Operand(1).Value.(ast.Ref)
		if ok1 && ok2 && name.IsGenerated() {
			refs[name] = ref.String()
		}
		return false
	})
	return refs
}

// shown writes a value. Text is shown only where it comes from a field that
// holds no label, annotation or fact.
func shown(part string, value ast.Value) string {
	switch value.(type) {
	case ast.Number, ast.Boolean, ast.Null:
		return value.String()
	case ast.String:
		private := !strings.HasPrefix(part, "input.")
		for _, field := range []string{"labels", "annotations", "facts"} {
			private = private || strings.Contains(part, field)
		}
		if !private {
			return policy.Clean(value.String())
		}
		return policy.Redacted
	}
	return "(" + ast.ValueName(value) + ")"
}
