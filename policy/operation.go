package policy

// Operation is the question that a hook is asked.
type Operation string

// The hook points. Their names are part of the input's version: authors write
// them in policies.
const (
	// Admit asks whether a task may start. It is asked after the arithmetic of
	// the budgets has said yes, on a snapshot of their figures.
	Admit Operation = "Admit"
	// Renew asks whether a task that runs already may keep its hold.
	Renew Operation = "Renew"
	// BuildPod asks for caps on the size of a task's pod, before it is built.
	BuildPod Operation = "BuildPod"
	// RecordUsage shows the usage that is being recorded. Nothing a hook says
	// can block it: refusals become warnings and caps are dropped.
	RecordUsage Operation = "RecordUsage"
)

func (o Operation) known() bool {
	switch o {
	case Admit, Renew, BuildPod, RecordUsage:
		return true
	}
	return false
}
