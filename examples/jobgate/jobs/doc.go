// Package jobs is a controller that releases batch/v1 Jobs when a budget has room for them: the part of jobgate to read.
//
// A Job takes part by its label (LabelGate) and by being created suspended. What bursar adds is marked with "bursar:". What is
// special about Jobs is in report.go, since what a Job has spent is said by its pods.
package jobs
