package rego

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/policy"
)

// Bounds on what the cache keeps: entries, and the bytes of text of one.
const (
	maxCached     = 256
	maxCachedText = 4096
)

// termCache keeps the terms of the halves of an input that are the same from
// call to call: what describes a task, and a budget's figures. An entry is used
// only if its content equals the input's, never by name alone.
type termCache struct {
	mu      sync.RWMutex
	tasks   map[string]*taskEntry
	budgets map[budgetKey]*budgetEntry
}

type taskEntry struct {
	task     policy.Task
	actor    policy.Actor
	pod      policy.Pod
	estimate policy.Amount
	facts    map[string]string
	terms    taskTerms
}

type taskTerms struct{ task, actor, pod, estimate, facts *ast.Term }

type budgetKey struct{ namespace, name, scope string }

type budgetEntry struct {
	budget policy.Budget
	term   *ast.Term
	// the terms of the parts, for when only some of them change
	period, cost, inputTokens, outputTokens, meters *ast.Term
}

func newTermCache() *termCache {
	return &termCache{tasks: map[string]*taskEntry{}, budgets: map[budgetKey]*budgetEntry{}}
}

// input builds the document as the engine's own values: nothing passes through
// JSON, and numbers stay exact.
func (c *termCache) input(in *policy.Input) ast.Value {
	t := c.taskTerms(in)
	budgets := make([]*ast.Term, len(in.Budgets))
	for i := range in.Budgets {
		budgets[i] = c.budgetTerm(&in.Budgets[i])
	}
	return ast.NewObject(
		ast.Item(keyVersion, versionTerm),
		ast.Item(keyOperation, operationTerm(in.Operation)),
		ast.Item(keyNow, ast.StringTerm(in.Now.UTC().Format(time.RFC3339Nano))),
		ast.Item(keyNowUnixMs, intTerm(in.NowUnixMs)),
		ast.Item(keyTask, t.task),
		ast.Item(keyActor, t.actor),
		ast.Item(keyEstimate, t.estimate),
		ast.Item(keyUsage, usageTerm(&in.Usage)),
		ast.Item(keyPod, t.pod),
		ast.Item(keyBudget, c.budgetTerm(&in.Budget)),
		ast.Item(keyBudgets, ast.ArrayTerm(budgets...)),
		ast.Item(keyFacts, t.facts),
	)
}

// Terms that most inputs share. They are never changed.
var (
	versionTerm    = ast.StringTerm(policy.Version)
	noUsageTerm    = amountTerm(&policy.Amount{})
	operationTerms = map[policy.Operation]*ast.Term{
		policy.Admit: ast.StringTerm(string(policy.Admit)), policy.Renew: ast.StringTerm(string(policy.Renew)),
		policy.BuildPod: ast.StringTerm(string(policy.BuildPod)), policy.RecordUsage: ast.StringTerm(string(policy.RecordUsage)),
	}
)

func operationTerm(o policy.Operation) *ast.Term {
	if t, ok := operationTerms[o]; ok {
		return t
	}
	return ast.StringTerm(string(o))
}

func usageTerm(u *policy.Amount) *ast.Term {
	if *u == (policy.Amount{}) {
		return noUsageTerm
	}
	return amountTerm(u)
}

func (c *termCache) taskTerms(in *policy.Input) taskTerms {
	c.mu.RLock()
	e := c.tasks[in.Task.UID]
	c.mu.RUnlock()
	if e != nil && e.equals(in) {
		return e.terms
	}
	terms := taskTerms{
		task: taskTerm(&in.Task), actor: actorTerm(&in.Actor), pod: podTerm(&in.Pod),
		estimate: amountTerm(&in.Estimate), facts: stringMapTerm(in.Facts),
	}
	if in.Task.UID == "" || textSize(in) > maxCachedText {
		return terms
	}
	own := in.Clone() // the caller may change its maps afterwards
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tasks) >= maxCached {
		clear(c.tasks)
	}
	c.tasks[in.Task.UID] = &taskEntry{own.Task, own.Actor, own.Pod, own.Estimate, own.Facts, terms}
	return terms
}

func (e *taskEntry) equals(in *policy.Input) bool {
	return sameTask(&e.task, &in.Task) && e.actor.User == in.Actor.User && slices.Equal(e.actor.Groups, in.Actor.Groups) &&
		e.pod == in.Pod && e.estimate == in.Estimate && maps.Equal(e.facts, in.Facts)
}

// taskWords are the fields of a task that can be compared at once.
type taskWords struct {
	namespace, name, uid, kind, agent, model, provider, priority string
	attempt, requestedTokens                                     int64
}

func wordsOf(t *policy.Task) taskWords {
	return taskWords{t.Namespace, t.Name, t.UID, t.Kind, t.Agent, t.Model, t.Provider, t.Priority, t.Attempt, t.RequestedTokens}
}

func sameTask(a, b *policy.Task) bool {
	return wordsOf(a) == wordsOf(b) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

func (c *termCache) budgetTerm(b *policy.Budget) *ast.Term {
	key := budgetKey{b.Namespace, b.Name, b.Scope}
	c.mu.RLock()
	e := c.budgets[key]
	c.mu.RUnlock()
	if e != nil && sameBudget(&e.budget, b) {
		return e.term
	}
	e = e.update(b)
	if len(b.Namespace)+len(b.Name)+len(b.Scope)+len(b.Action)+len(b.Period.Kind)+len(b.Period.Zone)+mapSize(b.Meters) > maxCachedText {
		return e.term
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.budgets) >= maxCached {
		clear(c.budgets)
	}
	c.budgets[key] = e
	return e.term
}

// update builds the entry of a budget, with the parts of the present entry, if
// there is one, that are the same.
func (e *budgetEntry) update(b *policy.Budget) *budgetEntry {
	if e == nil {
		return newBudgetEntry(b)
	}
	next, old := *e, &e.budget
	if old.Period != b.Period {
		next.period = periodTerm(&b.Period)
	}
	if old.Cost != b.Cost {
		next.cost = measureTerm(&b.Cost)
	}
	if old.InputTokens != b.InputTokens {
		next.inputTokens = measureTerm(&b.InputTokens)
	}
	if old.OutputTokens != b.OutputTokens {
		next.outputTokens = measureTerm(&b.OutputTokens)
	}
	meters := old.Meters
	if !maps.Equal(meters, b.Meters) {
		meters, next.meters = maps.Clone(b.Meters), measureMapTerm(b.Meters)
	}
	next.budget = *b
	next.budget.Meters = meters
	return next.finish()
}

func newBudgetEntry(b *policy.Budget) *budgetEntry {
	e := budgetEntry{
		budget: *b, period: periodTerm(&b.Period), cost: measureTerm(&b.Cost),
		inputTokens: measureTerm(&b.InputTokens), outputTokens: measureTerm(&b.OutputTokens), meters: measureMapTerm(b.Meters),
	}
	e.budget.Meters = maps.Clone(b.Meters) // the caller may change its map afterwards
	return e.finish()
}

// finish puts the parts together.
func (e *budgetEntry) finish() *budgetEntry {
	e.term = budgetTerm(&e.budget, e.period, e.cost, e.inputTokens, e.outputTokens, e.meters)
	return e
}

func sameBudget(a, b *policy.Budget) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Scope == b.Scope && a.Action == b.Action &&
		a.Period == b.Period && a.Cost == b.Cost && a.InputTokens == b.InputTokens && a.OutputTokens == b.OutputTokens &&
		maps.Equal(a.Meters, b.Meters)
}

// textSize adds up the text that an entry would keep.
func textSize(in *policy.Input) int {
	t := &in.Task
	n := len(t.Namespace) + len(t.Name) + len(t.UID) + len(t.Kind) + len(t.Agent) + len(t.Model) + len(t.Provider) +
		len(t.Priority) + len(in.Actor.User) + len(in.Pod.Profile) + len(in.Estimate.Source)
	for _, m := range []map[string]string{t.Labels, t.Annotations, in.Facts} {
		for key, value := range m {
			n += len(key) + len(value)
		}
	}
	for _, group := range in.Actor.Groups {
		n += len(group)
	}
	return n
}

func mapSize(m map[string]policy.Measure) int {
	n := 0
	for key := range m {
		n += len(key)
	}
	return n
}

func intTerm(n int64) *ast.Term {
	if n >= 0 && n <= 512 {
		return ast.InternedTerm(int(n))
	}
	return ast.NewTerm(ast.Number(strconv.FormatInt(n, 10)))
}

func stringsTerm(values []string) *ast.Term {
	if len(values) == 0 {
		return ast.InternedEmptyArray
	}
	terms := make([]*ast.Term, len(values))
	for i, v := range values {
		terms[i] = ast.StringTerm(v)
	}
	return ast.ArrayTerm(terms...)
}

func stringMapTerm(values map[string]string) *ast.Term {
	if len(values) == 0 {
		return ast.InternedEmptyObject
	}
	items := make([][2]*ast.Term, 0, len(values))
	for key, value := range values {
		items = append(items, ast.Item(ast.StringTerm(key), ast.StringTerm(value)))
	}
	return ast.ObjectTerm(items...)
}

func measureMapTerm(values map[string]policy.Measure) *ast.Term {
	if len(values) == 0 {
		return ast.InternedEmptyObject
	}
	items := make([][2]*ast.Term, 0, len(values))
	for key, value := range values {
		items = append(items, ast.Item(ast.StringTerm(key), measureTerm(&value)))
	}
	return ast.ObjectTerm(items...)
}
