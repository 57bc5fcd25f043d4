package usage

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

// Ledger is where records and holds are kept and summed. What it answers
// depends on the set of records and holds alone, never on the order in which
// they came. It keeps no map of its caller's and is safe for concurrent use. The
// package ledgertest proves an implementation.
type Ledger interface {
	// Add enters a record; one in which [Record.Validate] finds a fault is an
	// error. The same record again changes nothing; another one with the same
	// UID is a [ConflictError], and the first one stays. A record supersedes the
	// hold of its UID, whichever came first.
	Add(Record) error
	// Recorded reports whether a UID has a record.
	Recorded(uid types.UID) bool
	// Hold enters a hold and returns the one in force: where the UID has a
	// hold that is live at the new one's AdmittedAt, that one stays and is
	// returned. Where the UID has a record, the hold is not entered and the
	// error is ErrRecorded.
	Hold(Hold) (Hold, error)
	// Held gives the hold of a UID, one that has expired, too; false if there
	// is none: a record ends the hold of its UID.
	Held(uid types.UID) (Hold, bool)
	// Release drops the hold of a UID. Without one it does nothing.
	Release(uid types.UID)
	// Used answers a query. An error of the scope's period is passed on, such
	// as [period.ErrBeforeStart].
	Used(Query) (Balance, error)
	// Turns says how time alone changes the balance that Used gives.
	Turns(Query) (Turns, error)
}

// ErrRecorded says that a task has a record, so that no hold of it counts.
var ErrRecorded = errors.New("the task is recorded already")

// ConflictError says that a UID has a record with other content.
type ConflictError struct {
	// Namespace, Name and UID say which task's record it is.
	Namespace, Name string
	UID             types.UID
}

// Error implements error.
func (e *ConflictError) Error() string {
	return "record of task " + describe(e.Namespace, e.Name, e.UID) +
		": there is one already with other content; the first one stands, a correction can put it right"
}
