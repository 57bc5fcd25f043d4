package inputgen

// Kind says how a field is stored and read in each language.
type Kind int

// The kinds of field. A reference names another object of the table.
const (
	String    Kind = iota // a string of at most MaxString bytes
	Int                   // an int64, never negative unless Signed
	Bool                  // a bool
	Time                  // an instant: time.Time, CEL timestamp, RFC 3339 text
	Object                // a nested object
	Objects               // a list of objects
	Strings               // a list of strings
	StringMap             // a map from string to string
	ObjectMap             // a map from string to object
)

// MaxString is the bound on every string of the document, keys included.
const MaxString = 1024

// Field is one row: a key of the document.
type Field struct {
	Name    string   // the key in CEL and Rego, and the JSON key
	Go      string   // the Go field
	Kind    Kind     // how it is stored
	Ref     string   // the object that Object, Objects and ObjectMap refer to
	Max     int      // the bound on members of a list or map
	Enum    []string // the values a string may have; none means any
	Signed  bool     // an Int that may be negative
	Derived bool     // filled by Complete from other fields
	Doc     string   // one or two sentences: meaning, unit, zero
}

// Type is one object of the document.
type Type struct {
	Name   string
	Doc    string
	Fields []Field
}

// Table returns the document's objects, the root first.
func Table() []Type {
	return []Type{root(), task(), actor(), amount(), pod(), budget(), window(), measure()}
}

func root() Type {
	return Type{Name: "Input", Doc: "is everything a policy sees of one call.", Fields: []Field{
		{Name: "version", Go: "Version", Kind: String, Enum: []string{"v1"}, Derived: true, Doc: "Version of this document, always \"v1\"."},
		{Name: "operation", Go: "Operation", Kind: String, Enum: []string{"Admit", "Renew", "BuildPod", "RecordUsage"}, Doc: "Operation that asks: Admit, Renew, BuildPod or RecordUsage."},
		{Name: "now", Go: "Now", Kind: Time, Doc: "Now is the instant of the call, in UTC: a timestamp in CEL, RFC 3339 text in Rego."},
		{Name: "nowUnixMs", Go: "NowUnixMs", Kind: Int, Signed: true, Derived: true, Doc: "NowUnixMs is the same instant in milliseconds since 1970, rounded down."},
		{Name: "task", Go: "Task", Kind: Object, Ref: "Task", Doc: "Task that asks to start, or that has finished."},
		{Name: "actor", Go: "Actor", Kind: Object, Ref: "Actor", Doc: "Actor who created the task, as far as the host knows."},
		{Name: "estimate", Go: "Estimate", Kind: Object, Ref: "Amount", Doc: "Estimate of what the task will use, made before it starts."},
		{Name: "usage", Go: "Usage", Kind: Object, Ref: "Amount", Doc: "Usage that is being recorded; not known outside RecordUsage."},
		{Name: "pod", Go: "Pod", Kind: Object, Ref: "Pod", Doc: "Pod is the size that is asked for; all zero when the task has no pod."},
		{Name: "budget", Go: "Budget", Kind: Object, Ref: "Budget", Derived: true, Doc: "Budget is the tightest of Budgets: the one with the greatest committed share; without any budget, one that limits nothing. In the policies of a TaskBudget it is that budget."},
		{Name: "budgets", Go: "Budgets", Kind: Objects, Ref: "Budget", Max: 16, Doc: "Budgets that apply to the task."},
		{Name: "facts", Go: "Facts", Kind: StringMap, Max: 64, Doc: "Facts that the host adds of its own; their keys are the host's to document."},
	}}
}

func task() Type {
	return Type{Name: "Task", Doc: "is the unit of work that the question is about.", Fields: []Field{
		{Name: "namespace", Go: "Namespace", Kind: String, Doc: "Namespace the task lives in."},
		{Name: "name", Go: "Name", Kind: String, Doc: "Name of the task."},
		{Name: "uid", Go: "UID", Kind: String, Doc: "UID of the task."},
		{Name: "kind", Go: "Kind", Kind: String, Doc: "Kind of the task's object, say Job."},
		{Name: "agent", Go: "Agent", Kind: String, Doc: "Agent or program that will run; empty if the host does not say."},
		{Name: "model", Go: "Model", Kind: String, Doc: "Model that the task will call; empty if the host does not say."},
		{Name: "provider", Go: "Provider", Kind: String, Doc: "Provider of the model; empty if the host does not say."},
		{Name: "priority", Go: "Priority", Kind: String, Doc: "Priority class of the task, by name; empty if it has none."},
		{Name: "attempt", Go: "Attempt", Kind: Int, Doc: "Attempt counts the starts of this task; 0 if the host does not count."},
		{Name: "requestedTokens", Go: "RequestedTokens", Kind: Int, Doc: "RequestedTokens that the task asks for; 0 if it names none."},
		{Name: "labels", Go: "Labels", Kind: StringMap, Max: 64, Doc: "Labels of the task as they were when it was first seen."},
		{Name: "annotations", Go: "Annotations", Kind: StringMap, Max: 64, Doc: "Annotations that the host chose to show; never all of them."},
	}}
}

func actor() Type {
	return Type{Name: "Actor", Doc: "is who created the task.", Fields: []Field{
		{Name: "user", Go: "User", Kind: String, Doc: "User name; empty if it is not known."},
		{Name: "groups", Go: "Groups", Kind: Strings, Max: 64, Doc: "Groups of the user."},
	}}
}

func amount() Type {
	return Type{Name: "Amount", Doc: "is an amount of money and tokens, and where it comes from.", Fields: []Field{
		{Name: "costMicros", Go: "CostMicros", Kind: Int, Doc: "CostMicros in millionths of a US dollar, rounded up."},
		{Name: "inputTokens", Go: "InputTokens", Kind: Int, Doc: "InputTokens sent to the model."},
		{Name: "outputTokens", Go: "OutputTokens", Kind: Int, Doc: "OutputTokens received from the model."},
		{Name: "totalTokens", Go: "TotalTokens", Kind: Int, Derived: true, Doc: "TotalTokens is the sum of both."},
		{Name: "source", Go: "Source", Kind: String, Doc: "Source of the figures, say Reported, Priced or Held; empty if there are none."},
		{Name: "known", Go: "Known", Kind: Bool, Doc: "Known is false when there are no figures; they are 0 then, and mean nothing."},
		{Name: "costKnown", Go: "CostKnown", Kind: Bool, Doc: "CostKnown is false when the cost is not known; it is 0 then, and means nothing."},
		{Name: "tokensKnown", Go: "TokensKnown", Kind: Bool, Doc: "TokensKnown is false when no count of tokens is known; one of the two that is not is 0."},
	}}
}

func pod() Type {
	return Type{Name: "Pod", Doc: "is the size of the pod that a task asks for.", Fields: []Field{
		{Name: "profile", Go: "Profile", Kind: String, Doc: "Profile that the size comes from; empty if it has none."},
		{Name: "cpuMilli", Go: "CPUMilli", Kind: Int, Doc: "CPUMilli in thousandths of a core; 0 if not declared."},
		{Name: "memoryBytes", Go: "MemoryBytes", Kind: Int, Doc: "MemoryBytes; 0 if not declared."},
		{Name: "ephemeralBytes", Go: "EphemeralBytes", Kind: Int, Doc: "EphemeralBytes of scratch space; 0 if not declared."},
		{Name: "gpus", Go: "GPUs", Kind: Int, Doc: "GPUs, whole devices; 0 if none."},
		{Name: "activeDeadlineSeconds", Go: "ActiveDeadlineSeconds", Kind: Int, Doc: "ActiveDeadlineSeconds after which the pod is stopped; 0 if never."},
	}}
}

func budget() Type {
	return Type{Name: "Budget", Doc: "is one budget that applies, with its figures at this instant.", Fields: []Field{
		{Name: "name", Go: "Name", Kind: String, Doc: "Name of the budget; empty in the one that stands for none."},
		{Name: "namespace", Go: "Namespace", Kind: String, Doc: "Namespace of the budget."},
		{Name: "scope", Go: "Scope", Kind: String, Doc: "Scope is the group that the figures are of, say team=search; empty if the budget is not divided."},
		{Name: "action", Go: "Action", Kind: String, Doc: "Action of the budget when it is spent, say Block or Warn."},
		{Name: "period", Go: "Period", Kind: Object, Ref: "Period", Doc: "Period that the figures are of."},
		{Name: "cost", Go: "Cost", Kind: Object, Ref: "Measure", Doc: "Cost in millionths of a US dollar."},
		{Name: "inputTokens", Go: "InputTokens", Kind: Object, Ref: "Measure", Doc: "InputTokens sent."},
		{Name: "outputTokens", Go: "OutputTokens", Kind: Object, Ref: "Measure", Doc: "OutputTokens received."},
		{Name: "meters", Go: "Meters", Kind: ObjectMap, Ref: "Measure", Max: 32, Doc: "Meters of the budget's own, by name, in the meter's unit: those that it limits."},
	}}
}

func window() Type {
	return Type{Name: "Period", Doc: "is the window of time that a budget's figures are of.", Fields: []Field{
		{Name: "kind", Go: "Kind", Kind: String, Doc: "Kind of window, say Daily or Sliding."},
		{Name: "zone", Go: "Zone", Kind: String, Doc: "Zone whose calendar bounds the window, say Europe/Paris; empty for UTC."},
		{Name: "startUnixMs", Go: "StartUnixMs", Kind: Int, Signed: true, Doc: "StartUnixMs is the first instant of the window in milliseconds since 1970."},
		{Name: "endUnixMs", Go: "EndUnixMs", Kind: Int, Signed: true, Doc: "EndUnixMs is the first instant after it; 0 when Bounded is false."},
		{Name: "bounded", Go: "Bounded", Kind: Bool, Doc: "Bounded says that the window has a start and an end."},
		{Name: "elapsedPermille", Go: "ElapsedPermille", Kind: Int, Derived: true, Doc: "ElapsedPermille is the part of the window that has passed, in thousandths, rounded down; 0 when Bounded is false."},
	}}
}

func measure() Type {
	return Type{Name: "Measure", Doc: "is one limited quantity of a budget.", Fields: []Field{
		{Name: "limit", Go: "Limit", Kind: Int, Doc: "Limit of the budget, rounded down; NoLimit when Unlimited is true."},
		{Name: "used", Go: "Used", Kind: Int, Doc: "Used so far by finished tasks, rounded up."},
		{Name: "held", Go: "Held", Kind: Int, Doc: "Held for tasks that were admitted and have not finished, rounded up."},
		{Name: "remaining", Go: "Remaining", Kind: Int, Derived: true, Doc: "Remaining is limit - used - held and never below 0; NoLimit when Unlimited is true."},
		{Name: "usedPermille", Go: "UsedPermille", Kind: Int, Derived: true, Doc: "UsedPermille is used against limit in thousandths, rounded down; 1000 of a limit of 0, 0 when Unlimited is true."},
		{Name: "committedPermille", Go: "CommittedPermille", Kind: Int, Derived: true, Doc: "CommittedPermille is the same of used + held."},
		{Name: "unlimited", Go: "Unlimited", Kind: Bool, Doc: "Unlimited says that the budget does not limit this quantity."},
		{Name: "uncertain", Go: "Uncertain", Kind: Bool, Doc: "Uncertain says that some task in the window did not report its usage, so that Used may be too low."},
	}}
}
